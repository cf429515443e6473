/* Contiguous (coalesced) accesses: lanes side by side make one vector load or store, and how lanes
 * lie in it. */
#ifndef PTERA_BACKEND_JIT_MEMORY_CONTIGUOUS_H
#define PTERA_BACKEND_JIT_MEMORY_CONTIGUOUS_H

#include "backend/jit/jit.h"
#include "backend/jit/memory/access.h"

/* Consecutive lanes. v[i]: element i of all lanes. */
void jit_contiguous_load(const struct jit *j, const struct jit_access *a, LLVMValueRef pointer,
                         LLVMValueRef mask, LLVMValueRef *v);
void jit_contiguous_store(const struct jit *j, const struct jit_access *a, LLVMValueRef pointer,
                          LLVMValueRef mask, LLVMValueRef *v);

/* Lanes that are off may have what is in their memory written once more, which is much less work
 * than leaving it out: it is the CTA's own. jit_contiguous_is_own (i1): so many elements from the
 * pointer on are all the CTA's. */
bool jit_contiguous_may_rewrite(const struct jit *j, const struct jit_access *a);
LLVMValueRef jit_contiguous_is_own(const struct jit *j, const struct jit_access *a,
                                   LLVMValueRef pointer, unsigned elements);

/* j->insn is a store that may do so, if it is tested before that all is the CTA's own. */
bool jit_contiguous_is_rewriting(const struct jit *j, const struct jit_access *a);

#endif
