/* What can be native code, and where its regions begin. */
#include "backend/jit/analysis/plan.h"

#include <string.h>

#include "backend/jit/analysis/call_info.h"
#include "backend/jit/analysis/cta_interleave_plan.h"
#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/group_size.h"
#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/analysis/regions.h"
#include "backend/jit/analysis/scratch_layout.h"
#include "backend/jit/analysis/sync_points.h"
#include "backend/jit/bitset.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/target.h"
#include "backend/jit/object/frontier.h"

/* ---- what is native -------------------------------------------------------------------------- */

static bool knows_operands(struct jit *j, const struct pt_insn *insn)
{
    for (uint32_t k = 0; k < insn->n_operands; k++) {
        const struct pt_operand *o = &j->unit->f->operands.v[insn->operands + k];
        if (o->kind != PT_OPND_SYM)
            continue;
        const struct pt_symbol *s = &j->unit->m->symbols.v[o->index];
        if (s->space == PT_SPACE_LOCAL && (o->flags & PT_OPND_GENERIC))
            return jit_refuse(j->unit, "the generic address of a local variable");
    }
    return true;
}

/* The operand that says how many threads a barrier waits for, or NULL. */
static const struct pt_operand *count_of(const struct jit *j, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(j->unit->m, insn);
    unsigned at = jit_insn_info_is_reduction(form) ? 2 : 1,
             others = jit_insn_info_is_reduction(form) ? 3 : 1;
    return insn->n_operands > others ? &j->unit->f->operands.v[insn->operands + at] : NULL;
}

static bool counts_all(const struct jit *j, const struct pt_operand *count)
{
    const uint32_t *block = j->facts->vary->shape.block;
    uint32_t threads = block[0] * block[1] * block[2];
    uint32_t warps = (threads + PT_WARP_SIZE - 1) / PT_WARP_SIZE;
    return count->kind == PT_OPND_IMM &&
           (!count->imm || (threads && (uint64_t)count->imm == (uint64_t)warps * PT_WARP_SIZE));
}

/* A barrier of all threads of the CTA: whatever its number is, if they agree on it. */
static bool is_whole_barrier(const struct jit *j, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(j->unit->m, insn);
    const struct pt_operand *o = &j->unit->f->operands.v[insn->operands],
                            *count = count_of(j, insn);
    const struct pt_operand *id = jit_insn_info_is_reduction(form) ? o + 1 : o;
    bool is_agreed =
        id->kind == PT_OPND_IMM ||
        (id->kind == PT_OPND_REG && j->facts->vary->regs[id->index].level == PT_LEVEL_CTA);
    bool waits = form->op == PT_OP_bar_sync || form->op == PT_OP_barrier_sync ||
                 jit_insn_info_is_reduction(form);
    return waits && is_agreed && (!count || counts_all(j, count));
}

/* Such a barrier waits, in vain, for threads that have ended. */
static bool has_count(const struct jit *j)
{
    for (uint32_t i = 0; i < j->unit->f->insns.n; i++) {
        const struct pt_insn *insn = &j->unit->f->insns.v[i];
        const struct pt_operand *count =
            jit_insn_info_is_barrier(pt_insn_form(j->unit->m, insn)) ? count_of(j, insn) : NULL;
        if (count && count->imm)
            return true;
    }
    return false;
}

/* Where calls were expanded, the interpreter would look for local variables in another place. */
static bool may_be_stepped(struct jit *j, uint32_t index)
{
    const struct pt_insn *insn = &j->unit->f->insns.v[index];
    const struct pt_form *form = pt_insn_form(j->unit->m, insn);
    for (uint32_t k = 0;
         j->unit->inlined && jit_insn_info_is_stepped(j, form) && k < insn->n_operands; k++) {
        const struct pt_operand *o = &j->unit->f->operands.v[insn->operands + k];
        if (o->kind == PT_OPND_MEM)
            o = &j->unit->f->operands.v[o->index];
        if (o->kind == PT_OPND_SYM && j->unit->m->symbols.v[o->index].space == PT_SPACE_LOCAL)
            return jit_refuse(j->unit, form->spelling);
    }
    return true;
}

