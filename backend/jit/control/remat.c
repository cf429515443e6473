/* Values that are computed once more instead of being kept: addresses and indexes that come from parameters and
 * special registers, which also shows LLVM what they are made of; and the lanes of affine values, which only the rare path
 * of an access asks for.
 */
#include "backend/jit/control/region.h"

enum { DEPTH = 16 };

/* ---- definitions ----------------------------------------------------------------------------- */

struct scan {
    struct jit *j;
    uint32_t insn;
    bool may_repeat;
};

static void count_def(void *ud, uint32_t reg, bool is_def)
{
    struct jit *j = ud;
    j->regs[reg].n_defs += is_def;
}

static void note_def(void *ud, uint32_t reg, bool is_def)
{
    struct scan *s = ud;
    struct jit_reg *r = &s->j->regs[reg];
    if (!is_def)
        return;
    s->j->defs[r->defs + r->n_defs++] = s->insn;
    if (s->j->f->regs.v[reg].n_defs != 1)
        return;
    r->only = s->insn;
    if (s->may_repeat)
        r->def = s->insn;
}

struct writes {
    const struct jit *j;
    bool are_only; /* no other instruction writes the registers */
};

static void note_write(void *ud, uint32_t reg, bool is_def)
{
    struct writes *w = ud;
    w->are_only &= !is_def || w->j->f->regs.v[reg].n_defs == 1;
}

bool jit_may_repeat(const struct jit *j, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(j->m, insn);
    struct writes writes = {j, true};
    pt_insn_regs(j->m, j->f, insn, note_write, &writes);
    if (!writes.are_only || insn->guard || insn->n_operands < 2 || jit_is_stepped(j, form))
        return false;
    if (!(form->effects & ~(uint32_t)PT_FX_FP))
        return true;
    const struct pt_operand *mem = &j->f->operands.v[insn->operands + 1];
    return form->op == PT_OP_ld && mem->kind == PT_OPND_MEM &&
           j->f->operands.v[mem->index].kind == PT_OPND_SYM &&
           j->m->symbols.v[j->f->operands.v[mem->index].index].space == PT_SPACE_PARAM &&
           (pt_form_has(form, PT_M_param) || pt_form_has(form, PT_M_param_entry));
}

void jit_find_defs(struct jit *j)
{
    uint32_t n = 0;
    j->regs = pt_arena_alloc(j->arena, (j->f->regs.n + 1) * sizeof *j->regs);
    for (uint32_t i = 0; i < j->f->insns.n; i++)
        pt_insn_regs(j->m, j->f, &j->f->insns.v[i], count_def, j);
    for (uint32_t i = 0; i < j->f->regs.n; i++) {
        struct jit_reg *r = &j->regs[i];
        r->only = r->def = UINT32_MAX;
        r->defs = n;
        n += r->n_defs;
        r->n_defs = 0;
    }
    j->defs = pt_arena_alloc(j->arena, (n + 1) * sizeof *j->defs);
    j->roots = pt_arena_alloc(j->arena, (j->f->regs.n + 1) * sizeof *j->roots);
    for (uint32_t i = 0; i < j->f->insns.n; i++) {
        struct scan s = {j, i, jit_may_repeat(j, &j->f->insns.v[i])};
        pt_insn_regs(j->m, j->f, &j->f->insns.v[i], note_def, &s);
    }
}

/* Calls visit for every register that the instruction reads. */
struct sources {
    const struct jit *j;
    uint32_t regs[JIT_SOURCES], n;
    bool overflows;
};

static void note_source(void *ud, uint32_t reg, bool is_def)
{
    struct sources *s = ud;
    if (is_def)
        return;
    s->overflows |= s->n == JIT_SOURCES;
    if (!s->overflows)
        s->regs[s->n++] = reg;
}

static bool find_sources(const struct jit *j, uint32_t insn, struct sources *s)
{
    *s = (struct sources){.j = j};
    pt_insn_regs(j->m, j->f, &j->f->insns.v[insn], note_source, s);
    return !s->overflows;
}

/* ---- anew in each region --------------------------------------------------------------------- */

/* The registers that would be computed, from the one wanted down to sources. */
struct chain {
    uint32_t reg[DEPTH];
    unsigned n;
};

