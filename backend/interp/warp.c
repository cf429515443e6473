/* What lanes of a warp do together: shfl, vote, match, redux, elect, activemask, bar.warp.sync.
 * PTX ISA 9.7.9.5-6, 9.7.13.5-12.
 *
 * An instruction with a member mask runs when all named lanes that have not exited stand at it
 * in the same activation; it begins its block, so lanes that wait for others wait at the block.
 * Lanes at one instruction may name different masks (tiles of a warp): each mask is a group of
 * its own. `imm` holds the block; the member mask's operand is c->o[c->aux & 7]. A lane that its
 * mask leaves out is a fault, but where all lanes are there and name the same: an H200 tests the
 * mask only where lanes may have parted.
 */
#include "backend/barrier.h"
#include "backend/interp/blocks.h"
#include "backend/interp/frontier.h"
#include "backend/interp/observe.h"
#include "backend/interp/operands.h"

/* Computes for the lanes of f->mask, which all take part. */
typedef void (*operation)(const struct pt_code *c, struct pt_frame *f);

static inline uint32_t members_of(const struct pt_code *c, const struct pt_frame *f, uint32_t lane)
{
    return ((const uint32_t *)((const char *)f + c->o[c->aux & 7]))[lane];
}

/* Lanes of `among` that name the same members as `lane`. */
static uint32_t same_members(const struct pt_code *c, const struct pt_frame *f, uint32_t among,
                             uint32_t lane)
{
    uint32_t members = members_of(c, f, lane), same = 0;
    for (uint32_t left = among; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        same |= (uint32_t)(members_of(c, f, i) == members) << i;
    }
    return same;
}

/* Lanes of f->mask that their own member mask leaves out. */
static uint32_t strangers(const struct pt_code *c, const struct pt_frame *f)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < PT_WARP_SIZE; i++)
        found |= (~members_of(c, f, i) >> i & 1) << i;
    return found & f->mask;
}

static const struct pt_code *fail_strangers(const struct pt_code *c, struct pt_frame *f)
{
    return pt_fail(c, f, PT_FAULT_MASK, strangers(c, f), PT_STRANGERS);
}

/* Member masks that leave out their lane, or name lanes that come with another mask. */
static __attribute__((noinline)) void observe_members(const struct pt_code *c, struct pt_frame *f,
                                                      uint32_t arrived)
{
    uint32_t outside = strangers(c, f);
    if (outside)
        pt_observe_misused(c, f, outside, PT_MISUSE_CALLER, 0);
    for (uint32_t left = arrived & ~outside; left;) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), members = members_of(c, f, lane);
        uint32_t group = same_members(c, f, left, lane), others = members & arrived & ~group;
        left &= ~group;
        if (others)
            pt_observe_misused(c, f, group, PT_MISUSE_MASKS, others);
    }
}

/* The general case: lanes that arrived before join, those of complete groups run, the others go on
 * waiting. `parts`: the groups run one after the other, each up to where it ends or waits before
 * the next begins, as on an H200; else together. */
static __attribute__((noinline)) const struct pt_code *
sync_groups(const struct pt_code *c, struct pt_frame *f, operation run, bool parts)
{
    if (pt_is_observed(f))
        observe_members(c, f, f->mask | f->wait[(uint32_t)c->imm]);
    if (strangers(c, f))
        return fail_strangers(c, f);
    uint32_t block = (uint32_t)c->imm, arrived = f->mask | f->wait[block], done = 0, later = 0;
    uint32_t live = f->state->warp->live;
    for (uint32_t left = arrived; left;) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), members = members_of(c, f, lane);
        uint32_t group = same_members(c, f, left, lane);
        left &= ~group;
        if (members & live & ~group)
            continue;
        if (parts && done && !f->state->is_serial) {
            later |= group;
            continue;
        }
        if (parts) {
            pt_set_mask(f, group);
            run(c, f);
        }
        done |= group;
    }
    f->wait[block] = 0;
    pt_frontier_clear(f, block);
    if (later)
        pt_frontier_set_aside(f, block, arrived & ~done);
    else if (done != arrived)
        pt_frontier_park(f, block, arrived & ~done);
    if (!done)
        return pt_frontier_other(f);
    pt_set_mask(f, done);
    if (!parts)
        run(c, f);
    return c + 1;
}

