/* Guards (@p): the lanes in which an instruction has an effect. */
#include "backend/jit/value/guard.h"

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/jit.h"
#include "backend/jit/value/registers.h"

struct pt_operand jit_guard_operand(const struct pt_insn *insn)
{
    return (struct pt_operand){
        .kind = PT_OPND_REG, .index = insn->guard, .flags = insn->guard_neg ? PT_OPND_NEG : 0};
}

/* Narrows j->mask to the lanes of the guard; uniform guards are in j->guard, too. */
void jit_guard_apply(struct jit *j, unsigned copy, LLVMValueRef block_mask)
{
    j->mask[copy] = block_mask;
    j->guard = NULL;
    if (!j->insn->guard)
        return;
    struct pt_operand o = jit_guard_operand(j->insn);
    int64_t stride;
    LLVMValueRef p = jit_registers_read(j, &o, copy, PT_pred, j->unit->width, true);
    if (jit_def_use_shape(j->facts, &o, &stride) == JIT_SCALAR)
        j->guard = jit_registers_read(j, &o, copy, PT_pred, 1, true);
    j->mask[copy] = block_mask ? LLVMBuildAnd(j->code->b, block_mask, p, "") : p;
}
