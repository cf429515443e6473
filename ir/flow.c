/* Which registers an instruction reads and writes, and which are live where. The roles come from
 * the compiled instruction table. */
#include "ir/ir.h"

#include <string.h>

#include "ir/row.h"

/* ---- roles ----------------------------------------------------------------------------------- */

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

/* ---- liveness -------------------------------------------------------------------------------- */

struct scan {
    uint64_t *used;   /* read before the block writes it */
    uint64_t *killed; /* written in all lanes */
    bool is_guarded;
};

static void scan_reg(void *ud, uint32_t reg, bool is_def)
{
    struct scan *s = ud;
    uint64_t bit = (uint64_t)1 << (reg & 63);
    if (!is_def)
        s->used[reg / 64] |= bit & ~s->killed[reg / 64];
    else if (!s->is_guarded)
        s->killed[reg / 64] |= bit;
}

uint64_t *pt_live_in(const struct pt_module *m, const struct pt_func *f, struct pt_arena *arena)
{
    size_t words = (f->regs.n + 63) / 64, n = f->blocks.n;
    uint64_t *in = pt_arena_alloc(arena, n * words * sizeof *in);
    uint64_t *killed = pt_arena_alloc(arena, n * words * sizeof *killed);
    for (size_t b = 0; b < n; b++) {
        struct scan s = {in + b * words, killed + b * words, false};
        for (uint32_t i = 0; i < f->blocks.v[b].count; i++) {
            const struct pt_insn *insn = &f->insns.v[f->blocks.v[b].first + i];
            s.is_guarded = insn->guard != PT_NONE;
            pt_insn_regs(m, f, insn, scan_reg, &s);
        }
    }
    /* Backwards over the numbering, until nothing changes: one round for each level of loops, and
     * one. */
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t b = n; b-- > 0;) {
            const struct pt_block *block = &f->blocks.v[b];
            for (uint32_t e = 0; e < block->n_succ; e++) {
                const uint64_t *from = in + f->edges.v[block->succ + e] * words;
                for (size_t w = 0; w < words; w++) {
                    uint64_t add = from[w] & ~killed[b * words + w] & ~in[b * words + w];
                    in[b * words + w] |= add;
                    changed |= add != 0;
                }
            }
        }
    }
    return in;
}