static inline const struct pt_code *sync_members(const struct pt_code *c, struct pt_frame *f,
                                                 operation run, bool parts)
{
    uint32_t first = members_of(c, f, (uint32_t)__builtin_ctz(f->mask));
    const uint32_t *members = (const uint32_t *)((const char *)f + c->o[c->aux & 7]);
    uint32_t differ = 0;
    for (int i = 0; i < PT_WARP_SIZE; i++)
        differ |= (members[i] ^ first) & f->lanes[i];
    uint32_t live = f->state->warp->live;
    if (__builtin_expect(differ || (first & live & ~f->mask), 0))
        return sync_groups(c, f, run, parts);
    if (__builtin_expect(f->mask & ~first, 0) && pt_is_observed(f))
        observe_members(c, f, f->mask);
    /* An H200 looks at the mask only where lanes may have parted. */
    if (__builtin_expect(f->mask != live && f->mask & ~first, 0))
        return fail_strangers(c, f);
    run(c, f);
    return c + 1;
}

/* Binds the operands; the member mask is flattened operand k. */
static bool bind_members(struct pt_select *s, const char *widths, uint32_t k)
{
    s->code->imm = pt_blocks_here(s);
    s->code->aux |= (uint16_t)k;
    return pt_bind(s, widths);
}

#define SYNCED(name, run)                     \
    PT_HANDLER(name)                          \
    {                                         \
        return sync_members(c, f, run, true); \
    }

#define SYNCED_TOGETHER(name, run)             \
    PT_HANDLER(name)                           \
    {                                          \
        return sync_members(c, f, run, false); \
    }

/* For forms without a member mask: the lanes that are present take part. */
#define PRESENT(name, run) \
    PT_HANDLER(name)       \
    {                      \
        run(c, f);         \
        return c + 1;      \
    }

/* ---- shfl: o = d, p, a, b, c, members; aux bit 3: p is written ------------------------------- */

enum { HAS_PRED = 8 };

/* Lane j of which lane i reads, and whether it is in range; the own lane if not. Lanes that do
 * not take part give 0, as on an H200. */
#define SHFL(name, source, in_range)                                                  \
    static void name(const struct pt_code *c, struct pt_frame *f)                     \
    {                                                                                 \
        uint32_t *d = PT_SLOT(0, u32), value[PT_WARP_SIZE], valid[PT_WARP_SIZE];      \
        uint32_t a[PT_WARP_SIZE];                                                     \
        const uint32_t *b = PT_SLOT(3, u32), *clamp = PT_SLOT(4, u32);                \
        for (int i = 0; i < PT_WARP_SIZE; i++)                                        \
            a[i] = PT_SLOT(2, u32)[i] & f->lanes[i];                                  \
        for (int i = 0; i < PT_WARP_SIZE; i++) {                                      \
            int32_t n = (int32_t)(b[i] & 31), lane = i;                               \
            int32_t segment = (int32_t)(clamp[i] >> 8 & 31);                          \
            int32_t limit = (lane & segment) | ((int32_t)(clamp[i] & 31) & ~segment); \
            int32_t low = lane & segment;                                             \
            int32_t j = source;                                                       \
            (void)low, (void)limit;                                                   \
            bool is_in = in_range;                                                    \
            value[i] = a[is_in ? j & 31 : lane];                                      \
            valid[i] = is_in ? UINT32_MAX : 0;                                        \
        }                                                                             \
        if (c->aux & HAS_PRED) {                                                      \
            uint32_t in = 0;                                                          \
            for (int i = 0; i < PT_WARP_SIZE; i++)                                    \
                in |= (valid[i] & 1) << i;                                            \
            PT_SET_PRED(1, in);                                                       \
        }                                                                             \
        PT_LANES d[i] = f->lanes[i] ? value[i] : d[i];                                \
    }
SHFL(shfl_up, lane - n, j >= limit)
SHFL(shfl_down, lane + n, j <= limit)
SHFL(shfl_bfly, lane ^ n, j <= limit)
SHFL(shfl_idx, low | (n & ~segment), j <= limit)

SYNCED_TOGETHER(shfl_sync_up, shfl_up)
SYNCED_TOGETHER(shfl_sync_down, shfl_down)
SYNCED_TOGETHER(shfl_sync_bfly, shfl_bfly)
SYNCED_TOGETHER(shfl_sync_idx, shfl_idx)
PRESENT(shfl_any_up, shfl_up)
PRESENT(shfl_any_down, shfl_down)
PRESENT(shfl_any_bfly, shfl_bfly)
PRESENT(shfl_any_idx, shfl_idx)

