/* The loop: running a warp until it exits, waits or yields, and the choice of what its lanes do
 * next.
 *
 * Thread frontiers: among the blocks of an activation where lanes wait, the lowest-numbered
 * runs, so lanes that branch apart meet again at the earliest possible block. Among activations
 * the deepest runs.
 *
 * Serial programs (PT_TEST_ORDER): the first lane that can run does, up to where it meets others, its end or the back edge of a
 * loop that waits for others. Where none can, those that wait to meet others go on. With PT_TEST_TURNS a warp yields behind every
 * access to memory (pt_loop_give_way), and at barriers.
 */
#include "backend/interp/async.h"
#include "backend/barrier.h"

/* ---- block sets ------------------------------------------------------------------------------ */

static uint32_t first_of(const uint64_t *set, uint32_t n_words, uint32_t from)
{
    for (uint32_t w = from / 64; w < n_words; w++) {
        uint64_t bits = set[w];
        if (w == from / 64)
            bits &= ~UINT64_C(0) << from % 64;
        if (bits)
            return w * 64 + (uint32_t)__builtin_ctzll(bits);
    }
    return UINT32_MAX;
}

static void set_bit(uint64_t *set, uint32_t block)
{
    set[block / 64] |= UINT64_C(1) << block % 64;
}

static void clear_bit(uint64_t *set, uint32_t block)
{
    set[block / 64] &= ~(UINT64_C(1) << block % 64);
}

static void find_lowest(struct pt_frame *f)
{
    f->lowest = first_of(f->eligible, f->body->n_words, 0);
}

void pt_loop_wait(struct pt_frame *f, uint32_t block, uint32_t lanes)
{
    f->wait[block] |= lanes;
    set_bit(f->eligible, block);
    clear_bit(f->parked, block);
    clear_bit(f->aside, block);
    if (block < f->lowest)
        f->lowest = block;
}

void pt_loop_park(struct pt_frame *f, uint32_t block, uint32_t lanes)
{
    f->wait[block] |= lanes;
    clear_bit(f->eligible, block);
    set_bit(f->parked, block);
    find_lowest(f);
}

void pt_loop_set_aside(struct pt_frame *f, uint32_t block, uint32_t lanes)
{
    f->wait[block] |= lanes;
    set_bit(f->aside, block);
}

/* False if there are none. */
static bool bring_back(struct pt_state *s)
{
    bool is_any = false;
    for (struct pt_frame *f = s->deepest; f; f = f->shallower) {
        uint64_t aside = 0;
        for (uint32_t w = 0; w < f->body->n_words; w++) {
            aside |= f->aside[w];
            f->eligible[w] |= f->aside[w];
            f->aside[w] = 0;
        }
        if (aside)
            find_lowest(f);
        is_any |= aside != 0;
    }
    return is_any;
}

void pt_loop_clear(struct pt_frame *f, uint32_t block)
{
    clear_bit(f->eligible, block);
    clear_bit(f->parked, block);
    clear_bit(f->aside, block);
    find_lowest(f);
}

void pt_loop_unpark(struct pt_state *s)
{
    for (struct pt_frame *f = s->deepest; f; f = f->shallower) {
        for (uint32_t w = 0; w < f->body->n_words; w++) {
            f->eligible[w] |= f->parked[w];
            f->parked[w] = 0;
        }
        find_lowest(f);
    }
}

/* Takes the lanes that wait at `block`; `with` run already and join them. */
static const struct pt_code *enter(struct pt_frame *f, uint32_t block, uint32_t with)
{
    pt_set_mask(f, f->wait[block] | with);
    f->wait[block] = 0;
    pt_loop_clear(f, block);
    return f->body->start[block];
}

/* The one that runs before the others. */
static uint32_t first_lane(const struct pt_state *s, uint32_t lanes)
{
    return s->warp->cta->launch->is_reversed ? UINT32_C(1) << (31 - __builtin_clz(lanes)) : lanes & -lanes;
}

/* One of the running lanes goes on, the others wait at `block`. */
static void part(struct pt_frame *f, uint32_t block)
{
    uint32_t first = first_lane(f->state, f->mask);
    if (f->mask == first)
        return;
    pt_loop_wait(f, block, f->mask & ~first);
    pt_set_mask(f, first);
}

