/* One region: a loop over groups, blocks in their order under masks: a loop over the groups of a
 * CTA. Inside, blocks in their order.
 *
 * Lanes of a group that part at a branch wait, by masks in variables, at the blocks they will run.
 * After a block the next place is the lowest block at which lanes may wait (jit_def_use_waits says
 * where); it is skipped when its mask is empty. At the end of a loop it goes round again if lanes
 * wait at its header. A branch that the whole group takes alike is a branch. Masks exist only for
 * blocks that part of a group may run (j->facts->partial). Of those that are in no loop there is
 * code for all lanes as well, without masks, which goes on in its own kind until lanes diverge.
 */
#include "backend/jit/control/region.h"

#include <string.h>

#include "backend/jit/analysis/block_order.h"
#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/analysis/plan.h"
#include "backend/jit/bitset.h"
#include "backend/jit/control/block.h"
#include "backend/jit/control/branch.h"
#include "backend/jit/control/chain_split.h"
#include "backend/jit/control/coverage.h"
#include "backend/jit/control/cta_end.h"
#include "backend/jit/control/cta_interleave.h"
#include "backend/jit/control/cta_rows.h"
#include "backend/jit/control/flow.h"
#include "backend/jit/control/gen.h"
#include "backend/jit/control/idle_cta.h"
#include "backend/jit/control/per_lane_loop.h"
#include "backend/jit/control/region_spill.h"
#include "backend/jit/control/region_versions.h"
#include "backend/jit/control/resumable_warp.h"
#include "backend/jit/control/stop_poll.h"
#include "backend/jit/control/superblock.h"
#include "backend/jit/control/wait_masks.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/memory/access_path.h"
#include "backend/jit/memory/gather.h"
#include "backend/jit/memory/interleave.h"
#include "backend/jit/memory/local_rows.h"
#include "backend/jit/memory/mem_check.h"
#include "backend/jit/tune.h"
#include "backend/jit/value/lane_offsets.h"
#include "backend/jit/value/visit.h"
#include "backend/jit/warp/interp_step.h"
#include "ir/bits.h"
#include "ir/insn.h"

/* ---- blocks ---------------------------------------------------------------------------------- */

/* A few stores under a mask that no scalars tell, all of which may write what is there: less work
 * than to find out whether lanes are on where that is hard to foresee. */
static bool only_rewrites(const struct jit *j, uint32_t block)
{
    const struct pt_block *b = &j->unit->f->blocks.v[block];
    uint32_t n = 0;
    struct jit at = *j;
    at.only_rewrites = true;
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        jit_visit_insn(&at, i);
        if (at.form->op == PT_OP_bra && !at.insn->guard)
            continue;
        if (!jit_access_path_is_rewriting(&at) || ++n > JIT_REWRITE_STORES)
            return false;
    }
    return n;
}

/* An operation of which LLVM makes few instructions, none of them slow. */
static bool is_cheap(const struct pt_form *form)
{
    switch (form->op) {
    case PT_OP_mov:
    case PT_OP_selp:
    case PT_OP_setp_int:
    case PT_OP_setp_f32:
    case PT_OP_add_int:
    case PT_OP_sub_int:
    case PT_OP_min_int:
    case PT_OP_max_int:
    case PT_OP_and_b:
    case PT_OP_or_b:
    case PT_OP_xor_b:
    case PT_OP_shl:
    case PT_OP_add_f32:
    case PT_OP_sub_f32:
    case PT_OP_mul_f32:
    case PT_OP_fma_f32:
    case PT_OP_min_f32:
    case PT_OP_max_f32:
        return !pt_form_has(form, PT_M_rz) && !pt_form_has(form, PT_M_rm) &&
               !pt_form_has(form, PT_M_rp);
    default:
        return false;
    }
}

/* Nothing but a few such operations. */
static bool only_computes(const struct jit *j, uint32_t block)
{
    const struct pt_block *b = &j->unit->f->blocks.v[block];
    uint32_t n = 0;
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        const struct pt_insn *insn = &j->unit->f->insns.v[i];
        const struct pt_form *form = pt_insn_form(j->unit->m, insn);
        if (form->op == PT_OP_bra && !insn->guard)
            continue;
        if (!is_cheap(form) || insn->guard)
            return false;
        n += form->op != PT_OP_mov;
    }
    return n && n <= JIT_EMPTY_INSNS;
}

