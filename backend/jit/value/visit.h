/* Which instruction code is generated for: the next one, or another one in between. */
#ifndef PTERA_BACKEND_JIT_VALUE_VISIT_H
#define PTERA_BACKEND_JIT_VALUE_VISIT_H

#include "backend/jit/jit.h"

struct jit_visited {
    const struct pt_insn *insn;
    const struct pt_form *form;
    LLVMValueRef guard, mask[JIT_COPIES];
};

/* j->insn and j->form become the instruction. */
void jit_visit_insn(struct jit *j, uint32_t insn);

/* j->insn, j->form, mask and guard become those of an instruction that all lanes run; what they
 * were. */
struct jit_visited jit_visit_aside(struct jit *j, uint32_t insn);

/* They are again what they were. */
void jit_visit_come_back(struct jit *j, const struct jit_visited *was);

#endif
