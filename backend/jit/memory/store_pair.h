/* Two stores in one stretch of memory, as one. */
#ifndef PTERA_BACKEND_JIT_MEMORY_STORE_PAIR_H
#define PTERA_BACKEND_JIT_MEMORY_STORE_PAIR_H

#include "backend/jit/jit.h"

/* j->insn and the next are stores, tested, that may fill a stretch of two vectors together; does
 * both, of one copy. */
bool jit_store_pair_applies(const struct jit *j);
void jit_store_pair_store(const struct jit *j, unsigned copy);

#endif
