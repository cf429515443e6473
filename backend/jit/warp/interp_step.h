/* Instructions that the interpreter runs (pt_engine.step). */
#ifndef PTERA_BACKEND_JIT_WARP_INTERP_STEP_H
#define PTERA_BACKEND_JIT_WARP_INTERP_STEP_H

#include "backend/jit/jit.h"

/* j->insn, by the interpreter. */
bool jit_interp_step_emit(const struct jit *j);

/* j->code->frame, of the group's warp. */
void jit_interp_step_find_frame(const struct jit *j);

#endif
