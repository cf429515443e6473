/* Warps that are suspended and resumed: kernels in which a thread may wait for others anywhere. */
#ifndef PTERA_BACKEND_JIT_CONTROL_RESUMABLE_WARP_H
#define PTERA_BACKEND_JIT_CONTROL_RESUMABLE_WARP_H

#include "backend/jit/analysis/plan.h"
#include "backend/jit/control/gen.h"
#include "backend/jit/jit.h"

/* The region's start, before a group's registers are loaded. */
void jit_resumable_warp_start_region(struct jit_gen *g);

/* Lanes that run the region; NULL: all. */
LLVMValueRef jit_resumable_warp_standing(struct jit_gen *g, unsigned copy);

/* The header of a loop that waits: the back edges let others go first. */
bool jit_resumable_warp_is_yielding(const struct jit_gen *g, uint32_t block);

/* Lanes go from one block to another. */
void jit_resumable_warp_note_turn(struct jit_gen *g, uint32_t from, uint32_t to);

/* All lanes of the warp that have not ended leave the region for `to`; or each stands somewhere. */
void jit_resumable_warp_leave(struct jit_gen *g, uint32_t to);
void jit_resumable_warp_end(struct jit_gen *g);

/* The start of the function, where the next region of a warp is chosen. */
void jit_resumable_warp_begin(struct jit *j, const struct jit_plan *plan);

#endif
