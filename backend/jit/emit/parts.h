/* Instructions of the machine that LLVM's own do not say, over parts of operands that fill a vector
 * register each. */
#ifndef PTERA_BACKEND_JIT_EMIT_PARTS_H
#define PTERA_BACKEND_JIT_EMIT_PARTS_H

#include "backend/jit/emit/emit.h"

/* Makes the result of parts of n operands; `what` is the caller's. */
typedef LLVMValueRef jit_part(struct jit_op *op, const void *what, LLVMValueRef *args, unsigned n);

/* `make` over parts of at most three operands, of elements of so many bits. */
LLVMValueRef jit_parts_make(struct jit_op *op, unsigned bits, const void *what, LLVMValueRef *args,
                            unsigned n, jit_part *make);

/* Elements of a part. */
unsigned jit_parts_lanes(const struct jit_op *op, unsigned bits);

/* True if each part is a whole register, which intrinsics of AVX-512 take alone. */
bool jit_parts_fill(const struct jit_op *op, unsigned bits);

/* The mask of all elements of a part, as intrinsics of AVX-512 take it. */
LLVMValueRef jit_parts_all(const struct jit_op *op, unsigned bits);

/* A call of one of the machine's intrinsics: "llvm.x86.avx512.add.ps.512". */
LLVMValueRef jit_parts_call(struct jit_op *op, const char *name, LLVMValueRef *args, unsigned n);

enum jit_rounding { JIT_DOWN = 1, JIT_UP = 2, JIT_TO_ZERO = 3 };

/* An operation of AVX-512 on vectors of f32, rounded so: "add.ps". */
LLVMValueRef jit_parts_round(struct jit_op *op, const char *name, enum jit_rounding rounding,
                             LLVMValueRef *args, unsigned n);

/* The lower or the larger of vectors of f32, -0 below +0; a number before a NaN, which must be
 * quiet. For CPUs that fix operands up. */
LLVMValueRef jit_parts_pick(struct jit_op *op, LLVMValueRef x, LLVMValueRef y, bool larger);

/* f32 with its NaNs made quiet. For such CPUs. */
LLVMValueRef jit_parts_quiet(struct jit_op *op, LLVMValueRef x);

#endif
