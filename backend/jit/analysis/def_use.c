/* Definitions and uses of registers: which are repeatable, live, unchanged; which instruction
 * dominates a block. */
#include "backend/jit/analysis/def_use.h"

#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/bitset.h"
#include "backend/jit/jit.h"
#include "backend/jit/tune.h"
#include "ir/bits.h"
#include "ir/insn.h"

uint64_t *jit_new_set(const struct jit_facts *a)
{
    return pt_arena_alloc(a->unit->arena, a->uniformity->words * sizeof(uint64_t));
}

struct scan {
    struct jit_facts *a;
    uint32_t insn;
    bool may_repeat;
};

static void count_def(void *ud, uint32_t reg, bool is_def)
{
    struct jit_facts *a = ud;
    a->regs[reg].n_defs += is_def;
}

static void note_def(void *ud, uint32_t reg, bool is_def)
{
    struct scan *s = ud;
    struct jit_reg *r = &s->a->regs[reg];
    if (!is_def)
        return;
    s->a->defs[r->defs + r->n_defs++] = s->insn;
    if (s->a->unit->f->regs.v[reg].n_defs != 1)
        return;
    r->only = s->insn;
    if (s->may_repeat)
        r->def = s->insn;
}

struct writes {
    const struct jit_facts *a;
    bool are_only; /* no other instruction writes the registers */
};

static void note_single(void *ud, uint32_t reg, bool is_def)
{
    struct writes *w = ud;
    w->are_only &= !is_def || w->a->unit->f->regs.v[reg].n_defs == 1;
}

bool jit_def_use_may_repeat(const struct jit_facts *a, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(a->unit->m, insn);
    struct writes writes = {a, true};
    pt_insn_regs(a->unit->m, a->unit->f, insn, note_single, &writes);
    if (!writes.are_only || insn->guard || insn->n_operands < 2 ||
        jit_insn_info_is_stepped(a, form) || jit_insn_info_is_sampled(form, NULL))
        return false;
    if (!(form->effects & ~(uint32_t)PT_FX_FP))
        return true;
    const struct pt_operand *mem = &a->unit->f->operands.v[insn->operands + 1];
    return form->op == PT_OP_ld && mem->kind == PT_OPND_MEM &&
           a->unit->f->operands.v[mem->index].kind == PT_OPND_SYM &&
           a->unit->m->symbols.v[a->unit->f->operands.v[mem->index].index].space ==
               PT_SPACE_PARAM &&
           (pt_form_has(form, PT_M_param) || pt_form_has(form, PT_M_param_entry));
}

void jit_def_use_find(struct jit_facts *a)
{
    uint32_t n = 0;
    a->regs = pt_arena_alloc(a->unit->arena, (a->unit->f->regs.n + 1) * sizeof *a->regs);
    for (uint32_t i = 0; i < a->unit->f->insns.n; i++)
        pt_insn_regs(a->unit->m, a->unit->f, &a->unit->f->insns.v[i], count_def, a);
    for (uint32_t i = 0; i < a->unit->f->regs.n; i++) {
        struct jit_reg *r = &a->regs[i];
        r->only = r->def = UINT32_MAX;
        r->defs = n;
        n += r->n_defs;
        r->n_defs = 0;
    }
    a->defs = pt_arena_alloc(a->unit->arena, (n + 1) * sizeof *a->defs);
    a->roots = pt_arena_alloc(a->unit->arena, (a->unit->f->regs.n + 1) * sizeof *a->roots);
    for (uint32_t i = 0; i < a->unit->f->insns.n; i++) {
        struct scan s = {a, i, jit_def_use_may_repeat(a, &a->unit->f->insns.v[i])};
        pt_insn_regs(a->unit->m, a->unit->f, &a->unit->f->insns.v[i], note_def, &s);
    }
}

static void note_source(void *ud, uint32_t reg, bool is_def)
{
    struct jit_sources *s = ud;
    if (is_def)
        return;
    s->overflows |= s->n == JIT_SOURCES;
    if (!s->overflows)
        s->regs[s->n++] = reg;
}

