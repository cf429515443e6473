/* Accesses of several elements of one structure in each lane, of any sizes, some of which may be
 * left out: an array of structures, of which the lanes' addresses are a constant stride apart. */
#ifndef PTERA_BACKEND_JIT_MEMORY_STRUCTURE_H
#define PTERA_BACKEND_JIT_MEMORY_STRUCTURE_H

#include "backend/jit/jit.h"

/* Finds those of the instructions, in the order they run, whose accesses are in j->trusted and run
 * together: j->structures. Those in j->interleaved are left out. */
void jit_structure_find(struct jit *j, const uint32_t *insns, uint32_t n);

/* `all` and what has to hold, besides, of the addresses of those in j->structures. */
LLVMValueRef jit_structure_test(const struct jit *j, LLVMValueRef all);

/* j->insn as one of them: it runs with others, here or elsewhere. False: by itself. */
bool jit_structure_access(const struct jit *j);

/* The instructions whose results come with this one. */
const uint32_t *jit_structure_brought(const struct jit *j, const uint32_t *insn, uint32_t *n);

#endif
