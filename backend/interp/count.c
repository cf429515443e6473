/* Counts what runs: backend/counts.h. */
#include "backend/counts.h"
#include "backend/interp/count.h"
#include "backend/interp/sectors.h"

static struct pt_count *count_of(const struct pt_cta *cta, uint32_t func, uint32_t insn)
{
    const struct pt_counts *counts = cta->launch->counts;
    return &counts->v[(uint64_t)cta->worker * counts->n + counts->first[func] + insn];
}

/* ---- instructions ---------------------------------------------------------------------------- */

enum { GUARD = 0, LEADS = 2 };

PT_HANDLER(count)
{
    struct pt_count *n = count_of(f->cta, f->body->index, c->insn);
    n->warps++;
    n->lanes += (uint64_t)__builtin_popcount(f->mask);
    return c + 1;
}

PT_HANDLER(count_guarded)
{
    struct pt_count *n = count_of(f->cta, f->body->index, c->insn);
    uint32_t guard =
        *(const uint32_t *)(const void *)((const char *)f + f->body->slots[c->o[GUARD]]);
    uint32_t on = f->mask & (c->neg ? ~guard : guard);
    n->on += (uint64_t)__builtin_popcount(on);
    n->split += on && on != f->mask;
    return c->o[LEADS] ? count(c, f) : c + 1;
}

static const void *find_leaders(const struct pt_module *m, const struct pt_func *func,
                                struct pt_arena *arena)
{
    bool *leads = pt_arena_alloc(arena, func->insns.n * sizeof *leads);
    pt_counts_find_leaders(m, func, leads);
    return leads;
}

static bool place_count(struct pt_code *test, const struct pt_func *func, const void *facts,
                        bool is_guard)
{
    const struct pt_insn *insn = &func->insns.v[test->insn];
    const bool *leads = facts;
    if (is_guard == !insn->guard || !(is_guard || leads[test->insn]))
        return false;
    test->fn = is_guard ? count_guarded : count;
    test->o[GUARD] = insn->guard;
    test->o[LEADS] = leads[test->insn];
    test->neg = insn->guard_neg != 0;
    return true;
}

/* ---- accesses -------------------------------------------------------------------------------- */

enum { WORD_SHIFT = 2, BANKS = 32 };
enum { SPACE = 0, USE = 4 /* of a code before an access: no address uses these */ };

static void add_wavefronts(struct pt_counted_access *to, uint64_t n)
{
    to->parts += n;
    to->conflicts += n ? n - 1 : 0;
}

/* Of lanes that are served together: as many as the bank that the most words are asked of. */
static void count_wavefronts(struct pt_counted_access *to, uint32_t lanes, const uint64_t *address,
                             uint64_t bytes)
{
    uint32_t words[BANKS][PT_WARP_SIZE], most = 0;
    uint8_t of_bank[BANKS] = {0};
    for (; lanes; lanes &= lanes - 1) {
        uint64_t at = address[__builtin_ctz(lanes)];
        uint64_t last = (at + bytes - 1) >> WORD_SHIFT;
        for (uint64_t word = at >> WORD_SHIFT; word <= last; word++) {
            uint32_t bank = (uint32_t)word % BANKS, n = of_bank[bank], i = 0;
            while (i < n && words[bank][i] != (uint32_t)word)
                i++;
            if (i < n)
                continue;
            words[bank][n] = (uint32_t)word;
            of_bank[bank] = (uint8_t)(n + 1);
            most = n + 1 > most ? n + 1 : most;
        }
    }
    add_wavefronts(to, most);
}

/* True if each lane's address is that of the lane whose number differs by `bit` alone, if that one
 * is among them. */
static bool are_pairs(uint32_t lanes, const uint64_t *address, uint32_t bit)
{
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (lanes >> (lane ^ bit) & 1 && address[lane] != address[lane ^ bit])
            return false;
    }
    return true;
}

/* Of the `width` lanes from lane `first` on each half has its turn; both have one where lanes that
 * load ask in pairs for the same. */
