/* Emitters of --math fast (struct pt_native_options). */
#ifndef PTERA_BACKEND_JIT_EMIT_FAST_MATH_H
#define PTERA_BACKEND_JIT_EMIT_FAST_MATH_H

#include "backend/jit/emit/emit.h"
#include "backend/jit/jit.h"

/* The emitter that serves then, or NULL. */
jit_emitter *jit_fast_math_emitter(const struct jit_unit *u, const struct pt_form *form);

#endif
