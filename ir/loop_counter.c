/* Counters of loops that are read behind the loop: by all definitions and uses of each register. */
#include "ir/loop_counter.h"

#include "ir/insn.h"

struct found {
    uint32_t step; /* + 1; 0: none yet */
    uint32_t loop;
    bool is_none; /* it is written otherwise, too */
    bool is_read_inside, is_read_behind;
};

struct search {
    const struct pt_module *m;
    const struct pt_func *f;
    struct found *regs;
    uint32_t block, insn;
};

static bool is_inside(const struct search *s, const struct found *r)
{
    const struct pt_loop *l = &s->f->loops.v[r->loop - 1];
    return s->block >= l->header && s->block < l->end;
}

bool pt_loop_counter_sets(const struct pt_module *m, const struct pt_func *f, uint32_t insn)
{
    const struct pt_insn *i = &f->insns.v[insn];
    const struct pt_form *form = pt_insn_form(m, i);
    const struct pt_operand *o = &f->operands.v[i->operands];
    if (i->guard || i->n_operands != 2 || o->kind != PT_OPND_REG)
        return false;
    return (form->op == PT_OP_mov && pt_type_is_int((enum pt_type)form->type[0]) &&
            o[1].kind == PT_OPND_IMM) ||
           form->op == PT_OP_mov_sreg;
}

/* reg = reg + or - a constant, or another register */
static bool counts(const struct search *s, uint32_t reg)
{
    const struct pt_insn *i = &s->f->insns.v[s->insn];
    const struct pt_form *form = pt_insn_form(s->m, i);
    const struct pt_operand *o = &s->f->operands.v[i->operands];
    bool is_sum = form->op == PT_OP_add_int || form->op == PT_OP_sub_int;
    if (!is_sum || i->guard || i->n_operands != 3 || pt_form_has(form, PT_M_sat))
        return false;
    return o[1].kind == PT_OPND_REG && o[1].index == reg &&
           (o[2].kind == PT_OPND_IMM || (o[2].kind == PT_OPND_REG && o[2].index != reg));
}

static void see_step(void *ud, uint32_t reg, bool is_def)
{
    struct search *s = ud;
    struct found *r = &s->regs[reg];
    if (!is_def || pt_loop_counter_sets(s->m, s->f, s->insn))
        return;
    r->loop = s->f->blocks.v[s->block].loop;
    r->is_none |= r->step || !r->loop || !counts(s, reg);
    r->step = s->insn + 1;
}

static void see_rest(void *ud, uint32_t reg, bool is_def)
{
    struct search *s = ud;
    struct found *r = &s->regs[reg];
    if (!r->step || r->is_none || r->step == s->insn + 1)
        return;
    bool inside = is_inside(s, r);
    r->is_none |= is_def && inside;
    r->is_read_inside |= !is_def && inside;
    r->is_read_behind |= !is_def && !inside;
}

static void each(struct search *s, void (*see)(void *ud, uint32_t reg, bool is_def))
{
    for (s->block = 0; s->block < s->f->blocks.n; s->block++) {
        const struct pt_block *b = &s->f->blocks.v[s->block];
        for (s->insn = b->first; s->insn < b->first + b->count; s->insn++)
            pt_insn_regs(s->m, s->f, &s->f->insns.v[s->insn], see, s);
    }
}

/* Callers and callees know such a register by its number. */
static void leave_out(struct search *s, const uint32_t *symbols, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (s->m->symbols.v[symbols[i]].space == PT_SPACE_REG)
            s->regs[s->m->symbols.v[symbols[i]].reg].is_none = true;
}

uint32_t pt_loop_counter_find(const struct pt_module *m, const struct pt_func *f,
                              struct pt_arena *arena, struct pt_loop_counter **counters)
{
    struct search s = {.m = m, .f = f};
    PT_VEC(struct pt_loop_counter) all = {0};
    if (!f->loops.n)
        return 0;
    s.regs = pt_arena_alloc(arena, f->regs.n * sizeof *s.regs);
    leave_out(&s, f->params.v, f->params.n);
    leave_out(&s, f->results.v, f->results.n);
    each(&s, see_step);
    each(&s, see_rest);
    for (uint32_t r = 1; r < f->regs.n; r++) {
        const struct found *reg = &s.regs[r];
        if (!reg->step || reg->is_none || !reg->is_read_inside || !reg->is_read_behind)
            continue;
        const struct pt_loop *l = &f->loops.v[reg->loop - 1];
        *pt_vec_push(arena, &all) = (struct pt_loop_counter){r, reg->step - 1, l->header, l->end};
    }
    *counters = all.v;
    return all.n;
}
