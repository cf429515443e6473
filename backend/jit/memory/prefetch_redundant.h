/* Prefetches that others make redundant: which accesses lie behind others. */
#ifndef PTERA_BACKEND_JIT_MEMORY_PREFETCH_REDUNDANT_H
#define PTERA_BACKEND_JIT_MEMORY_PREFETCH_REDUNDANT_H

#include "backend/jit/jit.h"

/* Another access near j->insn, of its loop or of straight code as it is, is in front of it, and
 * asks for both. */
bool jit_prefetch_redundant_applies(const struct jit *j);

#endif
