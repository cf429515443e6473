/* Thread frontiers: where the lanes of an activation wait, and which of them run next.
 *
 * Among the blocks of an activation where lanes wait, the lowest-numbered runs, so lanes that
 * branch apart meet again at the earliest possible block. Among activations the deepest runs.
 *
 * Serial programs (PT_TEST_ORDER): the first lane that can run does, up to where it meets others,
 * its end or the back edge of a loop that waits for others. Where none can, those that wait to meet
 * others go on. With PT_TEST_TURNS a warp yields behind every access to memory
 * (pt_frontier_give_way), and at barriers.
 */
#include "backend/interp/frontier.h"
#include "backend/barrier.h"
#include "backend/interp/observe.h"
#include "backend/schedule.h"

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

void pt_frontier_wait(struct pt_frame *f, uint32_t block, uint32_t lanes)
{
    f->wait[block] |= lanes;
    set_bit(f->eligible, block);
    clear_bit(f->parked, block);
    clear_bit(f->aside, block);
    if (block < f->lowest)
        f->lowest = block;
}

void pt_frontier_park(struct pt_frame *f, uint32_t block, uint32_t lanes)
{
    f->wait[block] |= lanes;
    clear_bit(f->eligible, block);
    set_bit(f->parked, block);
    find_lowest(f);
}

void pt_frontier_set_aside(struct pt_frame *f, uint32_t block, uint32_t lanes)
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

void pt_frontier_clear(struct pt_frame *f, uint32_t block)
{
    clear_bit(f->eligible, block);
    clear_bit(f->parked, block);
    clear_bit(f->aside, block);
    find_lowest(f);
}

void pt_frontier_unpark(struct pt_state *s)
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
    pt_frontier_clear(f, block);
    return f->body->start[block];
}

/* Of lanes of a launch that has a schedule, the one of the highest rank. */
static uint32_t highest_lane(const struct pt_state *s, uint32_t lanes)
{
    uint32_t best = (uint32_t)__builtin_ctz(lanes);
    for (uint32_t left = lanes & (lanes - 1); left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        best = s->ranks[i] > s->ranks[best] ? i : best;
    }
    return UINT32_C(1) << best;
}

/* The one that runs before the others. */
static uint32_t first_lane(const struct pt_state *s, uint32_t lanes)
{
    if (s->warp->cta->launch->schedule)
        return highest_lane(s, lanes);
    return s->warp->cta->launch->is_reversed ? UINT32_C(1) << (31 - __builtin_clz(lanes))
                                             : lanes & -lanes;
}

/* One of the running lanes goes on, the others wait at `block`. */
static void part(struct pt_frame *f, uint32_t block)
{
    uint32_t first = first_lane(f->state, f->mask);
    if (f->mask == first)
        return;
    pt_frontier_wait(f, block, f->mask & ~first);
    pt_set_mask(f, first);
}

const struct pt_code *pt_frontier_goto(struct pt_frame *f, uint32_t block)
{
    if (f->state->is_serial) {
        part(f, block);
        return f->body->start[block];
    }
    if (block > f->lowest) {
        pt_frontier_wait(f, block, f->mask);
        return enter(f, f->lowest, 0);
    }
    return block == f->lowest ? enter(f, block, f->mask) : f->body->start[block];
}

const struct pt_code *pt_frontier_other(struct pt_frame *f)
{
    if (f == f->state->deepest && f->lowest != UINT32_MAX && !f->state->is_serial)
        return enter(f, f->lowest, 0);
    f->mask = 0;
    f->state->next = PT_NEXT_PICK;
    return NULL;
}

/* ---- choosing -------------------------------------------------------------------------------- */

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
        pt_frontier_clear(f, block);
    f->state->code = f->body->start[block];
    f->state->frame = f;
}

/* All lanes that wait to meet others there. */
static void enter_meeting(struct pt_frame *f, uint32_t block)
{
    f->state->code = enter(f, block, 0) + 1;
    f->state->frame = f;
}

/* Likewise of a serial program: the first lane that has not turned, or those of the first
 * meeting. */
