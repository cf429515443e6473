/* The loop in which CTAs interleave (control/cta_interleave.c), and what its groups keep
 * meanwhile. */
#include "backend/jit/analysis/cta_interleave_plan.h"

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/analysis/loops.h"
#include "backend/jit/analysis/plan.h"
#include "backend/jit/analysis/scratch_layout.h"
#include "backend/jit/bitset.h"
#include "backend/jit/jit.h"
#include "backend/jit/tune.h"
#include "ir/bits.h"

static bool touches_global(const struct pt_form *form)
{
    enum pt_space space = pt_form_space(form);
    return (form->effects & (PT_FX_READ | PT_FX_WRITE)) &&
           (space == PT_SPACE_GLOBAL || space == PT_SPACE_GENERIC);
}

/* Accesses of a round; 0: CTAs do not interleave in such a loop. */
static uint32_t accesses_of(const struct jit_facts *a, const struct pt_loop *loop)
{
    uint32_t n = 0;
    bool has_stride = false;
    if (loop->parent != PT_NONE || !loop->is_reducible)
        return 0;
    for (uint32_t b = loop->header; b < loop->end; b++) {
        const struct pt_block *block = &a->unit->f->blocks.v[b];
        if (jit_insn_info_is_sync(a, b))
            return 0;
        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            n += touches_global(pt_insn_form(a->unit->m, &a->unit->f->insns.v[i]));
            has_stride |= jit_loops_stride_grid(a, &a->unit->f->insns.v[i]);
        }
    }
    return has_stride ? n : 0;
}

/* The only region that the block is generated in; NULL: there are several, or one begins there. */
static struct jit_region *region_of(const struct jit_plan *plan, uint32_t block)
{
    struct jit_region *found = NULL;
    if (jit_set_has(plan->entries, block))
        return NULL;
    for (uint32_t r = 0; r < plan->n_regions; r++) {
        if (!jit_set_has(plan->regions[r].set, block))
            continue;
        if (found)
            return NULL;
        found = &plan->regions[r];
    }
    return found;
}

void jit_cta_interleave_plan_find(struct jit_facts *a, struct jit_plan *plan)
{
    struct jit_cta_interleave *t = &plan->interleave;
    for (uint32_t l = 0; l < a->unit->f->loops.n && !t->region; l++) {
        uint32_t n = accesses_of(a, &a->unit->f->loops.v[l]);
        if (!n)
            continue;
        t->region = region_of(plan, a->unit->f->loops.v[l].header);
        t->loop = l;
        t->rounds = JIT_INTERLEAVE_ACCESSES / n > JIT_INTERLEAVE_ROUNDS
                        ? JIT_INTERLEAVE_ACCESSES / n
                        : JIT_INTERLEAVE_ROUNDS;
    }
    if (!t->region)
        return;
    a->interleave_loop = t->loop + 1;
    t->state = jit_scratch_layout_take(a, plan->n_groups * (uint32_t)sizeof(uint32_t));
    t->next = jit_scratch_layout_take(a, 16);
    t->live =
        a->live_in + a->unit->f->loops.v[t->loop].header * (size_t)pt_bit_words(a->unit->f->regs.n);
}

void jit_cta_interleave_plan_place_kept(struct jit_facts *a, struct jit_plan *plan)
{
    for (uint32_t i = 1; plan->interleave.region && i < a->unit->f->regs.n; i++) {
        struct jit_reg *r = &a->regs[i];
        if (!jit_set_has(plan->interleave.live, i) || r->crosses)
            continue;
        r->crosses = true;
        r->is_remat = jit_def_use_can_remat(a, i);
    }
    plan->interleave.kept = jit_scratch_layout_take(a, 0);
}
