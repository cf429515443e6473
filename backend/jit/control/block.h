/* The instructions of a block. */
#ifndef PTERA_BACKEND_JIT_CONTROL_BLOCK_H
#define PTERA_BACKEND_JIT_CONTROL_BLOCK_H

#include "backend/jit/jit.h"

/* Instructions, but for those that branch or end, in the lanes of `mask`. */
bool jit_block_emit(const struct jit *j, const uint32_t *insns, uint32_t n, LLVMValueRef *mask);

/* Repeats a pure instruction, or a load of a parameter, in all lanes. */
bool jit_block_repeat(const struct jit *j, uint32_t insn);

#endif
