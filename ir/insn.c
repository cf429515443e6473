/* Which registers an instruction reads and writes. The roles come from the operand places of its
 * form. */
#include "ir/insn.h"

#include "ir/row.h"

struct roles {
    const struct pt_func *f;
    const struct pt_form *form;
    void (*visit)(void *ud, struct pt_operand *operand, unsigned role, enum pt_type type);
    void *ud;
    unsigned mask, role; /* visit where role & mask is this */
    bool needs_type;
};

static void visit_reg(const struct roles *r, const struct pt_slot *slot, struct pt_operand *o)
{
    unsigned role = !(slot->flags & PT_SLOT_DEST) ? PT_ROLE_USE
                    : slot->flags & PT_SLOT_INOUT ? PT_ROLE_USE | PT_ROLE_DEF
                                                  : PT_ROLE_DEF;
    if ((role & r->mask) == r->role)
        r->visit(r->ud, o, role, r->needs_type ? pt_slot_type(slot, r->form) : PT_TYPE_NONE);
}

/* The slot of part `i` of an operand: a list has one for all its parts, the elements of a vector
 * share theirs. */
static const struct pt_slot *part_slot(const struct pt_slot *slot, unsigned i)
{
    if (slot->kind == PT_SLOT_VEC || slot->kind == PT_SLOT_LIST)
        return slot->n_sub ? pt_slot_sub(slot, i) : slot;
    return i < slot->n_sub ? pt_slot_sub(slot, i) : slot;
}

/* Parts nest once more: a vector inside an address. */
static void visit_part(const struct roles *r, const struct pt_slot *slot, struct pt_operand *o)
{
    if (o->kind == PT_OPND_REG)
        visit_reg(r, slot->n_sub ? part_slot(slot, 0) : slot, o);
    if (o->kind != PT_OPND_VEC)
        return;
    for (int64_t i = 0; i < o->imm; i++) {
        struct pt_operand *e = &r->f->operands.v[o->index + i];
        if (e->kind == PT_OPND_REG)
            visit_reg(r, part_slot(slot, i), e);
    }
}

static void visit_operand(const struct roles *r, const struct pt_slot *slot, struct pt_operand *o)
{
    switch (o->kind) {
    case PT_OPND_REG:
    case PT_OPND_VEC:
        visit_part(r, slot, o);
        break;
    case PT_OPND_PAIR: /* two parts; `imm` is not their count */
        visit_part(r, part_slot(slot, 0), &r->f->operands.v[o->index]);
        visit_part(r, part_slot(slot, 1), &r->f->operands.v[o->index + 1]);
        break;
    case PT_OPND_MEM:
    case PT_OPND_LIST:
        for (int64_t i = 0; i < o->imm; i++)
            visit_part(r, part_slot(slot, i), &r->f->operands.v[o->index + i]);
        break;
    default:
        break;
    }
}

static void visit_insn(struct roles *r, const struct pt_insn *insn, unsigned mask, unsigned role)
{
    r->mask = mask;
    r->role = role;
    for (unsigned i = 0; i < insn->n_operands; i++)
        visit_operand(r, pt_form_slot(r->form, i), &r->f->operands.v[insn->operands + i]);
}

void pt_insn_operands(
    const struct pt_module *m, const struct pt_func *f, const struct pt_insn *insn,
    void (*visit)(void *ud, struct pt_operand *operand, unsigned role, enum pt_type type), void *ud)
{
    struct roles r = {
        .f = f, .form = pt_insn_form(m, insn), .visit = visit, .ud = ud, .needs_type = true};
    visit_insn(&r, insn, PT_ROLE_USE | PT_ROLE_DEF, PT_ROLE_USE);
    visit_insn(&r, insn, PT_ROLE_DEF, PT_ROLE_DEF);
}

struct regs {
    void (*visit)(void *ud, uint32_t reg, bool is_def);
    void *ud;
    bool is_def;
};

static void visit_one(void *ud, struct pt_operand *o, unsigned role, enum pt_type type)
{
    const struct regs *r = ud;
    (void)role;
    (void)type;
    r->visit(r->ud, o->index, r->is_def);
}

void pt_insn_regs(const struct pt_module *m, const struct pt_func *f, const struct pt_insn *insn,
                  void (*visit)(void *ud, uint32_t reg, bool is_def), void *ud)
{
    struct regs regs = {visit, ud, false};
    struct roles r = {.f = f, .form = pt_insn_form(m, insn), .visit = visit_one, .ud = &regs};
    if (insn->guard)
        visit(ud, insn->guard, false);
    visit_insn(&r, insn, PT_ROLE_USE, PT_ROLE_USE);
    if (r.form->effects & PT_FX_END) {
        for (uint32_t i = 0; i < f->results.n; i++) {
            const struct pt_symbol *s = &m->symbols.v[f->results.v[i]];
            if (s->space == PT_SPACE_REG)
                visit(ud, s->reg, false);
        }
    }
    regs.is_def = true;
    visit_insn(&r, insn, PT_ROLE_DEF, PT_ROLE_DEF);
}
