/* What lies where in a CTA's scratch memory. */
#include "backend/jit/analysis/scratch_layout.h"

#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/analysis/plan.h"
#include "backend/jit/analysis/sync_points.h"
#include "backend/jit/jit.h"
#include "backend/jit/object/frontier.h"
#include "ir/bits.h"
#include "ir/insn.h"

void jit_scratch_layout_place_members(struct jit_facts *a, struct jit_plan *plan)
{
    for (uint32_t i = 0; i < plan->n_regions; i++) {
        struct jit_region *r = &plan->regions[i];
        if (jit_sync_points_sync(a, r->entry) != JIT_SYNC_WARP ||
            a->uniformity->stops[r->entry] != PT_STOP_EACH)
            continue;
        r->members = a->scratch_bytes;
        a->scratch_bytes += plan->n_groups * JIT_MEMBERS_BYTES;
    }
}

static uint32_t element_bytes(const struct jit_facts *a, uint32_t reg)
{
    unsigned bits = pt_type_bits((enum pt_type)a->unit->f->regs.v[reg].type);
    return bits == 1 ? 4 : bits / 8;
}

uint32_t jit_scratch_layout_crossing_bytes(const struct jit_facts *a, uint32_t index)
{
    const struct jit_reg *r = &a->regs[index];
    bool is_mask = a->unit->f->regs.v[index].type == PT_pred;
    bool is_wide = r->shape == JIT_VECTOR && !is_mask;
    uint32_t one = element_bytes(a, index) * (is_wide || r->may_wrap ? a->unit->width : 1);
    uint32_t bytes = one * (r->is_per_copy || r->may_wrap ? a->copies : 1);
    if (r->may_wrap) /* whether the affine form holds */
        bytes += 4 * a->copies;
    return (uint32_t)pt_round_up(bytes, 4);
}

uint32_t jit_scratch_layout_take(struct jit_facts *a, uint32_t bytes)
{
    uint32_t at = (uint32_t)pt_round_up(a->scratch_bytes, 64);
    a->scratch_bytes = at + bytes;
    return at;
}

void jit_scratch_layout_place_stack(struct jit_facts *a, const struct jit_plan *plan)
{
    if (pt_uses_stack(a->unit->m, a->unit->f))
        a->stack = jit_scratch_layout_take(a, plan->n_groups * a->copies * a->unit->width *
                                                  (uint32_t)sizeof(uint32_t));
}

struct touched {
    uint32_t reg;
    bool is_touched;
};

static void note_touched(void *ud, uint32_t reg, bool is_def)
{
    struct touched *t = ud;
    (void)is_def;
    t->is_touched |= reg == t->reg;
}

static bool is_touched(const struct jit_facts *a, uint32_t reg)
{
    struct touched t = {.reg = reg};
    for (uint32_t i = 0; i < a->unit->f->insns.n && !t.is_touched; i++) {
        const struct pt_insn *insn = &a->unit->f->insns.v[i];
        if (jit_insn_info_is_stepped(a, pt_insn_form(a->unit->m, insn)))
            pt_insn_regs(a->unit->m, a->unit->f, insn, note_touched, &t);
    }
    return t.is_touched;
}

/* Warps that are resumed one by one leave lanes behind, with values of their own; of functions that
 * were expanded the frame knows other registers. */
bool jit_scratch_layout_frame_slot(struct jit_facts *a, uint32_t reg, uint32_t *slot)
{
    const struct jit_reg *r = &a->regs[reg];
    if (!a->has_steps || a->unit->inlined || a->is_resumable ||
        a->unit->width * a->copies != PT_WARP_SIZE || r->shape != JIT_VECTOR ||
        pt_type_bits((enum pt_type)a->unit->f->regs.v[reg].type) < 32 || !is_touched(a, reg))
        return false;
    *slot = a->unit->snapshot->slots[a->unit->snapshot->kernel][reg];
    return true;
}
