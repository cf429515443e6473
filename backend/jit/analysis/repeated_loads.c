/* Loads that groups of a CTA repeat: rows of its threads read the same. Threads of a region are not
 * ordered, so that what one has loaded is good for the others, too, as long as none of them would
 * have written before. */
#include "backend/jit/analysis/repeated_loads.h"

#include "backend/jit/analysis/address_form.h"
#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/loops.h"
#include "backend/jit/bitset.h"
#include "backend/jit/jit.h"
#include "backend/jit/tune.h"
#include "ir/bits.h"

unsigned jit_repeated_loads_period(const struct jit_facts *a)
{
    uint32_t row = a->uniformity->shape.block[0], width = a->unit->width;
    return row <= width ? 1 : row / width;
}

/* Rows are whole chunks, or chunks whole rows; groups are whole rows; and there are several. */
static bool has_rows(const struct jit_facts *a)
{
    const struct pt_uniformity_shape *s = &a->uniformity->shape;
    uint32_t row = s->block[0], width = a->unit->width;
    if (a->is_resumable || a->row_groups || !row || (row % width && width % row) ||
        a->copies % jit_repeated_loads_period(a))
        return false;
    return s->block[0] * s->block[1] * s->block[2] > (row > width ? row : width);
}

static bool repeats(const struct jit_facts *a, const struct pt_operand *o, unsigned depth)
{
    if (o->kind == PT_OPND_SREG)
        return o->index == PT_SREG_tid_x || jit_address_form_value(a, o).level == PT_LEVEL_CTA;
    if (o->kind != PT_OPND_REG || a->uniformity->regs[o->index].level == PT_LEVEL_CTA)
        return true;
    uint32_t def = a->regs[o->index].def;
    if (depth == JIT_CHAIN_DEPTH || def == UINT32_MAX ||
        a->unit->f->blocks.v[jit_def_use_block(a, def)].loop)
        return false;
    const struct pt_insn *insn = &a->unit->f->insns.v[def];
    for (uint32_t k = 1; k < insn->n_operands; k++)
        if (!repeats(a, &a->unit->f->operands.v[insn->operands + k], depth + 1))
            return false;
    return true;
}

uint64_t *jit_repeated_loads_find(const struct jit_facts *a, const struct jit_region *r)
{
    const uint32_t harmless = PT_FX_READ | PT_FX_BRANCH | PT_FX_END | PT_FX_FP;
    uint64_t *set = pt_arena_alloc(a->unit->arena, pt_bit_words(a->unit->f->insns.n) * sizeof *set);
    for (uint32_t b = 0; b < r->n_blocks && has_rows(a); b++) {
        const struct pt_block *block = &a->unit->f->blocks.v[r->blocks[b]];
        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            const struct pt_insn *insn = &a->unit->f->insns.v[i];
            const struct pt_operand *base = jit_loops_load_base(a, insn);
            if (pt_insn_form(a->unit->m, insn)->effects & ~harmless)
                return set;
            if (base && !block->loop && a->regs[base->index].shape == JIT_VECTOR &&
                repeats(a, base, 0))
                jit_set_add(set, i);
        }
    }
    return set;
}
