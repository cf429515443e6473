/* Where the lanes of a warp stand: what native code calls between two regions. */
#include "backend/jit/object/frontier.h"

#include <string.h>

#include "backend/barrier.h"

/* ---- lanes come ------------------------------------------------------------------------------ */

static struct jit_stand *come(struct jit_front *front, uint32_t stand, uint64_t place)
{
    struct jit_stand *s = &front->stands[stand];
    s->func = (uint32_t)(place >> 32);
    s->insn = (uint32_t)place;
    return s;
}

void jit_help_stand(struct jit_front *front, uint32_t stand, uint64_t place, uint32_t lanes,
                    uint32_t is_turn)
{
    struct jit_stand *s = come(front, stand, place);
    if (is_turn)
        s->turned |= lanes;
    else
        s->ready |= lanes;
}

void jit_help_hold(struct jit_front *front, uint32_t stand, uint64_t place, uint32_t lanes,
                   uint32_t sync, uint32_t number, uint32_t given, uint32_t preds,
                   const uint32_t *members)
{
    struct jit_stand *s = come(front, stand, place);
    s->held |= lanes;
    s->sync = sync;
    s->number = number;
    s->given = given;
    s->preds = (s->preds & ~lanes) | (preds & lanes);
    s->members = members;
}

uint32_t jit_help_agreed(const uint32_t *elements, uint32_t lanes, uint32_t bits)
{
    uint32_t first = elements[__builtin_ctz(lanes)] & bits;
    for (uint32_t left = lanes; left; left &= left - 1)
        if ((elements[__builtin_ctz(left)] & bits) != first)
            return JIT_DIFFERS;
    return first;
}

void jit_help_exit(struct pt_warp *warp, uint32_t lanes)
{
    warp->live &= ~lanes;
    warp->cta->launch->services->exited(warp);
}

/* ---- those who wait for each other have come to a sync point --------------------------------- */

static bool fail(struct pt_warp *warp, const struct jit_stand *s, enum pt_fault_kind kind,
                 const char *detail)
{
    warp->fault = (struct pt_fault){
        .kind = kind, .func = s->func, .insn = s->insn, .lanes = s->held, .detail = detail};
    warp->cta->stepping = warp;
    return false;
}

static enum jit_sync kind_of(const struct jit_stand *s)
{
    return (enum jit_sync)(s->sync & JIT_SYNC_KINDS);
}

static bool arrive(struct pt_warp *warp, struct jit_stand *s, uint32_t bar, uint32_t count,
                   uint32_t preds)
{
    s->bar = bar;
    s->phase = warp->cta->bar[bar].phase;
    if (warp->cta->launch->services->arrive(warp, bar, s->held, !(s->sync & JIT_SYNC_UNALIGNED),
                                            count, preds))
        return true;
    warp->fault.func = s->func;
    warp->fault.insn = s->insn;
    warp->cta->stepping = warp;
    return false;
}

static bool arrive_at_cta(struct pt_warp *warp, struct jit_stand *s)
{
    uint32_t count = pt_barrier_count(s->given, kind_of(s) == JIT_SYNC_ARRIVE);
    if ((s->number | s->given) & JIT_DIFFERS)
        return fail(warp, s, PT_FAULT_BARRIER, PT_BARRIER_DIFFERS);
    if (!count)
        return fail(warp, s, PT_FAULT_BARRIER, PT_BARRIER_BAD_COUNT);
    return arrive(warp, s, s->number & PT_BARRIER_NUMBER_BITS, count, s->preds);
}

/* Lanes wait that have arrived in the phase that runs; for others that of their last arrival is
 * over. */
static uint32_t waiting_for_cluster(const struct pt_warp *warp, struct jit_stand *s)
{
    const struct pt_barrier *bar = &warp->cta->bar[PT_CLUSTER_BARRIER];
    bool is_counted = bar->warps >> warp->index & 1;
    s->bar = PT_CLUSTER_BARRIER;
    s->phase = bar->phase;
    return s->held & (is_counted ? UINT32_MAX : bar->arrived_lanes[warp->index]);
}

/* All that are held have come to the barrier. False on a fault. */
static bool settle_barrier(struct pt_warp *warp, struct jit_stand *s)
{
    bool is_good = true;
    uint32_t waiting = 0;
    switch (kind_of(s)) {
    case JIT_SYNC_BARRIER:
    case JIT_SYNC_ARRIVE:
        is_good = arrive_at_cta(warp, s);
        waiting = kind_of(s) == JIT_SYNC_BARRIER ? s->held : 0;
        break;
    case JIT_SYNC_CLUSTER_ARRIVE:
        is_good = arrive(warp, s, PT_CLUSTER_BARRIER, PT_BARRIER_ALL, 0);
        break;
    case JIT_SYNC_CLUSTER_WAIT:
        waiting = waiting_for_cluster(warp, s);
        break;
    default:
        break;
    }
    if (!is_good)
        return false;
    s->waiting |= waiting;
    s->ready |= s->held & ~waiting;
    s->held = 0;
    return true;
}

/* Lanes held at the stand that name `members`. */
static uint32_t naming(const struct jit_stand *s, uint32_t members)
{
    uint32_t lanes = 0;
    for (uint32_t left = s->held; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        lanes |= (uint32_t)(s->members[lane] == members) << lane;
    }
    return lanes;
}

static uint32_t strangers(const struct jit_stand *s)
{
    uint32_t lanes = 0;
    for (uint32_t left = s->held; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        lanes |= (~s->members[lane] >> lane & 1) << lane;
    }
    return lanes;
}

