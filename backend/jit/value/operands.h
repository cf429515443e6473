/* The operands of an instruction, those of vectors and pairs one by one. */
#ifndef PTERA_BACKEND_JIT_VALUE_OPERANDS_H
#define PTERA_BACKEND_JIT_VALUE_OPERANDS_H

#include "backend/jit/jit.h"
#include "backend/jit/value/registers.h"

struct jit_flat {
    const struct pt_operand *o;
    enum pt_type type;
    bool extends_sign;
};

struct jit_operands {
    struct jit_flat dest[JIT_DESTS + 2], source[JIT_SOURCES + 2];
    unsigned n_dests, n_sources;
};

/* The operands of j->insn. False with unit->why set. */
bool jit_operands_flatten(const struct jit *j, struct jit_operands *all);

/* As jit_registers_read. */
static inline LLVMValueRef jit_operands_read(const struct jit *j, const struct jit_flat *f,
                                             unsigned copy, unsigned lanes, bool number)
{
    return jit_registers_read(j, f->o, copy, f->type, lanes, number);
}

#endif