static bool knows_all(struct jit *j)
{
    for (uint32_t i = 0; i < j->unit->f->insns.n; i++) {
        const struct pt_insn *insn = &j->unit->f->insns.v[i];
        const struct pt_form *form = pt_insn_form(j->unit->m, insn);
        if (form->effects & PT_FX_CALL) {
            if (!jit_call_info_is_native(j, insn))
                return jit_refuse(j->unit,
                                  j->unit->inlined->stays ? j->unit->inlined->stays : "a call");
            continue;
        }
        if (pt_op_compiled((enum pt_op)form->op) == PT_JIT_NONE)
            return jit_refuse(j->unit, form->spelling);
        if (!knows_operands(j, insn) || !may_be_stepped(j, i))
            return false;
    }
    return true;
}

/* ---- masks ----------------------------------------------------------------------------------- */

/* Marks a block and what follows it, up to a block or one of a set; UINT32_MAX, NULL: to the end. */
static void mark_from(struct jit *j, uint32_t block, uint32_t end, const uint64_t *ends)
{
    if (block == end || (ends && jit_set_has(ends, block)) || jit_set_has(j->facts->partial, block))
        return;
    jit_set_add(j->facts->partial, block);
    const struct pt_block *b = &j->unit->f->blocks.v[block];
    for (uint32_t e = 0; e < b->n_succ; e++)
        mark_from(j, j->unit->f->edges.v[b->succ + e], end, ends);
}

/* Marks the blocks between a branch at which a group may part and where it meets again: its immediate
 * postdominator, unless some lanes leave the region before, and wait at an entry of the next one. */
static void mark_parted(struct jit *j, const struct jit_plan *plan, const struct pt_block *block)
{
    bool leaves = false;
    for (uint32_t e = 0; e < block->n_succ; e++)
        mark_from(j, j->unit->f->edges.v[block->succ + e], block->ipdom, NULL);
    for (uint32_t w = 0; w < j->facts->vary->words; w++)
        leaves |= (j->facts->partial[w] & plan->entries[w]) != 0;
    if (leaves && block->ipdom != UINT32_MAX)
        mark_from(j, block->ipdom, UINT32_MAX, plan->entries);
}

/* Blocks that part of a group may run. Lanes that wait somewhere have not met: where warps run apart, and in loops of several entries, of
 * which one may be where both ways of a branch lead in the end. */
static void find_partial(struct jit *j, const struct jit_plan *plan)
{
    j->facts->partial = jit_new_set(j);
    uint64_t *all = jit_new_set(j);
    for (uint32_t b = 0; b < j->unit->f->blocks.n; b++) {
        const struct pt_block *block = &j->unit->f->blocks.v[b];
        if (j->facts->vary->branch[b] <= PT_LEVEL_GROUP)
            continue;
        memset(j->facts->partial, 0, j->facts->vary->words * sizeof(uint64_t));
        mark_parted(j, plan, block);
        for (uint32_t w = 0; w < j->facts->vary->words; w++)
            all[w] |= j->facts->partial[w];
    }
    j->facts->partial = all;
    for (uint32_t b = 0; b < j->unit->f->blocks.n; b++)
        if (jit_regions_is_parted(j, b))
            jit_set_add(j->facts->partial, b);
}

/* Some lanes may end in a region that others leave for the next. */
static bool keeps_alive(const struct jit_plan *plan)
{
    for (uint32_t r = 0; r < plan->n_regions; r++) {
        const struct jit_region *region = &plan->regions[r];
        if (region->has_ends && region->n_exits)
            return true;
    }
    return false;
}

/* ---- registers between regions --------------------------------------------------------------- */

static void place_crossing(struct jit *j, const struct jit_plan *plan, uint32_t index)
{
    struct jit_reg *r = &j->facts->regs[index];
    r->crosses = true;
    r->is_remade = jit_def_use_can_remat(j, index);
    if (r->is_remade)
        return;
    if (r->shape == JIT_SCALAR && j->facts->vary->regs[index].level == PT_LEVEL_CTA &&
        !j->facts->runs_apart) {
        r->kept = jit_cta_interleave_plan_variable(j, r->type);
        r->next = jit_cta_interleave_plan_variable(j, r->type);
        return;
    }
    r->scratch_bytes = jit_scratch_layout_crossing_bytes(j, index);
    r->is_in_frame = jit_scratch_layout_frame_slot(j, index, &r->scratch);
    if (r->is_in_frame)
        return;
    j->facts->scratch_bytes = (j->facts->scratch_bytes + 63) & ~63u;
    r->scratch = j->facts->scratch_bytes;
    j->facts->scratch_bytes += r->scratch_bytes * plan->n_groups;
}

