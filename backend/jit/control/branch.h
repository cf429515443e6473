/* Instructions that end a block: branches, also by a table, ends of the kernel. */
#ifndef PTERA_BACKEND_JIT_CONTROL_BRANCH_H
#define PTERA_BACKEND_JIT_CONTROL_BRANCH_H

#include "backend/jit/control/gen.h"

/* Where the lanes of a block go at its end. False with unit->why set. */
bool jit_branch_end(const struct jit_gen *g, uint32_t block);

#endif
