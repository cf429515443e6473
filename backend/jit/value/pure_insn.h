/* Pure instructions: once where the value is scalar, for lane 0 where it is affine, else in all
 * lanes. */
#ifndef PTERA_BACKEND_JIT_VALUE_PURE_INSN_H
#define PTERA_BACKEND_JIT_VALUE_PURE_INSN_H

#include "backend/jit/jit.h"

/* j->insn, a pure instruction, in the lanes of `mask`. False with unit->why set. */
bool jit_pure_insn_emit(struct jit *j, LLVMValueRef *mask);

#endif
