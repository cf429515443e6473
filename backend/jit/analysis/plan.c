/* What can be native code, and where its regions begin. */
#include "backend/jit/analysis/plan.h"

#include <string.h>

#include "backend/jit/analysis/call_info.h"
#include "backend/jit/analysis/cta_interleave_plan.h"
#include "backend/jit/analysis/cta_rows.h"
#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/group_size.h"
#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/analysis/nan.h"
#include "backend/jit/analysis/regions.h"
#include "backend/jit/analysis/scratch_layout.h"
#include "backend/jit/analysis/sync_points.h"
#include "backend/jit/bitset.h"
#include "backend/jit/jit.h"
#include "backend/jit/object/frontier.h"
#include "ir/bits.h"

/* ---- what is native -------------------------------------------------------------------------- */

static bool knows_operands(struct jit_facts *a, const struct pt_insn *insn)
{
    for (uint32_t k = 0; k < insn->n_operands; k++) {
        const struct pt_operand *o = &a->unit->f->operands.v[insn->operands + k];
        if (o->kind != PT_OPND_SYM)
            continue;
        const struct pt_symbol *s = &a->unit->m->symbols.v[o->index];
        if (s->space == PT_SPACE_LOCAL && (o->flags & PT_OPND_GENERIC))
            return jit_refuse(a->unit, "the generic address of a local variable");
    }
    return true;
}

/* The operand that says how many threads a barrier waits for, or NULL. */
static const struct pt_operand *count_of(const struct jit_facts *a, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(a->unit->m, insn);
    unsigned at = jit_insn_info_is_reduction(form) ? 2 : 1,
             others = jit_insn_info_is_reduction(form) ? 3 : 1;
    return insn->n_operands > others ? &a->unit->f->operands.v[insn->operands + at] : NULL;
}

static bool counts_all(const struct jit_facts *a, const struct pt_operand *count)
{
    const uint32_t *block = a->uniformity->shape.block;
    uint32_t threads = block[0] * block[1] * block[2];
    uint32_t warps = (threads + PT_WARP_SIZE - 1) / PT_WARP_SIZE;
    return count->kind == PT_OPND_IMM &&
           (!count->imm || (threads && (uint64_t)count->imm == (uint64_t)warps * PT_WARP_SIZE));
}

/* A barrier of all threads of the CTA: whatever its number is, if they agree on it. */
static bool is_whole_barrier(const struct jit_facts *a, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(a->unit->m, insn);
    const struct pt_operand *o = &a->unit->f->operands.v[insn->operands],
                            *count = count_of(a, insn);
    const struct pt_operand *id = jit_insn_info_is_reduction(form) ? o + 1 : o;
    bool is_agreed =
        id->kind == PT_OPND_IMM ||
        (id->kind == PT_OPND_REG && a->uniformity->regs[id->index].level == PT_LEVEL_CTA);
    bool waits = form->op == PT_OP_bar_sync || form->op == PT_OP_barrier_sync ||
                 jit_insn_info_is_reduction(form);
    return waits && is_agreed && (!count || counts_all(a, count));
}

/* Such a barrier waits, in vain, for threads that have ended. */
static bool has_count(const struct jit_facts *a)
{
    for (uint32_t i = 0; i < a->unit->f->insns.n; i++) {
        const struct pt_insn *insn = &a->unit->f->insns.v[i];
        const struct pt_operand *count =
            jit_insn_info_is_barrier(pt_insn_form(a->unit->m, insn)) ? count_of(a, insn) : NULL;
        if (count && count->imm)
            return true;
    }
    return false;
}

/* Where calls were expanded, the interpreter would look for local variables in another place. */
static bool may_be_stepped(struct jit_facts *a, uint32_t index)
{
    const struct pt_insn *insn = &a->unit->f->insns.v[index];
    const struct pt_form *form = pt_insn_form(a->unit->m, insn);
    for (uint32_t k = 0;
         a->unit->inlined && jit_insn_info_is_stepped(a, form) && k < insn->n_operands; k++) {
        const struct pt_operand *o = &a->unit->f->operands.v[insn->operands + k];
        if (o->kind == PT_OPND_MEM)
            o = &a->unit->f->operands.v[o->index];
        if (o->kind == PT_OPND_SYM && a->unit->m->symbols.v[o->index].space == PT_SPACE_LOCAL)
            return jit_refuse(a->unit, form->spelling);
    }
    return true;
}

