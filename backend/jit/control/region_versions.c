/* Regions in versions, as loops are versioned. Threads exchange at distances on which the CTA
 * agrees: t & mask, t ^ distance, t a thread's index. How the lanes of a chunk lie then depends on
 * the lowest bits of what t is mixed with, and where that does not change within a region, the loop
 * over groups is there once for each way of lying that is worth it, and once for all others.
 */
#include "backend/jit/control/region_versions.h"

#include "backend/jit/analysis/address_form.h"
#include "backend/jit/analysis/def_use.h"
#include "backend/jit/bitset.h"
#include "backend/jit/control/block.h"
#include "backend/jit/control/gen.h"
#include "backend/jit/control/remat.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/cpu.h"
#include "backend/jit/tune.h"
#include "backend/jit/value/registers.h"
#include "ir/bits.h"
#include "ir/insn.h"

struct chain {
    const struct jit_gen *g;
    uint64_t *needs; /* registers */
    uint32_t insn;
    bool is_met, fails;
};

static void meet(void *ud, uint32_t reg, bool is_def)
{
    struct chain *c = ud;
    if (!is_def || !jit_set_has(c->needs, reg))
        return;
    c->is_met = true;
    c->fails |= c->g->j->facts->regs[reg].def != c->insn;
}

static void need(void *ud, uint32_t reg, bool is_def)
{
    struct chain *c = ud;
    if (!is_def)
        jit_set_add(c->needs, reg);
}

/* Instructions of the region's first block, descending, that make the register from what is there
 * when it begins. False if there is another way to its value where instruction `at` reads it. */
static bool find_chain(const struct jit_gen *g, uint32_t reg, uint32_t at, struct chain *c,
                       uint32_t *insns, uint32_t *n)
{
    const struct jit *j = g->j;
    *c = (struct chain){.g = g};
    c->needs = pt_arena_alloc(j->unit->arena, pt_bit_words(j->unit->f->regs.n) * sizeof *c->needs);
    jit_set_add(c->needs, reg);
    *n = 0;
    for (uint32_t i = at; i-- > j->unit->f->blocks.v[g->r->entry].first && !c->fails;) {
        c->insn = i;
        c->is_met = false;
        pt_insn_regs(j->unit->m, j->unit->f, &j->unit->f->insns.v[i], meet, c);
        if (!c->is_met)
            continue;
        insns[(*n)++] = i;
        pt_insn_regs(j->unit->m, j->unit->f, &j->unit->f->insns.v[i], need, c);
    }
    bool is_made = *n && j->facts->regs[reg].def == insns[0];
    return !c->fails && (is_made || !jit_set_has(g->code->written, reg));
}

/* What was there when the region began is a variable. */
static bool has_sources(const struct chain *c, const uint32_t *insns, uint32_t n)
{
    const struct jit *j = c->g->j;
    for (uint32_t reg = 1; reg < j->unit->f->regs.n; reg++) {
        bool is_made = false;
        for (uint32_t i = 0; i < n; i++)
            is_made |= j->facts->regs[reg].def == insns[i];
        if (jit_set_has(c->needs, reg) && j->facts->regs[reg].shape != JIT_SCALAR)
            return false;
        bool is_there =
            c->g->r->entry && (j->facts->regs[reg].is_cta_uniform || j->facts->regs[reg].is_remat);
        if (jit_set_has(c->needs, reg) && !is_made && !is_there)
            return false;
    }
    return true;
}

