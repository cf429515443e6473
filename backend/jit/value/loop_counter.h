/* Counters of divergent loops, kept as scalars. */
#ifndef PTERA_BACKEND_JIT_VALUE_LOOP_COUNTER_H
#define PTERA_BACKEND_JIT_VALUE_LOOP_COUNTER_H

#include "backend/jit/jit.h"

/* All lanes that run the block, of a loop, hold one value in the register, which is to be kept as a
 * scalar as well. */
bool jit_loop_counter_find(const struct jit *j, const struct pt_operand *o, uint32_t block);

/* The value of such a register. */
LLVMValueRef jit_loop_counter_read(const struct jit *j, uint32_t reg);

/* j->insn has written its result: the scalar follows. */
void jit_loop_counter_note(const struct jit *j);

#endif
