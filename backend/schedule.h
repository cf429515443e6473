/* Schedules: orders in which the threads of a launch may run, each made of a seed by probabilistic
 * concurrency testing (Burckhardt et al., 2010): warps have priorities, drawn from the seed, and
 * the runnable one with the highest runs, but that at a few steps, drawn likewise, whoever runs
 * falls behind all others. A step is an access to memory. Schedules of odd seeds run lanes apart:
 * those of a warp have priorities likewise. Asynchronous operations take place when they are issued
 * or as late as may be, each as the seed says. Under seeds that have their second bit strong reads
 * may see old values. runtime/schedule.c chooses warps, the interpreter
 * lanes. */
#ifndef PTERA_BACKEND_SCHEDULE_H
#define PTERA_BACKEND_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

enum { PT_SCHEDULE_DEPTH_MAX = 16 };

/* By thread: what fell behind comes below all that did not, the last to fall last. */
enum { PT_SCHEDULE_FIRST_RANK = 2 * PT_SCHEDULE_DEPTH_MAX };

struct pt_schedule {
    uint64_t
        seed; /* 0: CTAs, warps and lanes in ascending order, operations when they are issued */
    bool is_apart;
    uint64_t steps;                          /* so far: of warps, or of lanes that run apart */
    uint64_t lane_steps;                     /* of lanes in any case */
    uint64_t until;                          /* at how many steps the warp that runs is to stop */
    uint64_t end;                            /* at how many the launch is given up */
    uint64_t changes[PT_SCHEDULE_DEPTH_MAX]; /* steps, ascending, where who runs falls behind */
    uint32_t n_changes, change;
    bool has_stopped;    /* at `until` */
    uint64_t operations; /* asynchronous ones, so far */
};

/* A number drawn from the seed for `what` (SplitMix64's finalizer). */
static inline uint64_t pt_schedule_draw(const struct pt_schedule *s, uint64_t what)
{
    uint64_t x = s->seed * UINT64_C(0x9e3779b97f4a7c15) + what * UINT64_C(0xd1b54a32d192ed03);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* What numbers are drawn for: this, plus a number. */
enum {
    PT_DRAW_WARP = 0, /* UINT64_C(1) << 56 times these: */
    PT_DRAW_LANE = 1,
    PT_DRAW_CLUSTER = 2,
    PT_DRAW_CHANGE = 3,
    PT_DRAW_OPERATION = 4,
    PT_DRAW_FALL = 5,
    PT_DRAW_OLD = 6
};
static inline uint64_t pt_schedule_draw_for(const struct pt_schedule *s, uint64_t kind,
                                            uint64_t number)
{
    return pt_schedule_draw(s, (kind << 56) + number);
}

/* Where the next change, or the end, is. */
static inline void pt_schedule_arm(struct pt_schedule *s)
{
    bool has_change = s->change < s->n_changes && s->changes[s->change] < s->end;
    s->until = has_change ? s->changes[s->change] : s->end;
}

/* True if lanes have the warp's change, the next one, to themselves. */
static inline bool pt_schedule_is_of_lanes(const struct pt_schedule *s)
{
    return s->is_apart && pt_schedule_draw_for(s, PT_DRAW_FALL, s->change) & 1;
}

/* The rank of who falls behind at the change that is due, which is over then. */
static inline uint32_t pt_schedule_fall(struct pt_schedule *s)
{
    uint32_t rank = PT_SCHEDULE_DEPTH_MAX - ++s->change;
    pt_schedule_arm(s);
    return rank;
}

#endif