static void find_crossing(struct jit *j, const struct jit_plan *plan)
{
    size_t words = (j->unit->f->regs.n + 63) / 64;
    for (uint32_t i = 1; i < j->unit->f->regs.n; i++)
        for (uint32_t r = 0; r < plan->n_regions; r++) {
            const uint64_t *in = j->facts->live_in + plan->regions[r].entry * words;
            if (plan->regions[r].entry && jit_set_has(in, i)) {
                place_crossing(j, plan, i);
                break;
            }
        }
}

/* CC.CF is not kept from one region to the next: it is set in the block that reads it. */
static bool keeps_carry(const struct jit *j)
{
    for (uint32_t b = 0; b < j->unit->f->blocks.n; b++) {
        const struct pt_block *block = &j->unit->f->blocks.v[b];
        bool is_set = false;
        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            const struct pt_insn *insn = &j->unit->f->insns.v[i];
            uint32_t effects = pt_insn_form(j->unit->m, insn)->effects;
            if ((effects & PT_FX_CARRY_IN) && !is_set)
                return false;
            is_set |= (effects & PT_FX_CARRY_OUT) && !insn->guard;
        }
    }
    return true;
}

/* ---- the plan -------------------------------------------------------------------------------- */

static bool has_sync_of_some(const struct jit *j)
{
    for (uint32_t i = 0; i < j->unit->f->insns.n; i++) {
        const struct pt_insn *insn = &j->unit->f->insns.v[i];
        if (jit_insn_info_is_barrier(pt_insn_form(j->unit->m, insn)) && !is_whole_barrier(j, insn))
            return true;
    }
    return false;
}

static bool has_waiting_loop(const struct jit *j)
{
    for (uint32_t l = 0; l < j->unit->f->loops.n; l++)
        if (j->unit->f->loops.v[l].communicates)
            return true;
    return false;
}

/* Lanes of a CTA's only warp may wait elsewhere while others come to a barrier: it has to be found out what becomes of them. */
static bool parts_only_warp(const struct jit *j)
{
    const uint32_t *block = j->facts->vary->shape.block;
    uint32_t threads = block[0] * block[1] * block[2];
    for (uint32_t b = 0; threads && threads <= PT_WARP_SIZE && b < j->unit->f->blocks.n; b++)
        if (jit_insn_info_is_sync(j, b) && jit_regions_is_parted(j, b))
            return true;
    return false;
}

/* The groups of a CTA cannot run one after the other from barrier to barrier. */
static bool runs_apart(struct jit *j)
{
    struct jit_plan plan = {.entries = jit_new_set(j)};
    bool begins_reducing =
        jit_insn_info_is_reduction(pt_insn_form(j->unit->m, &j->unit->f->insns.v[0]));
    if (j->unit->options->has_cluster || begins_reducing || has_waiting_loop(j) ||
        has_sync_of_some(j) || parts_only_warp(j) || jit_sync_points_part_warps(j))
        return true;
    const uint64_t *reaching = jit_regions_find_reaching(j);
    jit_regions_find_entries(j, &plan, reaching);
    if (!jit_regions_are_convergent(j, plan.entries, reaching))
        return true;
    jit_regions_make(j, &plan, reaching);
    return has_count(j) && keeps_alive(&plan);
}

void jit_plan_shape(struct jit *j)
{
    struct pt_vary_shape shape = {.width = j->unit->width, .copies = 1};
    memcpy(shape.block, j->unit->options->block, sizeof shape.block);
    jit_group_size_choose(j, &shape);
    j->facts->runs_apart = runs_apart(j);
    if (j->facts->runs_apart)
        jit_sync_points_find(j, &shape);
    else
        jit_group_size_find_rows(j, &shape);
    j->facts->copies = shape.copies;
}

