/* Prefetches: what accesses will need soon. */
#ifndef PTERA_BACKEND_JIT_MEMORY_PREFETCH_H
#define PTERA_BACKEND_JIT_MEMORY_PREFETCH_H

#include "backend/jit/jit.h"

/* Asks for what later rounds of the loop, or the CTAs that follow, will touch, where register `reg`
 * is the address and j->insn touches `bytes` from the pointer on in the lanes of the copy. */
void jit_prefetch_emit(const struct jit *j, uint32_t reg, unsigned copy, LLVMValueRef pointer,
                       unsigned bytes);

/* Likewise for the lane that runs alone, where it walks memory in short steps. */
void jit_prefetch_emit_walk(const struct jit *j, uint32_t reg, LLVMValueRef pointer);

#endif
