/* The compiler of native code: a shared object. */
#ifndef PTERA_RUNTIME_JIT_H
#define PTERA_RUNTIME_JIT_H

#include <stdbool.h>
#include <stdint.h>

#include "backend/native.h"
#include "runtime/engine.h"

/* The compiler; opened by the first call. NULL if there is none: pt_jit_error says why. */
const struct pt_jit *pt_jit(void);
const char *pt_jit_error(void);
/* What a compile of the engine's may take. */
struct pt_native_limits pt_jit_limits(const ptera_engine *engine);
/* Asks the compiler, which there is, for native code of a kernel; NULL: no memory. */
struct pt_native_request *pt_jit_request(ptera_module *module, const struct pt_program *program,
                                         const struct pt_native_options *options);
/* True if `pc` lies in native code. For signal handlers: opens nothing. */
bool pt_jit_holds(uintptr_t pc);

#endif
