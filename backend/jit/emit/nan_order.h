/* Arithmetic of f64 whose NaN is, as a GPU has it, that of the first operand which is one, in an
 * order that the form tells, made quiet; if none is, 0xfff8000000000000. */
#ifndef PTERA_BACKEND_JIT_EMIT_NAN_ORDER_H
#define PTERA_BACKEND_JIT_EMIT_NAN_ORDER_H

#include "backend/jit/emit/emit.h"

/* x + y, x * y; x's NaN before y's. */
LLVMValueRef jit_nan_order_add(struct jit_op *op, LLVMValueRef x, LLVMValueRef y);
LLVMValueRef jit_nan_order_multiply(struct jit_op *op, LLVMValueRef x, LLVMValueRef y);

/* x - y; y's NaN before x's. */
LLVMValueRef jit_nan_order_subtract(struct jit_op *op, LLVMValueRef x, LLVMValueRef y);

/* x / y; x's NaN before y's. */
LLVMValueRef jit_nan_order_divide(struct jit_op *op, LLVMValueRef x, LLVMValueRef y);

/* x * y + z; x's NaN before z's, z's before y's. For CPUs that have the instruction. */
LLVMValueRef jit_nan_order_fuse(struct jit_op *op, LLVMValueRef x, LLVMValueRef y, LLVMValueRef z);

LLVMValueRef jit_nan_order_root(struct jit_op *op, LLVMValueRef x);

/* The sign of a NaN stays. */
LLVMValueRef jit_nan_order_negate(struct jit_op *op, LLVMValueRef x);
LLVMValueRef jit_nan_order_abs(struct jit_op *op, LLVMValueRef x);

/* The lower or the larger, -0 below +0; a number before a NaN, y's NaN before x's. NULL: this CPU
 * has no instructions for that. */
LLVMValueRef jit_nan_order_pick(struct jit_op *op, LLVMValueRef x, LLVMValueRef y, bool larger);

#endif