const struct pt_code *pt_loop_goto(struct pt_frame *f, uint32_t block)
{
    if (f->state->is_serial) {
        part(f, block);
        return f->body->start[block];
    }
    if (block > f->lowest) {
        pt_loop_wait(f, block, f->mask);
        return enter(f, f->lowest, 0);
    }
    return block == f->lowest ? enter(f, block, f->mask) : f->body->start[block];
}

const struct pt_code *pt_loop_other(struct pt_frame *f)
{
    if (f == f->state->deepest && f->lowest != UINT32_MAX && !f->state->is_serial)
        return enter(f, f->lowest, 0);
    f->mask = 0;
    f->state->next = PT_NEXT_PICK;
    return NULL;
}

/* ---- activations ----------------------------------------------------------------------------- */

static void fill_constants(struct pt_frame *f)
{
    const struct pt_body *body = f->body;
    for (uint32_t k = 0; k < body->constants.n; k++) {
        const struct pt_constant *c = &body->constants.v[k];
        char *slot = (char *)f + c->offset;
        if (c->width == 0)
            memcpy(slot, &c->lo, 4);
        for (uint32_t i = 0; c->width && i < PT_WARP_SIZE; i++) {
            memcpy(slot + i * c->width, &c->lo, c->width < 8 ? c->width : 8);
            if (c->width == 16)
                memcpy(slot + 16 * i + 8, &c->hi, 8);
        }
    }
}

/* Makes the memory at `f` a frame of `body`; constants stay from the last time if it was the
 * same function. */
static void shape_frame(struct pt_frame *f, const struct pt_body *body, bool is_fresh)
{
    bool is_same = !is_fresh && f->body == body;
    f->body = body;
    f->wait = (uint32_t *)((char *)f + body->wait_offset);
    f->eligible = (uint64_t *)((char *)f + body->set_offset);
    f->parked = f->eligible + body->n_words;
    f->aside = f->parked + body->n_words;
    if (!is_same)
        fill_constants(f);
    memset(f->wait, 0, body->n_blocks * sizeof *f->wait);
    memset(f->eligible, 0, body->n_words * 24);
    f->mask = f->live = 0;
    f->lowest = UINT32_MAX;
    f->budget = body->budget;
    f->carry = 0;
}

struct pt_frame *pt_loop_frame(struct pt_frame *caller, const struct pt_body *body)
{
    struct pt_state *s = caller->state;
    struct pt_frame *f = s->free;
    bool is_fresh = !f;
    if (f)
        s->free = f->shallower;
    else if (s->used < s->program->n_callees)
        f = (struct pt_frame *)(s->callees + (size_t)s->used++ * s->program->callee_bytes);
    else
        return NULL;
    shape_frame(f, body, is_fresh);
    f->shared = caller->shared;
    f->params = caller->params;
    f->local0 = caller->local0;
    f->local_stride = caller->local_stride;
    f->state = s;
    f->cta = caller->cta;
    f->caller = caller;
    f->depth = caller->depth + 1;
    struct pt_frame *at = s->deepest, *above = NULL;
    while (at && at->depth > f->depth) {
        above = at;
        at = at->shallower;
    }
    f->deeper = above;
    f->shallower = at;
    if (at)
        at->deeper = f;
    if (above)
        above->shallower = f;
    else
        s->deepest = f;
    return f;
}

void pt_loop_drop(struct pt_frame *f)
{
    struct pt_state *s = f->state;
    if (f->cta->async)
        pt_async_forget(f);
    if (f->deeper)
        f->deeper->shallower = f->shallower;
    else
        s->deepest = f->shallower;
    if (f->shallower)
        f->shallower->deeper = f->deeper;
    f->shallower = s->free;
    s->free = f;
}

void pt_loop_prepare(const struct pt_launch *launch, struct pt_warp *warp)
{
    const struct pt_interp_program *p = (const struct pt_interp_program *)launch->program;
    struct pt_state *s = pt_state_of(warp);
    memset(s, 0, sizeof *s);
    s->warp = warp;
    s->program = p;
    s->is_serial = p->base.tests & PT_TEST_ORDER;
    s->entry = (struct pt_frame *)((char *)s + ((sizeof *s + 63) & ~(size_t)63));
    s->callees = (uint8_t *)s->entry + p->entry_bytes;
    struct pt_frame *f = s->entry;
    memset(f, 0, sizeof *f);
    shape_frame(f, p->bodies[p->base.kernel], true);
    f->state = s;
    f->params = launch->params;
    f->local_stride = launch->local_stride;
    for (int i = 0; i < PT_WARP_SIZE; i++)
        f->top[i] = f->body->local_bytes;
}

