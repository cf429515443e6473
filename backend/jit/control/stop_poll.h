/* Loops poll for the stop of the launch: on their back edges, every now and then. */
#ifndef PTERA_BACKEND_JIT_CONTROL_STOP_POLL_H
#define PTERA_BACKEND_JIT_CONTROL_STOP_POLL_H

#include "backend/jit/jit.h"

/* Every now and then: is the launch to stop? `insn` is the place that is reported then. */
void jit_stop_poll_emit(const struct jit *j, uint32_t insn);

/* The same once for several rounds of a loop, at most 2^31 less JIT_STOP_POLL_EDGES: an i32. */
void jit_stop_poll_emit_rounds(const struct jit *j, uint32_t insn, LLVMValueRef rounds);

#endif
