/* Loads of shared memory through one address, a few elements from each other, as those of a
 * stencil. */
#ifndef PTERA_BACKEND_JIT_MEMORY_OVERLAPPING_LOADS_H
#define PTERA_BACKEND_JIT_MEMORY_OVERLAPPING_LOADS_H

#include "backend/jit/jit.h"
#include "backend/jit/memory/access.h"

/* Finds those of the instructions, in the order they run, whose accesses are in j->trusted and
 * overlap: j->overlaps. */
void jit_overlapping_loads_find(struct jit *j, const uint32_t *insns, uint32_t n);

/* j->insn as one of them; false if it loads by itself. */
bool jit_overlapping_loads_load(const struct jit *j, const struct jit_access *a, unsigned copy);

#endif