static bool knows_all(struct jit_facts *a)
{
    for (uint32_t i = 0; i < a->unit->f->insns.n; i++) {
        const struct pt_insn *insn = &a->unit->f->insns.v[i];
        const struct pt_form *form = pt_insn_form(a->unit->m, insn);
        if (form->effects & PT_FX_CALL) {
            if (!jit_call_info_is_native(a, insn))
                return jit_refuse(a->unit,
                                  a->unit->inlined->stays ? a->unit->inlined->stays : "a call");
            continue;
        }
        if (pt_op_compiled((enum pt_op)form->op) == PT_JIT_NONE)
            return jit_refuse(a->unit, form->spelling);
        if (!knows_operands(a, insn) || !may_be_stepped(a, i))
            return false;
    }
    return true;
}

/* ---- masks ----------------------------------------------------------------------------------- */

/* Marks a block and what follows it, up to a block or one of a set; UINT32_MAX, NULL: to the
 * end. */
static void mark_from(struct jit_facts *a, uint32_t block, uint32_t end, const uint64_t *ends)
{
    if (block == end || (ends && jit_set_has(ends, block)) || jit_set_has(a->partial, block))
        return;
    jit_set_add(a->partial, block);
    const struct pt_block *b = &a->unit->f->blocks.v[block];
    for (uint32_t e = 0; e < b->n_succ; e++)
        mark_from(a, a->unit->f->edges.v[b->succ + e], end, ends);
}

/* Marks the blocks between a branch at which a group may part and where it meets again: its
 * immediate postdominator, unless some lanes leave the region before, and wait at an entry of the
 * next one. */
static void mark_parted(struct jit_facts *a, const struct jit_plan *plan,
                        const struct pt_block *block)
{
    bool leaves = false;
    for (uint32_t e = 0; e < block->n_succ; e++)
        mark_from(a, a->unit->f->edges.v[block->succ + e], block->ipdom, NULL);
    for (uint32_t w = 0; w < a->uniformity->words; w++)
        leaves |= (a->partial[w] & plan->entries[w]) != 0;
    if (leaves && block->ipdom != UINT32_MAX)
        mark_from(a, block->ipdom, UINT32_MAX, plan->entries);
}

/* Blocks that part of a group may run. Lanes that wait somewhere have not met: where warps are
 * resumed one by one, and in loops of several entries, of which one may be where both ways of a
 * branch lead in the end. */
static void find_partial(struct jit_facts *a, const struct jit_plan *plan)
{
    a->partial = jit_new_set(a);
    uint64_t *all = jit_new_set(a);
    for (uint32_t b = 0; b < a->unit->f->blocks.n; b++) {
        const struct pt_block *block = &a->unit->f->blocks.v[b];
        if (a->uniformity->branch[b] <= PT_LEVEL_GROUP)
            continue;
        memset(a->partial, 0, a->uniformity->words * sizeof(uint64_t));
        mark_parted(a, plan, block);
        for (uint32_t w = 0; w < a->uniformity->words; w++)
            all[w] |= a->partial[w];
    }
    a->partial = all;
    for (uint32_t b = 0; b < a->unit->f->blocks.n; b++)
        if (jit_regions_is_parted(a, b))
            jit_set_add(a->partial, b);
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

enum { KEPT_BYTES = 16 }; /* of a register */

/* ---- registers between regions --------------------------------------------------------------- */

static void place_crossing(struct jit_facts *a, const struct jit_plan *plan, uint32_t index)
{
    struct jit_reg *r = &a->regs[index];
    r->crosses = true;
    r->is_remat = jit_def_use_can_remat(a, index);
    if (r->is_remat)
        return;
    if (r->shape == JIT_SCALAR && a->uniformity->regs[index].level == PT_LEVEL_CTA &&
        !a->is_resumable) {
        r->is_cta_uniform = true;
        if (a->interleave_loop) {
            r->scratch = jit_scratch_layout_take(a, KEPT_BYTES);
            r->scratch_next = jit_scratch_layout_take(a, KEPT_BYTES);
        }
        return;
    }
    r->scratch_bytes = jit_scratch_layout_crossing_bytes(a, index);
    r->is_in_frame = jit_scratch_layout_frame_slot(a, index, &r->scratch);
    if (r->is_in_frame)
        return;
    a->scratch_bytes = (uint32_t)pt_round_up(a->scratch_bytes, 64);
    r->scratch = a->scratch_bytes;
    a->scratch_bytes += r->scratch_bytes * plan->n_groups;
}

static void find_crossing(struct jit_facts *a, const struct jit_plan *plan)
{
    size_t words = pt_bit_words(a->unit->f->regs.n);
    for (uint32_t i = 1; i < a->unit->f->regs.n; i++)
        for (uint32_t r = 0; r < plan->n_regions; r++) {
            const uint64_t *in = a->live_in + plan->regions[r].entry * words;
            if (plan->regions[r].entry && jit_set_has(in, i)) {
                place_crossing(a, plan, i);
                break;
            }
        }
}

/* CC.CF is not kept from one region to the next: it is set in the block that reads it. */
static bool keeps_carry(const struct jit_facts *a)
{
    for (uint32_t b = 0; b < a->unit->f->blocks.n; b++) {
        const struct pt_block *block = &a->unit->f->blocks.v[b];
        bool is_set = false;
        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            const struct pt_insn *insn = &a->unit->f->insns.v[i];
            uint32_t effects = pt_insn_form(a->unit->m, insn)->effects;
            if ((effects & PT_FX_CARRY_IN) && !is_set)
                return false;
            is_set |= (effects & PT_FX_CARRY_OUT) && !insn->guard;
        }
    }
    return true;
}