static bool is_bounded(const struct jit *j, uint32_t block)
{
    uint32_t guard = j->unit->f->insns.v[jit_insn_info_last(j->facts, block)].guard;
    return guard && j->facts->regs[guard].is_bounded;
}

/* The only way into the block is from the one before it, beside which no lane waits that would be
 * next, and all lanes meet behind the block: it may run without any. */
static bool may_run_empty(const struct jit *j, uint32_t block)
{
    const struct pt_block *b = &j->unit->f->blocks.v[block], *before = block ? b - 1 : NULL;
    if (!before || b->n_succ != 1 || before->n_succ != 2 || is_bounded(j, block - 1))
        return false;
    uint32_t to = j->unit->f->edges.v[b->succ], n_preds = 0;
    for (uint32_t e = 0; e < 2; e++)
        if (j->unit->f->edges.v[before->succ + e] != block &&
            j->unit->f->edges.v[before->succ + e] != to)
            return false;
    bool is_next = to == block + 1 && !j->facts->is_resumable;
    for (uint32_t w = 0; !is_next && w < j->facts->uniformity->words; w++)
        if (jit_def_use_waits(j->facts, block - 1)[w])
            return false;
    for (uint32_t i = 0; i < j->unit->f->blocks.n; i++)
        for (uint32_t e = 0; e < j->unit->f->blocks.v[i].n_succ; e++)
            n_preds += j->unit->f->edges.v[j->unit->f->blocks.v[i].succ + e] == block;
    return n_preds == 1 && to > block;
}

/* The block runs whether lanes are on or not. */
static bool runs_anyway(const struct jit *j, uint32_t block)
{
    return (only_rewrites(j, block) || only_computes(j, block)) && may_run_empty(j, block);
}

static void enter_block(struct jit_gen *g, uint32_t block)
{
    const struct jit *j = g->j;
    jit_continue_in(j, g->code->enter[block]);
    if (block == g->r->entry || !jit_has_mask(g, block) || j->only_rewrites) {
        LLVMBuildBr(j->code->b, g->code->body[block]);
        return;
    }
    LLVMBasicBlockRef skip = jit_new_block(j, "skip");
    LLVMBuildCondBr(j->code->b, jit_wait_masks_has_waiting(g, block), g->code->body[block], skip);
    jit_continue_in(j, skip);
    jit_flow_go_on(g, block, UINT32_MAX, UINT32_MAX);
}

/* No access makes a test of its own. */
static bool are_trusted(const struct jit *j, const uint32_t *insns, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if ((pt_insn_form(j->unit->m, &j->unit->f->insns.v[insns[i]])->effects &
             (PT_FX_READ | PT_FX_WRITE)) &&
            !jit_set_has(j->trusted, insns[i]))
            return false;
    return true;
}

static bool touches_memory(const struct jit *j, const struct jit_order *o)
{
    for (uint32_t i = 0; i < o->n; i++)
        if (pt_insn_form(j->unit->m, &j->unit->f->insns.v[o->insns[i]])->effects &
            (PT_FX_READ | PT_FX_WRITE))
            return true;
    return false;
}

/* Lanes that are on in all copies; NULL: all. */
static LLVMValueRef lanes_of_all(const struct jit_gen *g)
{
    LLVMValueRef all = NULL;
    for (unsigned u = 0; u < g->j->facts->copies; u++)
        if (g->active[u])
            all = all ? LLVMBuildAnd(g->j->code->b, all, g->active[u], "") : g->active[u];
    return all;
}

/* From the code for all lanes to that for those that wait. */
static void go_apart(const struct jit_gen *g, uint32_t block)
{
    for (unsigned u = 0; u < g->j->facts->copies; u++)
        LLVMBuildStore(g->j->code->b, LLVMConstAllOnes(jit_flow_type(g->j)),
                       g->code->masks[block][u]);
    LLVMBuildBr(g->j->code->b, g->code->part[block]);
}

