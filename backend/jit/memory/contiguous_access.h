/* Accesses of lanes side by side, or at a constant distance, as one of several ways. */
#ifndef PTERA_BACKEND_JIT_MEMORY_CONTIGUOUS_ACCESS_H
#define PTERA_BACKEND_JIT_MEMORY_CONTIGUOUS_ACCESS_H

#include "backend/jit/jit.h"
#include "backend/jit/memory/access.h"

/* Lanes in a run, or at a constant distance, from `address` on. */
void jit_contiguous_access_emit(struct jit *j, const struct jit_access *a, unsigned copy,
                                LLVMValueRef address, LLVMValueRef *v);

/* A way: a run of lanes from `address` on, if `is_run`; else on behind this. */
void jit_contiguous_access_emit_if(struct jit *j, const struct jit_access *a, unsigned copy,
                                   struct jit_ways *ways, LLVMValueRef is_run, LLVMValueRef address,
                                   const LLVMValueRef *v);

#endif
