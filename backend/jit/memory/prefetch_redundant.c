/* Prefetches that others make redundant: which accesses lie behind others of their loop, or of
 * straight code: by less than a line, or, in straight code, by what all CTAs agree on, as the rows
 * and planes before a point of a stencil. CTAs go upwards, so what lies behind was there for CTAs
 * before: only those in front ask for what later ones will touch. Addresses are taken apart into
 * sums of products of registers and numbers.
 */
#include "backend/jit/memory/prefetch_redundant.h"

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/cpu.h"
#include "backend/jit/tune.h"

enum { SPECIAL = 1 << 30 }; /* a term that is a special register */

struct sum {
    bool is_known;
    unsigned n;
    uint32_t term[JIT_PREFETCH_REDUNDANT_TERMS];
    uint64_t by[JIT_PREFETCH_REDUNDANT_TERMS];
    uint64_t constant;
};

static void add_term(struct sum *s, uint32_t term, uint64_t by)
{
    unsigned i = 0;
    while (i < s->n && s->term[i] != term)
        i++;
    if (i == JIT_PREFETCH_REDUNDANT_TERMS) {
        s->is_known = false;
        return;
    }
    if (i == s->n) {
        s->term[s->n] = term;
        s->by[s->n++] = 0;
    }
    s->by[i] += by;
    if (!s->by[i]) {
        s->term[i] = s->term[--s->n];
        s->by[i] = s->by[s->n];
    }
}

static void add(const struct jit *j, struct sum *s, const struct pt_operand *o, enum pt_type type,
                uint64_t by, unsigned depth);

/* False if neither factor is a number. */
static bool add_product(const struct jit *j, struct sum *s, const struct pt_operand *o,
                        enum pt_type type, uint64_t by, unsigned depth)
{
    uint64_t number;
    if (jit_def_use_constant(j->facts, &o[1], &number))
        add(j, s, &o[0], type, by * number, depth);
    else if (jit_def_use_constant(j->facts, &o[0], &number))
        add(j, s, &o[1], type, by * number, depth);
    else
        return false;
    return true;
}

/* False if the instruction makes no sum: its result is a term. */
static bool add_parts(const struct jit *j, struct sum *s, const struct pt_insn *def, uint64_t by,
                      unsigned depth)
{
    const struct pt_operand *o = &j->unit->f->operands.v[def->operands];
    const struct pt_form *form = pt_insn_form(j->unit->m, def);
    enum pt_type type = (enum pt_type)form->type[0];
    uint64_t number;
    switch ((enum pt_op)form->op) {
    case PT_OP_add_int:
    case PT_OP_sub_int:
        add(j, s, &o[1], type, by, depth);
        add(j, s, &o[2], type, form->op == PT_OP_sub_int ? -by : by, depth);
        return true;
    case PT_OP_mul_wide:
    case PT_OP_mul_lo:
        return add_product(j, s, &o[1], type, by, depth);
    case PT_OP_mad_wide:
    case PT_OP_mad_lo:
        if (!add_product(j, s, &o[1], type, by, depth))
            return false;
        add(j, s, &o[3], type, by, depth);
        return true;
    case PT_OP_shl:
        if (!jit_def_use_constant(j->facts, &o[2], &number) || number > 31)
            return false;
        add(j, s, &o[1], type, by << number, depth);
        return true;
    case PT_OP_mov:
    case PT_OP_cvta_to:
    case PT_OP_cvt_int:
        add(j, s, &o[1], type, by, depth);
        return true;
    default:
        return false;
    }
}