/* Puts the flattened operands to o as above. */
static bool bind_shfl(struct pt_select *s, bool is_sync)
{
    bool has_pred = s->operands[0].kind == PT_OPND_PAIR;
    uint32_t n = is_sync ? 4 : 3, first = has_pred ? 2 : 1;
    struct pt_code *c = s->code;
    c->o[0] = pt_operands_dest(s, s->flat[0]);
    if (has_pred)
        c->o[1] = pt_operands_dest(s, s->flat[1]);
    for (uint32_t k = 0; k < n; k++)
        if ((c->o[2 + k] = pt_operands_source(s, s->flat[first + k], 4)) == UINT32_MAX)
            return false;
    c->imm = pt_blocks_here(s);
    c->aux = (uint16_t)(5 | (has_pred ? HAS_PRED : 0));
    return true;
}

pt_handler PT_DO(shfl_sync)(struct pt_select *s)
{
    if (!bind_shfl(s, true))
        return NULL;
    return PT_HAS(s, up)     ? shfl_sync_up
           : PT_HAS(s, down) ? shfl_sync_down
           : PT_HAS(s, bfly) ? shfl_sync_bfly
                             : shfl_sync_idx;
}

pt_handler PT_DO(shfl)(struct pt_select *s)
{
    if (!bind_shfl(s, false))
        return NULL;
    return PT_HAS(s, up)     ? shfl_any_up
           : PT_HAS(s, down) ? shfl_any_down
           : PT_HAS(s, bfly) ? shfl_any_bfly
                             : shfl_any_idx;
}

/* ---- vote: o = d, a, members ----------------------------------------------------------------- */

static void vote_all(const struct pt_code *c, struct pt_frame *f)
{
    PT_SET_PRED(0, (PT_PRED(1) & f->mask) == f->mask ? UINT32_MAX : 0);
}

static void vote_any(const struct pt_code *c, struct pt_frame *f)
{
    PT_SET_PRED(0, PT_PRED(1) & f->mask ? UINT32_MAX : 0);
}

static void vote_uni(const struct pt_code *c, struct pt_frame *f)
{
    uint32_t set = PT_PRED(1) & f->mask;
    PT_SET_PRED(0, !set || set == f->mask ? UINT32_MAX : 0);
}

static void vote_ballot(const struct pt_code *c, struct pt_frame *f)
{
    uint32_t set = PT_PRED(1) & f->mask, *d = PT_SLOT(0, u32);
    PT_STORE_LANES(u32, d, const uint32_t value = set;);
}

SYNCED(vote_sync_all, vote_all)
SYNCED(vote_sync_any, vote_any)
SYNCED(vote_sync_uni, vote_uni)
SYNCED(vote_sync_ballot, vote_ballot)
PRESENT(vote_present_all, vote_all)
PRESENT(vote_present_any, vote_any)
PRESENT(vote_present_uni, vote_uni)
PRESENT(vote_present_ballot, vote_ballot)

pt_handler PT_DO(vote_sync)(struct pt_select *s)
{
    if (PT_HAS(s, ballot))
        return bind_members(s, "wpw", 2) ? vote_sync_ballot : NULL;
    if (!bind_members(s, "ppw", 2))
        return NULL;
    return PT_HAS(s, all) ? vote_sync_all : PT_HAS(s, any) ? vote_sync_any : vote_sync_uni;
}

pt_handler PT_DO(vote)(struct pt_select *s)
{
    if (PT_HAS(s, ballot))
        return pt_bind(s, "wp") ? vote_present_ballot : NULL;
    if (!pt_bind(s, "pp"))
        return NULL;
    return PT_HAS(s, all) ? vote_present_all : PT_HAS(s, any) ? vote_present_any : vote_present_uni;
}

/* ---- match: o = d, p, a, members ------------------------------------------------------------- */

static inline bool is_equal(const struct pt_code *c, const struct pt_frame *f, bool is_wide,
                            uint32_t i, uint32_t j)
{
    const char *a = (const char *)f + c->o[2];
    return is_wide ? ((const uint64_t *)a)[i] == ((const uint64_t *)a)[j]
                   : ((const uint32_t *)a)[i] == ((const uint32_t *)a)[j];
}

static inline void match_any(const struct pt_code *c, struct pt_frame *f, bool is_wide)
{
    uint32_t result[PT_WARP_SIZE] = {0}, *d = PT_SLOT(0, u32);
    for (uint32_t left = f->mask; left;) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), equal = 0;
        for (uint32_t i = lane; i < PT_WARP_SIZE; i++)
            equal |= (uint32_t)is_equal(c, f, is_wide, lane, i) << i;
        equal &= left;
        left &= ~equal;
        for (uint32_t set = equal; set; set &= set - 1)
            result[__builtin_ctz(set)] = equal;
    }
    PT_STORE_LANES(u32, d, const uint32_t value = result[i];);
}

