/* What lies behind an address: thread indexes and their mixing, a base with an index for each
 * lane. */
#include "backend/jit/analysis/address_form.h"

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/jit.h"
#include "backend/jit/tune.h"

struct pt_value jit_address_form_value(const struct jit_facts *a, const struct pt_operand *o)
{
    return o->kind == PT_OPND_REG
               ? a->uniformity->regs[o->index]
               : pt_uniformity_sreg(&a->uniformity->shape, (enum pt_sreg)o->index);
}

/* Operations of two operands that keep the form. */
bool jit_address_form_combines(enum pt_op op)
{
    return op == PT_OP_add_int || op == PT_OP_sub_int || op == PT_OP_mul_lo || op == PT_OP_and_b ||
           op == PT_OP_or_b || op == PT_OP_xor_b;
}

const struct pt_operand *jit_address_form_mixer(const struct jit_facts *a,
                                                const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(a->unit->m, insn);
    const struct pt_operand *o = &a->unit->f->operands.v[insn->operands];
    int64_t stride;
    if (insn->guard || (form->op != PT_OP_and_b && form->op != PT_OP_xor_b) ||
        pt_type_bits((enum pt_type)form->type[0]) != 32)
        return NULL;
    for (unsigned k = 1; k < 3; k++) {
        const struct pt_operand *mixer = &o[k], *threads = &o[3 - k];
        if (mixer->kind == PT_OPND_REG && a->uniformity->regs[mixer->index].level == PT_LEVEL_CTA &&
            jit_def_use_shape(a, threads, &stride) == JIT_AFFINE && stride == 1 &&
            1u << jit_address_form_value(a, threads).align_log2 >= a->unit->width)
            return mixer;
    }
    return NULL;
}

/* The register is written by one instruction, in all lanes alike, and read in the same region. */
bool jit_address_form_fits(const struct jit_facts *a, const struct pt_insn *insn, uint32_t block,
                           const struct pt_operand *o)
{
    if (o->kind != PT_OPND_REG)
        return false;
    const struct jit_reg *r = &a->regs[o->index];
    enum pt_type type = (enum pt_type)a->unit->f->regs.v[o->index].type;
    enum pt_type written = (enum pt_type)pt_insn_form(a->unit->m, insn)->type[0];
    return r->shape == JIT_VECTOR && !r->crosses && r->def != UINT32_MAX && type != PT_f32 &&
           type != PT_f64 && pt_type_bits(type) >= 32 &&
           pt_type_bits(type) == pt_type_bits(written) &&
           !jit_def_use_keeps_old(a, insn, block, o->index);
}

bool jit_address_form_may_divide(const struct jit_facts *a, const struct pt_insn *insn,
                                 uint32_t block)
{
    enum pt_op op = (enum pt_op)pt_insn_form(a->unit->m, insn)->op;
    return (jit_address_form_combines(op) || op == PT_OP_mov || op == PT_OP_shl ||
            op == PT_OP_mad_lo) &&
           jit_address_form_fits(a, insn, block, &a->unit->f->operands.v[insn->operands]);
}

static bool is_computed(const struct jit_facts *a, uint32_t reg, struct jit_met *met);

static bool are_sources_computed(const struct jit_facts *a, uint32_t insn, struct jit_met *met)
{
    const struct pt_form *form = pt_insn_form(a->unit->m, &a->unit->f->insns.v[insn]);
    struct jit_sources s;
    if ((form->effects & ~(uint32_t)PT_FX_FP) || jit_insn_info_is_stepped(a, form) ||
        !jit_def_use_sources(a, insn, &s))
        return false;
    for (uint32_t i = 0; i < s.n; i++)
        if (!is_computed(a, s.regs[i], met))
            return false;
    return true;
}

static bool is_computed(const struct jit_facts *a, uint32_t reg, struct jit_met *met)
{
    return a->regs[reg].shape != JIT_VECTOR || jit_def_use_all(a, reg, met, are_sources_computed);
}

bool jit_address_form_is_computed(const struct jit_facts *a, const struct pt_operand *o)
{
    struct jit_met met = {.n = 0};
    return o->kind == PT_OPND_REG && is_computed(a, o->index, &met);
}

static bool gives_part(const struct jit_facts *a, uint32_t insn)
{
    enum pt_op op = (enum pt_op)pt_insn_form(a->unit->m, &a->unit->f->insns.v[insn])->op;
    return op == PT_OP_mul_hi || op == PT_OP_div_int || op == PT_OP_rem_int;
}

bool jit_address_form_wraps(const struct jit_facts *a, const struct pt_operand *o)
{
    struct jit_met met = {.n = 0};
    if (o->kind != PT_OPND_REG || !is_computed(a, o->index, &met))
        return false;
    for (unsigned i = 0; i < met.n; i++) {
        const struct jit_reg *r = &a->regs[met.reg[i]];
        for (uint32_t k = 0; k < r->n_defs; k++)
            if (gives_part(a, a->defs[r->defs + k]))
                return true;
    }
    return false;
}

/* Powers of two below the width; for swaps also what is one less than those, and than the width. */
static uint64_t all_distances(const struct jit_facts *a, bool swaps)
{
    uint64_t set = 0;
    for (unsigned d = 1; d < a->unit->width; d *= 2)
        set |= UINT64_C(1) << d | (swaps ? UINT64_C(1) << (2 * d - 1) : 0);
    return set;
}