static void add(const struct jit *j, struct sum *s, const struct pt_operand *o, enum pt_type type,
                uint64_t by, unsigned depth)
{
    uint64_t number;
    if (jit_def_use_constant(j->facts, o, &number)) {
        s->constant += by * (pt_type_bits(type) == 32 ? (uint64_t)(int32_t)number : number);
    } else if (o->kind == PT_OPND_SREG) {
        add_term(s, SPECIAL | o->index, by);
    } else if (o->kind != PT_OPND_REG) {
        s->is_known = false;
    } else {
        uint32_t only = j->facts->regs[o->index].only;
        const struct pt_insn *def = only == UINT32_MAX ? NULL : &j->unit->f->insns.v[only];
        if (!def || def->guard || depth == JIT_PREFETCH_REDUNDANT_DEPTH ||
            !add_parts(j, s, def, by, depth + 1))
            add_term(s, o->index, by);
    }
}

/* The register, with its offset, through which the instruction touches memory far away; NULL: the
 * instruction does not. */
static const struct pt_operand *address_of(const struct jit *j, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(j->unit->m, insn);
    enum pt_space space = pt_form_space(form);
    if (!(form->effects & (PT_FX_READ | PT_FX_WRITE)) ||
        (space != PT_SPACE_GLOBAL && space != PT_SPACE_GENERIC))
        return NULL;
    for (uint32_t k = 0; k < insn->n_operands; k++) {
        const struct pt_operand *o = &j->unit->f->operands.v[insn->operands + k];
        if (o->kind == PT_OPND_MEM && j->unit->f->operands.v[o->index].kind == PT_OPND_REG)
            return &j->unit->f->operands.v[o->index];
    }
    return NULL;
}

static struct sum sum_of(const struct jit *j, const struct pt_operand *address)
{
    struct sum s = {.is_known = true, .constant = (uint64_t)address->imm};
    struct pt_operand o = *address;
    o.imm = 0;
    add(j, &s, &o, PT_u64, 1, 0);
    return s;
}

static bool is_of_cta(const struct jit *j, uint32_t term)
{
    if (term & SPECIAL)
        return pt_uniformity_sreg(&j->facts->uniformity->shape, (enum pt_sreg)(term & ~SPECIAL))
                   .level == PT_LEVEL_CTA;
    return j->facts->uniformity->regs[term].level == PT_LEVEL_CTA;
}

/* a - b is nearly nothing, and b comes first; or a sum of what is subtracted alone, in straight
 * code: rounds of a loop may lie further apart than a cache remembers. */
static bool is_behind(const struct jit *j, struct sum a, const struct sum *b, bool b_is_first)
{
    if (!b->is_known)
        return false;
    for (unsigned i = 0; i < b->n; i++)
        add_term(&a, b->term[i], -b->by[i]);
    int64_t apart = (int64_t)(a.constant - b->constant), line = j->unit->machine->line_bytes;
    if (!a.is_known || !a.n)
        return a.is_known && b_is_first && apart > -line && apart < line;
    for (unsigned i = 0; i < a.n; i++)
        if ((int64_t)a.by[i] > 0 || !is_of_cta(j, a.term[i]))
            return false;
    return !j->unit->f->blocks.v[j->block].loop;
}

bool jit_prefetch_redundant_applies(const struct jit *j)
{
    uint32_t at = (uint32_t)(j->insn - j->unit->f->insns.v),
             from = at > JIT_PREFETCH_REDUNDANT_NEAR ? at - JIT_PREFETCH_REDUNDANT_NEAR : 0;
    const struct pt_operand *address = address_of(j, j->insn);
    uint32_t loop = j->unit->f->blocks.v[j->block].loop;
    struct sum a = {0};
    if (address)
        a = sum_of(j, address);
    for (uint32_t b = 0; a.is_known && b < j->unit->f->blocks.n; b++) {
        const struct pt_block *block = &j->unit->f->blocks.v[b];
        uint32_t end = block->loop == loop ? block->first + block->count : block->first;
        for (uint32_t i = block->first; i < end; i++) {
            if (i < from || i > at + JIT_PREFETCH_REDUNDANT_NEAR || i == at ||
                !address_of(j, &j->unit->f->insns.v[i]))
                continue;
            struct sum s = sum_of(j, address_of(j, &j->unit->f->insns.v[i]));
            if (is_behind(j, a, &s, i < at))
                return true;
        }
    }
    return false;
}
