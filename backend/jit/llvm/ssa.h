/* SSA construction: variables become values. */
#ifndef PTERA_BACKEND_JIT_LLVM_SSA_H
#define PTERA_BACKEND_JIT_LLVM_SSA_H

#include "backend/jit/jit.h"

/* Allocas of the whole function code->function that are only read and written become values.
 * False if some do not, since that would take too long. */
bool jit_ssa_promote(struct jit_code *code);

#endif
