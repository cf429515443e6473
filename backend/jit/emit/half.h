/* Emitters of f16 and bf16, single and packed (PTX ISA 9.7.4). */
#ifndef PTERA_BACKEND_JIT_EMIT_HALF_H
#define PTERA_BACKEND_JIT_EMIT_HALF_H

#include "backend/jit/emit/emit.h"

/* True if there is code that rounds to f16, which is the machine's; to bf16 there is everywhere. */
bool jit_half_narrows_to(const struct jit_op *op, bool is_bf16);

/* To f32: exact, NaN to some NaN (bf16: with its payload). */
LLVMValueRef jit_half_to_f32(struct jit_op *op, LLVMValueRef half, bool is_bf16);

/* From f32, to nearest; NaN to 0x7fff. */
LLVMValueRef jit_half_from_f32(struct jit_op *op, LLVMValueRef value, bool is_bf16);

#endif
