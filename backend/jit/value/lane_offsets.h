/* Integers whose lanes differ by the same offsets in all chunks, though by no fixed stride. */
#ifndef PTERA_BACKEND_JIT_VALUE_LANE_OFFSETS_H
#define PTERA_BACKEND_JIT_VALUE_LANE_OFFSETS_H

#include "backend/jit/jit.h"

/* An operand whose lanes hold `origin` (a scalar) + `offsets` (a vector that is the same for many
 * chunks). False if it is not kept so. */
bool jit_lane_offsets_find(const struct jit *j, const struct pt_operand *o, unsigned copy,
                           LLVMValueRef *origin, LLVMValueRef *offsets);

/* The offsets, if they are constant; else NULL. */
LLVMValueRef jit_lane_offsets_known(const struct jit *j, const struct pt_operand *o, unsigned copy);

/* j->insn, a pure instruction, has written its result: keeps it so as well if it can. */
void jit_lane_offsets_note(const struct jit *j, unsigned copy);

/* A region begins, to which nothing comes in that form. */
void jit_lane_offsets_forget(const struct jit *j);

#endif
