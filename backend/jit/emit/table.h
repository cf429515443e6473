/* The table of emitters. */
#ifndef PTERA_BACKEND_JIT_EMIT_TABLE_H
#define PTERA_BACKEND_JIT_EMIT_TABLE_H

#include "backend/jit/emit/emit.h"
#include "backend/jit/jit.h"

/* The emitter of a form's row, or NULL. (helpers.c: one table) */
jit_emitter *jit_table_emitter(const struct jit_unit *u, const struct pt_form *form);

/* Its results hold for plain arguments alone (jit_op.is_plain). */
bool jit_table_is_partial(const struct jit_unit *u, const struct pt_form *form);

#endif
