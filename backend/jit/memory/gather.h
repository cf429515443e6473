/* Gathers and scatters: accesses of lanes anywhere. */
#ifndef PTERA_BACKEND_JIT_MEMORY_GATHER_H
#define PTERA_BACKEND_JIT_MEMORY_GATHER_H

#include "backend/jit/analysis/plan.h"
#include "backend/jit/jit.h"
#include "backend/jit/memory/access.h"

/* All lanes at a constant distance that keeps them aligned. */
void jit_gather_access_strided(const struct jit *j, const struct jit_access *a,
                               LLVMValueRef pointer, int64_t stride, LLVMValueRef *v);

/* Loads of the region that its groups repeat (analysis/repeated_loads.h): each lane's value is kept
 * once a group has loaded it. Stands before the loop over groups; for the cursor there. */
const struct jit_kept_load *jit_gather_begin_region(const struct jit *j,
                                                    const struct jit_region *r);

/* All lanes of the copy *from, of the row of threads before in the same group, have loaded what
 * this one loads. */
bool jit_gather_has_loaded(const struct jit *j, const struct jit_access *a, unsigned copy,
                           unsigned *from);

/* Lanes anywhere; misaligned ones fail. */
void jit_gather_access(const struct jit *j, const struct jit_access *a, unsigned copy,
                       LLVMValueRef *v);

/* One element of each lane of a chunk, at base + index (of 32 bits, in elements): all lanes do
 * it. */
void jit_gather_indexed(const struct jit *j, const struct jit_access *a, LLVMValueRef base,
                        LLVMValueRef index, LLVMValueRef *v);

/* A word of each lane of the mask (NULL: all), `at` bytes (below 2^31) behind the base. In others
 * it is 0, and the word at the base may be read. */
LLVMValueRef jit_gather_words(const struct jit *j, LLVMValueRef base, LLVMValueRef at,
                              LLVMValueRef mask);

#endif