/* ---- the plan -------------------------------------------------------------------------------- */

static bool has_sync_of_some(const struct jit_facts *a)
{
    for (uint32_t i = 0; i < a->unit->f->insns.n; i++) {
        const struct pt_insn *insn = &a->unit->f->insns.v[i];
        if (jit_insn_info_is_barrier(pt_insn_form(a->unit->m, insn)) && !is_whole_barrier(a, insn))
            return true;
    }
    return false;
}

static bool has_waiting_loop(const struct jit_facts *a)
{
    for (uint32_t l = 0; l < a->unit->f->loops.n; l++)
        if (a->unit->f->loops.v[l].communicates)
            return true;
    return false;
}

/* Lanes of a CTA's only warp may wait elsewhere while others come to a barrier: it has to be found
 * out what becomes of them. */
static bool parts_only_warp(const struct jit_facts *a)
{
    const uint32_t *block = a->uniformity->shape.block;
    uint32_t threads = block[0] * block[1] * block[2];
    for (uint32_t b = 0; threads && threads <= PT_WARP_SIZE && b < a->unit->f->blocks.n; b++)
        if (jit_insn_info_is_sync(a, b) && jit_regions_is_parted(a, b))
            return true;
    return false;
}

/* The groups of a CTA cannot run one after the other from barrier to barrier. */
static bool is_resumable(struct jit_facts *a)
{
    struct jit_plan plan = {.entries = jit_new_set(a)};
    bool begins_reducing =
        jit_insn_info_is_reduction(pt_insn_form(a->unit->m, &a->unit->f->insns.v[0]));
    if (a->unit->options->has_cluster || begins_reducing || has_waiting_loop(a) ||
        has_sync_of_some(a) || parts_only_warp(a) || jit_sync_points_part_warps(a))
        return true;
    const uint64_t *reaching = jit_regions_find_reaching(a);
    jit_regions_find_entries(a, &plan, reaching);
    if (!jit_regions_are_convergent(a, plan.entries, reaching))
        return true;
    jit_regions_make(a, &plan, reaching);
    return has_count(a) && keeps_alive(&plan);
}

void jit_plan_shape(struct jit_facts *a)
{
    struct pt_uniformity_shape shape = {.width = a->unit->width, .copies = 1};
    memcpy(shape.block, a->unit->options->block, sizeof shape.block);
    jit_group_size_choose(a, &shape);
    a->is_resumable = is_resumable(a);
    if (a->is_resumable)
        jit_sync_points_find(a, &shape);
    else
        jit_group_size_find_rows(a, &shape);
    a->copies = shape.copies;
    jit_nan_find(a);
    jit_def_use_find_shapes(a);
}

