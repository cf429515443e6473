/* mov in its forms: bits go where they are told; vectors and pairs are packed and unpacked. */
#ifndef PTERA_BACKEND_JIT_VALUE_MOVE_H
#define PTERA_BACKEND_JIT_VALUE_MOVE_H

#include "backend/jit/emit/emit.h"
#include "backend/jit/jit.h"
#include "backend/jit/value/operands.h"

/* Computes the operation; false: it is none of them. */
bool jit_move_emit(const struct jit *j, struct jit_op *op, const struct jit_operands *all);

#endif
