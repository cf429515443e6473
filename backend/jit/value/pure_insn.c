/* Pure instructions: once where the value is scalar, for lane 0 where it is affine, else in all
 * lanes. */
#include "backend/jit/value/pure_insn.h"

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/emit/carry.h"
#include "backend/jit/emit/emit.h"
#include "backend/jit/emit/table.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/value/cvta.h"
#include "backend/jit/value/evaluate.h"
#include "backend/jit/value/guard.h"
#include "backend/jit/value/lane_offsets.h"
#include "backend/jit/value/loop_counter.h"
#include "backend/jit/value/operands.h"
#include "backend/jit/value/predicate_bounds.h"
#include "backend/jit/value/registers.h"

static enum jit_shape shape_of(const struct jit *j, const struct pt_operand *o)
{
    int64_t stride;
    return jit_def_use_shape(j->facts, o, &stride);
}

static bool has_carry(const struct pt_form *form)
{
    return form->effects & (PT_FX_CARRY_IN | PT_FX_CARRY_OUT);
}

/* One value stands for all lanes: the sources agree, or (of affine ones) lane 0 tells. */
static bool is_one(const struct jit *j, const struct jit_operands *all)
{
    const struct pt_operand *d = all->dest[0].o;
    if (jit_cvta_is_local(j->form))
        return false;
    if (d->kind == PT_OPND_REG && j->facts->regs[d->index].shape == JIT_SCALAR)
        return true;
    for (unsigned i = 0; i < all->n_sources; i++)
        if (shape_of(j, all->source[i].o) != JIT_SCALAR)
            return false;
    return !has_carry(j->form) || jit_carry_is_one(j);
}

static bool is_reg(const struct pt_operand *o)
{
    return o->kind == PT_OPND_REG;
}

/* One value for the whole group is enough. */
static bool is_shared(const struct jit *j, const struct jit_operands *all)
{
    if (has_carry(j->form) && !jit_carry_is_shared(j))
        return false;
    for (unsigned i = 0; i < all->n_dests; i++)
        if (is_reg(all->dest[i].o) && j->facts->regs[all->dest[i].o->index].is_per_copy)
            return false;
    return true;
}

/* The narrow affine value of a source does not wrap within so many lanes. */
static LLVMValueRef test_wrap(const struct jit *j, const struct jit_flat *source, unsigned copy,
                              int64_t stride, unsigned lanes)
{
    unsigned bits = pt_type_bits(source->type);
    LLVMValueRef base = jit_operands_read(j, source, copy, 1, true);
    LLVMTypeRef type = LLVMTypeOf(base);
    bool is_signed = pt_type_class(source->type) == PT_CLASS_S;
    uint64_t span = (uint64_t)(stride < 0 ? -stride : stride) * (lanes - 1);
    uint64_t top = is_signed    ? (UINT64_C(1) << (bits - 1)) - 1
                   : bits == 64 ? UINT64_MAX
                                : (UINT64_C(1) << bits) - 1;
    uint64_t limit = stride > 0 ? top - span : is_signed ? ~top + span : span;
    LLVMIntPredicate test =
        stride > 0 ? (is_signed ? LLVMIntSLE : LLVMIntULE) : (is_signed ? LLVMIntSGE : LLVMIntUGE);
    return LLVMBuildICmp(j->code->b, test, base, LLVMConstInt(type, limit, true), "");
}

/* i1: min or max leaves all of so many lanes of an affine source as they are; NULL: another
 * operation. */