/* Some access of the region goes where threads exchange. */
static bool exchanges(const struct jit_gen *g, uint32_t reg)
{
    const struct jit *j = g->j;
    for (uint32_t b = 0; b < g->r->n_blocks; b++) {
        const struct pt_block *block = &j->unit->f->blocks.v[g->r->blocks[b]];
        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            const struct pt_insn *insn = &j->unit->f->insns.v[i];
            const struct pt_form *form = pt_insn_form(j->unit->m, insn);
            if (!(form->effects & (PT_FX_READ | PT_FX_WRITE)) || (form->effects & PT_FX_ATOMIC))
                continue;
            for (uint32_t k = 0; k < insn->n_operands; k++) {
                const struct pt_operand *o = &j->unit->f->operands.v[insn->operands + k];
                const struct pt_operand *base =
                    o->kind == PT_OPND_MEM ? &j->unit->f->operands.v[o->index] : NULL;
                if (base && base->kind == PT_OPND_REG &&
                    j->facts->regs[base->index].shape == JIT_VECTOR &&
                    jit_address_form_is_computed(j->facts, base) &&
                    jit_address_form_find_mixing(j->facts, base, 0).unknown == reg)
                    return true;
            }
        }
    }
    return false;
}

/* The lowest bits that are worth a version: of a mask, so many ones as pairs of lanes are apart; of
 * t ^ distance, the distance. */
static uint32_t find_values(const struct jit *j, bool swaps, uint32_t *values)
{
    uint32_t n = 0;
    if (!j->unit->cpu->has_masked_access) {
        values[n++] = swaps ? 0 : j->unit->width - 1;
        return n;
    }
    values[n++] = 0;
    for (uint32_t d = 1; d < j->unit->width; d *= 2)
        values[n++] = swaps ? d : 2 * d - 1;
    return n;
}

static uint32_t size_of(const struct jit_gen *g)
{
    uint32_t n = 0;
    for (uint32_t b = 0; b < g->r->n_blocks; b++)
        n += g->j->unit->f->blocks.v[g->r->blocks[b]].count;
    return n * g->j->facts->copies;
}

bool jit_region_versions_find(const struct jit_gen *g, struct jit_versions *v)
{
    const struct jit *j = g->j;
    const struct pt_block *entry = &j->unit->f->blocks.v[g->r->entry];
    v->insns = pt_arena_alloc(j->unit->arena, entry->count * sizeof *v->insns);
    for (uint32_t i = entry->first; i < entry->first + entry->count && !j->facts->is_resumable;
         i++) {
        const struct pt_insn *insn = &j->unit->f->insns.v[i];
        const struct pt_operand *mixer = jit_address_form_mixer(j->facts, insn);
        struct chain c;
        uint64_t constant;
        if (!mixer || jit_def_use_constant(j->facts, mixer, &constant) ||
            !exchanges(g, mixer->index) ||
            !find_chain(g, mixer->index, i, &c, v->insns, &v->n_insns) ||
            !has_sources(&c, v->insns, v->n_insns))
            continue;
        v->reg = mixer->index;
        v->needs = c.needs;
        v->n = find_values(j, pt_insn_form(j->unit->m, insn)->op == PT_OP_xor_b, v->values);
        return size_of(g) * v->n <= JIT_VERSIONS_INSNS;
    }
    return false;
}

LLVMValueRef jit_region_versions_value(struct jit_gen *g, const struct jit_versions *v)
{
    const struct jit *j = g->j;
    uint64_t *done =
        pt_arena_alloc(j->unit->arena, pt_bit_words(j->unit->f->regs.n) * sizeof *done);
    for (uint32_t reg = 1; reg < j->unit->f->regs.n; reg++) {
        const struct jit_reg *r = &j->facts->regs[reg];
        if (r->is_cta_uniform)
            LLVMBuildStore(j->code->b, LLVMBuildLoad2(j->code->b, r->type, r->cta_value, ""),
                           r->slot[0]);
    }
    for (uint32_t reg = 1; reg < j->unit->f->regs.n; reg++)
        if (jit_set_has(v->needs, reg) && j->facts->regs[reg].is_remat &&
            !jit_remat_compute(j, reg, done))
            return NULL;
    for (uint32_t i = v->n_insns; i-- > 0;)
        if (!jit_block_repeat(j, v->insns[i]))
            return NULL;
    struct pt_operand o = {.kind = PT_OPND_REG, .index = v->reg};
    LLVMValueRef value = jit_registers_read(j, &o, 0, PT_u32, 1, false);
    return LLVMBuildAnd(j->code->b, value, jit_i32(j, j->unit->width - 1), "");
}
