/* What the lanes of a warp do together. */
#ifndef PTERA_BACKEND_JIT_WARP_WARP_H
#define PTERA_BACKEND_JIT_WARP_WARP_H

#include "backend/jit/jit.h"

/* Instructions of a warp: false with unit->why set. */
bool jit_warp_emit(const struct jit *j);

#endif