static void count_halves(struct pt_counted_access *to, uint32_t lanes,
                         const struct pt_access *access, uint32_t first, uint32_t width,
                         bool may_join)
{
    const uint64_t *address = access->address;
    uint32_t half = ((1u << width / 2) - 1) << first;
    lanes &= half | half << width / 2;
    bool is_one = may_join && (are_pairs(lanes, address, 1) || are_pairs(lanes, address, 2));
    count_wavefronts(to, is_one ? lanes : lanes & half, address, access->bytes);
    if (!is_one)
        count_wavefronts(to, lanes & ~half, address, access->bytes);
}

/* Of integers and the constant one: NVIDIA's assembler has the lanes of a word counted at once. */
static bool counts_lanes(const struct pt_event *e, const struct pt_form *form)
{
    const struct pt_func *func = e->frame->body->func;
    const struct pt_insn *insn = &func->insns.v[e->insn];
    const struct pt_operand *last = &func->operands.v[insn->operands + insn->n_operands - 1u];
    return pt_form_has(form, PT_M_add) && pt_type_is_int((enum pt_type)form->type[0]) &&
           pt_type_bits((enum pt_type)form->type[0]) == 32 && last->kind == PT_OPND_IMM &&
           last->imm == 1;
}

/* As many turns as the bank has that the most lanes ask, whatever words; twice as many where values
 * are compared. */
static void count_shared_atomic(struct pt_counted_access *to, const struct pt_form *form,
                                uint32_t lanes, const uint64_t *address)
{
    uint8_t of_bank[BANKS] = {0}, most = 0;
    for (; lanes; lanes &= lanes - 1) {
        uint8_t *of = &of_bank[address[__builtin_ctz(lanes)] >> WORD_SHIFT & (BANKS - 1)];
        most = ++*of > most ? *of : most;
    }
    add_wavefronts(to, pt_form_has(form, PT_M_cas) ? 2 * most : most);
}

/* Accesses of up to four bytes are served to a warp at once, those of eight to each half, wider
 * ones to each quarter. */
static void count_shared(struct pt_counted_access *to, const struct pt_event *e, uint32_t lanes,
                         const struct pt_access *access)
{
    const struct pt_form *form = pt_sectors_form(e);
    bool may_join = !(access->use & PT_USE_WRITE) && !(form->effects & PT_FX_WARP);
    if (access->use & PT_USE_ATOMIC && !counts_lanes(e, form)) {
        count_shared_atomic(to, form, lanes, access->address);
    } else if (access->bytes <= 4) {
        count_wavefronts(to, lanes, access->address, access->bytes);
    } else if (access->bytes <= 8) {
        count_halves(to, lanes, access, 0, 32, may_join);
    } else {
        count_halves(to, lanes, access, 0, 16, may_join);
        count_halves(to, lanes, access, 16, 16, may_join);
    }
}

static uint64_t count_sectors(uint32_t lanes, const uint64_t *address, uint64_t bytes)
{
    uint64_t units[PT_SECTORS_MOST];
    return pt_sectors_find(units, lanes, address, bytes, PT_SECTOR_SHIFT);
}

/* Atomics of one address come one after the other: in as many turns as there are lanes of it, each
 * of which counts by itself. */
static uint64_t count_atomic(uint32_t lanes, const uint64_t *address, uint64_t bytes)
{
    uint64_t n = 0;
    while (lanes) {
        uint32_t now = 0;
        for (uint32_t left = lanes; left; left &= left - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(left);
            bool is_there = false;
            for (uint32_t others = now; others && !is_there; others &= others - 1)
                is_there = address[__builtin_ctz(others)] == address[lane];
            now |= is_there ? 0 : 1u << lane;
        }
        n += count_sectors(now, address, bytes);
        lanes &= ~now;
    }
    return n;
}

