/* The instructions of a block: guards, moves, pure operations over scalars, affine values and
 * vectors. */
#include "backend/jit/control/block.h"

#include <string.h>

#include "backend/jit/analysis/call_batch.h"
#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/analysis/nan.h"
#include "backend/jit/control/barrier_reduce.h"
#include "backend/jit/control/coverage.h"
#include "backend/jit/emit/emit.h"
#include "backend/jit/emit/lane_call.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/code_size.h"
#include "backend/jit/llvm/debug_info.h"
#include "backend/jit/llvm/fault.h"
#include "backend/jit/memory/access.h"
#include "backend/jit/memory/access_path.h"
#include "backend/jit/memory/alloca.h"
#include "backend/jit/memory/atomic.h"
#include "backend/jit/memory/atomic_op.h"
#include "backend/jit/memory/cp_async.h"
#include "backend/jit/memory/grid.h"
#include "backend/jit/memory/mem_check.h"
#include "backend/jit/memory/store_pair.h"
#include "backend/jit/memory/structure.h"
#include "backend/jit/value/guard.h"
#include "backend/jit/value/operands.h"
#include "backend/jit/value/predicate_bounds.h"
#include "backend/jit/value/pure_insn.h"
#include "backend/jit/value/registers.h"
#include "backend/jit/value/visit.h"
#include "backend/jit/warp/device_call.h"
#include "backend/jit/warp/interp_step.h"
#include "backend/jit/warp/texture.h"
#include "backend/jit/warp/warp.h"
#include "backend/order.h"

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Nobody is there to take it. */
static void stop_at_breakpoint(struct jit *j, LLVMValueRef *mask)
{
    for (unsigned u = 0; u < j->facts->copies; u++)
        jit_guard_apply(j, u, mask[u]);
    struct jit_blame who = {.n = j->facts->copies};
    memcpy(who.lanes, j->mask, sizeof who.lanes);
    jit_fault_raise_if_any(j, PT_FAULT_TRAP, &who);
}

/* Which may free memory. */
static bool call(const struct jit *j)
{
    if (!jit_device_call_emit(j))
        return false;
    jit_mem_check_refresh(j);
    return true;
}

static bool instruction(struct jit *j, LLVMValueRef *mask)
{
    uint32_t effects = j->form->effects;
    jit_coverage_add_guard(j, mask);
    if (j->form->op == PT_OP_brkpt) {
        stop_at_breakpoint(j, mask);
        return true;
    }
    if (jit_insn_info_is_barrier(j->form)) { /* where a region begins */
        if (jit_insn_info_is_reduction(j->form))
            jit_barrier_reduce_emit(j, mask);
        return true;
    }
    if (jit_insn_info_is_idle(j->form))
        return !(effects & PT_FX_WARP) || jit_insn_info_is_whole(j->facts, j->block) ||
               jit_refuse(j->unit, JIT_INSN_INFO_PARTED);
    if (pt_is_of_stack(j->form)) {
        for (unsigned u = 0; u < j->facts->copies; u++)
            jit_guard_apply(j, u, mask[u]);
        return jit_alloca_emit(j);
    }
    if (jit_insn_info_is_stepped(j->facts, j->form)) {
        for (unsigned u = 0; u < j->facts->copies; u++)
            jit_guard_apply(j, u, mask[u]);
        return jit_interp_step_emit(j);
    }
    if (jit_insn_info_is_sampled(j->form, NULL)) {
        for (unsigned u = 0; u < j->facts->copies; u++)
            jit_guard_apply(j, u, mask[u]);
        return jit_texture_emit(j);
    }
    if (!(effects &
          (PT_FX_CALL | PT_FX_READ | PT_FX_WRITE | PT_FX_WARP | PT_FX_FENCE | PT_FX_ATOMIC)))
        return jit_pure_insn_emit(j, mask);
    if ((effects & PT_FX_FENCE) && !(effects & (PT_FX_READ | PT_FX_WRITE | PT_FX_WARP)) &&
        j->form->op != PT_OP_griddepcontrol) {
        LLVMBuildFence(j->code->b, jit_atomic_op_order(pt_order_of(j->form)), false, "");
        return true;
    }
    if (jit_access_path_emit_guarded(j, mask))
        return true;
    for (unsigned u = 0; u < j->facts->copies; u++)
        jit_guard_apply(j, u, mask[u]);
    if (effects & PT_FX_CALL)
        return call(j);
    if (j->form->op == PT_OP_griddepcontrol)
        return jit_grid_emit(j);
    if (effects & PT_FX_WARP)
        return jit_warp_emit(j);
    if (j->form->op == PT_OP_cp_async)
        return jit_cp_async_emit(j);
    jit_mem_check_emit(j);
    return effects & PT_FX_ATOMIC ? jit_atomic_emit(j) : jit_access_path_emit(j);
}

