/* What emitters share: the operation's form, its sources and results. */
#ifndef PTERA_BACKEND_JIT_EMIT_HELPERS_H
#define PTERA_BACKEND_JIT_EMIT_HELPERS_H

#include "backend/jit/emit/emit.h"
#include "backend/jit/jit.h"

/* True if directed roundings of the form are to nearest. */
bool jit_is_fast_rounding(const struct jit_unit *u, const struct pt_form *form);

/* True if vectors have instructions for the form's directed roundings. */
bool jit_rounds_itself(const struct jit_unit *u, const struct pt_form *form);

/* To nearest, spelled or not, or by jit_is_fast_rounding. */
bool jit_is_rn(const struct jit_op *op);

/* Integer constant written as operand `i` of the instruction. */
uint64_t jit_immediate(const struct jit_op *op, unsigned i);

LLVMValueRef jit_extend(struct jit_op *op, LLVMValueRef value, unsigned bits, bool is_signed);

/* An integer cut or extended to `bits`. */
LLVMValueRef jit_resize(struct jit_op *op, LLVMValueRef value, unsigned bits, bool is_signed);

/* Intrinsics of one and two operands of the same type. */
LLVMValueRef jit_unary(struct jit_op *op, const char *intrinsic, LLVMValueRef a);
LLVMValueRef jit_binary(struct jit_op *op, const char *intrinsic, LLVMValueRef a, LLVMValueRef b);

/* The lower of an integer and a constant. */
LLVMValueRef jit_min_const(struct jit_op *op, LLVMValueRef n, unsigned bits, uint64_t top);

/* value << n or value >> n, `bits` wide; n is 32 bits wide and any number: the width or more gives
 * 0. */
LLVMValueRef jit_shift(struct jit_op *op, LLVMValueRef value, LLVMValueRef n, unsigned bits,
                       bool is_left);

/* The bits of a floating-point value, and back. */
LLVMValueRef jit_to_bits(struct jit_op *op, LLVMValueRef value, unsigned bits);
LLVMValueRef jit_from_bits(struct jit_op *op, LLVMValueRef value, unsigned bits);
LLVMValueRef jit_is_nan(struct jit_op *op, LLVMValueRef value);

/* Source `i`, of type f32, flushed if the form has .ftz. */
LLVMValueRef jit_flushed(struct jit_op *op, unsigned i);

/* f32, f64: to [0, 1], NaN to +0. */
LLVMValueRef jit_saturate(struct jit_op *op, LLVMValueRef value);

#endif
