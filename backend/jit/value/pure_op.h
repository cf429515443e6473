/* Pure instructions over scalars, affine values and vectors: operands, guards, results. */
#ifndef PTERA_BACKEND_JIT_VALUE_PURE_OP_H
#define PTERA_BACKEND_JIT_VALUE_PURE_OP_H

#include "backend/jit/jit.h"

struct jit_flat {
    const struct pt_operand *o;
    enum pt_type type;
    bool extends_sign;
};

struct jit_operands {
    struct jit_flat dest[JIT_DESTS + 2], source[JIT_SOURCES + 2];
    unsigned n_dests, n_sources;
};

struct jit_visited {
    const struct pt_insn *insn;
    const struct pt_form *form;
    LLVMValueRef guard, mask[JIT_COPIES];
};

/* j->insn and j->form become the instruction. */
void jit_pure_op_visit(struct jit *j, uint32_t insn);

/* The first result of a pure instruction in the lanes of one copy, as a vector of the register's type. */
LLVMValueRef jit_pure_op_compute_lanes(struct jit *j, uint32_t insn, unsigned copy);

/* The lanes of an affine register whose form may not hold, from what it was made of; NULL if that may have changed. */
LLVMValueRef jit_pure_op_remat_wide(struct jit *j, uint32_t reg, unsigned copy);

/* The operands of j->insn, those of vectors and pairs one by one. False with j->why set. */
bool jit_pure_op_flatten(struct jit *j, struct jit_operands *all);

/* j->mask of the copy, and j->guard, from the block's mask and the guard of j->insn. */
void jit_pure_op_apply_guard(struct jit *j, unsigned copy, LLVMValueRef block_mask);

/* The form takes NaNs of any bits for the same. */
bool jit_pure_op_takes_numbers(const struct pt_form *form);

/* As jit_registers_read. */
LLVMValueRef jit_pure_op_read(struct jit *j, const struct jit_flat *f, unsigned copy,
                              unsigned lanes, bool number);

/* j->insn, a pure instruction, in the lanes of `mask`. False with j->why set. */
bool jit_pure_op_emit(struct jit *j, LLVMValueRef *mask);

/* j->insn, j->form, mask and guard become those of an instruction that all lanes run; what they were. */
struct jit_visited jit_pure_op_visit_aside(struct jit *j, uint32_t insn);

/* They are again what they were. */
void jit_pure_op_come_back(struct jit *j, const struct jit_visited *was);

#endif
