/* One region: a loop over groups, blocks in their order under masks. */
#ifndef PTERA_BACKEND_JIT_CONTROL_REGION_H
#define PTERA_BACKEND_JIT_CONTROL_REGION_H

#include "backend/jit/analysis/plan.h"
#include "backend/jit/jit.h"
#include "backend/order.h"

/* Generates one region. False with unit->why set. */
bool jit_region_generate(const struct jit *j, const struct jit_plan *plan,
                         struct jit_region *region);

#endif
