/* CTA and cluster barriers (PTX ISA, "bar, barrier" and "barrier.cluster"): arrivals are counted
 * in whole warps, and threads that have exited never hold up a barrier. */
#include "runtime/barrier.h"

#include <string.h>

#include "runtime/slot.h"

void pt_barrier_reset(struct pt_resident *r)
{
    for (uint32_t bars = r->used_bars; bars; bars &= bars - 1)
        memset(&r->cta.bar[__builtin_ctz(bars)], 0, sizeof r->cta.bar[0]);
    r->used_bars = 0;
}

static void next_phase(struct pt_barrier *bar)
{
    bar->result_popc = bar->popc;
    bar->result_of = bar->popc_of;
    bar->phase++;
    bar->arrived = bar->expected = bar->warps = bar->popc = bar->popc_of = 0;
    if (bar->partial)
        memset(bar->arrived_lanes, 0, sizeof bar->arrived_lanes);
    bar->partial = 0;
}

static void count_warp(struct pt_barrier *bar, const struct pt_warp *warp)
{
    bar->warps |= UINT32_C(1) << warp->index;
    bar->arrived += PT_WARP_SIZE;
}

/* Counts a warp whose lanes came one by one and are now all there. */
static void count_lanes(struct pt_barrier *bar, const struct pt_warp *warp)
{
    uint32_t bit = UINT32_C(1) << warp->index;
    if (!(bar->partial & bit) || (warp->live & ~bar->arrived_lanes[warp->index]))
        return;
    bar->arrived_lanes[warp->index] = 0;
    bar->partial &= ~bit;
    count_warp(bar, warp);
}

/* Without a count all warps that have not exited take part. A count is a count: exited threads
 * that it includes are waited for in vain, as on an H200. */
static bool is_complete(const struct pt_resident *r, const struct pt_barrier *bar)
{
    if (bar->expected == PT_BARRIER_ALL)
        return (r->live_mask & ~bar->warps) == 0;
    return bar->arrived >= bar->expected;
}

/* A CTA's part of the cluster barrier is complete when its live warps have arrived. */
static void complete_cluster(struct pt_slot *slot)
{
    for (uint32_t i = 0; i < slot->n_ctas; i++) {
        const struct pt_resident *r = &slot->ctas[i];
        if (r->live_mask & ~r->cta.bar[PT_CLUSTER_BARRIER].warps)
            return;
    }
    for (uint32_t i = 0; i < slot->n_ctas; i++) {
        next_phase(&slot->ctas[i].cta.bar[PT_CLUSTER_BARRIER]);
        slot->ctas[i].used_bars |= UINT32_C(1) << PT_CLUSTER_BARRIER;
    }
}

static void complete(struct pt_resident *r, uint32_t id)
{
    if (id == PT_CLUSTER_BARRIER)
        complete_cluster(r->slot);
    else if (is_complete(r, &r->cta.bar[id]))
        next_phase(&r->cta.bar[id]);
}

static bool refuse(struct pt_warp *warp, uint32_t mask, const char *detail)
{
    warp->fault.kind = PT_FAULT_BARRIER;
    warp->fault.lanes = mask;
    warp->fault.has_address = false;
    warp->fault.detail = detail;
    return false;
}

/* Settles the number of threads the phase waits for; the first arrival says it. None is another
 * number than that of all threads, as on an H200. */
static bool expect(struct pt_warp *warp, struct pt_barrier *bar, uint32_t mask, uint32_t expected)
{
    if (!bar->expected)
        bar->expected = expected;
    if (bar->expected != expected)
        return refuse(warp, mask, "the thread counts given for a barrier contradict each other");
    return true;
}

/* Few masks are neither none nor all; not every x86-64 counts bits by itself. */
static uint32_t count_bits(uint32_t mask)
{
    return !mask ? 0 : mask == UINT32_MAX ? PT_WARP_SIZE : (uint32_t)__builtin_popcount(mask);
}

bool pt_barrier_arrive(struct pt_warp *warp, uint32_t id, uint32_t mask, bool aligned,
                       uint32_t expected, uint32_t preds)
{
    struct pt_resident *r = pt_resident_of(warp->cta);
    if (id > PT_CLUSTER_BARRIER)
        return refuse(warp, mask, "a CTA has barriers 0 to 15");
    struct pt_barrier *bar = &r->cta.bar[id];
    r->used_bars |= UINT32_C(1) << id;
    r->slot->events++;
    if (!expect(warp, bar, mask, expected))
        return false;
    bar->popc += count_bits(preds & mask);
    bar->popc_of += count_bits(mask);
    uint32_t bit = UINT32_C(1) << warp->index;
    if (aligned || !((warp->live & ~mask) | (bar->partial & bit))) {
        count_warp(bar, warp);
    } else {
        bar->arrived_lanes[warp->index] |= mask;
        bar->partial |= bit;
        count_lanes(bar, warp);
    }
    complete(r, id);
    return true;
}

void pt_barrier_exited(struct pt_warp *warp)
{
    struct pt_resident *r = pt_resident_of(warp->cta);
    r->slot->events++;
    uint32_t bit = UINT32_C(1) << warp->index;
    if (!warp->live && (r->live_mask & bit)) {
        r->live_mask &= ~bit;
        if (--r->cta.live_warps == 0)
            r->slot->live_ctas--;
    }
    for (uint32_t bars = r->used_bars; bars; bars &= bars - 1) {
        uint32_t id = (uint32_t)__builtin_ctz(bars);
        struct pt_barrier *bar = &r->cta.bar[id];
        count_lanes(bar, warp);
        if (bar->warps)
            complete(r, id);
    }
    /* A CTA that never arrived may have been the last the cluster waited for. */
    if (r->slot->n_ctas > 1)
        complete_cluster(r->slot);
}
