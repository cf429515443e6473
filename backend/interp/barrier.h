/* Lanes that wait at barriers of the CTA and the cluster. */
#ifndef PTERA_BACKEND_INTERP_BARRIER_H
#define PTERA_BACKEND_INTERP_BARRIER_H

#include "backend/interp/state.h"

#define pt_barrier_release PT_LEVEL_NAME(pt_barrier_release)
#define pt_barrier_suspend PT_LEVEL_NAME(pt_barrier_suspend)
/* Lanes whose barrier's phase is over go on. True if they are the whole warp, which then runs:
 * state->frame and state->code. */
bool pt_barrier_release(struct pt_state *s);
/* Every lane left waits at a CTA barrier (state->groups): leaves the warp. */
const struct pt_code *pt_barrier_suspend(struct pt_state *s);

#endif