/* Code for where tests do not hold, up to `after` or to where one of the accesses tested fails. */
static bool run_distrusting(const struct jit *j, const struct jit_access_tests *tests,
                            const uint32_t *insns, uint32_t n, LLVMValueRef *masks,
                            LLVMBasicBlockRef after)
{
    struct jit at = *j;
    at.distrusted = tests->trusted;
    if (masks[0] || !tests->n_to_fault) {
        bool ok = jit_block_emit(&at, insns, n, masks);
        LLVMBuildBr(j->code->b, after);
        return ok;
    }
    if (!jit_block_emit(&at, insns, tests->n_to_fault - 1, masks))
        return false;
    jit_visit_insn(&at, insns[tests->n_to_fault - 1]);
    jit_access_path_fail(&at);
    return true;
}

/* A block that touches memory comes in up to three versions: plain accesses where all lanes are on
 * and the tests of addresses hold; masked ones where the tests hold; and one for everything
 * else. */
static bool run_block(const struct jit_gen *g, uint32_t block)
{
    struct jit at = *g->j;
    const struct jit *j = &at;
    LLVMValueRef masks[JIT_COPIES] = {0}, none[JIT_COPIES] = {0}, all = lanes_of_all(g);
    bool is_one = all && (g->code->whole[block] || j->only_rewrites); /* this is for some lanes */
    for (unsigned u = 0; u < j->facts->copies; u++)
        masks[u] = g->active[u] ? jit_flow_mask(j, g->active[u]) : NULL;
    struct jit_order o = jit_block_order_find(j->facts, block, j->low != NULL);
    bool may_go_apart = g->runs_whole && g->code->whole[block] && touches_memory(j, &o);
    if (!may_go_apart)
        jit_coverage_add_block(j, block, masks);
    if (!touches_memory(j, &o))
        return jit_block_emit(j, o.insns, o.n, masks);
    if (!jit_block_emit(j, o.insns, o.n_early, masks))
        return false;
    uint32_t *late = o.insns + o.n_early, n_late = o.n - o.n_early;
    struct jit_access_tests tests = jit_access_path_test_all(j, &o);
    if (!all && !tests.good) {
        if (may_go_apart)
            jit_coverage_add_block(j, block, masks);
        at.trusted = tests.trusted;
        jit_interleave_find(&at, late, n_late);
        return jit_block_emit(&at, late, n_late, masks);
    }
    LLVMBasicBlockRef after = jit_new_block(j, "after");
    at.is_version = true;
    if (tests.good) { /* they hold, or each lane of each access is on its own: it is rare */
        LLVMBasicBlockRef slow = jit_new_block(j, "slow"), tested = jit_new_block(j, "tested");
        jit_branch_mostly(j, tests.good, tested, slow);
        jit_continue_in(j, slow);
        if (may_go_apart)
            go_apart(g, block);
        else if (!run_distrusting(&at, &tests, late, n_late, masks, after))
            return false;
        jit_continue_in(j, tested);
    }
    if (may_go_apart)
        jit_coverage_add_block(j, block, masks);
    at.trusted = tests.trusted;
    bool has_strands =
        !is_one && are_trusted(j, late, n_late) && jit_chain_split_pays(j, late, n_late);
    if (!has_strands)
        jit_interleave_find(&at, late, n_late);
    if (all && !is_one) { /* all lanes are on, or some */
        LLVMBasicBlockRef some = jit_new_block(j, "some"), full = jit_new_block(j, "full");
        if (g->is_full) {
            LLVMBasicBlockRef look = jit_new_block(j, "");
            LLVMBuildCondBr(j->code->b, g->is_full, full, look);
            jit_continue_in(j, look);
        }
        LLVMBuildCondBr(j->code->b, jit_all(j, jit_flow_mask(j, all)), full, some);
        jit_continue_in(j, some);
        if (!jit_block_emit(j, late, n_late, masks))
            return false;
        LLVMBuildBr(j->code->b, after);
        jit_continue_in(j, full);
    }
    bool ok = has_strands ? jit_chain_split_emit(j, late, n_late)
                          : jit_block_emit(j, late, n_late, is_one ? masks : none);
    LLVMBuildBr(j->code->b, after);
    jit_continue_in(j, after);
    return ok;
}

