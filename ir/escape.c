/* Local variables whose address does not escape. */
#include "ir/escape.h"

#include <stdio.h>

struct escape {
    const struct pt_module *m;
    const struct pt_func *f;
    uint32_t first;
    struct pt_local_use *uses;
};

static bool is_local(const struct escape *e, const struct pt_operand *o)
{
    return o->kind == PT_OPND_SYM && o->index >= e->first &&
           e->m->symbols.v[o->index].space == PT_SPACE_LOCAL;
}

static void note_escape(struct escape *e, const struct pt_operand *o)
{
    if (is_local(e, o))
        e->uses[o->index].escapes = true;
    bool has_parts = o->kind == PT_OPND_VEC || o->kind == PT_OPND_PAIR || o->kind == PT_OPND_MEM ||
                     o->kind == PT_OPND_LIST;
    int64_t n = o->kind == PT_OPND_PAIR ? 2 : has_parts ? o->imm : 0;
    for (int64_t i = 0; i < n; i++)
        note_escape(e, &e->f->operands.v[o->index + i]);
}

/* The address of a plain load or store, and what it moves; NULL if it is another instruction. */
static const struct pt_operand *address_of(const struct escape *e, const struct pt_insn *insn,
                                           const struct pt_operand **value)
{
    const struct pt_form *form = pt_insn_form(e->m, insn);
    bool is_load = form->op == PT_OP_ld;
    if ((!is_load && form->op != PT_OP_st) || insn->n_operands != 2)
        return NULL;
    const struct pt_operand *o = &e->f->operands.v[insn->operands];
    *value = &o[is_load ? 0 : 1];
    return &e->f->operands.v[o[is_load ? 1 : 0].index];
}

static enum pt_type type_of(unsigned bytes)
{
    return bytes == 2 ? PT_b16 : bytes == 4 ? PT_b32 : PT_b64;
}

static void note_type(struct pt_local_use *use, unsigned bytes, uint8_t type)
{
    if (use->type && use->type != type)
        type = (uint8_t)type_of(bytes);
    use->type = type;
}

static bool fits_register(const struct escape *e, const struct pt_operand *value, unsigned bits,
                          struct pt_local_use *use)
{
    unsigned n = value->kind == PT_OPND_VEC ? (unsigned)value->imm : 1;
    const struct pt_operand *o =
        value->kind == PT_OPND_VEC ? &e->f->operands.v[value->index] : value;
    for (unsigned i = 0; i < n; i++) {
        if (o[i].kind == PT_OPND_IMM)
            continue;
        if (o[i].kind != PT_OPND_REG ||
            pt_type_bits((enum pt_type)e->f->regs.v[o[i].index].type) != bits)
            return false;
        note_type(use, bits / 8, e->f->regs.v[o[i].index].type);
    }
    return n == 1 || n == 2 || (n == 4 && bits < 64);
}

static void note_access(struct escape *e, const struct pt_insn *insn, const struct pt_operand *base,
                        const struct pt_operand *value)
{
    struct pt_local_use *use = &e->uses[base->index];
    enum pt_type type = (enum pt_type)pt_insn_form(e->m, insn)->type[0];
    unsigned bytes = pt_type_bytes(type);
    uint64_t at = (uint64_t)base->imm, size = e->m->symbols.v[base->index].size;
    uint64_t all = (value->kind == PT_OPND_VEC ? (uint64_t)value->imm : 1) * bytes;
    bool is_whole = bytes >= 2 && bytes <= 8 && at % all == 0 && at <= size && all <= size - at;
    if (!is_whole || (use->bytes && use->bytes != bytes) ||
        !fits_register(e, value, bytes * 8, use))
        use->is_scalar = false;
    use->bytes = (uint8_t)bytes;
}

/* Larger variables no thread has room for: they may be declared, and have no registers. */
enum { SCALARS_MOST = 512 << 10 };