static LLVMValueRef test_limit(const struct jit *j, const struct jit_operands *all, unsigned copy,
                               unsigned lanes)
{
    bool is_min = j->form->op == PT_OP_min_int;
    int64_t stride;
    if (!is_min && j->form->op != PT_OP_max_int)
        return NULL;
    unsigned k = jit_def_use_shape(j->facts, all->source[0].o, &stride) == JIT_AFFINE ? 0 : 1;
    const struct jit_flat *source = &all->source[k];
    jit_def_use_shape(j->facts, source->o, &stride);
    bool is_signed = pt_type_class(source->type) == PT_CLASS_S;
    LLVMValueRef end = jit_operands_read(j, source, copy, 1, true);
    LLVMValueRef limit = jit_operands_read(j, &all->source[1 - k], copy, 1, true);
    uint64_t span = is_min == (stride > 0) ? (uint64_t)stride * (lanes - 1) : 0;
    end = LLVMBuildAdd(j->code->b, end, LLVMConstInt(LLVMTypeOf(end), span, true), "");
    LLVMIntPredicate stays =
        is_min ? (is_signed ? LLVMIntSLE : LLVMIntULE) : (is_signed ? LLVMIntSGE : LLVMIntUGE);
    return LLVMBuildAnd(j->code->b, test_wrap(j, source, copy, stride, lanes),
                        LLVMBuildICmp(j->code->b, stays, end, limit, ""), "");
}

static LLVMValueRef test_fit(const struct jit *j, const struct jit_operands *all, unsigned copy)
{
    LLVMValueRef fits = LLVMConstInt(LLVMInt1TypeInContext(j->code->context), 1, false);
    uint32_t reg = all->dest[0].o->index;
    unsigned bits = pt_type_bits((enum pt_type)j->unit->f->regs.v[reg].type);
    unsigned lanes = j->unit->width * jit_def_use_copies_on(j->facts, reg);
    for (unsigned i = 0; i < all->n_sources; i++) {
        int64_t stride;
        if (jit_def_use_shape(j->facts, all->source[i].o, &stride) != JIT_AFFINE)
            continue;
        LLVMValueRef inherited = jit_registers_fit(j, all->source[i].o, copy);
        if (inherited)
            fits = LLVMBuildAnd(j->code->b, fits, inherited, "");
        if (pt_type_bits(all->source[i].type) < bits)
            fits = LLVMBuildAnd(j->code->b, fits,
                                test_wrap(j, &all->source[i], copy, stride, lanes), "");
    }
    LLVMValueRef stays = test_limit(j, all, copy, lanes);
    return stays ? LLVMBuildAnd(j->code->b, fits, stays, "") : fits;
}

/* Old values of affine registers are never needed but under a uniform guard. */
static void store_guarded(const struct jit *j, const struct pt_operand *d, LLVMValueRef value,
                          LLVMValueRef slot)
{
    if (j->guard && jit_def_use_has_old(j->facts, j->block, d->index)) {
        LLVMValueRef old = LLVMBuildLoad2(j->code->b, LLVMTypeOf(value), slot, "");
        value = LLVMBuildSelect(j->code->b, j->guard, value, old, "");
    }
    LLVMBuildStore(j->code->b, value, slot);
}

/* The chunk goes on where the first of its row of threads began, whose form has been tested for the
 * row. */
static void go_on_in_row(const struct jit *j, uint32_t reg, unsigned copy, LLVMValueRef *value,
                         LLVMValueRef *fits)
{
    const struct jit_reg *r = &j->facts->regs[reg];
    unsigned first = jit_def_use_first_of_row(j->facts, reg, copy);
    uint64_t offset =
        (uint64_t)j->facts->uniformity->regs[reg].stride * ((copy - first) * j->unit->width);
    *value = LLVMBuildLoad2(j->code->b, r->type, r->slot[first], "");
    *value = LLVMBuildAdd(j->code->b, *value, LLVMConstInt(r->type, offset, true), "");
    *fits = LLVMBuildLoad2(j->code->b, LLVMInt1TypeInContext(j->code->context), r->fits[first], "");
}

