/* A pure operation in one lane or in all: sources are read, results computed, nothing is
 * written. */
#include "backend/jit/value/evaluate.h"

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/nan.h"
#include "backend/jit/emit/carry.h"
#include "backend/jit/emit/emit.h"
#include "backend/jit/emit/lane_call.h"
#include "backend/jit/emit/table.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/tune.h"
#include "backend/jit/value/cvta.h"
#include "backend/jit/value/move.h"
#include "backend/jit/value/operands.h"
#include "backend/jit/value/visit.h"

static bool compute(const struct jit *j, struct jit_op *op, const struct jit_operands *all,
                    unsigned copy)
{
    if (jit_move_emit(j, op, all) || jit_cvta_emit(j, op, copy))
        return true;
    jit_emitter *emit = jit_table_emitter(j->unit, j->form);
    if ((emit && emit(op)) || jit_lane_call_emit(op))
        return true;
    return jit_refuse(j->unit, j->form->spelling);
}

bool jit_evaluate_begin(const struct jit *j, const struct jit_operands *all, unsigned copy,
                        unsigned lanes, struct jit_op *op)
{
    *op = (struct jit_op){.j = j,
                          .b = j->code->b,
                          .lanes = lanes,
                          .form = j->form,
                          .insn = j->insn,
                          .n = all->n_sources};
    bool is_raw_choice = jit_nan_choices(j->form) && all->dest[0].o->kind == PT_OPND_REG &&
                         j->facts->regs[all->dest[0].o->index].is_noncanonical;
    bool number = jit_nan_takes_numbers(j->form) || is_raw_choice;
    if (all->n_sources > JIT_SOURCES || all->n_dests > JIT_DESTS)
        return jit_refuse(j->unit, "many operands");
    for (unsigned i = 0; i < all->n_sources; i++) {
        op->a[i] = jit_operands_read(j, &all->source[i], copy, lanes, number);
        op->negated[i] = all->source[i].o->flags & PT_OPND_NEG;
        op->quiet[i] = jit_nan_is_quiet(j->facts, all->source[i].o);
    }
    if ((j->form->effects & (PT_FX_CARRY_IN | PT_FX_CARRY_OUT)) ? !jit_carry_emit(op, copy)
                                                                : !compute(j, op, all, copy))
        return false;
    const struct pt_operand *d = all->dest[0].o;
    if (op->is_number && !(d->kind == PT_OPND_REG && j->facts->regs[d->index].is_noncanonical))
        op->d[0] = jit_canonical(j, op->d[0]);
    return true;
}

static LLVMValueRef are_plain(const struct jit_op *ops, unsigned n)
{
    LLVMValueRef all = NULL;
    for (unsigned i = 0; i < n; i++)
        if (ops[i].is_plain)
            all = all ? LLVMBuildAnd(ops[i].b, all, ops[i].is_plain, "") : ops[i].is_plain;
    return all;
}

bool jit_evaluate_end(const struct jit *j, struct jit_op *ops, unsigned n)
{
    LLVMValueRef plain = are_plain(ops, n);
    if (!plain)
        return true;
    LLVMBuilderRef b = j->code->b;
    LLVMBasicBlockRef from[] = {LLVMGetInsertBlock(b), NULL};
    LLVMBasicBlockRef rare = jit_new_block(j, "not_plain"), then = jit_new_block(j, "plain");
    LLVMValueRef called[JIT_COPIES];
    jit_branch_mostly(j, plain, then, rare);
    jit_continue_in(j, rare);
    for (unsigned i = 0; i < n; i++) {
        struct jit_op op = ops[i];
        if (!jit_lane_call_emit(&op))
            return false;
        called[i] = op.d[0];
    }
    from[1] = LLVMGetInsertBlock(b);
    LLVMBuildBr(b, then);
    jit_continue_in(j, then);
    for (unsigned i = 0; i < n; i++) {
        LLVMValueRef values[] = {ops[i].d[0], called[i]};
        ops[i].d[0] = LLVMBuildPhi(b, LLVMTypeOf(values[0]), "");
        LLVMAddIncoming(ops[i].d[0], values, from, 2);
    }
    return true;
}

bool jit_evaluate_op(const struct jit *j, const struct jit_operands *all, unsigned copy,
                     unsigned lanes, struct jit_op *op)
{
    return jit_evaluate_begin(j, all, copy, lanes, op) && jit_evaluate_end(j, op, 1);
}

LLVMValueRef jit_evaluate_lanes(const struct jit *j, uint32_t insn, unsigned copy)
{
    struct jit at = jit_visit_aside(j, insn);
    struct jit_operands all;
    struct jit_op op;
    LLVMValueRef value = NULL;
    if (jit_operands_flatten(&at, &all) && jit_evaluate_op(&at, &all, copy, j->unit->width, &op)) {
        const struct jit_reg *r = &j->facts->regs[all.dest[0].o->index];
        value = LLVMBuildIntCast2(j->code->b, op.d[0], LLVMVectorType(r->type, j->unit->width),
                                  all.dest[0].extends_sign, "");
    }
    return value;
}

static bool can_remat_wide(const struct jit *j, uint32_t reg, uint32_t at, unsigned depth)
{
    uint32_t def = j->facts->regs[reg].def;
    struct jit_sources s;
    if (depth == JIT_CHAIN_DEPTH || def == UINT32_MAX ||
        !jit_def_use_dominates(j->facts, def, j->block) || !jit_def_use_sources(j->facts, def, &s))
        return false;
    for (uint32_t i = 0; i < s.n; i++) {
        const struct jit_reg *r = &j->facts->regs[s.regs[i]];
        if (!jit_def_use_is_unchanged(j->facts, s.regs[i], def, at, j->block))
            return false;
        if (r->wide[0] && !can_remat_wide(j, s.regs[i], at, depth + 1))
            return false;
    }
    return true;
}

LLVMValueRef jit_evaluate_wide_again(const struct jit *j, uint32_t reg, unsigned copy)
{
    uint32_t at = (uint32_t)(j->insn - j->unit->f->insns.v);
    if (!can_remat_wide(j, reg, at, 0))
        return NULL;
    return jit_evaluate_lanes(j, j->facts->regs[reg].def, copy);
}