/* Of asynchronous copies, each of which lies in one piece. */
static uint64_t count_bulk(unsigned space, uint32_t lanes, const uint64_t *address, uint64_t bytes)
{
    uint64_t n = 0;
    for (; lanes; lanes &= lanes - 1) {
        uint64_t at = space == PT_COUNTED_SHARED ? 0 : address[__builtin_ctz(lanes)];
        uint64_t part = space == PT_COUNTED_SHARED ? BANKS << WORD_SHIFT : 1 << PT_SECTOR_SHIFT;
        n += (at + bytes - 1) / part - at / part + 1;
    }
    return n;
}

static void count_parts(struct pt_counted_access *to, const struct pt_event *e, unsigned space,
                        uint32_t lanes, const struct pt_access *access)
{
    const uint64_t *address = access->address;
    uint64_t units[PT_SECTORS_MOST], bytes = access->bytes;
    if (bytes > PT_SECTORS_WIDEST)
        to->parts += count_bulk(space, lanes, address, bytes);
    else if (space == PT_COUNTED_SHARED)
        count_shared(to, e, lanes, access);
    else if (space == PT_COUNTED_LOCAL)
        to->parts += pt_sectors_find_local(units, e, lanes, address, bytes);
    else if (space == PT_COUNTED_CONST)
        to->parts += pt_sectors_find(units, lanes, address, bytes, WORD_SHIFT);
    else if (access->use & PT_USE_ATOMIC)
        to->parts += count_atomic(lanes, address, bytes);
    else
        to->parts += count_sectors(lanes, address, bytes);
}

static void add_request(struct pt_counted_access *to, unsigned space, uint32_t lanes,
                        uint64_t bytes)
{
    uint64_t n_lanes = (uint64_t)__builtin_popcount(lanes);
    /* Each word of a thread's local memory lies in another line. */
    to->requests += space == PT_COUNTED_LOCAL ? (bytes + 3) / 4 : 1;
    to->lanes += n_lanes;
    to->bytes += n_lanes * bytes;
}

static void add(const struct pt_event *e, unsigned space, uint32_t lanes,
                const struct pt_access *access)
{
    struct pt_counted_access *n = &count_of(e->warp->cta, e->func, e->insn)->spaces[space];
    uint64_t parts = n->parts;
    add_request(n, space, lanes, access->bytes);
    count_parts(n, e, space, lanes, access);
    pt_count_worst_keep(e, space, lanes, access, n->parts - parts);
}

/* ---- what the same instruction asked for before ---------------------------------------------- */

/* How far lanes' addresses are from the first one's, and how that lies in its sector, decides what
 * is counted: in loops it is mostly as it was the time before. */
static bool was_same(const struct pt_counted_last *last, const struct pt_frame *f,
                     const uint64_t *a, uint64_t first)
{
    uint64_t differ = 0;
    PT_LANES
    {
        uint64_t apart = (uint64_t)(int64_t)(int32_t)last->apart[i];
        differ |= ((a[i] - first) ^ apart) & (uint64_t)(int64_t)(int32_t)f->lanes[i];
    }
    return !differ;
}

static bool fits(const struct pt_frame *f, const uint64_t *a, uint64_t first)
{
    uint64_t far = 0;
    PT_LANES
    {
        far |= (a[i] - first + INT32_MAX) & (uint64_t)(int64_t)(int32_t)f->lanes[i];
    }
    return far <= UINT32_MAX;
}

static void keep(struct pt_counted_last *last, const struct pt_frame *f, const uint64_t *a,
                 uint64_t first)
{
    PT_LANES
    {
        last->apart[i] = (uint32_t)(a[i] - first) & f->lanes[i];
    }
}

