/* Short guarded blocks in a row: "if (i < n) a[i] = …; if (i + 1 < n) a[i + 1] = …". */
#ifndef PTERA_BACKEND_JIT_CONTROL_SUPERBLOCK_H
#define PTERA_BACKEND_JIT_CONTROL_SUPERBLOCK_H

#include "backend/jit/control/gen.h"

/* Block `from` has run, but for the branch at its end. Where all lanes of the group go on through
 * guarded blocks that follow, they run those, and leave the last of them; goes on for other groups.
 * False with unit->why set. */
bool jit_superblock_emit(struct jit_gen *g, uint32_t from);

#endif
