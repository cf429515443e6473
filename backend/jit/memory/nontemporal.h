/* Non-temporal stores, past the caches. */
#ifndef PTERA_BACKEND_JIT_MEMORY_NONTEMPORAL_H
#define PTERA_BACKEND_JIT_MEMORY_NONTEMPORAL_H

#include "backend/jit/jit.h"
#include "backend/jit/memory/access.h"

/* Finds the stores that may go past the caches. */
uint64_t *jit_nontemporal_find(const struct jit *j);

/* j->insn is one. */
bool jit_nontemporal_applies(const struct jit *j);

/* All lanes of a run. */
void jit_nontemporal_store(const struct jit *j, const struct jit_access *a, LLVMValueRef value,
                           LLVMValueRef pointer);

#endif
