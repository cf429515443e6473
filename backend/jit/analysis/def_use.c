/* Definitions and uses of registers: which are repeatable, live, unchanged; which instruction dominates a block. */
#include "backend/jit/analysis/def_use.h"

#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/bitset.h"
#include "backend/jit/jit.h"

uint64_t *jit_new_set(struct jit *j)
{
    return pt_arena_alloc(j->unit->arena, j->facts->vary->words * sizeof(uint64_t));
}

struct scan {
    struct jit *j;
    uint32_t insn;
    bool may_repeat;
};

static void count_def(void *ud, uint32_t reg, bool is_def)
{
    struct jit *j = ud;
    j->facts->regs[reg].n_defs += is_def;
}

static void note_def(void *ud, uint32_t reg, bool is_def)
{
    struct scan *s = ud;
    struct jit_reg *r = &s->j->facts->regs[reg];
    if (!is_def)
        return;
    s->j->facts->defs[r->defs + r->n_defs++] = s->insn;
    if (s->j->unit->f->regs.v[reg].n_defs != 1)
        return;
    r->only = s->insn;
    if (s->may_repeat)
        r->def = s->insn;
}

struct writes {
    const struct jit *j;
    bool are_only; /* no other instruction writes the registers */
};

static void note_single(void *ud, uint32_t reg, bool is_def)
{
    struct writes *w = ud;
    w->are_only &= !is_def || w->j->unit->f->regs.v[reg].n_defs == 1;
}

bool jit_def_use_may_repeat(const struct jit *j, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(j->unit->m, insn);
    struct writes writes = {j, true};
    pt_insn_regs(j->unit->m, j->unit->f, insn, note_single, &writes);
    if (!writes.are_only || insn->guard || insn->n_operands < 2 ||
        jit_insn_info_is_stepped(j, form))
        return false;
    if (!(form->effects & ~(uint32_t)PT_FX_FP))
        return true;
    const struct pt_operand *mem = &j->unit->f->operands.v[insn->operands + 1];
    return form->op == PT_OP_ld && mem->kind == PT_OPND_MEM &&
           j->unit->f->operands.v[mem->index].kind == PT_OPND_SYM &&
           j->unit->m->symbols.v[j->unit->f->operands.v[mem->index].index].space ==
               PT_SPACE_PARAM &&
           (pt_form_has(form, PT_M_param) || pt_form_has(form, PT_M_param_entry));
}

