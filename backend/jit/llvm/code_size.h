/* How large a kernel may be. */
#ifndef PTERA_BACKEND_JIT_LLVM_CODE_SIZE_H
#define PTERA_BACKEND_JIT_LLVM_CODE_SIZE_H

#include "backend/jit/jit.h"

/* False with unit->why set where so much code has been generated that the kernel is not made. */
bool jit_code_size_is_bounded(const struct jit *j);

/* Called behind each instruction of the kernel: long basic blocks become several. */
void jit_code_size_part_block(const struct jit *j);

/* The code, all of which is generated, is too much for passes that take more than twice the time
 * for twice the code. */
bool jit_code_size_is_large(struct jit_code *code);

/* LLVM's instructions in it. */
uint32_t jit_code_size_count(struct jit_code *code);

#endif
