/* Prefetches that others make redundant: which accesses of straight code lie behind others. */
#ifndef PTERA_BACKEND_JIT_MEMORY_PREFETCH_REDUNDANT_H
#define PTERA_BACKEND_JIT_MEMORY_PREFETCH_REDUNDANT_H

#include "backend/jit/jit.h"

/* Another access of straight code near j->insn is in front of it, and asks for both. */
bool jit_prefetch_redundant_applies(const struct jit *j);

#endif
