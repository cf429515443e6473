/* Rematerialisation: values that are computed once more instead of being kept. */
#ifndef PTERA_BACKEND_JIT_CONTROL_REMAT_H
#define PTERA_BACKEND_JIT_CONTROL_REMAT_H

#include "backend/jit/jit.h"

/* Computes it in all lanes, and what it is made of; `done` holds registers that have their
 * value. */
bool jit_remat_compute(const struct jit *j, uint32_t reg, uint64_t *done);

#endif