bool jit_block_repeat(const struct jit *j, uint32_t insn)
{
    LLVMValueRef all[JIT_COPIES] = {0};
    struct jit at = jit_visit_aside(j, insn);
    return instruction(&at, all);
}

/* Instructions that share a call. */
struct batch {
    const uint32_t *insns;
    uint32_t at, n;  /* at: its place among those that run; n: 0 where none comes any more */
    bool *is_stored; /* by instruction, copy, source: it is where the call takes it */
};

static struct batch find_batch(const struct jit *j, const uint32_t *insns, uint32_t from,
                               uint32_t n)
{
    struct batch b = {.at = from};
    while (b.at < n && !jit_insn_info_is_batched(j->facts, &j->unit->f->insns.v[insns[b.at]]))
        b.at++;
    b.insns = insns + b.at;
    b.n = b.at < n ? jit_call_batch_length(j->facts, b.insns, n - b.at) : 0;
    b.is_stored =
        pt_arena_alloc(j->unit->arena, b.n * j->facts->copies * JIT_SOURCES * sizeof *b.is_stored);
    return b;
}

/* Loads do not move up across this. LLVM would make all loads of the block first, and have no
 * registers for what it loaded. */
static void fence_loads(const struct jit *j)
{
    static const char clobbers[] = "~{memory}";
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(j->code->context), NULL, 0, false);
    LLVMValueRef fence = LLVMGetInlineAsm(type, "", 0, clobbers, sizeof clobbers - 1, true, false,
                                          LLVMInlineAsmDialectATT, false);
    LLVMBuildCall2(j->code->b, type, fence, NULL, 0, "");
}

static struct jit_op batched_op(const struct jit *j, const struct jit_operands *all)
{
    return (struct jit_op){.j = j,
                           .b = j->code->b,
                           .lanes = j->unit->width,
                           .form = j->form,
                           .insn = j->insn,
                           .n = all->n_sources};
}

/* What the instruction has computed for the batch goes to memory at once: there it waits for
 * nobody's register. */
static void store_for(const struct jit *j, struct batch *b, uint32_t insn)
{
    struct jit at_use = *j, *use = &at_use;
    struct jit_operands all;
    for (uint32_t i = 0; i < b->n; i++) {
        jit_visit_insn(use, b->insns[i]);
        for (unsigned k = 0; jit_operands_flatten(use, &all) && k < all.n_sources; k++) {
            const struct pt_operand *o = all.source[k].o;
            if (o->kind != PT_OPND_REG || j->facts->regs[o->index].only != insn)
                continue;
            for (unsigned u = 0; u < j->facts->copies; u++) {
                struct jit_op op = batched_op(use, &all);
                unsigned at = i * j->facts->copies + u;
                op.a[k] = jit_operands_read(use, &all.source[k], u, j->unit->width,
                                            jit_nan_takes_numbers(use->form));
                jit_lane_call_store(&op, k, at);
                b->is_stored[at * JIT_SOURCES + k] = true;
            }
        }
    }
}

/* The same for all that the instruction has brought: those of joined accesses come with one of
 * them. */
static void store_results(const struct jit *j, struct batch *b, uint32_t insn)
{
    const struct jit_interleaved *join = jit_access_interleaved(j);
    uint32_t n;
    const uint32_t *brought = jit_structure_brought(j, &insn, &n);
    for (uint32_t i = 0; !join && i < n; i++)
        store_for(j, b, brought[i]);
    for (uint32_t i = 0; join && insn == join->last && i < join->n; i++)
        store_for(j, b, join->insns[i]);
}

