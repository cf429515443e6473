/* Loops: those that do little but load, those in strides of the grid, and pairs of which one is the
 * other unrolled. */
#ifndef PTERA_BACKEND_JIT_ANALYSIS_LOOPS_H
#define PTERA_BACKEND_JIT_ANALYSIS_LOOPS_H

#include "backend/jit/jit.h"

/* Two loops, of which one round of the second does `rounds` of the first. */
struct jit_reroll {
    struct pt_operand counter;    /* register: rounds of the first that are left */
    struct pt_operand index, end; /* the second goes on while index < end, of `type` */
    enum pt_type type;
    unsigned step, rounds; /* step: what a round of the first adds to the index */
};

/* Blocks first and first + 2 are such loops, and lanes that leave the second, or go from the block
 * between behind it, go on in block first + 3. */
bool jit_loops_find_reroll(const struct jit_facts *a, uint32_t first, struct jit_reroll *r);

/* R = r + s, s made of the grid's width. */
bool jit_loops_stride_grid(const struct jit_facts *a, const struct pt_insn *insn);

/* The block is a loop that lanes leave at different times and that does little but load, from where
 * no round before says: one that lanes may run one after the other. */
bool jit_loops_is_loading(const struct jit_facts *a, uint32_t block);

/* The base of a plain load from memory that lanes share; NULL if the instruction is none. */
const struct pt_operand *jit_loops_load_base(const struct jit_facts *a, const struct pt_insn *insn);

#endif
