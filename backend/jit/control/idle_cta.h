/* CTAs none of whose threads pass the guard that the kernel begins with. */
#ifndef PTERA_BACKEND_JIT_CONTROL_IDLE_CTA_H
#define PTERA_BACKEND_JIT_CONTROL_IDLE_CTA_H

#include "backend/jit/analysis/plan.h"
#include "backend/jit/jit.h"

/* Where the kernel begins: ends such CTAs at once, where scalars tell which they are. False with
 * unit->why set. */
bool jit_idle_cta_end(const struct jit *j, const struct jit_plan *plan);

#endif
