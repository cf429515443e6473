/* Where the lanes of a warp stand: what native code calls between two regions. */
#include "backend/jit/front.h"
#include "backend/barrier.h"
#include "backend/jit/helper.h"

/* ---- lanes come ---------------------------------------------------------------------------------------- */

static struct jit_stand *come(struct jit_front *front, uint32_t stand, uint64_t place)
{
    struct jit_stand *s = &front->stands[stand];
    s->func = (uint32_t)(place >> 32);
    s->insn = (uint32_t)place;
    return s;
}

void jit_help_stand(struct jit_front *front, uint32_t stand, uint64_t place, uint32_t lanes, uint32_t is_turn)
{
    struct jit_stand *s = come(front, stand, place);
    if (is_turn)
        s->turned |= lanes;
    else
        s->ready |= lanes;
}

void jit_help_hold(struct jit_front *front, uint32_t stand, uint64_t place, uint32_t lanes, uint32_t sync, uint32_t bar,
                   uint32_t given, uint32_t preds)
{
    struct jit_stand *s = come(front, stand, place);
    s->held |= lanes;
    s->sync = sync & 0xff;
    s->is_unaligned = sync >> 8;
    s->bar = bar;
    s->given = given;
    s->preds = (s->preds & ~lanes) | (preds & lanes);
}

void jit_help_exit(struct pt_warp *warp, uint32_t lanes)
{
    warp->live &= ~lanes;
    warp->cta->launch->services->exited(warp);
}

/* ---- all of a warp have come to a sync point ------------------------------------------------------------- */

static bool fail(struct pt_warp *warp, const struct jit_stand *s, enum pt_fault_kind kind, const char *detail)
{
    warp->fault =
        (struct pt_fault){.kind = kind, .func = s->func, .insn = s->insn, .lanes = s->held, .detail = detail};
    warp->cta->stepping = warp;
    return false;
}

static bool arrive(struct pt_warp *warp, struct jit_stand *s, uint32_t bar, uint32_t count, uint32_t preds)
{
    s->bar = bar;
    s->phase = warp->cta->bar[bar].phase;
    if (warp->cta->launch->services->arrive(warp, bar, s->held, !s->is_unaligned, count, preds))
        return true;
    warp->fault.func = s->func;
    warp->fault.insn = s->insn;
    warp->cta->stepping = warp;
    return false;
}

static bool arrive_at_cta(struct pt_warp *warp, struct jit_stand *s)
{
    uint32_t count = pt_barrier_count(s->given, s->sync == JIT_SYNC_ARRIVE);
    if (!count)
        return fail(warp, s, PT_FAULT_ILLEGAL_INSTRUCTION, PT_BARRIER_BAD_COUNT);
    return arrive(warp, s, s->bar & PT_BARRIER_NUMBER_BITS, count, s->preds);
}

/* The warp has arrived in the phase that runs; else that of its last arrival is over. */
static bool waits_for_cluster(const struct pt_warp *warp, struct jit_stand *s)
{
    const struct pt_barrier *bar = &warp->cta->bar[PT_CLUSTER_BARRIER];
    s->bar = PT_CLUSTER_BARRIER;
    s->phase = bar->phase;
    return bar->warps >> warp->index & 1;
}

/* False on a fault. */
static bool settle(struct pt_warp *warp, struct jit_stand *s)
{
    bool waits = false;
    switch ((enum jit_sync)s->sync) {
    case JIT_SYNC_BARRIER:
    case JIT_SYNC_ARRIVE:
        if (!arrive_at_cta(warp, s))
            return false;
        waits = s->sync == JIT_SYNC_BARRIER;
        break;
    case JIT_SYNC_CLUSTER_ARRIVE:
        if (!arrive(warp, s, PT_CLUSTER_BARRIER, PT_BARRIER_ALL, 0))
            return false;
        break;
    case JIT_SYNC_CLUSTER_WAIT:
        waits = waits_for_cluster(warp, s);
        break;
    case JIT_SYNC_NONE:
    case JIT_SYNC_WARP:
        break;
    }
    *(waits ? &s->waiting : &s->ready) |= s->held;
    s->held = 0;
    return true;
}

static bool settle_all(struct pt_warp *warp, struct jit_front *front)
{
    for (uint32_t i = 0; i < front->n; i++) {
        struct jit_stand *s = &front->stands[i];
        if (s->held && !(warp->live & ~s->held) && !settle(warp, s))
            return false;
    }
    return true;
}

/* ---- who is next --------------------------------------------------------------------------------------- */

static void release(struct pt_warp *warp, struct jit_front *front)
{
    for (uint32_t i = 0; i < front->n; i++) {
        struct jit_stand *s = &front->stands[i];
        const struct pt_barrier *bar = &warp->cta->bar[s->bar];
        if (!s->waiting || bar->phase == s->phase)
            continue;
        s->ready |= s->waiting;
        s->waiting = 0;
        front->votes[0] = bar->result_popc;
        front->votes[1] = bar->result_of;
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

static void start(const struct pt_warp *warp, struct jit_front *front, uint32_t n)
{
    front->is_started = 1;
    front->n = n;
    front->stands[0].ready = warp->live;
}

uint32_t jit_help_next(struct pt_warp *warp, struct jit_front *front, uint32_t n)
{
    if (!front->is_started)
        start(warp, front, n);
    if (!warp->live)
        return JIT_LEAVES + PT_RUN_EXITED;
    if (!settle_all(warp, front))
        return JIT_LEAVES + PT_RUN_FAULT;
    release(warp, front);
    uint32_t next = first_ready(front);
    if (next == n)
        return JIT_LEAVES + (end_turn(front) ? PT_RUN_YIELDED : stop(warp, front));
    struct jit_stand *s = &front->stands[next];
    front->lanes = s->ready | s->turned;
    s->ready = s->turned = 0;
    return next;
}

/* ---- for reports --------------------------------------------------------------------------------------- */

void jit_front_places(const struct jit_front *front,
                      void (*report)(void *ud, uint32_t func, uint32_t insn, uint32_t lanes, uint32_t bar), void *ud)
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
