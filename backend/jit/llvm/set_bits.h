/* A loop over the lanes of a mask that are on. */
#ifndef PTERA_BACKEND_JIT_LLVM_SET_BITS_H
#define PTERA_BACKEND_JIT_LLVM_SET_BITS_H

#include "backend/jit/jit.h"

struct jit_set_bits {
    LLVMBasicBlockRef next, done;
    LLVMValueRef left; /* alloca of i32: lanes whose turn is still to come */
};

/* What is built up to the end is done for each lane of a chunk's mask that is on, upwards; gives
 * the lane's number. */
LLVMValueRef jit_set_bits_begin(const struct jit *j, LLVMValueRef mask, struct jit_set_bits *s);
void jit_set_bits_end(const struct jit *j, const struct jit_set_bits *s);

#endif
