/* Programs of kernels. */
#ifndef PTERA_RUNTIME_COMPILE_H
#define PTERA_RUNTIME_COMPILE_H

#include "runtime/engine.h"

/* Compiles a kernel, if it is not yet, with a set of tests (enum pt_test). Errors are in the
 * module's diagnostics; the first is the engine's error text. */
ptera_result pt_compile_kernel(ptera_kernel *kernel, uint32_t tests,
                               const struct pt_program **program);
/* NULL: it is not compiled with them yet. */
const struct pt_program *pt_compile_made(const ptera_kernel *kernel, uint32_t tests);
/* All of a kernel that nobody launches any more. */
void pt_compile_release(ptera_kernel *kernel);

#endif
