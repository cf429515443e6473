/* Which instruction code is generated for: the next one, or another one in between. */
#ifndef PTERA_BACKEND_JIT_VALUE_VISIT_H
#define PTERA_BACKEND_JIT_VALUE_VISIT_H

#include "backend/jit/jit.h"

/* j->insn and j->form become the instruction. */
void jit_visit_insn(struct jit *j, uint32_t insn);

/* A cursor at an instruction that all lanes run. */
struct jit jit_visit_aside(const struct jit *j, uint32_t insn);

#endif