void pt_loop_start(struct pt_warp *warp)
{
    struct pt_state *s = pt_state_of(warp);
    struct pt_frame *f = s->entry;
    const struct pt_body *body = f->body;
    s->warp = warp;
    /* What an earlier CTA left behind: nothing after a normal end. */
    if (f->live || s->n_groups) {
        shape_frame(f, body, false);
        s->n_groups = s->used = 0;
        s->free = NULL;
    }
    s->deepest = f;
    f->shallower = f->deeper = NULL;
    f->cta = warp->cta;
    f->shared = warp->cta->shared;
    f->local0 = warp->cta->local + (uint64_t)warp->index * PT_WARP_SIZE * f->local_stride;
    f->live = warp->live;
    if (s->program->is_unbounded)
        for (int i = 0; i < PT_WARP_SIZE; i++)
            f->top[i] = body->local_bytes;
    f->budget = body->budget;
    f->lowest = UINT32_MAX;
    f->carry = 0;
    pt_set_mask(f, warp->live);
    s->turned = 0;
    s->frame = f;
    s->code = body->start[0];
    s->next = PT_NEXT_FRAME;
}

/* ---- choosing -------------------------------------------------------------------------------- */

/* Moves lanes whose barrier phase is over to the blocks where they go on. */
static bool release_groups(struct pt_state *s)
{
    bool is_any = false;
    for (uint32_t i = 0; i < s->n_groups;) {
        struct pt_group *g = &s->groups[i];
        if (s->warp->cta->bar[g->bar].phase == g->phase) {
            i++;
            continue;
        }
        pt_ctl_barrier_result(g);
        pt_loop_wait(g->frame, g->block, g->mask);
        *g = s->groups[--s->n_groups];
        is_any = true;
    }
    return is_any;
}

/* The common case: all of the warp waited for one barrier, whose phase is over. */
static bool release_warp(struct pt_state *s)
{
    const struct pt_group *g = &s->groups[0];
    struct pt_frame *f = g->frame;
    if (s->n_groups != 1 || s->is_serial || g->mask != s->warp->live || f->cta->bar[g->bar].phase == g->phase)
        return false;
    pt_ctl_barrier_result(g);
    pt_set_mask(f, g->mask);
    s->n_groups = 0;
    s->frame = f;
    s->code = f->body->start[g->block];
    return true;
}

static bool pick(struct pt_state *s)
{
    for (struct pt_frame *f = s->deepest; f; f = f->shallower) {
        if (f->lowest == UINT32_MAX)
            continue;
        s->code = enter(f, f->lowest, 0);
        s->frame = f;
        return true;
    }
    return false;
}

/* Takes one of the lanes that wait at `block`. */
static void enter_lane(struct pt_frame *f, uint32_t block, uint32_t lane)
{
    pt_set_mask(f, lane);
    f->wait[block] &= ~lane;
    if (!f->wait[block])
        pt_loop_clear(f, block);
    f->state->code = f->body->start[block];
    f->state->frame = f;
}

/* All lanes that wait to meet others there. */
static void enter_meeting(struct pt_frame *f, uint32_t block)
{
    f->state->code = enter(f, block, 0) + 1;
    f->state->frame = f;
}

/* Likewise of a serial program: the first lane that has not turned, or those of the first meeting. */
static bool pick_lane(struct pt_state *s)
{
    struct pt_frame *at = NULL, *meeting = NULL;
    uint32_t block = 0, lane = 0, meeting_block = 0;
    for (struct pt_frame *f = s->deepest; f; f = f->shallower) {
        const uint32_t n_words = f->body->n_words;
        s->unbudgeted += n_words;
        for (uint32_t b = first_of(f->eligible, n_words, 0); b != UINT32_MAX; b = first_of(f->eligible, n_words, b + 1)) {
            uint32_t lanes = f->wait[b] & ~s->turned;
            bool is_meeting = f->body->start[b]->fn == pt_loop_meet;
            if (lanes && is_meeting && !meeting) {
                meeting = f;
                meeting_block = b;
            } else if (lanes && !is_meeting && first_lane(s, lanes | lane) != lane) {
                at = f;
                block = b;
                lane = first_lane(s, lanes);
            }
        }
    }
    if (at)
        enter_lane(at, block, lane);
    else if (meeting)
        enter_meeting(meeting, meeting_block);
    return at || meeting;
}