void jit_def_use_find(struct jit *j)
{
    uint32_t n = 0;
    j->facts->regs =
        pt_arena_alloc(j->unit->arena, (j->unit->f->regs.n + 1) * sizeof *j->facts->regs);
    for (uint32_t i = 0; i < j->unit->f->insns.n; i++)
        pt_insn_regs(j->unit->m, j->unit->f, &j->unit->f->insns.v[i], count_def, j);
    for (uint32_t i = 0; i < j->unit->f->regs.n; i++) {
        struct jit_reg *r = &j->facts->regs[i];
        r->only = r->def = UINT32_MAX;
        r->defs = n;
        n += r->n_defs;
        r->n_defs = 0;
    }
    j->facts->defs = pt_arena_alloc(j->unit->arena, (n + 1) * sizeof *j->facts->defs);
    j->facts->roots =
        pt_arena_alloc(j->unit->arena, (j->unit->f->regs.n + 1) * sizeof *j->facts->roots);
    for (uint32_t i = 0; i < j->unit->f->insns.n; i++) {
        struct scan s = {j, i, jit_def_use_may_repeat(j, &j->unit->f->insns.v[i])};
        pt_insn_regs(j->unit->m, j->unit->f, &j->unit->f->insns.v[i], note_def, &s);
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

bool jit_def_use_sources(const struct jit *j, uint32_t insn, struct jit_sources *s)
{
    *s = (struct jit_sources){.j = j};
    pt_insn_regs(j->unit->m, j->unit->f, &j->unit->f->insns.v[insn], note_source, s);
    return !s->overflows;
}

/* The registers that would be computed, from the one wanted down to sources. */
struct chain {
    uint32_t reg[JIT_CHAIN_DEPTH];
    unsigned n;
};

uint32_t jit_def_use_block(const struct jit *j, uint32_t insn)
{
    uint32_t low = 0, high = j->unit->f->blocks.n - 1;
    while (low < high) {
        uint32_t middle = (low + high + 1) / 2;
        if (j->unit->f->blocks.v[middle].first <= insn)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

bool jit_def_use_is_live_into(const struct jit *j, uint32_t block, uint32_t reg)
{
    return jit_set_has(j->facts->live_in + (size_t)block * ((j->unit->f->regs.n + 63) / 64), reg);
}

/* The register may be needed behind an instruction of the block. */
static bool is_live_behind(const struct jit *j, uint32_t reg, uint32_t block, uint32_t insn)
{
    const struct pt_block *b = &j->unit->f->blocks.v[block];
    uint32_t def = j->facts->regs[reg].def;
    return jit_def_use_is_live_into(j, block, reg) || (def >= b->first && def <= insn);
}

/* The register holds what the chain was computed from as long as any of the chain is needed; and is at hand wherever what was
 * wanted is. */
static bool still_holds(const struct jit *j, uint32_t reg, const struct chain *chain)
{
    const struct jit_reg *r = &j->facts->regs[reg];
    for (uint32_t b = 0; b < j->unit->f->blocks.n; b++)
        if (jit_def_use_is_live_into(j, b, chain->reg[0]) && !jit_def_use_is_live_into(j, b, reg))
            return false;
    for (uint32_t i = 0; i < r->n_defs; i++) {
        uint32_t insn = j->facts->defs[r->defs + i], block = jit_def_use_block(j, insn);
        for (unsigned k = 0; k < chain->n; k++)
            if (is_live_behind(j, chain->reg[k], block, insn))
                return false;
    }
    return true;
}

static bool can_remake(const struct jit *j, uint32_t reg, struct chain *chain)
{
    const struct jit_reg *r = &j->facts->regs[reg];
    struct jit_sources s;
    if (r->kept)
        return still_holds(j, reg, chain);
    if (chain->n == JIT_CHAIN_DEPTH || r->def == UINT32_MAX)
        return false;
    bool is_cheap = r->shape == JIT_SCALAR || r->shape == JIT_AFFINE || r->is_range;
    if (!is_cheap || !jit_def_use_sources(j, r->def, &s))
        return false;
    bool can = true;
    chain->reg[chain->n++] = reg;
    for (uint32_t i = 0; i < s.n && can; i++)
        can = can_remake(j, s.regs[i], chain);
    chain->n--;
    return can;
}

bool jit_def_use_can_remat(const struct jit *j, uint32_t reg)
{
    struct chain chain = {.n = 0};
    return !j->facts->regs[reg].kept && can_remake(j, reg, &chain);
}

bool jit_def_use_dominates(const struct jit *j, uint32_t insn, uint32_t block)
{
    uint32_t of = jit_def_use_block(j, insn);
    while (block != of && j->unit->f->blocks.v[block].idom != UINT32_MAX)
        block = j->unit->f->blocks.v[block].idom;
    return block == of;
}

bool jit_def_use_is_behind(const struct jit *j, uint32_t insn)
{
    return !j->unit->f->blocks.v[jit_def_use_block(j, insn)].loop &&
           jit_def_use_dominates(j, insn, j->block);
}

/* No lane waits anywhere in the group when the instruction runs, and nothing but registers keeps values. */
static bool runs_alone(const struct jit *j, uint32_t insn)
{
    const uint64_t *waits = jit_def_use_waits(j, jit_def_use_block(j, insn));
    for (uint32_t w = 0; w < j->facts->vary->words; w++)
        if (waits[w])
            return false;
    return j->facts->is_one_region;
}

/* The instruction runs once in a group, for all lanes that come to it, and nothing but registers keeps values. */
static bool runs_once(const struct jit *j, uint32_t insn)
{
    return j->facts->is_one_region && !j->unit->f->blocks.v[jit_def_use_block(j, insn)].loop;
}

/* The register holds at `to`, in the lanes that run it, what it held at `from`. Within a block nothing in between may write it.
 * From another block it must have been there for good, and not have been written since for other lanes alone: so it is live
 * here, or no other lane was anywhere, or it is never written again. */
bool jit_def_use_is_unchanged(const struct jit *j, uint32_t reg, uint32_t from, uint32_t to)
{
    uint32_t only = j->facts->regs[reg].only, block = jit_def_use_block(j, from);
    if (block != j->block || to < from)
        return only != UINT32_MAX && jit_def_use_dominates(j, only, block) &&
               (jit_def_use_block(j, only) != block || only < from) &&
               (jit_def_use_is_live_into(j, j->block, reg) || runs_alone(j, only) ||
                runs_once(j, only));
    for (uint32_t i = 0; i < j->facts->regs[reg].n_defs; i++) {
        uint32_t def = j->facts->defs[j->facts->regs[reg].defs + i];
        if (def >= from && def < to)
            return false;
    }
    return true;
}

struct roots {
    const struct jit *j;
    uint64_t *set;
    uint32_t n; /* in j->facts->roots: whose own are still to be added */
};

static void note_root(void *ud, uint32_t reg, bool is_def)
{
    struct roots *r = ud;
    if (is_def || jit_set_has(r->set, reg))
        return;
    jit_set_add(r->set, reg);
    r->j->facts->roots[r->n++] = reg;
}

void jit_def_use_add_roots(const struct jit *j, uint32_t reg, uint64_t *set)
{
    struct roots r = {j, set, 0};
    for (;;) {
        uint32_t def = j->facts->regs[reg].def;
        if (def != UINT32_MAX)
            pt_insn_regs(j->unit->m, j->unit->f, &j->unit->f->insns.v[def], note_root, &r);
        if (!r.n)
            return;
        reg = j->facts->roots[--r.n];
    }
}

unsigned jit_def_use_copies_on(const struct jit *j, uint32_t reg)
{
    if (!j->facts->regs[reg].is_per_copy)
        return j->facts->copies;
    return j->facts->row && j->facts->row->regs[reg].spans_group ? j->facts->row->shape.copies : 1;
}

unsigned jit_def_use_first_of_row(const struct jit *j, uint32_t reg, unsigned copy)
{
    return copy - copy % jit_def_use_copies_on(j, reg);
}

enum jit_shape jit_def_use_shape(const struct jit *j, const struct pt_operand *o, int64_t *stride)
{
    *stride = 0;
    if (o->kind == PT_OPND_REG) {
        *stride = j->facts->vary->regs[o->index].stride;
        return (enum jit_shape)j->facts->regs[o->index].shape;
    }
    if (o->kind != PT_OPND_SREG)
        return JIT_SCALAR;
    struct pt_value v = pt_vary_sreg(&j->facts->vary->shape, (enum pt_sreg)o->index);
    *stride = v.stride;
    return v.level < PT_LEVEL_LANE ? JIT_SCALAR : v.is_affine ? JIT_AFFINE : JIT_VECTOR;
}

bool jit_def_use_constant(const struct jit *j, const struct pt_operand *o, uint64_t *value)
{
    if (o->kind == PT_OPND_REG && j->facts->regs[o->index].def != UINT32_MAX) {
        const struct pt_insn *def = &j->unit->f->insns.v[j->facts->regs[o->index].def];
        if (pt_insn_form(j->unit->m, def)->op == PT_OP_mov)
            o = &j->unit->f->operands.v[def->operands + 1];
    }
    *value = (uint64_t)o->imm;
    return o->kind == PT_OPND_IMM && o->type != PT_f32 && o->type != PT_f64;
}

bool jit_def_use_is_per_copy(const struct jit *j, const struct pt_operand *o)
{
    if (o->kind == PT_OPND_REG)
        return j->facts->regs[o->index].is_per_copy;
    return o->kind == PT_OPND_SREG &&
           pt_vary_sreg(&j->facts->vary->shape, (enum pt_sreg)o->index).level >= PT_LEVEL_CHUNK;
}

/* The header of the outermost loop around the block being generated, or UINT32_MAX. */
static uint32_t outermost_header(const struct jit *j)
{
    uint32_t header = UINT32_MAX;
    for (uint32_t l = j->unit->f->blocks.v[j->block].loop; l; l = j->unit->f->loops.v[l - 1].parent)
        header = j->unit->f->loops.v[l - 1].header;
    return header;
}

bool jit_def_use_has_old(const struct jit *j, uint32_t reg)
{
    uint32_t header = outermost_header(j);
    size_t words = (j->unit->f->regs.n + 63) / 64;
    return j->unit->f->regs.v[reg].n_defs > 1 ||
           (header != UINT32_MAX && j->facts->live_in[header * words + reg / 64] >> (reg & 63) & 1);
}

bool jit_def_use_keeps_old(const struct jit *j, uint32_t reg)
{
    if (j->insn->guard && jit_def_use_has_old(j, reg))
        return true;
    if (j->unit->f->regs.v[reg].n_defs <= 1 && !j->unit->f->blocks.v[j->block].loop)
        return false;
    const uint64_t *waits = j->facts->vary->waits_group + (size_t)j->block * j->facts->vary->words;
    size_t words = (j->unit->f->regs.n + 63) / 64;
    for (uint32_t w = 0; w < j->facts->vary->words; w++)
        for (uint64_t bits = waits[w]; bits; bits &= bits - 1) {
            size_t x = w * 64 + (uint32_t)__builtin_ctzll(bits);
            if (j->facts->live_in[x * words + reg / 64] >> (reg & 63) & 1)
                return true;
        }
    return false;
}

void jit_def_use_note_write(void *ud, uint32_t reg, bool is_def)
{
    if (is_def)
        jit_set_add(ud, reg);
}
