/* Bounds of predicates: what scalars tell of them for all lanes. */
#ifndef PTERA_BACKEND_JIT_VALUE_PREDICATE_BOUNDS_H
#define PTERA_BACKEND_JIT_VALUE_PREDICATE_BOUNDS_H

#include "backend/jit/jit.h"

/* Finds jit_reg.is_bounded and is_sunk. */
void jit_predicate_bounds_find(const struct jit *j);

/* j->insn has written its result: notes what scalars tell of it. */
void jit_predicate_bounds_note(const struct jit *j);

/* j->insn's result is sunk: nothing but its bounds is computed where the instruction stands. */
bool jit_predicate_bounds_is_sunk(const struct jit *j);

/* The predicate comes from comparisons with values that only the launch knows, as those for the end
 * of data do, not with places in the CTA: most groups pass it. */
bool jit_predicate_bounds_asks_for_end(const struct jit *j, uint32_t reg);

/* The bounds found when the register is written count in the block. */
bool jit_predicate_bounds_is_known_in(const struct jit *j, uint32_t reg, uint32_t block);

/* What they tell of the predicate, negated or not, where the block reads it; lanes that do not run
 * the block may be left out of account. False if nothing. */
bool jit_predicate_bounds_load(const struct jit *j, const struct pt_operand *o,
                               struct jit_bounds *bounds);

/* What j->insn, a comparison of integers, tells of two values of its type. */
LLVMValueRef jit_predicate_bounds_compare(const struct jit *j, LLVMValueRef a, LLVMValueRef b);

/* The bounds of what and.pred, or else or.pred, makes of two predicates. */
struct jit_bounds jit_predicate_bounds_join(const struct jit *j, const struct pt_form *form,
                                            struct jit_bounds a, struct jit_bounds b);

#endif