static inline void match_all(const struct pt_code *c, struct pt_frame *f, bool is_wide)
{
    uint32_t lane = (uint32_t)__builtin_ctz(f->mask), *d = PT_SLOT(0, u32);
    bool is_all = true;
    for (uint32_t left = f->mask; left; left &= left - 1)
        is_all &= is_equal(c, f, is_wide, lane, (uint32_t)__builtin_ctz(left));
    uint32_t result = is_all ? f->mask : 0;
    PT_STORE_LANES(u32, d, const uint32_t value = result;);
    if (c->aux & HAS_PRED)
        PT_SET_PRED(1, is_all ? UINT32_MAX : 0);
}

static void match_any_32(const struct pt_code *c, struct pt_frame *f)
{
    match_any(c, f, false);
}

static void match_any_64(const struct pt_code *c, struct pt_frame *f)
{
    match_any(c, f, true);
}

static void match_all_32(const struct pt_code *c, struct pt_frame *f)
{
    match_all(c, f, false);
}

static void match_all_64(const struct pt_code *c, struct pt_frame *f)
{
    match_all(c, f, true);
}

SYNCED(match_sync_any_32, match_any_32)
SYNCED(match_sync_any_64, match_any_64)
SYNCED(match_sync_all_32, match_all_32)
SYNCED(match_sync_all_64, match_all_64)

static bool bind_match(struct pt_select *s)
{
    bool has_pred = s->operands[0].kind == PT_OPND_PAIR;
    const struct pt_operand **source = &s->flat[has_pred ? 2 : 1];
    struct pt_code *c = s->code;
    c->o[0] = pt_operands_dest(s, s->flat[0]);
    if (has_pred)
        c->o[1] = pt_operands_dest(s, s->flat[1]);
    c->o[2] = pt_operands_source(s, source[0], PT_BITS(s, 0) / 8);
    c->o[3] = pt_operands_source(s, source[1], 4);
    c->imm = pt_blocks_here(s);
    c->aux = (uint16_t)(3 | (has_pred ? HAS_PRED : 0));
    return c->o[2] != UINT32_MAX && c->o[3] != UINT32_MAX;
}

pt_handler PT_DO(match_any)(struct pt_select *s)
{
    return !bind_match(s) ? NULL : PT_BITS(s, 0) == 64 ? match_sync_any_64 : match_sync_any_32;
}

pt_handler PT_DO(match_all)(struct pt_select *s)
{
    return !bind_match(s) ? NULL : PT_BITS(s, 0) == 64 ? match_sync_all_64 : match_sync_all_32;
}

/* ---- redux, elect, activemask: o = d, a, members --------------------------------------------- */