static bool pick_lane(struct pt_state *s)
{
    struct pt_frame *at = NULL, *meeting = NULL;
    uint32_t block = 0, lane = 0, meeting_block = 0;
    for (struct pt_frame *f = s->deepest; f; f = f->shallower) {
        const uint32_t n_words = f->body->n_words;
        s->unbudgeted += n_words;
        for (uint32_t b = first_of(f->eligible, n_words, 0); b != UINT32_MAX;
             b = first_of(f->eligible, n_words, b + 1)) {
            uint32_t lanes = f->wait[b] & ~s->turned;
            bool is_meeting = f->body->start[b]->fn == pt_frontier_meet;
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

bool pt_frontier_pick(struct pt_state *s)
{
    return s->is_serial ? pick_lane(s) : pick(s) || (bring_back(s) && pick(s));
}

/* All running lanes wait at `block`, of a serial program. */
static const struct pt_code *wait_for_others(struct pt_frame *f, uint32_t block)
{
    pt_frontier_wait(f, block, f->mask);
    return pt_frontier_other(f);
}

const struct pt_code *pt_frontier_meet(const struct pt_code *c, struct pt_frame *f)
{
    return wait_for_others(f, c->o[0]);
}

const struct pt_code *pt_frontier_part(const struct pt_code *c, struct pt_frame *f)
{
    part(f, c->o[0]);
    return c + 1;
}

const struct pt_code *pt_frontier_turn(struct pt_frame *f, uint32_t block)
{
    struct pt_state *s = f->state;
    if (s->is_serial) {
        s->turned |= f->mask;
        return wait_for_others(f, block);
    }
    pt_frontier_wait(f, block, f->mask);
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

/* One more, of a launch that has a schedule. True if somebody falls behind now, or the launch is
 * over. */
static bool is_due(struct pt_schedule *schedule, const struct pt_frame *f)
{
    schedule->steps++;
    schedule->lane_steps += (uint32_t)__builtin_popcount(f->mask);
    return schedule->steps >= schedule->until;
}

/* It is the lanes that run, and not their warp. */
static bool falls_alone(struct pt_schedule *schedule, struct pt_frame *f, uint32_t lanes)
{
    schedule->has_stopped = schedule->steps >= schedule->end || !pt_schedule_is_of_lanes(schedule);
    if (!schedule->has_stopped)
        f->state->ranks[__builtin_ctz(lanes)] = (uint8_t)pt_schedule_fall(schedule);
    return !schedule->has_stopped;
}

const struct pt_code *pt_frontier_give_way(const struct pt_code *c, struct pt_frame *f)
{
    struct pt_schedule *schedule = f->cta->launch->schedule;
    uint32_t lanes = f->mask;
    bool goes_on = schedule && !is_due(schedule, f);
    if (pt_is_observed(f))
        pt_observe_accessed(c, f);
    if (goes_on)
        return pt_goto(f, c->o[0], f->body->start[c->o[0]]);
    pt_frontier_wait(f, c->o[0], lanes);
    f->mask = 0;
    if (!schedule || !falls_alone(schedule, f, lanes))
        return pt_stop(f->state, PT_RUN_YIELDED);
    f->state->next = PT_NEXT_PICK;
    return NULL;
}

const struct pt_code *pt_frontier_poll(struct pt_frame *f, uint32_t block)
{
    f->budget = f->body->budget;
    if (!atomic_load_explicit(&f->cta->launch->stop, memory_order_relaxed))
        return pt_goto(f, block, f->body->start[block]);
    pt_frontier_wait(f, block, f->mask);
    f->mask = 0;
    return pt_stop(f->state, PT_RUN_YIELDED);
}

static uint32_t parked_lanes(const struct pt_frame *f)
{
    uint32_t lanes = 0;
    for (uint32_t b = first_of(f->parked, f->body->n_words, 0); b != UINT32_MAX;
         b = first_of(f->parked, f->body->n_words, b + 1))
        lanes |= f->wait[b];
    return lanes;
}

enum pt_run pt_frontier_deadlock(struct pt_state *s)
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