static void find_full(struct jit_gen *g, uint32_t block)
{
    LLVMTypeRef i1 = LLVMInt1TypeInContext(g->j->code->context);
    bool is_entry = block == g->r->entry || !jit_has_mask(g, block);
    g->runs_whole = is_entry && !g->first[0] && !g->j->facts->is_resumable &&
                    !jit_per_lane_loop_applies(g, block);
    g->is_full = is_entry && !g->first[0] ? LLVMConstAllOnes(i1) : NULL;
    if (!is_entry && g->code->full[block])
        g->is_full = LLVMBuildLoad2(g->j->code->b, i1, g->code->full[block], "");
}

static void find_waiting(struct jit_gen *g, uint32_t block)
{
    for (unsigned u = 0; u < g->j->facts->copies; u++)
        g->active[u] = jit_wait_masks_waiting(g, block, u);
}

static void clear_waiting(struct jit_gen *g, uint32_t block)
{
    for (unsigned u = 0; u < g->j->facts->copies; u++)
        jit_wait_masks_clear(g, block, u);
}

/* Where those that wait are all lanes they run the block without masks, and what follows, up to
 * where they part. */
static void go_whole(struct jit_gen *g, uint32_t block)
{
    LLVMBasicBlockRef all = jit_new_block(g->j, "all");
    find_waiting(g, block);
    LLVMValueRef is_all = jit_all(g->j, jit_flow_mask(g->j, lanes_of_all(g)));
    LLVMBuildCondBr(g->j->code->b, is_all, all, g->code->part[block]);
    jit_continue_in(g->j, all);
    clear_waiting(g, block);
    LLVMBuildBr(g->j->code->b, g->code->whole[block]);
    jit_continue_in(g->j, g->code->part[block]);
}

static bool generate_whole(const struct jit_gen *of, uint32_t block)
{
    struct jit_gen whole = *of, *g = &whole;
    jit_continue_in(g->j, g->code->whole[block]);
    memset(g->active, 0, sizeof g->active);
    g->is_full = LLVMConstAllOnes(LLVMInt1TypeInContext(g->j->code->context));
    g->runs_whole = true;
    return run_block(g, block) && jit_superblock_emit(g, block) && jit_branch_end(g, block);
}

static bool generate_block(const struct jit_gen *region, uint32_t block)
{
    struct jit at = *region->j;
    const struct jit *j = &at;
    struct jit_gen here = *region, *g = &here;
    g->j = j;
    at.block = block;
    at.only_rewrites = runs_anyway(j, block);
    enter_block(g, block);
    jit_continue_in(j, g->code->body[block]);
    find_full(g, block);
    memcpy(g->active, g->first, sizeof g->active);
    if (g->code->whole[block])
        go_whole(g, block);
    if (block != g->r->entry && jit_has_mask(g, block)) {
        find_waiting(g, block);
        clear_waiting(g, block);
    }
    if (jit_per_lane_loop_applies(g, block))
        return jit_per_lane_loop_emit(g, block);
    if (g->code->whole[block])
        return run_block(g, block) && jit_branch_end(g, block) && generate_whole(g, block);
    return run_block(g, block) && jit_superblock_emit(g, block) && jit_branch_end(g, block);
}

