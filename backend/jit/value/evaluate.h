/* A pure operation in one lane or in all: sources are read, results computed, nothing is
 * written. */
#ifndef PTERA_BACKEND_JIT_VALUE_EVALUATE_H
#define PTERA_BACKEND_JIT_VALUE_EVALUATE_H

#include "backend/jit/emit/emit.h"
#include "backend/jit/jit.h"
#include "backend/jit/value/operands.h"

/* j->insn, whose operands are `all`: its results in op->d, in all lanes of the copy (lanes ==
 * width) or in its lane 0 (lanes == 1). False with unit->why set. */
bool jit_evaluate_op(const struct jit *j, const struct jit_operands *all, unsigned copy,
                     unsigned lanes, struct jit_op *op);

/* The same in two steps, the second of which is for the copies of one instruction together: where
 * an emitter's results do not hold for all their lanes (jit_op.is_plain), lane functions are
 * called for all of them. */
bool jit_evaluate_begin(const struct jit *j, const struct jit_operands *all, unsigned copy,
                        unsigned lanes, struct jit_op *op);
bool jit_evaluate_end(const struct jit *j, struct jit_op *ops, unsigned n);

/* The first result of a pure instruction in the lanes of one copy, as a vector of the register's
 * type. */
LLVMValueRef jit_evaluate_lanes(const struct jit *j, uint32_t insn, unsigned copy);

/* Rematerialises the lanes of an affine register whose form may not hold, from what it was made of;
 * NULL if that may have changed. */
LLVMValueRef jit_evaluate_wide_again(const struct jit *j, uint32_t reg, unsigned copy);

#endif
