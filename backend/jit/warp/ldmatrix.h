/* Matrices between shared memory and registers, and transposed between registers. */
#ifndef PTERA_BACKEND_JIT_WARP_LDMATRIX_H
#define PTERA_BACKEND_JIT_WARP_LDMATRIX_H

#include "backend/jit/jit.h"

/* Ldmatrix, stmatrix and movmatrix of the warp that begins with chunk `first`. */
bool jit_ldmatrix_emit(const struct jit *j, unsigned first);

#endif
