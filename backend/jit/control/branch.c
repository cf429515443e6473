/* Instructions that end a block: branches, also by a table, ends of the kernel. */
#include "backend/jit/control/branch.h"

#include <string.h>

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/bitset.h"
#include "backend/jit/control/block.h"
#include "backend/jit/control/coverage.h"
#include "backend/jit/control/flow.h"
#include "backend/jit/control/gen.h"
#include "backend/jit/control/stop_poll.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/fault.h"
#include "backend/jit/value/guard.h"
#include "backend/jit/value/predicate_bounds.h"
#include "backend/jit/value/registers.h"
#include "backend/jit/value/visit.h"

static uint32_t target_of(const struct jit *j, const struct pt_insn *insn)
{
    return j->unit->f->operands.v[insn->operands].index;
}

/* The guard as a mask of one chunk, or as one value. */
static LLVMValueRef read_guard(const struct jit *j, const struct pt_insn *insn, unsigned copy,
                               unsigned lanes)
{
    struct pt_operand guard = jit_guard_operand(insn);
    return jit_registers_read(j, &guard, copy, PT_pred, lanes, true);
}

/* Lanes from flows; NULL: all of a copy. */
static void find_masks(const struct jit_gen *g, const LLVMValueRef *flows, LLVMValueRef *masks)
{
    for (unsigned u = 0; u < g->j->facts->copies; u++)
        masks[u] = flows[u] ? jit_flow_mask(g->j, flows[u]) : NULL;
}

/* Of branches that take their guard lane by lane. */
static void note_guard(const struct jit_gen *g)
{
    LLVMValueRef masks[JIT_COPIES];
    find_masks(g, g->active, masks);
    jit_coverage_add_guard(g->j, masks);
}

static void note_taken(const struct jit_gen *g, const LLVMValueRef *flows)
{
    LLVMValueRef masks[JIT_COPIES];
    find_masks(g, flows, masks);
    jit_coverage_add_taken(g->j, masks);
}

static void part_lanes(struct jit_gen *g, uint32_t from, const struct pt_insn *insn, uint32_t taken,
                       uint32_t next)
{
    const struct jit *j = g->j;
    LLVMValueRef yes[JIT_COPIES], no[JIT_COPIES];
    struct pt_operand guard = jit_guard_operand(insn);
    for (unsigned u = 0; u < j->facts->copies; u++) {
        LLVMValueRef all = g->active[u] ? g->active[u] : LLVMConstAllOnes(jit_flow_type(j));
        LLVMValueRef holds = jit_registers_read_flow(j, &guard, u);
        yes[u] = jit_flow_and(j, all, holds);
        no[u] = jit_flow_and(j, all, LLVMBuildNot(j->code->b, holds, ""));
    }
    note_taken(g, yes);
    bool is_back = (taken != UINT32_MAX && jit_is_in(g, taken) && taken <= from) ||
                   (jit_is_in(g, next) && next <= from);
    if (is_back)
        jit_stop_poll_emit(j, jit_insn_info_last(j->facts, from));
    if (taken != UINT32_MAX)
        jit_flow_send(g, from, taken, yes);
    jit_flow_send(g, from, next, no);
    jit_flow_go_on(g, from, taken, next);
}

/* All lanes of the block branch, or end. */
static void take(struct jit_gen *g, uint32_t from, uint32_t taken)
{
    note_taken(g, g->active);
    if (taken == UINT32_MAX)
        jit_flow_go_on(g, from, UINT32_MAX, UINT32_MAX);
    else
        jit_flow_go_to(g, from, taken);
}

/* Where scalars tell that all lanes go the same way, they do without masks. */
static bool part(struct jit_gen *g, uint32_t from, const struct pt_insn *insn, uint32_t taken,
                 uint32_t next)
{
    const struct jit *j = g->j;
    struct pt_operand guard = jit_guard_operand(insn);
    struct jit_bounds bounds;
    if (jit_predicate_bounds_load(j, &guard, &bounds)) {
        LLVMBasicBlockRef none = jit_new_block(j, "none"), some = jit_new_block(j, "");
        LLVMBasicBlockRef all = jit_new_block(j, "all"), lanes = jit_new_block(j, "lanes");
        LLVMBuildCondBr(j->code->b, bounds.none, none, some);
        jit_continue_in(j, none);
        jit_flow_go_to(g, from, next);
        jit_continue_in(j, some);
        LLVMBuildCondBr(j->code->b, bounds.all, all, lanes);
        jit_continue_in(j, all);
        take(g, from, taken);
        jit_continue_in(j, lanes);
    }
    if (j->facts->regs[insn->guard].is_sunk &&
        !jit_block_repeat(j, j->facts->regs[insn->guard].only))
        return false;
    part_lanes(g, from, insn, taken, next);
    return true;
}

