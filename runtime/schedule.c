/* Launches that have a schedule: which warps run. */
#include "runtime/schedule.h"

#include <string.h>

/* Warps that are resident at once, in whole clusters: the more, the longer it takes to find the
 * highest. */
enum { RESIDENT_WARPS = 1024 };
/* A launch is given up after so many times its usual steps, and these. */
enum { STEPS_TIMES = 20, STEPS_MORE = 1000000 };
/* wait_bar of a warp that waits at several barriers: until slot->events is not wait_phase. */
enum { SEVERAL_BARRIERS = PT_NO_BARRIER + 1 };

static void sort(uint64_t *v, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k > 0 && v[k - 1] > v[k]; k--) {
            uint64_t one = v[k];
            v[k] = v[k - 1];
            v[k - 1] = one;
        }
}

void pt_schedule_begin(struct pt_schedule *s, uint64_t seed, unsigned depth, uint64_t steps,
                       bool is_given_up)
{
    memset(s, 0, sizeof *s);
    s->seed = seed;
    s->is_apart = seed % 2;
    s->n_changes = seed && depth ? depth - 1 : 0;
    for (uint32_t i = 0; i < s->n_changes; i++)
        s->changes[i] = /* not at the last */
            1 + pt_schedule_draw_for(s, PT_DRAW_CHANGE, i) % (steps > 1 ? steps - 1 : 1);
    sort(s->changes, s->n_changes);
    s->end = is_given_up ? steps * STEPS_TIMES + STEPS_MORE : UINT64_MAX;
    pt_schedule_arm(s);
}

/* ---- clusters -------------------------------------------------------------------------------- */

static uint64_t divisor_of(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Clusters wait for those before them, on hardware that begins them in order; so those that may be
 * resident together begin in any order, and behind them the next. */
uint64_t pt_schedule_cluster(const struct pt_job *job, uint64_t index)
{
    const struct pt_schedule *s = job->launch.schedule;
    uint64_t together = job->n_clusters <= job->capacity ? job->n_clusters : job->capacity / 2;
    if (!s->seed || together < 2)
        return index;
    uint64_t first = index - index % together, rest = job->n_clusters - first;
    uint64_t n = rest < together ? rest : together;
    uint64_t times = 1 + pt_schedule_draw_for(s, PT_DRAW_CLUSTER, 2 * first) % n;
    while (divisor_of(times, n) != 1)
        times++;
    uint64_t from = pt_schedule_draw_for(s, PT_DRAW_CLUSTER, 2 * first + 1) % n;
    return first + (from + times % n * (index - first)) % n;
}

uint64_t pt_schedule_residents(const struct pt_job *job)
{
    uint64_t warps = (uint64_t)job->cluster_ctas * job->launch.n_warps;
    uint64_t n = warps < RESIDENT_WARPS ? RESIDENT_WARPS / warps : 1;
    return job->is_cooperative ? job->n_clusters : n < job->capacity ? n : job->capacity;
}

/* ---- warps ----------------------------------------------------------------------------------- */

void pt_schedule_rank(const struct pt_schedule *s, struct pt_slot *slot)
{
    const struct pt_launch *launch = slot->ctas->cta.launch;
    for (uint32_t i = 0; i < slot->n_ctas * launch->n_warps; i++) {
        struct pt_warp *warp = &slot->warps[i];
        uint64_t number = pt_cta_number(warp->cta) * launch->n_warps + warp->index;
        uint64_t drawn =
            s->seed ? pt_schedule_draw_for(s, PT_DRAW_WARP, number) >> 32 : UINT32_MAX - number;
        warp->rank = drawn < PT_SCHEDULE_FIRST_RANK ? PT_SCHEDULE_FIRST_RANK : (uint32_t)drawn;
        warp->has_let = false;
    }
}

/* Those that have let others go on first may have something to do now. */
static void forget_let(struct pt_slot *slots)
{
    for (struct pt_slot *slot = slots; slot; slot = slot->next)
        for (uint32_t i = 0; i < slot->n_ctas * slot->ctas->cta.launch->n_warps; i++)
            slot->warps[i].has_let = false;
}

void pt_schedule_fall_behind(struct pt_schedule *s, struct pt_slot *slots, struct pt_warp *warp)
{
    warp->rank = pt_schedule_fall(s);
    forget_let(slots);
}

void pt_schedule_wait(const struct pt_slot *slot, struct pt_warp *warp, uint64_t before)
{
    if (warp->wait_bar != PT_NO_BARRIER)
        return;
    warp->has_let = slot->events != before; /* by its own arrival, perhaps, one is over */
    if (warp->has_let)
        return;
    warp->wait_bar = SEVERAL_BARRIERS;
    warp->wait_phase = (uint32_t)slot->events;
}

static bool is_runnable(const struct pt_slot *slot, const struct pt_warp *warp)
{
    if (warp->wait_bar == SEVERAL_BARRIERS)
        return warp->live && (uint32_t)slot->events != warp->wait_phase;
    return pt_slot_is_runnable(warp);
}

struct pt_warp *pt_schedule_pick(struct pt_slot *slots, bool *is_round)
{
    struct pt_warp *best = NULL, *behind = NULL;
    for (struct pt_slot *slot = slots; slot; slot = slot->next)
        for (uint32_t i = 0; i < slot->n_ctas * slot->ctas->cta.launch->n_warps; i++) {
            struct pt_warp *warp = &slot->warps[i], **one = warp->has_let ? &behind : &best;
            if (is_runnable(slot, warp) && (!*one || warp->rank > (*one)->rank))
                *one = warp;
        }
    if (best || !behind)
        return best;
    *is_round = true;
    forget_let(slots);
    return behind;
}
