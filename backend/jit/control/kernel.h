/* A kernel, from its IR to LLVM's. */
#ifndef PTERA_BACKEND_JIT_CONTROL_KERNEL_H
#define PTERA_BACKEND_JIT_CONTROL_KERNEL_H

#include "backend/jit/jit.h"
#include "backend/native.h"

/* The generator: makes the function JIT_ENTRY, with the signature of pt_native.run or resume, in
 * j->code->module; context, module and builder are there, the arena's oom is set. False with
 * unit->why set if the kernel cannot be native. */
bool jit_kernel_generate(struct jit_unit *u, struct jit_facts *facts, struct jit_code *code);

#endif
