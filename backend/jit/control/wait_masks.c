/* Masks of lanes that wait at blocks, and the outlets of loops. */
#include "backend/jit/control/wait_masks.h"

#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/control/gen.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"

/* The one block behind the loop that it is left for, not into another loop; or PT_NONE. */
static uint32_t outlet_of(const struct jit_gen *g, uint32_t l)
{
    const struct pt_func *f = g->j->unit->f;
    const struct pt_loop *loop = &f->loops.v[l];
    uint32_t outlet = PT_NONE;
    for (uint32_t b = loop->header; b < loop->end; b++) {
        const struct pt_block *block = &f->blocks.v[b];
        const struct pt_insn *last = &f->insns.v[jit_insn_info_last(g->j->facts, b)];
        uint32_t op = pt_insn_form(g->j->unit->m, last)->op;
        bool ends = op == PT_OP_ret || op == PT_OP_exit;
        if (ends || !jit_is_in(g, b) || !jit_has_mask(g, b))
            return PT_NONE;
        for (uint32_t e = 0; e < block->n_succ; e++) {
            uint32_t to = f->edges.v[block->succ + e];
            if (jit_loop_holds(g, l, to))
                continue;
            uint32_t around = jit_loop_of(g, to);
            if (to < loop->end || !jit_is_in(g, to) || !jit_has_mask(g, to) ||
                (outlet != PT_NONE && outlet != to) ||
                (around && !jit_loop_holds(g, around - 1, loop->header)))
                return PT_NONE;
            outlet = to;
        }
    }
    return loop->is_reducible ? outlet : PT_NONE;
}

void jit_wait_masks_find_outlets(struct jit_gen *g)
{
    const struct jit *j = g->j;
    g->code->outlet =
        pt_arena_alloc(j->unit->arena, (j->unit->f->loops.n + 1) * sizeof *g->code->outlet);
    g->code->inside =
        pt_arena_alloc(j->unit->arena, (j->unit->f->loops.n + 1) * sizeof *g->code->inside);
    for (uint32_t l = 0; l < j->unit->f->loops.n; l++)
        g->code->outlet[l] = outlet_of(g, l);
    for (uint32_t l = j->unit->f->loops.n;
         l-- > 0;) /* one within another that has it too needs none */
        for (uint32_t p = j->unit->f->loops.v[l].parent; p; p = j->unit->f->loops.v[p - 1].parent)
            if (g->code->outlet[p - 1] == g->code->outlet[l])
                g->code->outlet[l] = PT_NONE;
}

void jit_wait_masks_clear_outlets(struct jit_gen *g)
{
    for (uint32_t l = 0; l < g->j->unit->f->loops.n; l++)
        for (unsigned u = 0; g->code->outlet[l] != PT_NONE && u < g->j->facts->copies; u++) {
            if (!g->code->inside[l][u])
                g->code->inside[l][u] = jit_alloca(g->j, jit_flow_type(g->j), "");
            LLVMBuildStore(g->j->code->b, LLVMConstNull(jit_flow_type(g->j)),
                           g->code->inside[l][u]);
        }
}

LLVMValueRef jit_wait_masks_waiting(struct jit_gen *g, uint32_t block, unsigned copy)
{
    const struct jit *j = g->j;
    LLVMValueRef lanes = jit_flow_load(j, g->code->masks[block][copy]);
    for (uint32_t l = 0; l < j->unit->f->loops.n; l++)
        if (g->code->outlet[l] != PT_NONE && g->code->outlet[l] == block)
            lanes = LLVMBuildOr(j->code->b, lanes, jit_flow_load(j, g->code->inside[l][copy]), "");
    return lanes;
}

void jit_wait_masks_clear(struct jit_gen *g, uint32_t block, unsigned copy)
{
    const struct jit *j = g->j;
    LLVMBuildStore(j->code->b, LLVMConstNull(jit_flow_type(j)), g->code->masks[block][copy]);
    if (g->code->full[block])
        LLVMBuildStore(j->code->b, LLVMConstNull(LLVMInt1TypeInContext(j->code->context)),
                       g->code->full[block]);
    for (uint32_t l = 0; l < j->unit->f->loops.n; l++)
        if (g->code->outlet[l] != PT_NONE && g->code->outlet[l] == block)
            LLVMBuildStore(j->code->b, LLVMConstNull(jit_flow_type(j)), g->code->inside[l][copy]);
}

/* The lanes that wait at the block, of all copies joined by `op`. */
static LLVMValueRef join_waiting(struct jit_gen *g, uint32_t block, LLVMOpcode op)
{
    const struct jit *j = g->j;
    LLVMValueRef all = NULL;
    for (unsigned u = 0; u < j->facts->copies; u++) {
        LLVMValueRef lanes = jit_wait_masks_waiting(g, block, u);
        all = all ? LLVMBuildBinOp(j->code->b, op, all, lanes, "") : lanes;
    }
    return jit_flow_mask(j, all);
}

LLVMValueRef jit_wait_masks_has_waiting(struct jit_gen *g, uint32_t block)
{
    return jit_any(g->j, join_waiting(g, block, LLVMOr));
}

LLVMValueRef jit_wait_masks_all_wait(struct jit_gen *g, uint32_t block)
{
    return jit_all(g->j, join_waiting(g, block, LLVMAnd));
}