/* The end of a loop: round again if lanes wait at its header. */
static void generate_latch(struct jit_gen *g, uint32_t l)
{
    const struct jit *j = g->j;
    const struct pt_loop *loop = &j->unit->f->loops.v[l];
    jit_continue_in(j, g->code->latch[l]);
    if (!jit_has_mask(g, loop->header)) {
        jit_cta_interleave_go_again(g, loop->header);
        return;
    }
    LLVMBasicBlockRef out = jit_new_block(j, ""), again = jit_new_block(j, "");
    LLVMBuildCondBr(j->code->b, jit_wait_masks_has_waiting(g, loop->header), again, out);
    jit_continue_in(j, again);
    jit_cta_interleave_go_again(g, loop->header);
    jit_continue_in(j, out);
    uint64_t *waits = pt_arena_alloc(j->unit->arena, j->facts->uniformity->words * sizeof *waits);
    for (uint32_t b = loop->header; b < loop->end; b++) {
        if (!jit_is_in(g, b))
            continue;
        for (uint32_t w = 0; w < j->facts->uniformity->words; w++)
            waits[w] |= jit_def_use_waits(j->facts, b)[w];
        for (uint32_t e = 0; e < j->unit->f->blocks.v[b].n_succ; e++)
            jit_set_add(waits, j->unit->f->edges.v[j->unit->f->blocks.v[b].succ + e]);
    }
    jit_flow_go_on_among(g, loop->end - 1, loop->parent, waits);
}

/* ---- the loop over groups -------------------------------------------------------------------- */

/* Registers that the region may write. */
static uint64_t *find_written(const struct jit_gen *g)
{
    const struct jit *j = g->j;
    uint64_t *set = pt_arena_alloc(j->unit->arena, pt_bit_words(j->unit->f->regs.n) * sizeof *set);
    for (uint32_t i = 0; i < g->r->n_blocks; i++) {
        const struct pt_block *b = &j->unit->f->blocks.v[g->r->blocks[i]];
        for (uint32_t k = b->first; k < b->first + b->count; k++)
            pt_insn_regs(j->unit->m, j->unit->f, &j->unit->f->insns.v[k], jit_def_use_note_write,
                         set);
    }
    return set;
}

/* Threads of the CTA. */
static LLVMValueRef threads_of(const struct jit *j)
{
    const uint32_t *block = j->facts->uniformity->shape.block;
    if (block[0])
        return jit_i32(j, block[0] * block[1] * block[2]);
    return jit_field(j, LLVMInt32TypeInContext(j->code->context), j->code->launch,
                     offsetof(struct pt_launch, threads));
}

/* Behind the last group that runs now. */
static LLVMValueRef end_of_groups(const struct jit *j)
{
    if (j->facts->row_groups)
        return jit_cta_rows_end_group(j);
    uint32_t group = j->unit->width * j->facts->copies;
    LLVMValueRef up = LLVMBuildAdd(j->code->b, threads_of(j), jit_i32(j, group - 1), "");
    return LLVMBuildUDiv(j->code->b, up, jit_i32(j, group), "");
}

/* Lanes on at the start of the group. */
static void find_first(struct jit_gen *g)
{
    const struct jit *j = g->j;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    bool has_ended = g->plan->keeps_alive && g->r->entry != 0;
    for (unsigned u = 0; u < j->facts->copies; u++) {
        LLVMValueRef standing = j->facts->is_resumable ? jit_resumable_warp_standing(g, u) : NULL;
        g->first[u] = standing ? jit_flow_of(j, standing) : NULL;
        if (!j->facts->starts_full && !j->facts->is_resumable) {
            LLVMValueRef t = LLVMBuildMul(j->code->b, j->group,
                                          jit_i32(j, j->unit->width * j->facts->copies), "");
            t = jit_splat(j, LLVMBuildAdd(j->code->b, t, jit_i32(j, u * j->unit->width), ""));
            t = LLVMBuildAdd(j->code->b, t, jit_steps(j, i32, 1), "");
            LLVMValueRef n = jit_splat(j, threads_of(j));
            g->first[u] = jit_flow_of(j, LLVMBuildICmp(j->code->b, LLVMIntULT, t, n, ""));
        }
        if (has_ended)
            g->first[u] = jit_flow_of(j, jit_region_spill_load_alive(g, u));
    }
}

/* Straight code that part of a group may run. */
static bool has_whole(const struct jit_gen *g, uint32_t block)
{
    return !g->j->facts->is_resumable && jit_is_in(g, block) && jit_has_mask(g, block) &&
           !g->j->unit->f->blocks.v[block].loop && !runs_anyway(g->j, block);
}