static void choose(struct jit_gen *g, uint32_t from, const struct pt_insn *insn, uint32_t taken,
                   uint32_t next)
{
    const struct jit *j = g->j;
    LLVMBasicBlockRef yes = jit_new_block(j, ""), no = jit_new_block(j, "");
    LLVMBuildCondBr(j->code->b, read_guard(j, insn, 0, 1), yes, no);
    jit_continue_in(j, yes);
    take(g, from, taken);
    jit_continue_in(j, no);
    jit_flow_go_to(g, from, next);
}

/* Lanes of a copy that run the last instruction: those of the block for which its guard holds. */
static LLVMValueRef running(struct jit_gen *g, const struct pt_insn *insn, unsigned copy)
{
    const struct jit *j = g->j;
    LLVMValueRef lanes = g->active[copy] ? jit_flow_mask(j, g->active[copy]) : jit_mask_all(j);
    return insn->guard
               ? LLVMBuildAnd(j->code->b, lanes, read_guard(j, insn, copy, j->unit->width), "")
               : lanes;
}

static struct jit_blame all_running(struct jit_gen *g, const struct pt_insn *insn)
{
    struct jit_blame who = {.n = g->j->facts->copies};
    for (unsigned u = 0; u < who.n; u++)
        who.lanes[u] = running(g, insn, u);
    return who;
}

/* Ends the launch as soon as a lane runs it. */
static void end_in_trap(struct jit_gen *g, uint32_t block, const struct pt_insn *insn)
{
    const struct jit *j = g->j;
    struct jit_blame who = all_running(g, insn);
    note_guard(g);
    if (!insn->guard) {
        jit_fault_raise(j, PT_FAULT_TRAP, &who);
        return;
    }
    jit_fault_raise_if_any(j, PT_FAULT_TRAP, &who);
    jit_flow_go_to(g, block, j->unit->f->blocks.v[block].next);
}

/* ---- branches by a table --------------------------------------------------------------------- */

static const struct pt_table *table_of(const struct jit *j, const struct pt_insn *insn)
{
    return &j->unit->f->tables.v[j->unit->f->operands.v[insn->operands + 1].index];
}

static void choose_by_table(struct jit_gen *g, uint32_t from, const struct pt_insn *insn)
{
    const struct jit *j = g->j;
    const struct pt_table *table = table_of(j, insn);
    if (insn->guard) {
        LLVMBasicBlockRef yes = jit_new_block(j, ""), no = jit_new_block(j, "");
        LLVMBuildCondBr(j->code->b, read_guard(j, insn, 0, 1), yes, no);
        jit_continue_in(j, no);
        jit_flow_go_to(g, from, j->unit->f->blocks.v[from].next);
        jit_continue_in(j, yes);
    }
    LLVMValueRef index =
        jit_registers_read(j, &j->unit->f->operands.v[insn->operands], 0, PT_u32, 1, true);
    LLVMBasicBlockRef beyond = jit_new_block(j, "");
    LLVMValueRef to = LLVMBuildSwitch(j->code->b, index, beyond, table->targets.n);
    jit_continue_in(j, beyond);
    struct jit_blame who = all_running(g, insn);
    jit_fault_raise(j, PT_FAULT_ILLEGAL_INSTRUCTION, &who);
    for (uint32_t i = 0; i < table->targets.n; i++) {
        LLVMBasicBlockRef leave = jit_new_block(j, "");
        LLVMAddCase(to, jit_i32(j, i), leave);
        jit_continue_in(j, leave);
        jit_flow_go_to(g, from, table->targets.v[i]);
    }
}

/* Lanes whose index leads to the block; `lanes` are those that branch. */
static LLVMValueRef lanes_to(const struct jit *j, const struct pt_insn *insn, unsigned copy,
                             uint32_t block, LLVMValueRef lanes)
{
    const struct pt_table *table = table_of(j, insn);
    LLVMValueRef index = jit_registers_read(j, &j->unit->f->operands.v[insn->operands], copy,
                                            PT_u32, j->unit->width, true);
    LLVMValueRef some = LLVMConstNull(LLVMTypeOf(lanes));
    for (uint32_t i = 0; i < table->targets.n; i++) {
        if (table->targets.v[i] != block)
            continue;
        LLVMValueRef number = jit_const(LLVMTypeOf(index), i);
        LLVMValueRef here = LLVMBuildICmp(j->code->b, LLVMIntEQ, index, number, "");
        some = LLVMBuildOr(j->code->b, some, here, "");
    }
    return LLVMBuildAnd(j->code->b, some, lanes, "");
}

