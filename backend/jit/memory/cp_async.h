/* Asynchronous copies, which native code makes at once. */
#ifndef PTERA_BACKEND_JIT_MEMORY_CP_ASYNC_H
#define PTERA_BACKEND_JIT_MEMORY_CP_ASYNC_H

#include "backend/jit/jit.h"

/* cp.async: false with unit->why set. */
bool jit_cp_async_emit(const struct jit *j);

#endif