static bool operate_affine(const struct jit *j, const struct jit_operands *all, unsigned copy)
{
    const struct pt_operand *d = all->dest[0].o;
    struct jit_reg *r = &j->facts->regs[d->index];
    bool may_wrap = r->wide[copy], extends = all->dest[0].extends_sign;
    unsigned last = r->is_per_copy ? copy : j->facts->copies - 1;
    LLVMTypeRef type = LLVMVectorType(r->type, j->unit->width);
    LLVMValueRef wide[JIT_COPIES];
    struct jit_op op;
    for (unsigned u = copy; may_wrap && u <= last; u++) {
        if (!jit_evaluate_op(j, all, u, j->unit->width, &op))
            return false;
        wide[u] = LLVMBuildIntCast2(j->code->b, op.d[0], type, extends, "");
    }
    LLVMValueRef value = NULL, fits = NULL;
    if (may_wrap && copy != jit_def_use_first_of_row(j->facts, d->index, copy)) {
        go_on_in_row(j, d->index, copy, &value, &fits);
    } else {
        fits = may_wrap ? test_fit(j, all, copy) : NULL;
        if (!jit_evaluate_op(j, all, copy, 1, &op))
            return false;
        value = LLVMBuildIntCast2(j->code->b, op.d[0], r->type, extends, "");
    }
    store_guarded(j, d, value, r->slot[copy]);
    for (unsigned u = copy; may_wrap && u <= last; u++)
        store_guarded(j, d, wide[u], r->wide[u]);
    if (may_wrap)
        store_guarded(j, d, fits, r->fits[copy]);
    return true;
}

/* What all copies share is written with the last: the others may read it. */
static bool pure_copy(const struct jit *j, const struct jit_operands *all, unsigned copy,
                      bool is_last)
{
    const struct pt_operand *d = all->dest[0].o;
    if (is_reg(d) && j->facts->regs[d->index].shape == JIT_AFFINE)
        return operate_affine(j, all, copy);
    struct jit_op op;
    unsigned lanes = is_one(j, all) ? 1 : j->unit->width;
    if (!jit_evaluate_op(j, all, copy, lanes, &op))
        return false;
    for (unsigned i = 0; i < all->n_dests; i++)
        if (is_last || !is_reg(all->dest[i].o) || j->facts->regs[all->dest[i].o->index].is_per_copy)
            jit_registers_write(j, all->dest[i].o, copy, op.d[i], lanes,
                                all->dest[i].extends_sign);
    jit_lane_offsets_note(j, copy);
    return true;
}

/* All copies at once: their chains of operations stand side by side. */
static bool pure_copies(struct jit *j, const struct jit_operands *all, LLVMValueRef *mask)
{
    struct jit_op ops[JIT_COPIES];
    unsigned n = j->end_copy - j->first_copy;
    for (unsigned i = 0; i < n; i++) {
        jit_guard_apply(j, j->first_copy + i, mask[j->first_copy + i]);
        if (!jit_evaluate_begin(j, all, j->first_copy + i, j->unit->width, &ops[i]))
            return false;
    }
    if (!jit_evaluate_end(j, ops, n))
        return false;
    for (unsigned i = 0; i < n; i++) {
        jit_guard_apply(j, j->first_copy + i, mask[j->first_copy + i]);
        jit_registers_write(j, all->dest[0].o, j->first_copy + i, ops[i].d[0], j->unit->width,
                            all->dest[0].extends_sign);
        jit_lane_offsets_note(j, j->first_copy + i);
    }
    return true;
}

bool jit_pure_insn_emit(struct jit *j, LLVMValueRef *mask)
{
    struct jit_operands all;
    if (!jit_operands_flatten(j, &all))
        return false;
    if (!all.n_dests)
        return true; /* hints */
    bool one = is_shared(j, &all);
    if (!one && jit_table_is_partial(j->unit, j->form) && !is_one(j, &all))
        return pure_copies(j, &all, mask);
    for (unsigned u = one ? 0 : j->first_copy; u < (one ? 1 : j->end_copy); u++) {
        jit_guard_apply(j, u, mask[u]);
        if (!pure_copy(j, &all, u, one || u + 1 == j->end_copy))
            return false;
    }
    jit_predicate_bounds_note(j);
    jit_loop_counter_note(j);
    return true;
}
