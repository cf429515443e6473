/* Nothing that is generated is undefined, whatever the kernel does: UNDEFINED.md says how each
 * cause is kept out. */
#ifndef PTERA_BACKEND_JIT_LLVM_CHECK_H
#define PTERA_BACKEND_JIT_LLVM_CHECK_H

#include "backend/jit/jit.h"

/* Notes that the value, where it is an instruction, is defined in spite of what needs a proof in it
 * ("amount", "divisor", "index" …), which stands beside the call. Returns it. */
LLVMValueRef jit_check_proven(struct jit_code *code, LLVMValueRef value, const char *what);

/* False with a text where something in the module is not proven; in builds that do not look,
 * true. */
bool jit_check_module(struct jit_code *code, char *text, size_t size);

#endif
