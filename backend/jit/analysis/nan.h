/* NaNs of f32. */
#ifndef PTERA_BACKEND_JIT_ANALYSIS_NAN_H
#define PTERA_BACKEND_JIT_ANALYSIS_NAN_H

#include "backend/jit/jit.h"

/* Finds jit_reg.is_noncanonical, is_finite and is_quiet. */
void jit_nan_find(const struct jit_facts *a);

/* The operands, from the second on, one of which is the result of the instruction in each lane; 0:
 * it is no such one. */
unsigned jit_nan_choices(const struct pt_form *form);

/* The form takes NaNs of any bits for the same. */
bool jit_nan_takes_numbers(const struct pt_form *form);

/* The operand holds no signalling NaN of f32. */
bool jit_nan_is_quiet(const struct jit_facts *a, const struct pt_operand *o);

#endif