uint32_t jit_block_of(const struct jit *j, uint32_t insn)
{
    uint32_t low = 0, high = j->f->blocks.n - 1;
    while (low < high) {
        uint32_t middle = (low + high + 1) / 2;
        if (j->f->blocks.v[middle].first <= insn)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

bool jit_is_live_into(const struct jit *j, uint32_t block, uint32_t reg)
{
    return jit_set_has(j->live_in + (size_t)block * ((j->f->regs.n + 63) / 64), reg);
}

/* The register may be needed behind an instruction of the block. */
static bool is_live_behind(const struct jit *j, uint32_t reg, uint32_t block, uint32_t insn)
{
    const struct pt_block *b = &j->f->blocks.v[block];
    uint32_t def = j->regs[reg].def;
    return jit_is_live_into(j, block, reg) || (def >= b->first && def <= insn);
}

/* The register holds what the chain was computed from as long as any of the chain is needed; and is at hand wherever what was
 * wanted is. */
static bool still_holds(const struct jit *j, uint32_t reg, const struct chain *chain)
{
    const struct jit_reg *r = &j->regs[reg];
    for (uint32_t b = 0; b < j->f->blocks.n; b++)
        if (jit_is_live_into(j, b, chain->reg[0]) && !jit_is_live_into(j, b, reg))
            return false;
    for (uint32_t i = 0; i < r->n_defs; i++) {
        uint32_t insn = j->defs[r->defs + i], block = jit_block_of(j, insn);
        for (unsigned k = 0; k < chain->n; k++)
            if (is_live_behind(j, chain->reg[k], block, insn))
                return false;
    }
    return true;
}

static bool can_remake(const struct jit *j, uint32_t reg, struct chain *chain)
{
    const struct jit_reg *r = &j->regs[reg];
    struct sources s;
    if (r->kept)
        return still_holds(j, reg, chain);
    if (chain->n == DEPTH || r->def == UINT32_MAX)
        return false;
    bool is_cheap = r->shape == JIT_SCALAR || r->shape == JIT_AFFINE || r->is_range;
    if (!is_cheap || !find_sources(j, r->def, &s))
        return false;
    bool can = true;
    chain->reg[chain->n++] = reg;
    for (uint32_t i = 0; i < s.n && can; i++)
        can = can_remake(j, s.regs[i], chain);
    chain->n--;
    return can;
}

bool jit_can_remake(const struct jit *j, uint32_t reg)
{
    struct chain chain = {.n = 0};
    return !j->regs[reg].kept && can_remake(j, reg, &chain);
}

bool jit_remake(struct jit *j, uint32_t reg, uint64_t *done)
{
    struct sources s;
    if (jit_set_has(done, reg) || j->regs[reg].kept)
        return true;
    jit_set_add(done, reg);
    if (!find_sources(j, j->regs[reg].def, &s))
        return false;
    for (uint32_t i = 0; i < s.n; i++)
        if (!jit_remake(j, s.regs[i], done))
            return false;
    return jit_repeat(j, j->regs[reg].def);
}

/* ---- the lanes of affine values -------------------------------------------------------------- */

static bool dominates(const struct jit *j, uint32_t insn, uint32_t block)
{
    uint32_t of = jit_block_of(j, insn);
    while (block != of && j->f->blocks.v[block].idom != UINT32_MAX)
        block = j->f->blocks.v[block].idom;
    return block == of;
}

bool jit_is_behind(const struct jit *j, uint32_t insn)
{
    return !j->f->blocks.v[jit_block_of(j, insn)].loop && dominates(j, insn, j->block);
}

/* No lane waits anywhere in the group when the instruction runs, and nothing but registers keeps values. */
static bool runs_alone(const struct jit *j, uint32_t insn)
{
    const uint64_t *waits = jit_waits(j, jit_block_of(j, insn));
    for (uint32_t w = 0; w < j->vary->words; w++)
        if (waits[w])
            return false;
    return j->is_one_region;
}

/* The instruction runs once in a group, for all lanes that come to it, and nothing but registers keeps values. */
static bool runs_once(const struct jit *j, uint32_t insn)
{
    return j->is_one_region && !j->f->blocks.v[jit_block_of(j, insn)].loop;
}

/* The register holds at `to`, in the lanes that run it, what it held at `from`. Within a block nothing in between may write it.
 * From another block it must have been there for good, and not have been written since for other lanes alone: so it is live
 * here, or no other lane was anywhere, or it is never written again. */
static bool is_unchanged(const struct jit *j, uint32_t reg, uint32_t from, uint32_t to)
{
    uint32_t only = j->regs[reg].only, block = jit_block_of(j, from);
    if (block != j->block || to < from)
        return only != UINT32_MAX && dominates(j, only, block) &&
               (jit_block_of(j, only) != block || only < from) &&
               (jit_is_live_into(j, j->block, reg) || runs_alone(j, only) || runs_once(j, only));
    for (uint32_t i = 0; i < j->regs[reg].n_defs; i++) {
        uint32_t def = j->defs[j->regs[reg].defs + i];
        if (def >= from && def < to)
            return false;
    }
    return true;
}

static bool can_remake_wide(const struct jit *j, uint32_t reg, uint32_t at, unsigned depth)
{
    uint32_t def = j->regs[reg].def;
    struct sources s;
    if (depth == DEPTH || def == UINT32_MAX || !dominates(j, def, j->block) ||
        !find_sources(j, def, &s))
        return false;
    for (uint32_t i = 0; i < s.n; i++) {
        const struct jit_reg *r = &j->regs[s.regs[i]];
        if (!is_unchanged(j, s.regs[i], def, at))
            return false;
        if (r->wide[0] && !can_remake_wide(j, s.regs[i], at, depth + 1))
            return false;
    }
    return true;
}

LLVMValueRef jit_remake_wide(struct jit *j, uint32_t reg, unsigned copy)
{
    uint32_t at = (uint32_t)(j->insn - j->f->insns.v);
    if (!can_remake_wide(j, reg, at, 0))
        return NULL;
    return jit_compute_lanes(j, j->regs[reg].def, copy);
}

/* ---- what lies behind an address ------------------------------------------------------------- */

struct roots {
    const struct jit *j;
    uint64_t *set;
    uint32_t n; /* in j->roots: whose own are still to be added */
};

static void note_root(void *ud, uint32_t reg, bool is_def)
{
    struct roots *r = ud;
    if (is_def || jit_set_has(r->set, reg))
        return;
    jit_set_add(r->set, reg);
    r->j->roots[r->n++] = reg;
}

void jit_add_roots(const struct jit *j, uint32_t reg, uint64_t *set)
{
    struct roots r = {j, set, 0};
    for (;;) {
        uint32_t def = j->regs[reg].def;
        if (def != UINT32_MAX)
            pt_insn_regs(j->m, j->f, &j->f->insns.v[def], note_root, &r);
        if (!r.n)
            return;
        reg = j->roots[--r.n];
    }
}

static bool is_computed(const struct jit *j, uint32_t reg, unsigned *budget)
{
    struct sources s;
    if (j->regs[reg].shape != JIT_VECTOR)
        return true;
    if (!*budget || j->regs[reg].def == UINT32_MAX || !find_sources(j, j->regs[reg].def, &s))
        return false;
    --*budget;
    for (uint32_t i = 0; i < s.n; i++)
        if (!is_computed(j, s.regs[i], budget))
            return false;
    return true;
}

bool jit_is_computed(const struct jit *j, const struct pt_operand *o)
{
    unsigned budget = DEPTH;
    return o->kind == PT_OPND_REG && is_computed(j, o->index, &budget);
}

/* Powers of two below the width; for swaps also what is one less than those, and than the width. */
static uint64_t all_distances(const struct jit *j, bool swaps)
{
    uint64_t set = 0;
    for (unsigned d = 1; d < j->width; d *= 2)
        set |= UINT64_C(1) << d | (swaps ? UINT64_C(1) << (2 * d - 1) : 0);
    return set;
}

/* t & (d - 1), t & -d, t % d */
static uint64_t distance_of_mask(const struct jit *j, uint64_t mask)
{
    uint64_t low = mask & (j->width - 1), d = low & 1 ? low + 1 : j->width - low;
    return d < j->width && !(d & (d - 1)) ? UINT64_C(1) << d : 0;
}

static void add_mixing(const struct jit *j, const struct pt_insn *insn, struct jit_mixing *mixing)
{
    const struct pt_operand *o = &j->f->operands.v[insn->operands];
    enum pt_op op = (enum pt_op)pt_insn_form(j->m, insn)->op;
    int64_t stride;
    uint64_t by;
    if (op != PT_OP_and_b && op != PT_OP_xor_b && op != PT_OP_rem_int)
        return;
    const struct pt_operand *d = jit_shape_of(j, &o[1], &stride) == JIT_SCALAR ? &o[1] : &o[2];
    if (jit_shape_of(j, d, &stride) != JIT_SCALAR)
        return;
    bool is_known = jit_constant(j, d, &by), swaps = op == PT_OP_xor_b;
    if (!is_known && jit_mixer_of(j, insn))
        mixing->unknown = d->index;
    if (!is_known && j->mixer && mixing->unknown == j->mixer && !j->low)
        return; /* they lie in no order that is asked for */
    if (!is_known)
        *(swaps ? &mixing->swaps : &mixing->pairs) |= all_distances(j, swaps);
    else if (swaps)
        mixing->swaps |= (UINT64_C(1) << (by & (j->width - 1))) & ~UINT64_C(1);
    else
        mixing->pairs |= distance_of_mask(j, op == PT_OP_rem_int ? by - 1 : by);
}

static void find_mixing(const struct jit *j, uint32_t reg, unsigned *budget,
                        struct jit_mixing *mixing)
{
    struct sources s;
    uint32_t def = j->regs[reg].def;
    if (!*budget || j->regs[reg].shape != JIT_VECTOR || def == UINT32_MAX ||
        !find_sources(j, def, &s))
        return;
    --*budget;
    add_mixing(j, &j->f->insns.v[def], mixing);
    for (uint32_t i = 0; i < s.n; i++)
        find_mixing(j, s.regs[i], budget, mixing);
}

struct jit_mixing jit_find_mixing(const struct jit *j, const struct pt_operand *address)
{
    struct jit_mixing mixing = {0};
    unsigned budget = DEPTH;
    if (address->kind == PT_OPND_REG)
        find_mixing(j, address->index, &budget, &mixing);
    return mixing;
}

static bool has_value_of(const struct jit *j, const struct pt_operand *o, uint32_t def)
{
    uint32_t at = (uint32_t)(j->insn - j->f->insns.v);
    return o->kind != PT_OPND_REG || is_unchanged(j, o->index, def, at);
}

bool jit_split_address(const struct jit *j, const struct pt_operand *address,
                       struct jit_split *split)
{
    uint32_t sum = address->kind == PT_OPND_REG ? j->regs[address->index].def : UINT32_MAX;
    int64_t stride;
    if (sum == UINT32_MAX || !dominates(j, sum, j->block) ||
        pt_insn_form(j->m, &j->f->insns.v[sum])->op != PT_OP_add_int)
        return false;
    const struct pt_operand *o = &j->f->operands.v[j->f->insns.v[sum].operands];
    for (unsigned k = 1; k < 3; k++) {
        uint32_t product = o[k].kind == PT_OPND_REG ? j->regs[o[k].index].def : UINT32_MAX;
        if (product == UINT32_MAX || !dominates(j, product, j->block) ||
            jit_shape_of(j, &o[3 - k], &stride) != JIT_SCALAR || !has_value_of(j, &o[3 - k], sum))
            continue;
        const struct pt_form *form = pt_insn_form(j->m, &j->f->insns.v[product]);
        const struct pt_operand *p = &j->f->operands.v[j->f->insns.v[product].operands];
        if (form->op != PT_OP_mul_wide || pt_type_bits((enum pt_type)form->type[0]) != 32 ||
            !jit_constant(j, &p[2], &split->scale) || !has_value_of(j, &p[1], product))
            continue;
        split->base = &o[3 - k];
        split->index = &p[1];
        split->is_signed = pt_type_class((enum pt_type)form->type[0]) == PT_CLASS_S;
        if (split->scale == 1 || split->scale == 2 || split->scale == 4 || split->scale == 8)
            return true;
    }
    return false;
}