/* t & (d - 1), t & -d, t % d */
static uint64_t distance_of_mask(const struct jit_facts *a, uint64_t mask)
{
    uint64_t low = mask & (a->unit->width - 1), d = low & 1 ? low + 1 : a->unit->width - low;
    return d < a->unit->width && !(d & (d - 1)) ? UINT64_C(1) << d : 0;
}

static void add_mixing(const struct jit_facts *a, const struct pt_insn *insn, uint32_t ignored,
                       struct jit_mixing *mixing)
{
    const struct pt_operand *o = &a->unit->f->operands.v[insn->operands];
    enum pt_op op = (enum pt_op)pt_insn_form(a->unit->m, insn)->op;
    int64_t stride;
    uint64_t by;
    if (op != PT_OP_and_b && op != PT_OP_xor_b && op != PT_OP_rem_int)
        return;
    const struct pt_operand *d = jit_def_use_shape(a, &o[1], &stride) == JIT_SCALAR ? &o[1] : &o[2];
    if (jit_def_use_shape(a, d, &stride) != JIT_SCALAR)
        return;
    bool is_known = jit_def_use_constant(a, d, &by), swaps = op == PT_OP_xor_b;
    if (!is_known && jit_address_form_mixer(a, insn))
        mixing->unknown = d->index;
    if (!is_known && ignored && mixing->unknown == ignored)
        return;
    if (!is_known)
        *(swaps ? &mixing->swaps : &mixing->pairs) |= all_distances(a, swaps);
    else if (swaps)
        mixing->swaps |= (UINT64_C(1) << (by & (a->unit->width - 1))) & ~UINT64_C(1);
    else
        mixing->fours |= distance_of_mask(a, op == PT_OP_rem_int ? by - 1 : by);
    mixing->pairs |= mixing->fours;
}

static void find_mixing(const struct jit_facts *a, uint32_t reg, uint32_t ignored, unsigned *budget,
                        struct jit_mixing *mixing)
{
    struct jit_sources s;
    uint32_t def = a->regs[reg].def;
    if (!*budget || a->regs[reg].shape != JIT_VECTOR || def == UINT32_MAX ||
        !jit_def_use_sources(a, def, &s))
        return;
    --*budget;
    add_mixing(a, &a->unit->f->insns.v[def], ignored, mixing);
    for (uint32_t i = 0; i < s.n; i++)
        find_mixing(a, s.regs[i], ignored, budget, mixing);
}

struct jit_mixing jit_address_form_find_mixing(const struct jit_facts *a,
                                               const struct pt_operand *address, uint32_t ignored)
{
    struct jit_mixing mixing = {0};
    unsigned budget = JIT_CHAIN_DEPTH;
    if (address->kind == PT_OPND_REG)
        find_mixing(a, address->index, ignored, &budget, &mixing);
    return mixing;
}

/* Instruction `at`, of the block, reads what the operand held at `def`. */
static bool has_value_of(const struct jit_facts *a, const struct pt_operand *o, uint32_t def,
                         uint32_t at, uint32_t block)
{
    return o->kind != PT_OPND_REG || jit_def_use_is_unchanged(a, o->index, def, at, block);
}

bool jit_address_form_split(const struct jit_facts *a, const struct pt_insn *insn, uint32_t block,
                            const struct pt_operand *address, struct jit_split *split)
{
    uint32_t at = (uint32_t)(insn - a->unit->f->insns.v);
    uint32_t sum = address->kind == PT_OPND_REG ? a->regs[address->index].def : UINT32_MAX;
    int64_t stride;
    if (sum == UINT32_MAX || !jit_def_use_dominates(a, sum, block) ||
        pt_insn_form(a->unit->m, &a->unit->f->insns.v[sum])->op != PT_OP_add_int)
        return false;
    const struct pt_operand *o = &a->unit->f->operands.v[a->unit->f->insns.v[sum].operands];
    for (unsigned k = 1; k < 3; k++) {
        uint32_t product = o[k].kind == PT_OPND_REG ? a->regs[o[k].index].def : UINT32_MAX;
        if (product == UINT32_MAX || !jit_def_use_dominates(a, product, block) ||
            jit_def_use_shape(a, &o[3 - k], &stride) != JIT_SCALAR ||
            !has_value_of(a, &o[3 - k], sum, at, block))
            continue;
        const struct pt_form *form = pt_insn_form(a->unit->m, &a->unit->f->insns.v[product]);
        const struct pt_operand *p = &a->unit->f->operands.v[a->unit->f->insns.v[product].operands];
        if (form->op != PT_OP_mul_wide || pt_type_bits((enum pt_type)form->type[0]) != 32 ||
            !jit_def_use_constant(a, &p[2], &split->scale) ||
            !has_value_of(a, &p[1], product, at, block))
            continue;
        split->base = &o[3 - k];
        split->index = &p[1];
        split->is_signed = pt_type_class((enum pt_type)form->type[0]) == PT_CLASS_S;
        if (split->scale == 1 || split->scale == 2 || split->scale == 4 || split->scale == 8)
            return true;
    }
    return false;
}
