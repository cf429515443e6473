/* Guards (@p): the lanes in which an instruction has an effect. */
#ifndef PTERA_BACKEND_JIT_VALUE_GUARD_H
#define PTERA_BACKEND_JIT_VALUE_GUARD_H

#include "backend/jit/jit.h"

/* The guard of an instruction that has one. */
struct pt_operand jit_guard_operand(const struct pt_insn *insn);

/* j->mask of the copy, and j->guard, from the block's mask and the guard of j->insn. */
void jit_guard_apply(struct jit *j, unsigned copy, LLVMValueRef block_mask);

#endif
