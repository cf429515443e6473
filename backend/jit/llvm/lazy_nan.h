/* Chains of fused f64 operations without a look at NaNs, where none comes out at their end. */
#ifndef PTERA_BACKEND_JIT_LLVM_LAZY_NAN_H
#define PTERA_BACKEND_JIT_LLVM_LAZY_NAN_H

#include "backend/jit/jit.h"

/* In code->function, whose variables are values: before LLVM's passes. */
void jit_lazy_nan_apply(struct jit_code *code);

#endif
