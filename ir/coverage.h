/* What ran of a kernel, told by few counters: one for each block, of the threads that come to it,
 * and one for each value that guards have in it, of the threads of which it holds. Engines count;
 * which counter is whose, and what they tell of an instruction, is said here.
 */
#ifndef PTERA_IR_COVERAGE_H
#define PTERA_IR_COVERAGE_H

#include "ir/ir.h"

struct pt_covered_insn {
    uint32_t lanes; /* the counter of its block */
    uint32_t on;    /* of its guard; without a guard that of its block */
    bool is_rest;   /* `on` is of the opposite guard: it runs in the block's other threads */
    bool is_first;  /* of its block: `lanes` is counted before it */
    bool is_tested; /* `on` is counted before it, of its own guard */
};

/* A function; its counters follow each other. */
struct pt_covered_func {
    uint32_t first;                /* its first counter */
    uint32_t n;                    /* so many; 0: the kernel does not run it */
    struct pt_covered_insn *insns; /* with numbers of counters from `first` on */
};

struct pt_coverage {
    uint32_t n;                    /* counters */
    struct pt_covered_func *funcs; /* by index */
};

/* Of a lowered function alone: `first` is 0. Everything is in `arena`. */
struct pt_covered_func *pt_coverage_find_func(const struct pt_module *m, const struct pt_func *f,
                                              struct pt_arena *arena);

/* All functions that the kernel reaches are lowered. Everything is in `arena`. */
struct pt_coverage *pt_coverage_find(const struct pt_module *m, uint32_t kernel,
                                     struct pt_arena *arena);

/* Threads that come to an instruction, and those in which it runs, as the kernel's counters say. */
void pt_coverage_read(const struct pt_coverage *coverage, const uint64_t *counters, uint32_t func,
                      uint32_t insn, uint64_t *lanes, uint64_t *on);

#endif
