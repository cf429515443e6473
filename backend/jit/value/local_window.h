/* Windows of local memory. */
#ifndef PTERA_BACKEND_JIT_VALUE_LOCAL_WINDOW_H
#define PTERA_BACKEND_JIT_VALUE_LOCAL_WINDOW_H

#include "backend/jit/jit.h"

/* Where the local windows of a copy's lanes begin (generic addresses). */
LLVMValueRef jit_local_window_begin(const struct jit *j, unsigned copy);

/* Lanes whose access of `bytes` at an offset in the window leaves it. */
LLVMValueRef jit_local_window_leaves(const struct jit *j, LLVMValueRef offsets, uint64_t bytes);

#endif
