/* How far from a CTA's accesses those of later CTAs lie. */
#ifndef PTERA_BACKEND_JIT_MEMORY_PREFETCH_DISTANCE_H
#define PTERA_BACKEND_JIT_MEMORY_PREFETCH_DISTANCE_H

#include "backend/jit/jit.h"

/* From what straight code touches through a register to what a later CTA will, in bytes (i64);
 * NULL: the machine follows by itself, or others touch it before. */
LLVMValueRef jit_prefetch_distance_behind(const struct jit *j, uint32_t reg);

/* The same in a loop whose rounds differ by threads alone; NULL: where a later CTA does that is not
 * known. */
LLVMValueRef jit_prefetch_distance_of_tile(const struct jit *j, uint32_t reg);

/* From what a CTA touches through a register to what the next touches in the same round of a loop
 * in strides of the grid, in bytes (i64); NULL: that is unknown, or nothing. *follows: the machine
 * follows it by itself. */
LLVMValueRef jit_prefetch_distance_of_turns(const struct jit *j, uint32_t reg, bool *follows);

#endif
