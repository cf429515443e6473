/* bar.red and barrier.red: what threads bring to the barrier, and their result. */
#include "backend/jit/control/barrier_reduce.h"

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/control/gen.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/object/frontier.h"
#include "backend/jit/value/guard.h"
#include "backend/jit/value/registers.h"

void jit_barrier_reduce_begin(const struct jit *j)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    for (unsigned i = 0; i < 2; i++) {
        j->code->arrived[i] = jit_alloca(j, i32, "arrived");
        j->code->reduced[i] = jit_alloca(j, i32, "reduced");
        LLVMBuildStore(j->code->b, jit_i32(j, 0), j->code->arrived[i]);
    }
}

void jit_barrier_reduce_arrive(struct jit_gen *g, uint32_t to)
{
    const struct jit *j = g->j;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    const struct pt_insn *insn = &j->unit->f->insns.v[j->unit->f->blocks.v[to].first];
    if (!jit_insn_info_is_reduction(pt_insn_form(j->unit->m, insn)))
        return;
    const struct pt_operand *p = &j->unit->f->operands.v[insn->operands + insn->n_operands - 1];
    for (unsigned u = 0; u < j->facts->copies; u++) {
        LLVMValueRef here = jit_mask_load(j, g->code->masks[to][u]);
        LLVMValueRef lanes[] = {
            LLVMBuildAnd(j->code->b, here,
                         jit_registers_read(j, p, u, PT_pred, j->unit->width, true), ""),
            here};
        for (unsigned i = 0; i < 2; i++) {
            LLVMValueRef bits = jit_mask_to_bits(j, lanes[i]);
            LLVMValueRef n = jit_intrinsic(j, "llvm.ctpop", i32, &bits, 1);
            n = LLVMBuildAdd(j->code->b, LLVMBuildLoad2(j->code->b, i32, j->code->arrived[i], ""),
                             n, "");
            LLVMBuildStore(j->code->b, n, j->code->arrived[i]);
        }
    }
}

void jit_barrier_reduce_complete(const struct jit *j)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    for (unsigned i = 0; i < 2; i++) {
        LLVMBuildStore(j->code->b, LLVMBuildLoad2(j->code->b, i32, j->code->arrived[i], ""),
                       j->code->reduced[i]);
        LLVMBuildStore(j->code->b, jit_i32(j, 0), j->code->arrived[i]);
    }
}

void jit_barrier_reduce_load_votes(struct jit_gen *g)
{
    const struct jit *j = g->j;
    if (!jit_insn_info_is_reduction(
            pt_insn_form(j->unit->m, jit_insn_info_first(j->facts, g->r->entry))))
        return;
    for (unsigned i = 0; i < 2; i++) {
        size_t at = offsetof(struct jit_front, votes) + i * sizeof(uint32_t);
        LLVMBuildStore(j->code->b,
                       jit_field(j, LLVMInt32TypeInContext(j->code->context), j->code->front, at),
                       j->code->reduced[i]);
    }
}

void jit_barrier_reduce_emit(struct jit *j, LLVMValueRef *mask)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    const struct pt_operand *d = &j->unit->f->operands.v[j->insn->operands];
    LLVMValueRef votes = LLVMBuildLoad2(j->code->b, i32, j->code->reduced[0], "");
    LLVMValueRef voters = LLVMBuildLoad2(j->code->b, i32, j->code->reduced[1], "");
    LLVMValueRef value = pt_form_has(j->form, PT_M_popc) ? votes
                         : pt_form_has(j->form, PT_M_and)
                             ? LLVMBuildICmp(j->code->b, LLVMIntEQ, votes, voters, "")
                             : LLVMBuildICmp(j->code->b, LLVMIntNE, votes, jit_i32(j, 0), "");
    for (unsigned u = 0; u < (jit_def_use_is_per_copy(j->facts, d) ? j->facts->copies : 1); u++) {
        jit_guard_apply(j, u, mask[u]);
        jit_registers_write(j, d, u, value, 1, false);
    }
}
