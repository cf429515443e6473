/* atom and red. */
#ifndef PTERA_BACKEND_JIT_MEMORY_ATOMIC_H
#define PTERA_BACKEND_JIT_MEMORY_ATOMIC_H

#include "backend/jit/jit.h"

/* Atomic operations: false with unit->why set. */
bool jit_atomic_emit(const struct jit *j);

#endif
