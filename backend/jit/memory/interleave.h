/* Interleaved accesses: those of one form through one address that together touch a stretch in
 * which the lanes lie side by side. */
#ifndef PTERA_BACKEND_JIT_MEMORY_INTERLEAVE_H
#define PTERA_BACKEND_JIT_MEMORY_INTERLEAVE_H

#include "backend/jit/jit.h"
#include "backend/jit/memory/access.h"

/* Finds those of the instructions, in the order they run, whose accesses are in j->trusted and run
 * together: j->interleaved, j->overlaps, j->structures. */
void jit_interleave_find(struct jit *j, const uint32_t *insns, uint32_t n);

/* What they access together. j->insn becomes the first. */
void jit_interleave_describe(const struct jit *j, const struct jit_interleaved *join,
                             struct jit_access *a);

#endif