struct pt_local_use *pt_escape_find(const struct pt_module *m, const struct pt_func *f,
                                    uint32_t first, struct pt_arena *arena)
{
    struct escape e = {m, f, first, pt_arena_alloc(arena, m->symbols.n * sizeof *e.uses)};
    for (uint32_t i = first; i < m->symbols.n; i++)
        e.uses[i].is_scalar = true;
    for (uint32_t i = 0; i < f->insns.n; i++) {
        const struct pt_insn *insn = &f->insns.v[i];
        const struct pt_operand *value, *base = address_of(&e, insn, &value);
        if (base && is_local(&e, base)) {
            note_access(&e, insn, base, value);
            note_escape(&e, value);
            continue;
        }
        for (uint32_t k = 0; k < insn->n_operands; k++)
            note_escape(&e, &f->operands.v[insn->operands + k]);
    }
    for (uint32_t i = first; i < m->symbols.n; i++)
        e.uses[i].is_scalar &= !e.uses[i].escapes && m->symbols.v[i].size <= SCALARS_MOST;
    return e.uses;
}

/* ---- scalars to registers -------------------------------------------------------------------- */

/* A register for each element. */
static uint32_t make_regs(struct pt_module *m, struct pt_func *f, uint32_t symbol,
                          const struct pt_local_use *use)
{
    const struct pt_symbol *s = &m->symbols.v[symbol];
    uint32_t n = (uint32_t)((s->size + use->bytes - 1) / use->bytes), first = f->regs.n;
    size_t space = 32;
    char *name = pt_arena_alloc(&m->arena, space);
    snprintf(name, space, "%%local%u_", symbol);
    struct pt_reg *r = pt_vec_extend(&m->arena, &f->regs, n);
    for (uint32_t i = 0; i < n; i++)
        r[i] = (struct pt_reg){.name = i ? NULL : name,
                               .base = first,
                               .type = use->type ? use->type : (uint8_t)type_of(use->bytes),
                               .is_range = 1};
    return first;
}

static void to_move(struct pt_module *m, struct pt_func *f, struct pt_insn *insn, uint32_t reg,
                    uint32_t form)
{
    bool is_load = pt_insn_form(m, insn)->op == PT_OP_ld;
    struct pt_operand *o = &f->operands.v[insn->operands];
    struct pt_operand value = o[is_load ? 0 : 1], place;
    uint32_t n = value.kind == PT_OPND_VEC ? (uint32_t)value.imm : 1;
    place = (struct pt_operand){.kind = PT_OPND_REG, .type = f->regs.v[reg].type, .index = reg};
    if (value.kind == PT_OPND_VEC) {
        uint32_t at = f->operands.n;
        struct pt_operand *parts = pt_vec_extend(&m->arena, &f->operands, n);
        for (uint32_t i = 0; i < n; i++, place.index++)
            parts[i] = place;
        place = (struct pt_operand){.kind = PT_OPND_VEC, .index = at, .imm = n};
        o = &f->operands.v[insn->operands];
    }
    o[0] = is_load ? value : place;
    o[1] = is_load ? place : value;
    insn->form = form;
}

void pt_escape_promote(struct pt_module *m, struct pt_func *f, uint32_t first,
                       const struct pt_local_use *uses,
                       uint32_t (*form)(struct pt_module *m, enum pt_type type, unsigned n),
                       struct pt_arena *scratch)
{
    struct escape e = {m, f, first, NULL};
    uint32_t *regs = pt_arena_alloc(scratch, m->symbols.n * sizeof *regs);
    for (uint32_t i = 0; i < f->insns.n; i++) {
        struct pt_insn *insn = &f->insns.v[i];
        const struct pt_operand *value, *base = address_of(&e, insn, &value);
        if (!base || !is_local(&e, base) || !uses[base->index].is_scalar)
            continue;
        unsigned bytes = uses[base->index].bytes;
        if (!regs[base->index])
            regs[base->index] = make_regs(m, f, base->index, &uses[base->index]);
        unsigned n = value->kind == PT_OPND_VEC ? (unsigned)value->imm : 1;
        uint32_t reg = regs[base->index] + (uint32_t)((uint64_t)base->imm / bytes);
        to_move(m, f, insn, reg, form(m, type_of(bytes), n));
    }
}
