/* Launches that have a schedule (backend/schedule.h): which warps run. */
#ifndef PTERA_RUNTIME_SCHEDULE_H
#define PTERA_RUNTIME_SCHEDULE_H

#include "backend/schedule.h"
#include "runtime/slot.h"

/* The schedule of a seed and a depth (falls behind + 1, at most PT_SCHEDULE_DEPTH_MAX) for a launch
 * of about so many steps, which is given up after many more, if that is so. */
void pt_schedule_begin(struct pt_schedule *s, uint64_t seed, unsigned depth, uint64_t steps,
                       bool is_given_up);
/* The cluster that begins as number `index` of the grid. */
uint64_t pt_schedule_cluster(const struct pt_job *job, uint64_t index);
/* How many are resident at once, where that does. */
uint64_t pt_schedule_residents(const struct pt_job *job);
/* The cluster in the slot begins. */
void pt_schedule_rank(const struct pt_schedule *s, struct pt_slot *slot);
/* A warp that ran and waits, with slot->events as they were before: at several barriers, it waits
 * until one of them may be over. */
void pt_schedule_wait(const struct pt_slot *slot, struct pt_warp *warp, uint64_t before);
/* A warp, of those in `slots`, that ran up to a step where it loses its turn. */
void pt_schedule_fall_behind(struct pt_schedule *s, struct pt_slot *slots, struct pt_warp *warp);
/* The warp that runs next; NULL: all wait. *is_round: all that do not have let others go on
 * first. */
struct pt_warp *pt_schedule_pick(struct pt_slot *slots, bool *is_round);

#endif