static void make_blocks(struct jit_gen *g)
{
    const struct jit *j = g->j;
    size_t n = j->unit->f->blocks.n;
    g->code->masks = pt_arena_alloc(j->unit->arena, n * sizeof *g->code->masks);
    g->code->enter = pt_arena_alloc(j->unit->arena, n * sizeof *g->code->enter);
    g->code->body = pt_arena_alloc(j->unit->arena, n * sizeof *g->code->body);
    g->code->leave = pt_arena_alloc(j->unit->arena, n * sizeof *g->code->leave);
    g->code->full = pt_arena_alloc(j->unit->arena, n * sizeof *g->code->full);
    g->code->latch =
        pt_arena_alloc(j->unit->arena, (j->unit->f->loops.n + 1) * sizeof *g->code->latch);
    g->code->traced = jit_new_set(j->facts);
    g->code->whole = pt_arena_alloc(j->unit->arena, n * sizeof *g->code->whole);
    g->code->part = pt_arena_alloc(j->unit->arena, n * sizeof *g->code->part);
    for (uint32_t i = 0; i < g->r->n_blocks; i++) {
        g->code->enter[g->r->blocks[i]] = jit_new_block(j, "enter");
        g->code->body[g->r->blocks[i]] = jit_new_block(j, "body");
        if (!has_whole(g, g->r->blocks[i]))
            continue;
        g->code->whole[g->r->blocks[i]] = jit_new_block(j, "whole");
        g->code->part[g->r->blocks[i]] = jit_new_block(j, "part");
    }
    for (uint32_t e = 0; e < g->r->n_exits; e++)
        g->code->leave[g->r->exits[e]] = jit_new_block(j, "leave");
    for (uint32_t l = 0; l < j->unit->f->loops.n; l++)
        if (jit_is_in(g, j->unit->f->loops.v[l].header))
            g->code->latch[l] = jit_new_block(j, "latch");
    g->code->end = jit_new_block(j, "end");
    g->code->done = jit_new_block(j, "done");
}

static void clear_mask(struct jit_gen *g, uint32_t block)
{
    const struct jit *j = g->j;
    for (unsigned u = 0; jit_has_mask(g, block) && u < j->facts->copies; u++) {
        if (!g->code->masks[block][u])
            g->code->masks[block][u] = jit_alloca(j, jit_flow_type(j), "");
        LLVMBuildStore(j->code->b, LLVMConstNull(jit_flow_type(j)), g->code->masks[block][u]);
    }
    if (!jit_has_mask(g, block) || !jit_is_in(g, block))
        return;
    if (g->code->whole[block])
        return;
    if (!g->code->full[block])
        g->code->full[block] = jit_alloca(j, LLVMInt1TypeInContext(j->code->context), "");
    LLVMBuildStore(j->code->b, LLVMConstNull(LLVMInt1TypeInContext(j->code->context)),
                   g->code->full[block]);
}

/* The group leaves by exit number `e`. */
static void generate_exit(struct jit_gen *g, uint32_t e)
{
    const struct jit *j = g->j;
    if (j->facts->is_resumable) {
        jit_resumable_warp_leave(g, g->r->exits[e]);
        return;
    }
    jit_continue_in(j, g->code->leave[g->r->exits[e]]);
    jit_region_spill_save_group(g, g->r->exits[e]);
    LLVMBuildStore(j->code->b, jit_i32(j, e), g->code->next);
    LLVMBuildBr(j->code->b, g->code->done);
}

/* No lane is left inside: to the exit where they wait, if any. */
static void generate_end(struct jit_gen *g)
{
    const struct jit *j = g->j;
    if (j->facts->is_resumable) {
        jit_resumable_warp_end(g);
        return;
    }
    jit_continue_in(j, g->code->end);
    for (uint32_t e = 0; e < g->r->n_exits; e++) {
        uint32_t to = g->r->exits[e];
        LLVMBasicBlockRef other = jit_new_block(j, "");
        LLVMBuildCondBr(j->code->b, jit_wait_masks_has_waiting(g, to), g->code->leave[to], other);
        jit_continue_in(j, other);
    }
    if (g->r->n_exits)
        jit_region_spill_save_ended(g);
    LLVMBuildBr(j->code->b, g->code->done);
}