/* Lanes that name the same and wait at any bar.warp.sync. With `go` they go on. */
static uint32_t naming_anywhere(struct jit_front *front, uint32_t members, bool go)
{
    uint32_t all = 0;
    for (uint32_t i = 0; i < front->n; i++) {
        struct jit_stand *s = &front->stands[i];
        uint32_t lanes =
            s->held && (s->sync & JIT_SYNC_ANYWHERE) && s->members ? naming(s, members) : 0;
        all |= lanes;
        if (!go)
            continue;
        s->ready |= lanes;
        s->held &= ~lanes;
    }
    return all;
}

/* All live lanes of the warp are there and name the same: an H200 tests the mask only where lanes
 * may have parted. */
static bool is_whole_group(const struct pt_warp *warp, const struct jit_stand *s)
{
    return s->held == warp->live && naming(s, s->members[__builtin_ctz(s->held)]) == s->held;
}

/* Lanes go on of which each names the same and all that are named have come; one such group at a
 * time, or all together. */
static bool settle_members(struct pt_warp *warp, struct jit_front *front, struct jit_stand *s)
{
    if (!is_whole_group(warp, s) && strangers(s)) {
        s->held = strangers(s);
        return fail(warp, s, PT_FAULT_MASK, PT_STRANGERS);
    }
    for (uint32_t left = s->ready ? 0 : s->held; left;) {
        uint32_t members = s->members[__builtin_ctz(left)], group = naming(s, members);
        bool is_anywhere = s->sync & JIT_SYNC_ANYWHERE;
        uint32_t come = is_anywhere ? naming_anywhere(front, members, false) : group;
        left &= ~group;
        if (members & warp->live & ~come)
            continue;
        if (is_anywhere)
            naming_anywhere(front, members, true);
        s->held &= ~group;
        s->ready |= group;
        if (!(s->sync & JIT_SYNC_TOGETHER))
            break;
    }
    return true;
}

static bool settle_all(struct pt_warp *warp, struct jit_front *front)
{
    for (uint32_t i = 0; i < front->n; i++) {
        struct jit_stand *s = &front->stands[i];
        bool is_each = s->sync & JIT_SYNC_EACH, is_good = true;
        if (s->held && is_each && kind_of(s) == JIT_SYNC_WARP)
            is_good = settle_members(warp, front, s);
        else if (s->held && (is_each || !(warp->live & ~s->held)))
            is_good = settle_barrier(warp, s);
        if (!is_good)
            return false;
    }
    return true;
}

/* ---- who is next ----------------------------------------------------------------------------- */

static void release(const struct pt_warp *warp, struct jit_front *front)
{
    for (uint32_t i = 0; i < front->n; i++) {
        struct jit_stand *s = &front->stands[i];
        const struct pt_barrier *bar = &warp->cta->bar[s->bar];
        if (!s->waiting || bar->phase == s->phase)
            continue;
        s->ready |= s->waiting;
        s->waiting = 0;
        s->votes[0] = bar->result_popc;
        s->votes[1] = bar->result_of;
    }
}

static uint32_t first_ready(const struct jit_front *front)
{
    uint32_t i = 0;
    while (i < front->n && !front->stands[i].ready)
        i++;
    return i;
}

/* Those that let others go first may go on when the warp is resumed. */
static bool end_turn(struct jit_front *front)
{
    uint32_t any = 0;
    for (uint32_t i = 0; i < front->n; i++) {
        struct jit_stand *s = &front->stands[i];
        any |= s->turned;
        s->ready |= s->turned;
        s->turned = 0;
    }
    return any;
}

/* No lane can go on: all wait at barriers, or for each other. */
static enum pt_run stop(struct pt_warp *warp, const struct jit_front *front)
{
    const struct jit_stand *waiting = NULL, *held = NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; i < front->n; i++) {
        const struct jit_stand *s = &front->stands[i];
        held = s->held ? s : held;
        waiting = s->waiting ? s : waiting;
        n += s->waiting != 0;
    }
    if (!waiting)
        fail(warp, held, PT_FAULT_DEADLOCK, PT_PARTED_LANES);
    if (!waiting)
        return PT_RUN_FAULT;
    warp->wait_bar = n == 1 ? waiting->bar : PT_NO_BARRIER;
    warp->wait_phase = waiting->phase;
    return PT_RUN_WAITING;
}

void jit_help_start(struct jit_front *front, uint32_t n)
{
    front->is_started = 1;
    front->n = n;
}

uint32_t jit_help_next(struct pt_warp *warp, struct jit_front *front)
{
    if (!warp->live)
        return JIT_LEAVES + PT_RUN_EXITED;
    release(warp, front);
    if (!settle_all(warp, front))
        return JIT_LEAVES + PT_RUN_FAULT;
    release(warp, front);
    uint32_t next = first_ready(front);
    if (next == front->n)
        return JIT_LEAVES + (end_turn(front) ? PT_RUN_YIELDED : stop(warp, front));
    struct jit_stand *s = &front->stands[next];
    front->lanes = s->ready | s->turned;
    memcpy(front->votes, s->votes, sizeof front->votes);
    s->ready = s->turned = 0;
    return next;
}

/* ---- for reports ----------------------------------------------------------------------------- */

void jit_frontier_report(const struct jit_front *front,
                         void (*report)(void *ud, uint32_t func, uint32_t insn, uint32_t lanes,
                                        uint32_t bar),
                         void *ud)
{
    for (uint32_t i = 0; i < front->n; i++) {
        const struct jit_stand *s = &front->stands[i];
        uint32_t others = s->ready | s->turned | s->held;
        if (s->waiting)
            report(ud, s->func, s->insn, s->waiting, s->bar);
        if (others)
            report(ud, s->func, s->insn, others, UINT32_MAX);
    }
}
