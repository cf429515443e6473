/* What lies where in a CTA's scratch memory. */
#include "backend/jit/analysis/scratch_layout.h"

#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/analysis/plan.h"
#include "backend/jit/analysis/sync_points.h"
#include "backend/jit/jit.h"
#include "backend/jit/object/frontier.h"

void jit_scratch_layout_place_members(struct jit *j, struct jit_plan *plan)
{
    for (uint32_t i = 0; i < plan->n_regions; i++) {
        struct jit_region *r = &plan->regions[i];
        if (jit_sync_points_sync(j, r->entry) != JIT_SYNC_WARP ||
            j->facts->vary->stops[r->entry] != PT_STOP_EACH)
            continue;
        r->members = j->facts->scratch_bytes;
        j->facts->scratch_bytes += plan->n_groups * JIT_MEMBERS_BYTES;
    }
}

static uint32_t element_bytes(const struct jit *j, uint32_t reg)
{
    unsigned bits = pt_type_bits((enum pt_type)j->unit->f->regs.v[reg].type);
    return bits == 1 ? 4 : bits / 8;
}

uint32_t jit_scratch_layout_crossing_bytes(const struct jit *j, uint32_t index)
{
    const struct jit_reg *r = &j->facts->regs[index];
    bool is_mask = r->type == LLVMInt1TypeInContext(j->code->context);
    bool is_wide = r->shape == JIT_VECTOR && !is_mask;
    uint32_t one = element_bytes(j, index) * (is_wide || r->wide[0] ? j->unit->width : 1);
    uint32_t bytes = one * (r->is_per_copy || r->wide[0] ? j->facts->copies : 1);
    if (r->wide[0]) /* whether the affine form holds */
        bytes += 4 * j->facts->copies;
    return (bytes + 3) & ~3u;
}

uint32_t jit_scratch_layout_take(struct jit *j, uint32_t bytes)
{
    uint32_t at = (j->facts->scratch_bytes + 63) & ~63u;
    j->facts->scratch_bytes = at + bytes;
    return at;
}

void jit_scratch_layout_place_stack(struct jit *j, const struct jit_plan *plan)
{
    if (pt_uses_stack(j->unit->m, j->unit->f))
        j->facts->stack = jit_scratch_layout_take(
            j, plan->n_groups * j->facts->copies * j->unit->width * (uint32_t)sizeof(uint32_t));
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

static bool is_touched(const struct jit *j, uint32_t reg)
{
    struct touched t = {.reg = reg};
    for (uint32_t i = 0; i < j->unit->f->insns.n && !t.is_touched; i++) {
        const struct pt_insn *insn = &j->unit->f->insns.v[i];
        if (jit_insn_info_is_stepped(j, pt_insn_form(j->unit->m, insn)))
            pt_insn_regs(j->unit->m, j->unit->f, insn, note_touched, &t);
    }
    return t.is_touched;
}

/* Warps that run apart leave lanes behind, with values of their own; of functions that were expanded the frame knows other registers. */
bool jit_scratch_layout_frame_slot(struct jit *j, uint32_t reg, uint32_t *slot)
{
    const struct jit_reg *r = &j->facts->regs[reg];
    if (!j->facts->has_steps || j->unit->inlined || j->facts->runs_apart ||
        j->unit->width * j->facts->copies != PT_WARP_SIZE || r->shape != JIT_VECTOR ||
        pt_type_bits((enum pt_type)j->unit->f->regs.v[reg].type) < 32 || !is_touched(j, reg))
        return false;
    *slot = j->unit->snapshot->slots[j->unit->snapshot->kernel][reg];
    return true;
}