static bool generate_group(struct jit_gen *g)
{
    const struct jit *j = g->j;
    jit_interp_step_find_frame(j);
    if (!jit_region_spill_load_registers(g))
        return false;
    jit_local_rows_begin_group(j);
    find_first(g);
    for (uint32_t i = 0; i < g->r->n_blocks; i++)
        if (jit_is_in(g, g->r->blocks[i]))
            clear_mask(g, g->r->blocks[i]);
    for (uint32_t e = 0; e < g->r->n_exits; e++)
        clear_mask(g, g->r->exits[e]);
    jit_wait_masks_clear_outlets(g);
    if (jit_cta_interleave_applies(g) && !jit_cta_interleave_resume_group(g))
        return false;
    if (g->plan->keeps_alive && g->r->entry) {
        LLVMValueRef any = NULL;
        for (unsigned u = 0; u < j->facts->copies; u++)
            any = any ? LLVMBuildOr(j->code->b, any, g->first[u], "") : g->first[u];
        LLVMBuildCondBr(j->code->b, jit_any(j, jit_flow_mask(j, any)), g->code->body[g->r->entry],
                        g->code->done);
    } else {
        LLVMBuildBr(j->code->b, g->code->enter[g->r->entry]);
    }
    for (uint32_t i = 0; i < g->r->n_blocks; i++)
        if (!generate_block(g, g->r->blocks[i]))
            return false;
    for (uint32_t l = 0; l < j->unit->f->loops.n; l++)
        if (g->code->latch[l])
            generate_latch(g, l);
    if (jit_cta_interleave_applies(g))
        jit_cta_interleave_end_turn(g);
    for (uint32_t e = 0; e < g->r->n_exits; e++)
        generate_exit(g, e);
    generate_end(g);
    return true;
}

/* Behind the loop: what all groups agree on counts from here, and the next region runs. */
static void dispatch(struct jit_gen *g)
{
    const struct jit *j = g->j;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    jit_region_spill_end(g);
    LLVMBasicBlockRef over = jit_new_block(j, "over");
    LLVMValueRef next = LLVMBuildLoad2(j->code->b, i32, g->code->next, "");
    LLVMValueRef to = LLVMBuildSwitch(j->code->b, next, over, g->r->n_exits);
    for (uint32_t e = 0; e < g->r->n_exits; e++)
        for (uint32_t r = 0; r < g->plan->n_regions; r++)
            if (g->plan->regions[r].entry == g->r->exits[e])
                LLVMAddCase(to, jit_i32(j, e), j->code->regions[r]);
    jit_continue_in(j, over);
    jit_end_cta(j);
}

/* A block that runs in parts takes registers from memory where it needs them. */
static bool stays_in_memory(const struct jit_gen *g)
{
    if (g->r->n_blocks != 1)
        return false;
    struct jit_order o = jit_block_order_find(g->j->facts, g->r->blocks[0], g->j->low != NULL);
    return jit_chain_split_pays(g->j, o.insns + o.n_early, o.n - o.n_early);
}

/* A loop over the groups of the CTA. */
static bool run_groups(struct jit_gen *g, LLVMValueRef count, LLVMBasicBlockRef head)
{
    const struct jit *j = g->j;
    struct jit of_group = *j;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    jit_region_spill_begin(j);
    of_group.kept = jit_gather_begin_region(j, g->r);
    LLVMBuildStore(j->code->b, jit_i32(j, UINT32_MAX), g->code->next);
    if (jit_cta_interleave_applies(g))
        jit_cta_interleave_open(g);
    LLVMValueRef first = j->facts->row_groups ? jit_cta_rows_first_group(j) : jit_i32(j, 0);
    LLVMBuildStore(j->code->b, first, count);
    LLVMBuildBr(j->code->b, head);
    jit_continue_in(j, head);
    of_group.group = LLVMBuildLoad2(j->code->b, i32, count, "");
    struct jit_gen group = *g;
    group.j = &of_group;
    if (!generate_group(&group))
        return false;
    jit_continue_in(j, g->code->done);
    LLVMValueRef more = LLVMBuildAdd(j->code->b, of_group.group, jit_i32(j, 1), "");
    LLVMBuildStore(j->code->b, more, count);
    LLVMBasicBlockRef after = jit_new_block(j, "after_groups");
    LLVMBuildCondBr(j->code->b, LLVMBuildICmp(j->code->b, LLVMIntULT, more, end_of_groups(j), ""),
                    head, after);
    jit_continue_in(j, after);
    if (jit_cta_interleave_applies(g))
        jit_cta_interleave_close(g);
    dispatch(g);
    return true;
}

