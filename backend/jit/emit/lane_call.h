/* Operations without an emitter. */
#ifndef PTERA_BACKEND_JIT_EMIT_LANE_CALL_H
#define PTERA_BACKEND_JIT_EMIT_LANE_CALL_H

#include "backend/jit/emit/emit.h"
#include "backend/jit/jit.h"

/* An operation by the interpreter's own function (backend/lanes.h): arguments go to memory, the
 * function runs over the lanes, results come back. False if the form has none. */
bool jit_lane_call_emit(struct jit_op *op);

/* The same for n operations of one form at once, of n * lanes <= JIT_LANE_CALL_LANES. */
bool jit_lane_call_emit_together(struct jit_op *ops, unsigned n);

/* Source i of the k-th of such operations goes to memory at once, and is NULL then: the next call
 * takes it from there. */
void jit_lane_call_store(struct jit_op *op, unsigned i, unsigned k);

/* True if there is such a function. */
bool jit_lane_call_exists(const struct jit_unit *u, const struct pt_form *form);

/* True if such a call is how the form is compiled. */
bool jit_lane_call_is_needed(const struct jit_unit *u, const struct pt_form *form);

/* Memory of JIT_LANE_CALL_LANES elements of 8 bytes, aligned to 64, for argument i < 4 of such
 * calls. */
LLVMValueRef jit_lane_call_memory(const struct jit *j, unsigned i);

/* An operation of two sources of 32 bits by the interpreter's function of that name, for one
 * lane. */
LLVMValueRef jit_lane_call_emit_one(const struct jit *j, const char *name, LLVMValueRef a,
                                    LLVMValueRef b);

#endif
