/* Accesses of lanes at a constant stride: side by side, a few elements apart or in falling order as
 * vectors; else gathered. */
#ifndef PTERA_BACKEND_JIT_MEMORY_STRIDED_H
#define PTERA_BACKEND_JIT_MEMORY_STRIDED_H

#include "backend/jit/jit.h"
#include "backend/jit/memory/access.h"

/* Lanes in a run, or at a constant distance, from `address` on. */
void jit_strided_emit(const struct jit *j, const struct jit_access *a, unsigned copy,
                      LLVMValueRef address, LLVMValueRef *v);

/* A way: a run of lanes from `address` on, if `is_contiguous`; else on behind this. */
void jit_strided_emit_if(const struct jit *j, const struct jit_access *a, unsigned copy,
                         struct jit_ways *ways, LLVMValueRef is_contiguous, LLVMValueRef address,
                         const LLVMValueRef *v);

#endif
