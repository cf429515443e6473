/* Divergent loops that run lane by lane. */
#ifndef PTERA_BACKEND_JIT_CONTROL_PER_LANE_LOOP_H
#define PTERA_BACKEND_JIT_CONTROL_PER_LANE_LOOP_H

#include "backend/jit/control/gen.h"

/* The block is a loop that lanes are to run one after the other. */
bool jit_per_lane_loop_applies(const struct jit_gen *g, uint32_t block);

/* Runs it, and loops that follow with little between, in the lanes of g->active and those that wait
 * at blocks between, until all have left them. False with unit->why set. */
bool jit_per_lane_loop_emit(struct jit_gen *g, uint32_t block);

#endif
