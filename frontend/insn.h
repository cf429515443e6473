/* One instruction: spelling and operands to a form of the instruction table. */
#ifndef PTERA_FRONTEND_INSN_H
#define PTERA_FRONTEND_INSN_H

#include "ir/ir.h"

/* Finds the row that `spelling` ("add.rn.ftz.f32", not NUL-terminated) and the parsed operands match, checks operand
 * kinds, register types, .version and .target, and interns the form in m->forms. Returns its index, or PT_NONE
 * after reporting to m->diags what is wrong: an unknown instruction (with the nearest known spelling), a modifier,
 * type or operand that does not fit, a needed .target or .version, or a known form that is not supported yet.
 * Operands may be adjusted in place (an integer constant for a floating-point operand is an error, a literal's type
 * is settled to the operand's). */
uint32_t pt_insn_match(struct pt_module *m, struct pt_func *f, const char *spelling, uint32_t len,
                       struct pt_operand *operands, uint32_t n_operands, uint32_t line, uint32_t col);

#endif
