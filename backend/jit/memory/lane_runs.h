/* Accesses of lanes in two runs of neighbours, as where a row of a tile ends and another begins. */
#ifndef PTERA_BACKEND_JIT_MEMORY_LANE_RUNS_H
#define PTERA_BACKEND_JIT_MEMORY_LANE_RUNS_H

#include "backend/jit/jit.h"
#include "backend/jit/memory/access.h"
#include "backend/jit/memory/lane_index.h"

/* Where the address may lie so: a way for it (jit_access_join_ways), and on for all others. */
void jit_lane_runs_access(const struct jit *j, const struct jit_access *a, unsigned copy,
                          const struct jit_indexes *x, struct jit_ways *ways, LLVMValueRef value);

#endif
