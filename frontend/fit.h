/* Whether operands fit a form, and the type that literals take. */
#ifndef PTERA_FRONTEND_FIT_H
#define PTERA_FRONTEND_FIT_H

#include "ir/ir.h"
#include "ir/row.h"

/* A line of the table that the spelling fits, with one choice of its optional operands. */
struct pt_candidate {
    const struct pt_module *m;
    const struct pt_line *line;
    struct pt_when when;
    struct pt_form form;
    uint32_t index; /* in m->forms, PT_NONE until it is used */
    uint8_t n_operands;
    uint64_t *regs; /* register types each operand may have, if it is a plain value */
};

/* A flag of operands that have been read: %r + 1, the constant in imm. What is matched has another
 * register for it, with the flag, and what is kept is without. */
enum { PT_FIT_SUM = 1 << 7 };

/* Why an operand does not fit, for the message. */
struct pt_misfit {
    char text[160];
};

/* Registers an operand of the type accepts, a bit for each enum pt_type. `wider`: of more bits
 * too; `vector`: an element of .v2 .v4 .v8. */
uint64_t pt_fit_regs(enum pt_type type, bool wider, bool vector);
/* The same for the values of a slot. */
uint64_t pt_fit_slot(const struct pt_slot *slot, const struct pt_form *form, bool vector);
/* Operands that fit, from the first on; c->n_operands if all do. `why`: NULL, or what is wrong
 * with the next. */
uint32_t pt_fit_operands(const struct pt_func *f, const struct pt_candidate *c,
                         const struct pt_operand *operands, struct pt_misfit *why);
/* Gives a constant the type: an integer becomes the low bits of it, a floating-point constant the
 * bits of the value in that type. */
void pt_fit_constant(enum pt_type type, struct pt_operand *constant);
/* Gives literals the type of their operand. */
void pt_fit_settle(struct pt_func *f, const struct pt_candidate *c, const struct pt_slot *slot,
                   struct pt_operand *o);

#endif
