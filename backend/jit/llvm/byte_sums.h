/* Sums of bytes in lanes of 16 bits, where no sum needs more. */
#ifndef PTERA_BACKEND_JIT_LLVM_BYTE_SUMS_H
#define PTERA_BACKEND_JIT_LLVM_BYTE_SUMS_H

#include "backend/jit/jit.h"

/* In code->function, whose variables are values: before LLVM combines instructions. */
void jit_byte_sums_narrow(struct jit_code *code);

#endif
