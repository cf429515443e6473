/* The operands of an instruction, those of vectors and pairs one by one. */
#include "backend/jit/value/operands.h"

#include <string.h>

#include "backend/jit/jit.h"

static enum pt_type type_of(const struct jit *j, const struct pt_slot *slot)
{
    if (slot->kind == PT_SLOT_FUNC) /* its address */
        return (enum pt_type)j->form->type[0];
    return slot->kind == PT_SLOT_IMM ? PT_u32 : pt_slot_type(slot, j->form);
}

static bool add_operand(const struct jit *j, struct jit_operands *all, const struct pt_slot *slot,
                        const struct pt_operand *o)
{
    enum pt_type type = type_of(j, slot);
    struct jit_flat flat = {o, type,
                            (slot->flags & PT_SLOT_WIDER) && pt_type_class(type) == PT_CLASS_S};
    if (slot->flags & PT_SLOT_INOUT || (o->flags & PT_OPND_MINUS) || o->select)
        return jit_refuse(j->unit, "an operand with a selector or sign");
    unsigned *n = slot->flags & PT_SLOT_DEST ? &all->n_dests : &all->n_sources;
    struct jit_flat *list = slot->flags & PT_SLOT_DEST ? all->dest : all->source;
    if (*n == (slot->flags & PT_SLOT_DEST ? JIT_DESTS + 2 : JIT_SOURCES + 2))
        return jit_refuse(j->unit, "many operands");
    list[(*n)++] = flat;
    return true;
}

bool jit_operands_flatten(const struct jit *j, struct jit_operands *all)
{
    memset(all, 0, sizeof *all);
    for (unsigned k = 0; k < j->insn->n_operands; k++) {
        const struct pt_slot *slot = pt_form_slot(j->form, k);
        const struct pt_operand *o = &j->unit->f->operands.v[j->insn->operands + k];
        unsigned parts = o->kind == PT_OPND_PAIR  ? 2
                         : o->kind == PT_OPND_VEC ? (unsigned)o->imm
                                                  : 0;
        if (!parts && !add_operand(j, all, slot->n_sub ? pt_slot_sub(slot, 0) : slot, o))
            return false;
        for (unsigned i = 0; i < parts; i++) {
            const struct pt_slot *sub =
                slot->n_sub ? pt_slot_sub(slot, slot->n_sub > i ? i : 0) : slot;
            if (!add_operand(j, all, sub, &j->unit->f->operands.v[o->index + i]))
                return false;
        }
    }
    return true;
}
