/* The compiler of native code: a shared object. */
#ifndef PTERA_RUNTIME_JIT_H
#define PTERA_RUNTIME_JIT_H

#include <stdbool.h>
#include <stdint.h>

#include "backend/native.h"

/* The compiler; opened by the first call. NULL if there is none: pt_jit_error says why. */
const struct pt_jit *pt_jit(void);
const char *pt_jit_error(void);
/* True if `pc` lies in native code. For signal handlers: opens nothing. */
bool pt_jit_holds(uintptr_t pc);

#endif
