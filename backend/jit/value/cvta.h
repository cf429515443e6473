/* cvta, mapa, getctarank: an address of one space as one of another. */
#ifndef PTERA_BACKEND_JIT_VALUE_CVTA_H
#define PTERA_BACKEND_JIT_VALUE_CVTA_H

#include "backend/jit/emit/emit.h"
#include "backend/jit/jit.h"

/* Computes the operation in the lanes of one copy. False: it is another one, or such as native code
 * does not know. */
bool jit_cvta_emit(const struct jit *j, struct jit_op *op, unsigned copy);

/* cvta between generic addresses and those of local memory, of which each lane has its own. */
bool jit_cvta_is_local(const struct pt_form *form);

#endif
