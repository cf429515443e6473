/* Where values lie in native code: registers, constants, special registers. */
#ifndef PTERA_BACKEND_JIT_VALUE_REGISTERS_H
#define PTERA_BACKEND_JIT_VALUE_REGISTERS_H

#include "backend/jit/jit.h"

/* Types, places and storage of all registers of the function. */
void jit_registers_init(const struct jit *j);

/* The operand (register, constant, special register, address) in all lanes (lanes == width) or as
 * one value (lanes == 1: its place must be scalar; of an affine register this is lane 0), as the
 * PTX type asks. `number`: the reader does not tell NaNs apart. */
LLVMValueRef jit_registers_read(const struct jit *j, const struct pt_operand *o, unsigned copy,
                                enum pt_type type, unsigned lanes, bool number);

/* An address that is no register, as where its access goes: jit_registers_read gives that of a
 * constant in its window. */
LLVMValueRef jit_registers_read_place(const struct jit *j, const struct pt_operand *o,
                                      enum pt_type type, unsigned lanes);

/* Affine operand: whether the affine form holds (i1), or NULL: it does. */
LLVMValueRef jit_registers_fit(const struct jit *j, const struct pt_operand *o, unsigned copy);

/* Writes a destination in the lanes of j->mask, keeping old values where they may be needed.
 * `value` has `lanes` lanes (1: the same for all). `extends_sign`: in a wider register. */
void jit_registers_write(const struct jit *j, const struct pt_operand *o, unsigned copy,
                         LLVMValueRef value, unsigned lanes, bool extends_sign);

/* A predicate register that the end of a block reads. */
LLVMValueRef jit_registers_read_flow(const struct jit *j, const struct pt_operand *o,
                                     unsigned copy);

#endif
