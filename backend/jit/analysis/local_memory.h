/* Local memory: whether a group may keep its lanes' variables in rows of its own. */
#ifndef PTERA_BACKEND_JIT_ANALYSIS_LOCAL_MEMORY_H
#define PTERA_BACKEND_JIT_ANALYSIS_LOCAL_MEMORY_H

#include "backend/jit/jit.h"

/* Where no address made by cvta.local goes anywhere but to loads and stores, these become local
 * ones, and such an address the offset that it was made from. Before anything else is known of the
 * function, which is changed. */
void jit_local_memory_name_accesses(struct jit_facts *a);

/* Decides facts->local: with jit_plan_find, which tells whether the kernel is one region. */
void jit_local_memory_choose(struct jit_facts *a);

/* Registers that the variables may take, of each chunk. */
unsigned jit_local_memory_pressure(const struct jit_facts *a);

/* What is known of an offset in the thread's window, from how it was computed: it is not above max,
 * and a multiple of unit, a power of two. */
struct jit_offset {
    uint64_t max, unit;
    bool is_exact; /* it is max */
};
struct jit_offset jit_local_memory_offset(const struct jit_facts *a, const struct pt_operand *base);

/* The load or store was a generic one: beyond the thread's window it finds what is there. */
bool jit_local_memory_was_generic(const struct jit_facts *a, const struct pt_insn *insn);

#endif
