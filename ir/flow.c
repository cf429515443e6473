/* Which registers an instruction reads and writes, and which are live where. The roles come from
 * the compiled instruction table. */
#include "ir/ir.h"

#include <string.h>

#include "ir/row.h"
#include "ir/bits.h"

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

/* What an instruction under a guard has written, as seen by those behind it in its block. */
struct cover {
    uint32_t guard; /* the predicate times 2, plus 1 where it is negated */
    uint32_t at;    /* the instruction, counted from 1; 0: none */
};

struct scan {
    uint64_t *used;   /* read before the block writes it */
    uint64_t *killed; /* written in all lanes */
    struct cover *covers; /* by register */
    uint32_t *written_at; /* by register: the last instruction that writes it, counted from 1 */
    uint32_t first, at;   /* of the block; the one at hand, counted from 1 */
    uint32_t guard;       /* of that one, as in covers; 0: none */
};

/* Lanes in which the guard holds have the register from this block, as the guard has not changed since. */
static bool is_covered(const struct scan *s, uint32_t reg, uint32_t guard)
{
    const struct cover *c = &s->covers[reg];
    return guard && c->guard == guard && c->at > s->first && s->written_at[guard / 2] < c->at;
}

/* A write under a guard and one under its opposite are a write in all lanes. */
static void scan_def(struct scan *s, uint32_t reg)
{
    if (!s->guard || is_covered(s, reg, s->guard ^ 1))
        s->killed[reg / 64] |= (uint64_t)1 << (reg & 63);
    else
        s->covers[reg] = (struct cover){s->guard, s->at};
    s->written_at[reg] = s->at;
}

static void scan_reg(void *ud, uint32_t reg, bool is_def)
{
    struct scan *s = ud;
    if (is_def)
        scan_def(s, reg);
    else if (!is_covered(s, reg, s->guard))
        s->used[reg / 64] |= (uint64_t)1 << (reg & 63) & ~s->killed[reg / 64];
}

static void scan_block(struct scan *s, const struct pt_module *m, const struct pt_func *f,
                       const struct pt_block *block)
{
    s->first = block->first;
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        const struct pt_insn *insn = &f->insns.v[i];
        s->at = i + 1;
        s->guard = insn->guard ? 2 * insn->guard + insn->guard_neg : 0;
        pt_insn_regs(m, f, insn, scan_reg, s);
    }
}

uint64_t *pt_live_in(const struct pt_module *m, const struct pt_func *f, struct pt_arena *arena)
{
    size_t words = pt_bit_words(f->regs.n), n = f->blocks.n;
    uint64_t *in = pt_arena_alloc(arena, n * words * sizeof *in);
    uint64_t *killed = pt_arena_alloc(arena, n * words * sizeof *killed);
    struct scan s = {.covers = pt_arena_alloc(arena, f->regs.n * sizeof *s.covers),
                     .written_at = pt_arena_alloc(arena, f->regs.n * sizeof *s.written_at)};
    for (size_t b = 0; b < n; b++) {
        s.used = in + b * words;
        s.killed = killed + b * words;
        scan_block(&s, m, f, &f->blocks.v[b]);
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