static void check_table(struct jit_gen *g, const struct pt_insn *insn, LLVMValueRef *lanes)
{
    const struct jit *j = g->j;
    struct jit_blame who = {.n = j->facts->copies};
    for (unsigned u = 0; u < j->facts->copies; u++) {
        LLVMValueRef index = jit_registers_read(j, &j->unit->f->operands.v[insn->operands], u,
                                                PT_u32, j->unit->width, true);
        LLVMValueRef n = jit_const(LLVMTypeOf(index), table_of(j, insn)->targets.n);
        LLVMValueRef bad = LLVMBuildICmp(j->code->b, LLVMIntUGE, index, n, "");
        who.lanes[u] = LLVMBuildAnd(j->code->b, bad, lanes[u], "");
    }
    jit_fault_raise_if_any(j, PT_FAULT_ILLEGAL_INSTRUCTION, &who);
}

static void part_by_table(struct jit_gen *g, uint32_t from, const struct pt_insn *insn)
{
    const struct jit *j = g->j;
    const struct pt_block *block = &j->unit->f->blocks.v[from];
    LLVMValueRef lanes[JIT_COPIES], some[JIT_COPIES];
    uint64_t *waits = pt_arena_alloc(j->unit->arena, j->facts->uniformity->words * sizeof *waits);
    memcpy(waits, jit_def_use_waits(j->facts, from), j->facts->uniformity->words * sizeof *waits);
    for (unsigned u = 0; u < j->facts->copies; u++)
        lanes[u] = running(g, insn, u);
    check_table(g, insn, lanes);
    jit_stop_poll_emit(j, jit_insn_info_last(j->facts, from));
    for (uint32_t e = 0; e < block->n_succ; e++) {
        uint32_t to = j->unit->f->edges.v[block->succ + e];
        jit_set_add(waits, to);
        for (unsigned u = 0; u < j->facts->copies; u++) {
            some[u] = lanes_to(j, insn, u, to, lanes[u]);
            if (insn->guard && to == block->next) {
                LLVMValueRef here = g->active[u] ? jit_flow_mask(j, g->active[u]) : jit_mask_all(j);
                here = LLVMBuildAnd(j->code->b, here, LLVMBuildNot(j->code->b, lanes[u], ""), "");
                some[u] = LLVMBuildOr(j->code->b, some[u], here, "");
            }
            some[u] = jit_flow_of(j, some[u]);
        }
        jit_flow_send(g, from, to, some);
    }
    jit_flow_go_on_among(g, from, j->unit->f->blocks.v[from].loop, waits);
}

/* ---- ends of blocks -------------------------------------------------------------------------- */

bool jit_branch_end(const struct jit_gen *before, uint32_t block)
{
    struct jit at = *before->j;
    const struct jit *j = &at;
    struct jit_gen end = *before, *g = &end;
    g->j = j;
    const struct pt_block *b = &j->unit->f->blocks.v[block];
    jit_visit_insn(&at, jit_insn_info_last(j->facts, block));
    const struct pt_insn *insn = at.insn;
    const struct pt_form *form = at.form;
    if (!(form->effects & (PT_FX_BRANCH | PT_FX_END))) {
        jit_flow_go_to(g, block, b->next);
        return true;
    }
    uint32_t taken = UINT32_MAX;
    if (form->op == PT_OP_bra) {
        taken = target_of(j, insn);
    } else if (form->op == PT_OP_trap) {
        end_in_trap(g, block, insn);
        return true;
    } else if (form->op == PT_OP_brx_idx) {
        note_guard(g);
        if (j->facts->uniformity->branch[block] > PT_LEVEL_GROUP)
            part_by_table(g, block, insn);
        else
            choose_by_table(g, block, insn);
        return true;
    } else if (form->op != PT_OP_ret && form->op != PT_OP_exit) {
        return jit_refuse(j->unit, form->spelling);
    }
    if (insn->guard && taken != b->next) {
        if (j->facts->uniformity->branch[block] <= PT_LEVEL_GROUP)
            choose(g, block, insn, taken, b->next);
        else
            return part(g, block, insn, taken, b->next);
    } else if (taken != UINT32_MAX) {
        note_guard(g);
        jit_flow_go_to(g, block, taken);
    } else {
        jit_flow_go_on(g, block, UINT32_MAX, UINT32_MAX);
    }
    return true;
}
