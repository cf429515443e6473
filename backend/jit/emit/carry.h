/* Extended-precision arithmetic (PTX ISA 9.7.2). */
#ifndef PTERA_BACKEND_JIT_EMIT_CARRY_H
#define PTERA_BACKEND_JIT_EMIT_CARRY_H

#include "backend/jit/emit/emit.h"
#include "backend/jit/jit.h"

/* Extended precision. One value stands for all lanes of CC.CF; for all copies. */
bool jit_carry_is_one(const struct jit *j);
bool jit_carry_is_shared(const struct jit *j);
bool jit_carry_emit(struct jit_op *op, unsigned copy);

#endif
