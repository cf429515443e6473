/* Programs of kernels. */
#ifndef PTERA_RUNTIME_COMPILE_H
#define PTERA_RUNTIME_COMPILE_H

#include "runtime/engine.h"

/* Compiles a kernel, if it is not yet, with a set of tests (enum pt_test). Errors are in the
 * module's diagnostics; the first is the engine's error text. */
ptera_result pt_compile_kernel(ptera_kernel *kernel, uint32_t tests,
                               const struct pt_program **program);

#endif