#define REDUX(name, T, expr)                                                    \
    static void redux_##name(const struct pt_code *c, struct pt_frame *f)       \
    {                                                                           \
        const PT_ELT_##T *source = PT_SLOT(1, T);                               \
        PT_ELT_##T *d = PT_SLOT(0, T), a = source[__builtin_ctz(f->mask)];      \
        for (uint32_t left = f->mask & (f->mask - 1); left; left &= left - 1) { \
            PT_ELT_##T b = source[__builtin_ctz(left)];                         \
            a = (expr);                                                         \
        }                                                                       \
        PT_STORE_LANES(T, d, const PT_VAL_##T value = a;);                      \
    }                                                                           \
    SYNCED(redux_sync_##name, redux_##name)
REDUX(add, u32, a + b)
REDUX(and, u32, a &b)
REDUX(or, u32, a | b)
REDUX(xor, u32, a ^ b)
REDUX(min_u32, u32, a < b ? a : b)
REDUX(max_u32, u32, a > b ? a : b)
REDUX(min_s32, s32, a < b ? a : b)
REDUX(max_s32, s32, a > b ? a : b)

pt_handler PT_DO(redux_sync)(struct pt_select *s)
{
    bool is_signed = s->form->type[0] == PT_s32;
    if (!bind_members(s, "www", 2))
        return NULL;
    if (PT_HAS(s, add))
        return redux_sync_add;
    if (PT_HAS(s, min))
        return is_signed ? redux_sync_min_s32 : redux_sync_min_u32;
    if (PT_HAS(s, max))
        return is_signed ? redux_sync_max_s32 : redux_sync_max_u32;
    return PT_HAS(s, and) ? redux_sync_and : PT_HAS(s, or) ? redux_sync_or : redux_sync_xor;
}

/* o = d, p, members. The lowest lane leads, as on the hardware. */
static void elect(const struct pt_code *c, struct pt_frame *f)
{
    uint32_t leader = (uint32_t)__builtin_ctz(f->mask), *d = PT_SLOT(0, u32);
    PT_STORE_LANES(u32, d, const uint32_t value = leader;);
    PT_SET_PRED(1, 1u << leader);
}
SYNCED(elect_sync, elect)

pt_handler PT_DO(elect_sync)(struct pt_select *s)
{
    return bind_members(s, "wpw", 2) ? elect_sync : NULL;
}

PT_HANDLER(activemask)
{
    uint32_t active = f->mask, *d = PT_SLOT(0, u32);
    PT_STORE_LANES(u32, d, const uint32_t value = active;);
    return c + 1;
}

pt_handler PT_DO(activemask)(struct pt_select *s)
{
    return pt_bind(s, "w") ? activemask : NULL;
}

/* ---- bar.warp.sync: o = members; imm holds the block and, above, the one behind -------------- */

PT_HANDLER(bar_warp_sync);

/* Lanes parked at any bar.warp.sync of the warp that name `members`. With `release`, they go on
 * behind it. */
static uint32_t parked_with(struct pt_state *s, uint32_t members, bool release)
{
    uint32_t found = 0;
    for (struct pt_frame *f = s->deepest; f; f = f->shallower) {
        for (uint32_t b = 0; b < f->body->n_blocks; b++) {
            const struct pt_code *c = pt_frontier_first(f->body, b);
            while (c->fn == pt_observe_block || c->fn == pt_observe_instruction)
                c++;
            if (!f->wait[b] || !(f->parked[b / 64] >> b % 64 & 1) || c->fn != bar_warp_sync)
                continue;
            uint32_t lanes = 0;
            for (uint32_t left = f->wait[b]; left; left &= left - 1) {
                uint32_t i = (uint32_t)__builtin_ctz(left);
                lanes |= (uint32_t)(members_of(c, f, i) == members) << i;
            }
            found |= lanes;
            if (!release || !lanes)
                continue;
            f->wait[b] &= ~lanes;
            if (!f->wait[b])
                pt_frontier_clear(f, b);
            pt_frontier_wait(f, (uint32_t)(c->imm >> 32), lanes);
        }
    }
    return found;
}

/* Each group of running lanes with one mask goes on if it is complete with those parked
 * elsewhere, or parks. */
PT_HANDLER(bar_warp_sync)
{
    struct pt_state *s = f->state;
    uint32_t go = 0, stay = 0, block = (uint32_t)c->imm;
    uint32_t first = (uint32_t)__builtin_ctz(f->mask);
    bool is_whole = f->mask == s->warp->live && same_members(c, f, f->mask, first) == f->mask;
    bool is_plain = is_whole && !(f->mask & ~members_of(c, f, first));
    if (!is_plain && pt_is_observed(f))
        observe_members(c, f, f->mask);
    if (!is_whole && strangers(c, f))
        return fail_strangers(c, f);
    for (uint32_t left = f->mask; left;) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), members = members_of(c, f, lane);
        uint32_t group = same_members(c, f, left, lane), missing = members & s->warp->live & ~group;
        left &= ~group;
        if (!missing) {
            go |= group;
        } else if (missing & ~parked_with(s, members, false)) {
            stay |= group;
        } else {
            parked_with(s, members, true);
            go |= group;
        }
        if (pt_is_observed(f) && go & group)
            pt_observe_sync(c, f, members & s->warp->live,
                            (struct pt_sync){.what = PT_SYNC_JOIN, .where = PT_SYNC_OF_WARP});
    }
    if (stay)
        pt_frontier_park(f, block, stay);
    if (!go)
        return pt_frontier_other(f);
    if (go != f->mask)
        pt_set_mask(f, go);
    return pt_goto(f, (uint32_t)(c->imm >> 32), c + 1);
}

pt_handler PT_DO(bar_warp_sync)(struct pt_select *s)
{
    s->code->imm = pt_blocks_here(s) | (uint64_t)pt_blocks_after(s) << 32;
    s->code->o[0] = pt_operands_source(s, &s->operands[0], 4);
    return s->code->o[0] == UINT32_MAX ? NULL : bar_warp_sync;
}
