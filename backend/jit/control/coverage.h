/* Counts of what ran, for launches whose coverage is asked for (PT_TEST_coverage): by the counters
 * of ir/coverage.h, which the worker has for itself. Nothing is done where it is not.
 */
#ifndef PTERA_BACKEND_JIT_CONTROL_COVERAGE_H
#define PTERA_BACKEND_JIT_CONTROL_COVERAGE_H

#include "backend/jit/jit.h"

static inline bool jit_is_covered(const struct jit_unit *u)
{
    return u->snapshot->tests & PT_TEST_coverage;
}

/* The function begins: its third argument is what counters are in. */
void jit_coverage_begin(const struct jit *j);

/* Lanes run the block; `mask` by copy, NULL: all of the chunk. */
void jit_coverage_add_block(const struct jit *j, uint32_t block, const LLVMValueRef *mask);

/* Lanes come to instruction j->insn. */
void jit_coverage_add_guard(const struct jit *j, const LLVMValueRef *mask);

/* The guard of instruction j->insn, a branch, holds for these lanes, where it is known to. */
void jit_coverage_add_taken(const struct jit *j, const LLVMValueRef *mask);

#endif