/* All running lanes wait at `block`, of a serial program. */
static const struct pt_code *wait_for_others(struct pt_frame *f, uint32_t block)
{
    pt_loop_wait(f, block, f->mask);
    return pt_loop_other(f);
}

const struct pt_code *pt_loop_meet(const struct pt_code *c, struct pt_frame *f)
{
    return wait_for_others(f, c->o[0]);
}

const struct pt_code *pt_loop_part(const struct pt_code *c, struct pt_frame *f)
{
    part(f, c->o[0]);
    return c + 1;
}

const struct pt_code *pt_loop_turn(struct pt_frame *f, uint32_t block)
{
    struct pt_state *s = f->state;
    if (s->is_serial) {
        s->turned |= f->mask;
        return wait_for_others(f, block);
    }
    pt_loop_wait(f, block, f->mask);
    f->mask = 0;
    bring_back(s);
    /* The next in the order (activation, block) behind this one, if there is any: a round ends
     * where there is none. */
    uint32_t next = first_of(f->eligible, f->body->n_words, block + 1);
    for (struct pt_frame *at = f; at; at = at->shallower) {
        if (at != f)
            next = at->lowest;
        if (next == UINT32_MAX)
            continue;
        s->code = enter(at, next, 0);
        s->frame = at;
        s->next = PT_NEXT_FRAME;
        return at == f ? s->code : NULL;
    }
    s->next = PT_NEXT_STOP;
    s->run = PT_RUN_YIELDED;
    return NULL;
}

const struct pt_code *pt_loop_give_way(const struct pt_code *c, struct pt_frame *f)
{
    pt_loop_wait(f, c->o[0], f->mask);
    f->mask = 0;
    return pt_stop(f->state, PT_RUN_YIELDED);
}

const struct pt_code *pt_loop_poll(struct pt_frame *f, uint32_t block)
{
    f->budget = f->body->budget;
    if (!atomic_load_explicit(&f->cta->launch->stop, memory_order_relaxed))
        return pt_goto(f, block, f->body->start[block]);
    pt_loop_wait(f, block, f->mask);
    f->mask = 0;
    return pt_stop(f->state, PT_RUN_YIELDED);
}

/* ---- ends ------------------------------------------------------------------------------------ */

const struct pt_code *pt_fail(const struct pt_code *c, struct pt_frame *f, enum pt_fault_kind kind,
                              uint32_t lanes, const char *detail)
{
    f->state->warp->fault = (struct pt_fault){
        .kind = kind, .func = f->body->index, .insn = c->insn, .lanes = lanes, .detail = detail};
    return pt_stop(f->state, PT_RUN_FAULT);
}

static uint32_t parked_lanes(const struct pt_frame *f)
{
    uint32_t lanes = 0;
    for (uint32_t b = first_of(f->parked, f->body->n_words, 0); b != UINT32_MAX;
         b = first_of(f->parked, f->body->n_words, b + 1))
        lanes |= f->wait[b];
    return lanes;
}

/* Nothing can run, and no barrier is waited for: every lane left waits for lanes that wait
 * elsewhere. */
static enum pt_run deadlock(struct pt_state *s)
{
    for (const struct pt_frame *f = s->deepest; f; f = f->shallower) {
        uint32_t b = first_of(f->parked, f->body->n_words, 0);
        if (b == UINT32_MAX)
            continue;
        s->warp->fault = (struct pt_fault){.kind = PT_FAULT_DEADLOCK,
                                           .func = f->body->index,
                                           .insn = f->body->start[b]->insn,
                                           .lanes = parked_lanes(f),
                                           .detail = PT_PARTED_LANES};
        break;
    }
    return PT_RUN_FAULT;
}

const struct pt_code *pt_loop_outside(struct pt_state *s)
{
    struct pt_warp *warp = s->warp;
    warp->wait_bar = PT_NO_BARRIER;
    if (s->n_groups == 1) {
        warp->wait_bar = s->groups[0].bar;
        warp->wait_phase = s->groups[0].phase;
    }
    return pt_stop(s, PT_RUN_WAITING);
}