static bool run_warp(struct jit_gen *g, LLVMBasicBlockRef head)
{
    const struct jit *j = g->j;
    jit_resumable_warp_start_region(g);
    LLVMBuildBr(j->code->b, head);
    jit_continue_in(j, head);
    bool ok = generate_group(g);
    LLVMDeleteBasicBlock(g->code->done); /* where regions of CTAs go */
    return ok;
}

/* The loop over groups, built where the builder stands. */
static bool run_version(struct jit_gen *g)
{
    const struct jit *j = g->j;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    g->code->next =
        jit_cta_interleave_applies(g) ? j->code->interleave_exit : jit_alloca(j, i32, "next");
    LLVMValueRef count = jit_alloca(j, i32, "group");
    LLVMBasicBlockRef here = LLVMGetInsertBlock(j->code->b), head = jit_new_block(j, "group");
    jit_lane_offsets_forget(j);
    make_blocks(g);
    jit_wait_masks_find_outlets(g);
    jit_continue_in(j, here);
    return j->facts->is_resumable ? run_warp(g, head) : run_groups(g, count, head);
}

/* Goes to one of several versions, behind which come all other cases. */
static bool run_versions(struct jit_gen *g, const struct jit_versions *v)
{
    struct jit at = *g->j;
    const struct jit *j = &at;
    LLVMBasicBlockRef others = jit_new_block(j, "others");
    LLVMValueRef value = jit_region_versions_value(g, v);
    if (!value)
        return false;
    LLVMValueRef choice = LLVMBuildSwitch(j->code->b, value, others, v->n);
    at.mixer = v->reg;
    for (uint32_t i = 0; i < v->n; i++) {
        struct jit known = at;
        struct jit_region_code code = *g->code;
        struct jit_gen version = *g;
        LLVMBasicBlockRef block = jit_new_block(j, "version");
        LLVMAddCase(choice, jit_i32(j, v->values[i]), block);
        jit_continue_in(j, block);
        known.low = &v->values[i];
        version.j = &known;
        version.code = &code;
        if (!run_version(&version))
            return false;
    }
    struct jit_gen other = *g;
    other.j = j;
    jit_continue_in(j, others);
    return run_version(&other);
}

/* Facts with registers of their own. */
static struct jit_facts with_registers(const struct jit_facts *facts)
{
    struct jit_facts own = *facts;
    size_t bytes = (facts->unit->f->regs.n + 1) * sizeof *own.regs;
    own.regs = pt_arena_alloc(facts->unit->arena, bytes);
    memcpy(own.regs, facts->regs, bytes);
    return own;
}

bool jit_region_generate(const struct jit *before, const struct jit_plan *plan,
                         struct jit_region *region)
{
    struct jit at = *before;
    const struct jit *j = &at;
    struct jit_region_code code = {0};
    struct jit_gen g = {.j = j, .plan = plan, .r = region, .code = &code};
    struct jit_versions versions;
    at.block = region->entry;
    code.written = find_written(&g);
    code.stays_in_memory = stays_in_memory(&g);
    struct jit_facts own = code.stays_in_memory ? with_registers(j->facts) : *j->facts;
    at.facts = &own;
    jit_continue_in(j, j->code->regions[region - plan->regions]);
    jit_stop_poll_emit(j, j->unit->f->blocks.v[region->entry].first);
    jit_mem_check_refresh(j);
    if (region == plan->regions && !jit_idle_cta_end(j, plan))
        return false;
    bool has_versions = !jit_cta_interleave_applies(&g) && jit_region_versions_find(&g, &versions);
    return has_versions ? run_versions(&g, &versions) : run_version(&g);
}