static bool has_reduction(const struct jit_facts *a)
{
    for (uint32_t i = 0; i < a->unit->f->insns.n; i++)
        if (jit_insn_info_is_reduction(pt_insn_form(a->unit->m, &a->unit->f->insns.v[i])))
            return true;
    return false;
}

/* The CTA is one warp, which comes to each barrier as a whole: there is nobody to wait for. */
static bool needs_no_barriers(const struct jit_facts *a, const struct jit_plan *plan)
{
    return plan->n_groups == 1 && a->unit->width * a->copies <= PT_WARP_SIZE && !has_reduction(a);
}

/* Nothing is lost where a CTA's run is interrupted, and nobody can tell in which order CTAs run. */
static bool may_interleave(const struct jit_facts *a)
{
    return !jit_is_checked(a->unit) && !jit_insn_info_has_effect(a, PT_FX_CALL) &&
           !jit_insn_info_has_steps(a) && !jit_insn_info_tells_order(a) && !has_reduction(a) &&
           keeps_carry(a);
}

/* From barrier to barrier. */
static void plan_together(struct jit_facts *a, struct jit_plan *plan)
{
    const uint64_t *reaching = jit_regions_find_reaching(a);
    plan->entries = jit_new_set(a);
    if (needs_no_barriers(a, plan))
        jit_set_add(plan->entries, 0);
    else
        jit_regions_find_entries(a, plan, reaching);
    jit_regions_make(a, plan, reaching);
    plan->keeps_alive = keeps_alive(plan);
    plan->alive = a->scratch_bytes;
    if (plan->keeps_alive)
        a->scratch_bytes += plan->n_groups * a->copies * 4;
    if (may_interleave(a))
        jit_cta_interleave_plan_find(a, plan);
}

bool jit_plan_is_left(const struct jit_facts *a, const struct jit_plan *plan, uint32_t block)
{
    for (uint32_t w = 0; w < a->uniformity->words; w++)
        if (jit_def_use_waits(a, block)[w] & plan->entries[w])
            return true;
    return false;
}

/* Some lanes of a warp may end before others do. */
static bool may_end_apart(const struct jit_facts *a, const struct jit_plan *plan)
{
    if (keeps_alive(plan))
        return true;
    for (uint32_t b = 0; b < a->unit->f->blocks.n; b++)
        if (jit_regions_ends_kernel(a, b) && jit_plan_is_left(a, plan, b))
            return true;
    return false;
}

/* From wherever a thread may wait. */
static bool plan_resumable(struct jit_facts *a, struct jit_plan *plan)
{
    uint64_t *stops = jit_new_set(a);
    if (!jit_sync_points_are_known(a))
        return false;
    for (uint32_t b = 0; b < a->unit->f->blocks.n; b++)
        if (a->uniformity->stops[b])
            jit_set_add(stops, b);
    jit_regions_cut_resumable(a, plan, stops);
    plan->has_ended = may_end_apart(a, plan);
    a->front_bytes = jit_frontier_bytes(plan->n_regions);
    a->scratch_bytes = a->front_bytes * plan->n_groups;
    jit_scratch_layout_place_members(a, plan);
    return true;
}

bool jit_plan_find(struct jit_facts *a, struct jit_plan *plan)
{
    const uint32_t *block = a->uniformity->shape.block;
    uint32_t threads = block[0] * block[1] * block[2], group = a->unit->width * a->copies;
    plan->n_groups = ((threads ? threads : PT_MAX_WARPS * PT_WARP_SIZE) + group - 1) / group;
    if (!knows_all(a) || (a->is_resumable && !plan_resumable(a, plan)))
        return false;
    if (!a->is_resumable)
        plan_together(a, plan);
    if (plan->n_regions > 1 && !keeps_carry(a))
        return jit_refuse(a->unit, "a carry that may be kept beyond a barrier");
    a->is_one_region = plan->n_regions == 1 && !plan->interleave.region;
    find_partial(a, plan);
    a->starts_full = threads && threads % group == 0;
    a->has_steps = jit_insn_info_has_steps(a);
    a->row_groups = jit_cta_rows_find(a);
    jit_scratch_layout_place_stack(a, plan);
    find_crossing(a, plan);
    jit_cta_interleave_plan_place_kept(a, plan);
    return true;
}
