/* Loops over local variables whose rounds can be counted beforehand, written out: what they access
 * has constant addresses then, as in code for which the compiler did so itself (nvcc -G does not).
 */
#ifndef PTERA_IR_UNROLL_H
#define PTERA_IR_UNROLL_H

#include "ir/ir.h"

/* One instruction of the rounds, in the order in which they run. */
struct pt_unrolled_insn {
    uint32_t insn;
    bool is_const; /* all it does is to write `value` to its register, of an integer */
    uint64_t value;
};

/* What a loop does, for every thread that does not leave it by a branch among these; the others go
 * on in block `exit`. */
struct pt_unrolled {
    PT_VEC(struct pt_unrolled_insn) insns;
    uint32_t end; /* one past its last block */
    uint32_t exit;
};

struct pt_unroll;

/* For the loops of a lowered function; NULL: it has none that count. Everything is in `arena`. */
struct pt_unroll *pt_unroll_begin(const struct pt_module *m, const struct pt_func *f,
                                  struct pt_arena *arena);

/* The loop of which the block is the header. False: it is none, or stays. */
bool pt_unroll_loop(struct pt_unroll *u, uint32_t block, struct pt_unrolled *loop);

/* Some loop does not stay. */
bool pt_unroll_any(const struct pt_module *m, const struct pt_func *f, struct pt_arena *arena);

#endif