static bool has_reduction(const struct jit *j)
{
    for (uint32_t i = 0; i < j->unit->f->insns.n; i++)
        if (jit_insn_info_is_reduction(pt_insn_form(j->unit->m, &j->unit->f->insns.v[i])))
            return true;
    return false;
}

/* The CTA is one warp, which comes to each barrier as a whole: there is nobody to wait for. */
static bool needs_no_barriers(const struct jit *j, const struct jit_plan *plan)
{
    return plan->n_groups == 1 && j->unit->width * j->facts->copies <= PT_WARP_SIZE &&
           !has_reduction(j);
}

/* Nothing is lost where a CTA's run is interrupted, and nobody can tell in which order CTAs run. */
static bool may_take_turns(const struct jit *j)
{
    return !jit_insn_info_has_effect(j, PT_FX_CALL) && !jit_insn_info_has_steps(j) &&
           !jit_insn_info_tells_order(j) && !has_reduction(j) && keeps_carry(j);
}

/* From barrier to barrier. */
static void plan_together(struct jit *j, struct jit_plan *plan)
{
    const uint64_t *reaching = jit_regions_find_reaching(j);
    plan->entries = jit_new_set(j);
    if (needs_no_barriers(j, plan))
        jit_set_add(plan->entries, 0);
    else
        jit_regions_find_entries(j, plan, reaching);
    jit_regions_make(j, plan, reaching);
    plan->keeps_alive = keeps_alive(plan);
    plan->alive = j->facts->scratch_bytes;
    if (plan->keeps_alive)
        j->facts->scratch_bytes += plan->n_groups * j->facts->copies * 4;
    if (may_take_turns(j))
        jit_cta_interleave_plan_find(j, plan);
}

bool jit_plan_is_left(const struct jit *j, const struct jit_plan *plan, uint32_t block)
{
    for (uint32_t w = 0; w < j->facts->vary->words; w++)
        if (jit_def_use_waits(j, block)[w] & plan->entries[w])
            return true;
    return false;
}

/* Some lanes of a warp may end before others do. */
static bool may_end_apart(const struct jit *j, const struct jit_plan *plan)
{
    if (keeps_alive(plan))
        return true;
    for (uint32_t b = 0; b < j->unit->f->blocks.n; b++)
        if (jit_regions_ends_kernel(j, b) && jit_plan_is_left(j, plan, b))
            return true;
    return false;
}

/* From wherever a thread may wait. */
static bool plan_apart(struct jit *j, struct jit_plan *plan)
{
    uint64_t *stops = jit_new_set(j);
    if (!jit_sync_points_are_known(j))
        return false;
    for (uint32_t b = 0; b < j->unit->f->blocks.n; b++)
        if (j->facts->vary->stops[b])
            jit_set_add(stops, b);
    jit_regions_cut_apart(j, plan, stops);
    plan->has_ended = may_end_apart(j, plan);
    plan->front_bytes = jit_frontier_bytes(plan->n_regions);
    j->facts->scratch_bytes = plan->front_bytes * plan->n_groups;
    jit_scratch_layout_place_members(j, plan);
    return true;
}

bool jit_plan_find(struct jit *j, struct jit_plan *plan)
{
    const uint32_t *block = j->facts->vary->shape.block;
    uint32_t threads = block[0] * block[1] * block[2], group = j->unit->width * j->facts->copies;
    plan->n_groups = ((threads ? threads : PT_MAX_WARPS * PT_WARP_SIZE) + group - 1) / group;
    if (!knows_all(j) || (j->facts->runs_apart && !plan_apart(j, plan)))
        return false;
    if (!j->facts->runs_apart)
        plan_together(j, plan);
    if (plan->n_regions > 1 && !keeps_carry(j))
        return jit_refuse(j->unit, "a carry that may be kept beyond a barrier");
    j->facts->is_one_region = plan->n_regions == 1 && !plan->turns.region;
    find_partial(j, plan);
    j->facts->starts_full = threads && threads % group == 0;
    j->facts->has_steps = jit_insn_info_has_steps(j);
    jit_scratch_layout_place_stack(j, plan);
    find_crossing(j, plan);
    jit_cta_interleave_plan_place_kept(j, plan);
    return true;
}
