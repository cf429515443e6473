/* Rules on the operands of an instruction that look beyond their types: state spaces of
 * variables, values. */
#ifndef PTERA_FRONTEND_CHECK_H
#define PTERA_FRONTEND_CHECK_H

#include "ir/ir.h"

/* An instruction whose form is known. */
struct pt_check {
    struct pt_module *m;
    const struct pt_func *f;
    const struct pt_form *form;
    const struct pt_operand *operands;
    uint32_t n_operands;
    uint32_t line, col, len;
};

/* Variables and constants as addresses lie in a space that the form can access; constants have a
 * value it allows. Reports what does not fit. */
bool pt_check_operands(const struct pt_check *c);
/* It may have a guard: parameters of calls are written and read by all lanes. */
bool pt_check_guard(const struct pt_check *c);

#endif
