/* The stack of each thread in its window of local memory, behind the variables of all calls. */
#ifndef PTERA_BACKEND_JIT_MEMORY_ALLOCA_H
#define PTERA_BACKEND_JIT_MEMORY_ALLOCA_H

#include "backend/jit/jit.h"

/* alloca, stacksave, stackrestore: false with unit->why set. */
bool jit_alloca_emit(const struct jit *j);

#endif
