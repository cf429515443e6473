/* Calls replaced by the bodies they call, on a copy: what an engine that keeps no stack of
 * activations runs. Loops over local variables that ir/unroll.h finds are written out, too,
 * and counters that ir/loop_counter.h finds have copies.
 *
 * Calls of functions that are defined and not active already (recursion) are expanded; others stay.
 * An indirect call is expanded to a choice among those it may call (ir/call_graph.h): by brx.idx,
 * with an index beyond its table where the pointer is none of theirs. A variable of an activation
 * lies where it would if the call were made: the frames of callees begin behind the caller's.
 * Parameters and results that are only loaded and stored whole, by their names, become registers
 * (ir/escape.h).
 */
#ifndef PTERA_IR_INLINE_H
#define PTERA_IR_INLINE_H

#include "ir/ir.h"

/* Where an instruction of the copy comes from. */
struct pt_place {
    uint32_t func, insn;
    bool begins; /* with pt_inline's `keeps_blocks`: who runs it comes to a block of the original */
};

struct pt_inlined {
    struct pt_module *m; /* shares all of the module but its forms, symbols and this function */
    struct pt_func *f;   /* lowered; has the function's index in m */
    const struct pt_place *places; /* by pt_insn.operands, which every copied instruction has for
                                      its own */
    uint32_t n_places;
    const char *stays; /* why the first call does of a function that is defined; NULL: none does */
};

/* All functions that `func` reaches are lowered. Everything is in `arena`. With `keeps_blocks`
 * loops are not written out, and one instruction of each block's copy says that it begins there.
 * False, and nothing made: the code would grow beyond all reason. */
bool pt_inline(const struct pt_module *m, uint32_t func, bool keeps_blocks, struct pt_arena *arena,
               struct pt_inlined *inlined);

/* The copy's loops would be other ones. */
bool pt_inline_changes_loops(const struct pt_module *m, const struct pt_func *f,
                             struct pt_arena *arena);

/* alloca, stacksave, stackrestore. */
bool pt_is_of_stack(const struct pt_form *form);

/* Some instruction of the function takes memory from the stack, or gives it back. In a copy stacks
 * begin behind the variables of all activations, and what an activation has taken is given back
 * when it ends. */
bool pt_uses_stack(const struct pt_module *m, const struct pt_func *f);

/* The place of instruction `insn` of the copy: of one that the building of blocks added, that of
 * the one before. */
struct pt_place pt_inlined_place(const struct pt_inlined *inlined, uint32_t insn);

#endif