bool jit_def_use_sources(const struct jit_facts *a, uint32_t insn, struct jit_sources *s)
{
    *s = (struct jit_sources){.a = a};
    pt_insn_regs(a->unit->m, a->unit->f, &a->unit->f->insns.v[insn], note_source, s);
    return !s->overflows;
}

bool jit_def_use_all(const struct jit_facts *a, uint32_t reg, struct jit_met *met,
                     jit_def_question *is_true)
{
    for (unsigned i = 0; i < met->n; i++)
        if (met->reg[i] == reg)
            return true;
    if (met->n == JIT_CHAIN_REGS)
        return false;
    met->reg[met->n++] = reg;
    const struct jit_reg *r = &a->regs[reg];
    for (uint32_t i = 0; i < r->n_defs; i++)
        if (!is_true(a, a->defs[r->defs + i], met))
            return false;
    return true;
}

/* The registers that would be computed, from the one wanted down to sources. */
struct chain {
    uint32_t reg[JIT_CHAIN_DEPTH];
    unsigned n;
};

uint32_t jit_def_use_block(const struct jit_facts *a, uint32_t insn)
{
    uint32_t low = 0, high = a->unit->f->blocks.n - 1;
    while (low < high) {
        uint32_t middle = (low + high + 1) / 2;
        if (a->unit->f->blocks.v[middle].first <= insn)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

bool jit_def_use_is_live_into(const struct jit_facts *a, uint32_t block, uint32_t reg)
{
    return jit_set_has(a->live_in + (size_t)block * pt_bit_words(a->unit->f->regs.n), reg);
}

/* The register may be needed behind an instruction of the block. */
static bool is_live_behind(const struct jit_facts *a, uint32_t reg, uint32_t block, uint32_t insn)
{
    const struct pt_block *b = &a->unit->f->blocks.v[block];
    uint32_t def = a->regs[reg].def;
    return jit_def_use_is_live_into(a, block, reg) || (def >= b->first && def <= insn);
}

/* The register holds what the chain was computed from as long as any of the chain is needed; and is
 * at hand wherever what was wanted is. */
static bool still_holds(const struct jit_facts *a, uint32_t reg, const struct chain *chain)
{
    const struct jit_reg *r = &a->regs[reg];
    for (uint32_t b = 0; b < a->unit->f->blocks.n; b++)
        if (jit_def_use_is_live_into(a, b, chain->reg[0]) && !jit_def_use_is_live_into(a, b, reg))
            return false;
    for (uint32_t i = 0; i < r->n_defs; i++) {
        uint32_t insn = a->defs[r->defs + i], block = jit_def_use_block(a, insn);
        for (unsigned k = 0; k < chain->n; k++)
            if (is_live_behind(a, chain->reg[k], block, insn))
                return false;
    }
    return true;
}

static bool can_remat(const struct jit_facts *a, uint32_t reg, struct chain *chain)
{
    const struct jit_reg *r = &a->regs[reg];
    struct jit_sources s;
    if (r->is_cta_uniform)
        return still_holds(a, reg, chain);
    if (chain->n == JIT_CHAIN_DEPTH || r->def == UINT32_MAX)
        return false;
    bool is_cheap = r->shape == JIT_SCALAR || r->shape == JIT_AFFINE || r->is_bounded;
    if (!is_cheap || !jit_def_use_sources(a, r->def, &s))
        return false;
    bool can = true;
    chain->reg[chain->n++] = reg;
    for (uint32_t i = 0; i < s.n && can; i++)
        can = can_remat(a, s.regs[i], chain);
    chain->n--;
    return can;
}

bool jit_def_use_can_remat(const struct jit_facts *a, uint32_t reg)
{
    struct chain chain = {.n = 0};
    return !a->regs[reg].is_cta_uniform && can_remat(a, reg, &chain);
}

bool jit_def_use_dominates(const struct jit_facts *a, uint32_t insn, uint32_t block)
{
    uint32_t of = jit_def_use_block(a, insn);
    while (block != of && a->unit->f->blocks.v[block].idom != UINT32_MAX)
        block = a->unit->f->blocks.v[block].idom;
    return block == of;
}

bool jit_def_use_is_behind(const struct jit_facts *a, uint32_t insn, uint32_t block)
{
    return !a->unit->f->blocks.v[jit_def_use_block(a, insn)].loop &&
           jit_def_use_dominates(a, insn, block);
}

/* No lane waits anywhere in the group when the instruction runs, and nothing but registers keeps
 * values. */
static bool runs_alone(const struct jit_facts *a, uint32_t insn)
{
    const uint64_t *waits = jit_def_use_waits(a, jit_def_use_block(a, insn));
    for (uint32_t w = 0; w < a->uniformity->words; w++)
        if (waits[w])
            return false;
    return a->is_one_region;
}

/* The instruction runs once in a group, for all lanes that come to it, and nothing but registers
 * keeps values. */
static bool runs_once(const struct jit_facts *a, uint32_t insn)
{
    return a->is_one_region && !a->unit->f->blocks.v[jit_def_use_block(a, insn)].loop;
}

/* The register holds at `to`, in the lanes that run it, what it held at `from`. Within a block
 * nothing in between may write it. From another block it must have been there for good, and not
 * have been written since for other lanes alone: so it is live here, or no other lane was anywhere,
 * or it is never written again. */
bool jit_def_use_is_unchanged(const struct jit_facts *a, uint32_t reg, uint32_t from, uint32_t to,
                              uint32_t block)
{
    uint32_t only = a->regs[reg].only, before = jit_def_use_block(a, from);
    if (before != block || to < from)
        return only != UINT32_MAX && jit_def_use_dominates(a, only, before) &&
               (jit_def_use_block(a, only) != before || only < from) &&
               (jit_def_use_is_live_into(a, block, reg) || runs_alone(a, only) ||
                runs_once(a, only));
    for (uint32_t i = 0; i < a->regs[reg].n_defs; i++) {
        uint32_t def = a->defs[a->regs[reg].defs + i];
        if (def >= from && def < to)
            return false;
    }
    return true;
}

struct roots {
    const struct jit_facts *a;
    uint64_t *set;
    uint32_t n; /* in a->roots: whose own are still to be added */
};

static void note_root(void *ud, uint32_t reg, bool is_def)
{
    struct roots *r = ud;
    if (is_def || jit_set_has(r->set, reg))
        return;
    jit_set_add(r->set, reg);
    r->a->roots[r->n++] = reg;
}

void jit_def_use_add_roots(const struct jit_facts *a, uint32_t reg, uint64_t *set)
{
    struct roots r = {a, set, 0};
    for (;;) {
        uint32_t def = a->regs[reg].def;
        if (def != UINT32_MAX)
            pt_insn_regs(a->unit->m, a->unit->f, &a->unit->f->insns.v[def], note_root, &r);
        if (!r.n)
            return;
        reg = a->roots[--r.n];
    }
}

unsigned jit_def_use_copies_on(const struct jit_facts *a, uint32_t reg)
{
    if (!a->regs[reg].is_per_copy)
        return a->copies;
    return a->row && a->row->regs[reg].spans_group ? a->row->shape.copies : 1;
}

unsigned jit_def_use_first_of_row(const struct jit_facts *a, uint32_t reg, unsigned copy)
{
    return copy - copy % jit_def_use_copies_on(a, reg);
}

void jit_def_use_find_shapes(const struct jit_facts *a)
{
    for (uint32_t i = 1; i <= a->unit->f->regs.n; i++) { /* the last one: CC.CF */
        struct jit_reg *r = &a->regs[i];
        const struct pt_value *v = &a->uniformity->regs[i];
        r->shape = v->level < PT_LEVEL_LANE ? JIT_SCALAR : v->is_affine ? JIT_AFFINE : JIT_VECTOR;
        r->is_per_copy = v->level >= PT_LEVEL_CHUNK && !(r->shape == JIT_AFFINE && v->spans_group);
        r->may_wrap = r->shape == JIT_AFFINE && v->may_wrap;
    }
}

enum jit_shape jit_def_use_shape(const struct jit_facts *a, const struct pt_operand *o,
                                 int64_t *stride)
{
    *stride = 0;
    if (o->kind == PT_OPND_REG) {
        *stride = a->uniformity->regs[o->index].stride;
        return (enum jit_shape)a->regs[o->index].shape;
    }
    if (o->kind != PT_OPND_SREG)
        return JIT_SCALAR;
    struct pt_value v = pt_uniformity_sreg(&a->uniformity->shape, (enum pt_sreg)o->index);
    *stride = v.stride;
    return v.level < PT_LEVEL_LANE ? JIT_SCALAR : v.is_affine ? JIT_AFFINE : JIT_VECTOR;
}

bool jit_def_use_constant(const struct jit_facts *a, const struct pt_operand *o, uint64_t *value)
{
    if (o->kind == PT_OPND_REG && a->regs[o->index].def != UINT32_MAX) {
        const struct pt_insn *def = &a->unit->f->insns.v[a->regs[o->index].def];
        if (pt_insn_form(a->unit->m, def)->op == PT_OP_mov)
            o = &a->unit->f->operands.v[def->operands + 1];
    }
    *value = (uint64_t)o->imm;
    return o->kind == PT_OPND_IMM && o->type != PT_f32 && o->type != PT_f64;
}

bool jit_def_use_is_per_copy(const struct jit_facts *a, const struct pt_operand *o)
{
    if (o->kind == PT_OPND_REG)
        return a->regs[o->index].is_per_copy;
    return o->kind == PT_OPND_SREG &&
           pt_uniformity_sreg(&a->uniformity->shape, (enum pt_sreg)o->index).level >=
               PT_LEVEL_CHUNK;
}

/* The header of the outermost loop around the block, or UINT32_MAX. */
static uint32_t outermost_header(const struct jit_facts *a, uint32_t block)
{
    uint32_t header = UINT32_MAX;
    for (uint32_t l = a->unit->f->blocks.v[block].loop; l; l = a->unit->f->loops.v[l - 1].parent)
        header = a->unit->f->loops.v[l - 1].header;
    return header;
}

bool jit_def_use_has_old(const struct jit_facts *a, uint32_t block, uint32_t reg)
{
    uint32_t header = outermost_header(a, block);
    size_t words = pt_bit_words(a->unit->f->regs.n);
    return a->unit->f->regs.v[reg].n_defs > 1 ||
           (header != UINT32_MAX && a->live_in[header * words + reg / 64] >> (reg & 63) & 1);
}

bool jit_def_use_keeps_old(const struct jit_facts *a, const struct pt_insn *insn, uint32_t block,
                           uint32_t reg)
{
    if (insn->guard && jit_def_use_has_old(a, block, reg))
        return true;
    if (a->unit->f->regs.v[reg].n_defs <= 1 && !a->unit->f->blocks.v[block].loop)
        return false;
    const uint64_t *waits = jit_def_use_waits(a, block);
    size_t words = pt_bit_words(a->unit->f->regs.n);
    for (uint32_t w = 0; w < a->uniformity->words; w++)
        for (uint64_t bits = waits[w]; bits; bits &= bits - 1) {
            size_t x = w * 64 + (uint32_t)__builtin_ctzll(bits);
            if (a->live_in[x * words + reg / 64] >> (reg & 63) & 1)
                return true;
        }
    return false;
}

void jit_def_use_note_write(void *ud, uint32_t reg, bool is_def)
{
    if (is_def)
        jit_set_add(ud, reg);
}
