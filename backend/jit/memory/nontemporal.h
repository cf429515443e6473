/* Non-temporal stores, past the caches. */
#ifndef PTERA_BACKEND_JIT_MEMORY_NONTEMPORAL_H
#define PTERA_BACKEND_JIT_MEMORY_NONTEMPORAL_H

#include "backend/jit/jit.h"
#include "backend/jit/memory/access.h"

/* Finds the stores that may go past the caches. */
uint64_t *jit_nontemporal_find(const struct jit *j);

/* j->insn is one. */
bool jit_nontemporal_applies(const struct jit *j);

/* Stores of chunks that are made together, under one test: else what one chunk stores LLVM computes
 * behind the stores of those before, and keeps all that was loaded for it in memory. */
struct jit_stream {
    LLVMValueRef value[JIT_COPIES], pointer[JIT_COPIES];
    unsigned n;
};

/* All lanes of a run: at once, or at the end of j->stream. */
void jit_nontemporal_store(const struct jit *j, const struct jit_access *a, LLVMValueRef value,
                           LLVMValueRef pointer);
void jit_nontemporal_end(const struct jit *j, const struct jit_access *a,
                         const struct jit_stream *s);

#endif