/* Another call has used that memory. */
static void forget_stored(const struct jit *j, struct batch *b)
{
    memset(b->is_stored, 0, b->n * j->facts->copies * JIT_SOURCES * sizeof *b->is_stored);
}

/* All sources are read before a result is written. */
static bool run_batch(struct jit *j, const struct batch *b, LLVMValueRef *mask)
{
    struct jit_operands all;
    unsigned n = b->n * j->facts->copies;
    struct jit_op *ops = pt_arena_alloc(j->unit->arena, n * sizeof *ops);
    for (unsigned at = 0; at < n; at++) {
        j->insn = &j->unit->f->insns.v[b->insns[at / j->facts->copies]];
        if (!jit_operands_flatten(j, &all))
            return false;
        ops[at] = batched_op(j, &all);
        for (unsigned k = 0; k < all.n_sources; k++)
            if (!b->is_stored[at * JIT_SOURCES + k])
                ops[at].a[k] = jit_operands_read(j, &all.source[k], at % j->facts->copies,
                                                 j->unit->width, jit_nan_takes_numbers(j->form));
    }
    if (!jit_lane_call_emit_together(ops, n))
        return false;
    for (unsigned at = 0; at < n; at++) {
        unsigned u = at % j->facts->copies;
        j->insn = &j->unit->f->insns.v[b->insns[at / j->facts->copies]];
        if (!u)
            jit_coverage_add_guard(j, mask);
        jit_operands_flatten(j, &all);
        jit_guard_apply(j, u, mask[u]);
        jit_registers_write(j, all.dest[0].o, u, ops[at].d[0], j->unit->width,
                            all.dest[0].extends_sign);
    }
    return true;
}

/* Two stores that go together: they follow each other, and nothing else could come between. */
static bool run_pair(struct jit *j, const uint32_t *insns, uint32_t n, LLVMValueRef *mask)
{
    if (n < 2 || jit_is_checked(j->unit) || insns[1] != insns[0] + 1 || !jit_store_pair_applies(j))
        return false;
    jit_coverage_add_guard(j, mask);
    for (unsigned u = j->first_copy; u < j->end_copy; u++) {
        jit_guard_apply(j, u, mask[u]);
        jit_store_pair_store(j, u);
    }
    return true;
}

bool jit_block_emit(const struct jit *before, const uint32_t *insns, uint32_t n, LLVMValueRef *mask)
{
    struct jit at = *before, *j = &at;
    struct batch b = find_batch(j, insns, 0, n);
    bool is_load = true; /* the last one */
    for (uint32_t i = 0; i < n; i++) {
        jit_visit_insn(j, insns[i]);
        if (j->form->effects & (PT_FX_BRANCH | PT_FX_END))
            continue;
        jit_debug_info_set(j->code, insns[i]);
        if (jit_predicate_bounds_is_sunk(j)) {
            jit_predicate_bounds_note(j);
            continue;
        }
        bool waits = b.n * j->facts->copies > 1, is_batch = waits && i == b.at;
        if (run_pair(j, insns + i, n - i, mask)) {
            if (waits)
                forget_stored(j, &b);
            is_load = false;
            i++;
            continue;
        }
        if (waits && !is_batch && !is_load && (j->form->effects & PT_FX_READ))
            fence_loads(j);
        is_load = j->form->effects & PT_FX_READ;
        uint32_t n_lanes_used = j->code->n_lanes_used;
        if (is_batch ? !run_batch(j, &b, mask) : !instruction(j, mask)) {
            if (!*j->unit->why)
                *j->unit->why = "an instruction the compiler does not know";
            return false;
        }
        i += is_batch ? b.n - 1 : 0;
        if (n_lanes_used != j->code->n_lanes_used)
            forget_stored(j, &b);
        if (waits && !is_batch)
            store_results(j, &b, insns[i]);
        if (i >= b.at)
            b = find_batch(j, insns, i + 1, n);
        jit_code_size_part_block(j);
        if (!jit_code_size_is_bounded(j))
            return false;
    }
    return true;
}