bool pt_loop_is_stopped(struct pt_state *s)
{
    if (s->unbudgeted < PT_CODES_UNTIL_POLL)
        return false;
    s->unbudgeted = 0;
    return atomic_load_explicit(&s->warp->cta->launch->stop, memory_order_relaxed);
}

/* Lanes have turned, and no other can run: they may again, when others of the warp's CTA have. */
static void end_round(struct pt_state *s)
{
    s->turned = 0;
    s->run = PT_RUN_YIELDED;
}

/* Chooses what runs next. Returns false if nothing can: s->run then says why. */
static bool choose(struct pt_state *s, bool is_resumed)
{
    /* Where warps take turns, the last one at a barrier does not go on first. */
    if (s->n_groups && (is_resumed || !(s->program->base.tests & PT_TEST_TURNS))) {
        if (release_warp(s))
            return true;
        release_groups(s);
    }
    if (pt_loop_is_stopped(s)) {
        s->run = PT_RUN_YIELDED;
        return false;
    }
    if (s->is_serial ? pick_lane(s) : pick(s) || (bring_back(s) && pick(s)))
        return true;
    if (s->turned & s->warp->live)
        end_round(s);
    else if (s->n_groups)
        pt_loop_outside(s);
    else
        s->run = s->warp->live ? deadlock(s) : PT_RUN_EXITED;
    s->next = PT_NEXT_PICK;
    return false;
}

enum pt_run pt_loop_resume(struct pt_warp *warp)
{
    struct pt_state *s = pt_state_of(warp);
    for (bool is_resumed = true;; is_resumed = false) {
        if (s->next == PT_NEXT_PICK && !choose(s, is_resumed))
            return s->run;
        struct pt_frame *f = s->frame;
        const struct pt_code *c = s->code;
        s->next = PT_NEXT_PICK;
        do
            c = c->fn(c, f);
        while (c);
        if (s->next == PT_NEXT_STOP) {
            s->next = PT_NEXT_PICK;
            return s->run;
        }
    }
}

void pt_loop_places(const struct pt_warp *warp,
                    void (*report)(void *ud, uint32_t func, uint32_t insn, uint32_t lanes,
                                   uint32_t bar),
                    void *ud)
{
    const struct pt_state *s = pt_state_of(warp);
    for (uint32_t i = 0; i < s->n_groups; i++) {
        const struct pt_group *g = &s->groups[i];
        const struct pt_code *c = g->code ? g->code : g->frame->body->start[g->block];
        report(ud, g->frame->body->index, c->insn, g->mask, g->bar);
    }
    for (const struct pt_frame *f = s->deepest; f; f = f->shallower)
        for (uint32_t b = 0; b < f->body->n_blocks; b++)
            if (f->wait[b])
                report(ud, f->body->index, f->body->start[b]->insn, f->wait[b], UINT32_MAX);
}

/* Lanes whose access is misaligned besides. Handlers find that out behind their loads, others before; instructions of a warp have
 * addresses that they do not use. */
static uint32_t misaligned_lanes(struct pt_state *s, uint64_t *first)
{
    const struct pt_insn *insn = &s->frame->body->func->insns.v[s->code->insn];
    bool is_of_warp = pt_insn_form(s->program->base.image->module, insn)->effects & PT_FX_WARP;
    return s->acting || is_of_warp ? 0 : pt_mem_misaligned_lanes(s->code, s->frame, first);
}

void pt_loop_locate(struct pt_warp *warp, uint64_t address)
{
    struct pt_state *s = pt_state_of(warp);
    struct pt_frame *f = s->frame;
    uint64_t first = address;
    uint32_t misaligned = misaligned_lanes(s, &first);
    uint32_t lanes = misaligned  ? misaligned
                     : s->acting ? s->acting
                                 : pt_mem_locate(s->code, f, address, &first);
    warp->fault = (struct pt_fault){.kind = misaligned ? PT_FAULT_MISALIGNED : PT_FAULT_ILLEGAL_ADDRESS,
                                    .func = f->body->index,
                                    .insn = s->code->insn,
                                    .lanes = lanes,
                                    .has_address = first != PT_ADDRESS_UNKNOWN,
                                    .address = first};
}
