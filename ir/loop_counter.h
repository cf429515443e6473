/* Counters of loops that are read behind the loop. Where lanes leave a loop at different times such
 * a register differs between them, though those that are still inside agree on it: a copy that is
 * read inside only is the same for them all, and so is what is computed from it there.
 */
#ifndef PTERA_IR_LOOP_COUNTER_H
#define PTERA_IR_LOOP_COUNTER_H

#include "ir/ir.h"

struct pt_loop_counter {
    uint32_t reg;
    uint32_t step;       /* the instruction that counts: it alone writes the register in the loop */
    uint32_t first, end; /* the loop's blocks */
};

/* Those of a lowered function. All other instructions that write one are mov of a constant or of a
 * special register, outside the loop. The array is in `arena`; returns how many. */
uint32_t pt_loop_counter_find(const struct pt_module *m, const struct pt_func *f,
                              struct pt_arena *arena, struct pt_loop_counter **counters);

/* The instruction is such a mov. */
bool pt_loop_counter_sets(const struct pt_module *m, const struct pt_func *f, uint32_t insn);

#endif