static void add_again(const struct pt_event *e, unsigned space, const struct pt_access *access)
{
    const struct pt_frame *f = e->frame;
    const struct pt_counts *counts = e->warp->cta->launch->counts;
    uint32_t id = counts->first[e->func] + e->insn + 1;
    struct pt_counted_last *last =
        &counts->last[e->warp->cta->worker * PT_COUNTED_LASTS + id % PT_COUNTED_LASTS];
    struct pt_counted_access *n = &count_of(e->warp->cta, e->func, e->insn)->spaces[space];
    const uint64_t *a = access->address;
    uint64_t first = a[__builtin_ctz(f->mask)];
    if (last->id == id && last->lanes == f->mask && last->space == space &&
        last->start == first % 32 && was_same(last, f, a, first)) {
        add_request(n, space, f->mask, access->bytes);
        n->parts += last->parts;
        n->conflicts += last->conflicts;
        return;
    }
    bool is_near = space != PT_COUNTED_LOCAL && fits(f, a, first);
    uint64_t parts = n->parts, conflicts = n->conflicts;
    add(e, space, f->mask, access);
    *last = (struct pt_counted_last){.id = is_near ? id : 0,
                                     .lanes = f->mask,
                                     .space = space,
                                     .start = first % 32,
                                     .parts = (uint32_t)(n->parts - parts),
                                     .conflicts = (uint32_t)(n->conflicts - conflicts)};
    if (is_near)
        keep(last, f, a, first);
}

/* ---- spaces ---------------------------------------------------------------------------------- */

static void add_by_space(const struct pt_event *e, const struct pt_access *access)
{
    uint32_t of[PT_COUNTED_SPACES] = {0};
    for (uint32_t left = e->lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        of[pt_sectors_space(e->warp->cta, access->address[lane])] |= 1u << lane;
    }
    for (unsigned space = 0; space < PT_COUNTED_SPACES; space++)
        if (of[space] && of[space] == e->frame->mask)
            add_again(e, space, access);
        else if (of[space])
            add(e, space, of[space], access);
}

/* What handlers tell themselves. Copies name two spaces; the map of a tensor, which is no data, has
 * none. */
static bool see_access(const struct pt_event *e, const struct pt_access *access)
{
    bool is_map = access->is_async && access->space == PT_SPACE_GENERIC;
    if (access->space != PT_SPACE_PARAM && !is_map)
        add_by_space(e, access);
    return true;
}

PT_HANDLER(count_access)
{
    struct pt_code at = pt_address_code(c);
    uint64_t a[PT_WARP_SIZE];
    uint32_t outside;
    struct pt_access access = {
        .address = a, .bytes = UINT64_C(1) << (c->aux >> 8 & 15), .use = c->o[USE]};
    uint64_t any = pt_address_all(&at, f, pt_address_kind(c), a, &outside);
    struct pt_event e = {.warp = f->state->warp,
                         .func = f->body->index,
                         .insn = c->insn,
                         .lanes = f->mask,
                         .code = c,
                         .frame = f};
    if (any & (access.bytes - 1) || outside)
        return c + 1;
    if (c->o[SPACE] == PT_COUNTED_SPACES)
        add_by_space(&e, &access);
    else
        add_again(&e, c->o[SPACE], &access);
    return c + 1;
}

static bool place_access(struct pt_code *test, const struct pt_func *func, const void *facts,
                         const struct pt_form *form, bool is_write, uint32_t number)
{
    (void)facts;
    enum pt_address kind = pt_address_kind(test);
    (void)func;
    (void)number;
    bool is_param = kind >= PT_ADDRESS_PARAM && kind <= PT_ADDRESS_PARAM32;
    if (is_param || pt_form_space(form) == PT_SPACE_PARAM)
        return false;
    test->fn = count_access;
    test->o[SPACE] = pt_sectors_named_space(form);
    test->o[USE] = (is_write ? PT_USE_WRITE : PT_USE_READ) |
                   (form->effects & PT_FX_ATOMIC ? PT_USE_ATOMIC : 0);
    return true;
}

const struct pt_observer PT_LEVEL_NAME(pt_observer_count) = {.name = "count",
                                                             .access = see_access,
                                                             .texels = pt_count_texels_add,
                                                             .copies = pt_count_copies_add,
                                                             .place = place_access,
                                                             .place_instruction = place_count,
                                                             .analyse = find_leaders};
