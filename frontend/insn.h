/* One instruction: spelling and operands to a form of the instruction table. */
#ifndef PTERA_FRONTEND_INSN_H
#define PTERA_FRONTEND_INSN_H

#include "ir/ir.h"

/* Finds the row that `spelling` ("add.rn.ftz.f32", not NUL-terminated) and the parsed operands
 * match, checks operand kinds, register types, .version and .target, and interns the form in
 * m->forms. Returns its index, or PT_NONE after reporting to m->diags what is wrong: an unknown
 * instruction (with the nearest known spelling), a modifier, type or operand that does not fit, or
 * a needed .target or .version. A form that is known but not supported yet is reported as such and
 * returned: a kernel that may reach it (!pt_op_is_supported) cannot be compiled.
 *
 * Operands may be adjusted in place: a literal takes the type of its operand, an integer constant
 * becomes the low bits of it, a floating-point constant the bits of the value in that type. */
uint32_t pt_insn_match(struct pt_module *m, struct pt_func *f, const char *spelling, uint32_t len,
                       struct pt_operand *operands, uint32_t n_operands, uint32_t line,
                       uint32_t col);

#endif
