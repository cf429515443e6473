/* griddepcontrol: grids that depend on others. */
#ifndef PTERA_BACKEND_JIT_MEMORY_GRID_H
#define PTERA_BACKEND_JIT_MEMORY_GRID_H

#include "backend/jit/jit.h"

/* Once, where there are lanes that do it. */
bool jit_grid_emit(const struct jit *j);

#endif
