/* Calls of device functions that can be native: what is called, and with what. */
#include "backend/jit/analysis/call_info.h"

#include <string.h>

#include "backend/jit/jit.h"
#include "ir/bits.h"

/* `param`: as the callee declares it. */
static bool describe_pass(const struct jit_facts *a, const struct pt_operand *o, uint32_t param,
                          uint32_t *at, struct jit_call_pass *pass)
{
    *pass = (struct jit_call_pass){.o = o};
    uint32_t align = a->unit->m->symbols.v[param].align;
    align = align ? align : 1;
    if (o->kind == PT_OPND_SYM) {
        pass->variable = &a->unit->m->symbols.v[o->index];
        pass->bytes = (uint32_t)pass->variable->size;
        if (pass->variable->space != PT_SPACE_LOCAL || o->imm)
            return false;
    } else if (o->kind == PT_OPND_REG) {
        unsigned bits = pt_type_bits((enum pt_type)a->unit->f->regs.v[o->index].type);
        if (bits != 32 && bits != 64)
            return false;
        pass->type = bits == 32 ? PT_b32 : PT_b64;
        pass->bytes = bits / 8;
    } else {
        return false;
    }
    *at = pt_round_up(*at, align);
    pass->at = *at;
    *at += pass->bytes;
    return *at <= PT_DEVICE_BYTES;
}

bool jit_call_info_find(const struct jit_facts *a, const struct pt_insn *insn,
                        struct jit_call_info *call)
{
    const struct pt_operand *o = &a->unit->f->operands.v[insn->operands],
                            *end = o + insn->n_operands;
    const struct pt_operand *results = o->kind == PT_OPND_LIST ? o++ : NULL;
    uint32_t at = 0, none = 0;
    memset(call, 0, sizeof *call);
    if (o->kind != PT_OPND_FUNC || !a->unit->m->funcs.v[o->index].is_declared_only)
        return false;
    uint32_t index = (o++)->index;
    const struct pt_func *callee = &a->unit->m->funcs.v[index];
    call->device = callee->is_host ? PT_DEVICE_COUNT + index : pt_device_find(callee->name);
    call->n = o < end ? (unsigned)o->imm : 0;
    call->has_result = results && results->imm;
    if (!call->device || call->n > JIT_CALL_ARGS || call->n > callee->params.n ||
        (results && results->imm > 1))
        return false;
    for (unsigned i = 0; i < call->n; i++)
        if (!describe_pass(a, &a->unit->f->operands.v[o->index + i], callee->params.v[i], &at,
                           &call->args[i]))
            return false;
    return !call->has_result || (describe_pass(a, &a->unit->f->operands.v[results->index],
                                               callee->results.v[0], &none, &call->result) &&
                                 call->result.bytes <= PT_DEVICE_BYTES);
}

bool jit_call_info_is_native(const struct jit_facts *a, const struct pt_insn *insn)
{
    struct jit_call_info call;
    return jit_call_info_find(a, insn, &call);
}
