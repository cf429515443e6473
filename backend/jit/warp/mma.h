/* mma: products of matrices by functions for a warp. */
#ifndef PTERA_BACKEND_JIT_WARP_MMA_H
#define PTERA_BACKEND_JIT_WARP_MMA_H

#include "backend/jit/jit.h"

/* j->insn, a product of matrices, by a function for it: of the warp that begins with chunk
 * `first`. */
bool jit_mma_emit(const struct jit *j, unsigned first);

#endif
