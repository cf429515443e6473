/* Emitters of the approximate functions of f32, exact, for CPUs that look up bytes in vectors. */
#ifndef PTERA_BACKEND_JIT_EMIT_MUFU_H
#define PTERA_BACKEND_JIT_EMIT_MUFU_H

#include "backend/jit/emit/emit.h"
#include "backend/jit/jit.h"

/* The form's emitter, or NULL. What it makes holds for arguments that need nothing around the unit
 * (jit_op.is_plain). */
jit_emitter *jit_mufu_emitter(const struct jit_unit *u, const struct pt_form *form);

#endif
