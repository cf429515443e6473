/* atom and red: what is done in one lane. A CTA runs on one worker, so shared memory needs no
 * locked instruction. */
#include "backend/jit/memory/atomic_op.h"

#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/emit/lane_call.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/memory/access.h"
#include "backend/order.h"

/* ---- what is done ---------------------------------------------------------------------------- */

static bool operation(const struct pt_form *form, bool is_float, bool is_signed,
                      LLVMAtomicRMWBinOp *op)
{
    static const struct {
        enum pt_mod mod;
        LLVMAtomicRMWBinOp op;
    } plain[] = {
        {PT_M_exch, LLVMAtomicRMWBinOpXchg},    {PT_M_and, LLVMAtomicRMWBinOpAnd},
        {PT_M_or, LLVMAtomicRMWBinOpOr},        {PT_M_xor, LLVMAtomicRMWBinOpXor},
        {PT_M_inc, LLVMAtomicRMWBinOpUIncWrap}, {PT_M_dec, LLVMAtomicRMWBinOpUDecWrap},
    };
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        *op = plain[i].op;
        if (pt_form_has(form, plain[i].mod))
            return true;
    }
    if (pt_form_has(form, PT_M_add))
        *op = is_float ? LLVMAtomicRMWBinOpFAdd : LLVMAtomicRMWBinOpAdd;
    else if (pt_form_has(form, PT_M_min))
        *op = is_signed ? LLVMAtomicRMWBinOpMin : LLVMAtomicRMWBinOpUMin;
    else if (pt_form_has(form, PT_M_max))
        *op = is_signed ? LLVMAtomicRMWBinOpMax : LLVMAtomicRMWBinOpUMax;
    else
        return false;
    return true;
}

LLVMAtomicOrdering jit_atomic_op_order(enum pt_order order)
{
    static const LLVMAtomicOrdering orders[] = {
        [PT_ORDER_RELAXED] = LLVMAtomicOrderingMonotonic,
        [PT_ORDER_ACQUIRE] = LLVMAtomicOrderingAcquire,
        [PT_ORDER_RELEASE] = LLVMAtomicOrderingRelease,
        [PT_ORDER_ACQ_REL] = LLVMAtomicOrderingAcquireRelease,
        [PT_ORDER_SEQ_CST] = LLVMAtomicOrderingSequentiallyConsistent,
    };
    return orders[order];
}

/* What f16, bf16 and pairs of them do is stated once, for the interpreter too. */
static const char *half_operation(const struct pt_form *form, enum pt_type type)
{
    static const struct {
        enum pt_type type;
        const char *add, *min, *max;
    } names[] = {
#define X(type) {PT_##type, "add_" #type, "min_" #type, "max_" #type},
        X(f16) X(f16x2) X(bf16) X(bf16x2)
#undef X
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].type == type)
            return pt_form_has(form, PT_M_min)   ? names[i].min
                   : pt_form_has(form, PT_M_max) ? names[i].max
                                                 : names[i].add;
    return NULL;
}

static void describe_dest(const struct jit *j, struct jit_atomic *a, const struct pt_operand *o)
{
    for (unsigned i = 0; i < a->n; i++) {
        const struct pt_operand *d =
            o->kind == PT_OPND_VEC ? &j->unit->f->operands.v[o->index + i] : o;
        a->d[i] = jit_insn_info_is_read(j->facts, d) ? d : NULL;
    }
}

bool jit_atomic_op_describe(const struct jit *j, struct jit_atomic *a)
{
    const struct pt_operand *o = &j->unit->f->operands.v[j->insn->operands];
    bool has_dest = o->kind != PT_OPND_MEM;
    *a = (struct jit_atomic){.type = (enum pt_type)j->form->type[0]};
    const struct pt_operand *b = o + has_dest + 1;
    a->n = b->kind == PT_OPND_VEC ? (unsigned)b->imm : 1;
    if (has_dest)
        describe_dest(j, a, o);
    a->base = &j->unit->f->operands.v[o[has_dest].index];
    a->b = b->kind == PT_OPND_VEC ? &j->unit->f->operands.v[b->index] : b;
    a->is_cas = pt_form_has(j->form, PT_M_cas);
    a->c = a->is_cas ? b + 1 : NULL;
    a->bytes = pt_type_bits(a->type) / 8;
    a->is_shared = pt_form_has(j->form, PT_M_shared) || pt_form_has(j->form, PT_M_shared_cta) ||
                   pt_form_has(j->form, PT_M_shared_cluster) ||
                   jit_access_names(j, a->base, PT_SPACE_SHARED);
    a->is_global = pt_form_has(j->form, PT_M_global) || a->n > 1;
    a->is_float = j->form->effects & PT_FX_FP;
    a->half = a->is_float ? half_operation(j->form, a->type) : NULL;
    a->order = jit_atomic_op_order(pt_order_of(j->form));
    a->element = LLVMIntTypeInContext(j->code->context, a->bytes * 8);
    bool is_signed = pt_type_class(a->type) == PT_CLASS_S;
    if (jit_access_names(j, a->base, PT_SPACE_LOCAL))
        return jit_refuse(j->unit, "an atomic access of a local variable");
    if (!a->is_cas && !a->half && !operation(j->form, a->is_float, is_signed, &a->op))
        return jit_refuse(j->unit, j->form->spelling);
    return true;
}

/* ---- one lane -------------------------------------------------------------------------------- */

/* i1: the address lies in shared memory, whose additions keep subnormals and make NaNs quiet. */
static LLVMValueRef is_in_shared(const struct jit *j, const struct jit_atomic *a, LLVMValueRef p)
{
    LLVMTypeRef i1 = LLVMInt1TypeInContext(j->code->context),
                i64 = LLVMInt64TypeInContext(j->code->context);
    if (a->is_shared || a->is_global)
        return LLVMConstInt(i1, a->is_shared, false);
    LLVMValueRef offset = LLVMBuildSub(j->code->b, LLVMBuildPtrToInt(j->code->b, p, i64, ""),
                                       LLVMBuildPtrToInt(j->code->b, j->code->shared, i64, ""), "");
    return LLVMBuildICmp(j->code->b, LLVMIntULE, offset, jit_i64(j, UINT32_MAX), "");
}

static LLVMValueRef flush_unless(const struct jit *j, LLVMValueRef in_shared, LLVMValueRef value)
{
    return LLVMBuildSelect(j->code->b, in_shared, value, jit_flush(j, value), "");
}

static LLVMValueRef add_f32(const struct jit *j, LLVMValueRef in_shared, LLVMValueRef old,
                            LLVMValueRef b)
{
    LLVMTypeRef f32 = LLVMFloatTypeInContext(j->code->context), bits = LLVMTypeOf(old);
    old = flush_unless(j, in_shared, LLVMBuildBitCast(j->code->b, old, f32, ""));
    b = flush_unless(j, in_shared, LLVMBuildBitCast(j->code->b, b, f32, ""));
    LLVMValueRef sum = flush_unless(j, in_shared, LLVMBuildFAdd(j->code->b, old, b, ""));
    return LLVMBuildBitCast(j->code->b, jit_canonical(j, sum), bits, "");
}

static LLVMValueRef add_f64(const struct jit *j, LLVMValueRef in_shared, LLVMValueRef old,
                            LLVMValueRef b)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context),
                i32 = LLVMInt32TypeInContext(j->code->context);
    LLVMTypeRef types[] = {i64, i64, i32};
    LLVMValueRef args[] = {old, b, LLVMBuildZExt(j->code->b, in_shared, i32, "")};
    return jit_help(j, "jit_help_atom_add_f64", LLVMFunctionType(i64, types, 3, false), args);
}

static LLVMValueRef combine_halves(const struct jit *j, const struct jit_atomic *a,
                                   LLVMValueRef old, LLVMValueRef b)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    old = LLVMBuildZExtOrBitCast(j->code->b, old, i32, "");
    b = LLVMBuildZExtOrBitCast(j->code->b, b, i32, "");
    return LLVMBuildTruncOrBitCast(j->code->b, jit_lane_call_emit_one(j, a->half, old, b),
                                   a->element, "");
}

static LLVMValueRef combine_floats(const struct jit *j, const struct jit_atomic *a, LLVMValueRef p,
                                   LLVMValueRef old, LLVMValueRef b)
{
    if (a->half)
        return combine_halves(j, a, old, b);
    LLVMValueRef in_shared = is_in_shared(j, a, p);
    return a->type == PT_f64 ? add_f64(j, in_shared, old, b) : add_f32(j, in_shared, old, b);
}

static LLVMValueRef pick(const struct jit *j, LLVMIntPredicate test, LLVMValueRef x, LLVMValueRef y)
{
    return LLVMBuildSelect(j->code->b, LLVMBuildICmp(j->code->b, test, x, y, ""), x, y, "");
}

static LLVMValueRef renew(const struct jit *j, const struct jit_atomic *a, LLVMValueRef p,
                          LLVMValueRef old, LLVMValueRef b)
{
    LLVMBuilderRef o = j->code->b;
    LLVMValueRef zero = LLVMConstNull(a->element), one = LLVMConstInt(a->element, 1, false), out;
    if (a->is_float)
        return combine_floats(j, a, p, old, b);
    switch (a->op) {
    case LLVMAtomicRMWBinOpXchg:
        return b;
    case LLVMAtomicRMWBinOpAdd:
        return LLVMBuildAdd(o, old, b, "");
    case LLVMAtomicRMWBinOpAnd:
        return LLVMBuildAnd(o, old, b, "");
    case LLVMAtomicRMWBinOpOr:
        return LLVMBuildOr(o, old, b, "");
    case LLVMAtomicRMWBinOpXor:
        return LLVMBuildXor(o, old, b, "");
    case LLVMAtomicRMWBinOpMin:
        return pick(j, LLVMIntSLT, old, b);
    case LLVMAtomicRMWBinOpMax:
        return pick(j, LLVMIntSGT, old, b);
    case LLVMAtomicRMWBinOpUMin:
        return pick(j, LLVMIntULT, old, b);
    case LLVMAtomicRMWBinOpUMax:
        return pick(j, LLVMIntUGT, old, b);
    case LLVMAtomicRMWBinOpUIncWrap:
        out = LLVMBuildICmp(o, LLVMIntUGE, old, b, "");
        return LLVMBuildSelect(o, out, zero, LLVMBuildAdd(o, old, one, ""), "");
    default: /* UDecWrap */
        out = LLVMBuildOr(o, LLVMBuildICmp(o, LLVMIntEQ, old, zero, ""),
                          LLVMBuildICmp(o, LLVMIntUGT, old, b, ""), "");
        return LLVMBuildSelect(o, out, b, LLVMBuildSub(o, old, one, ""), "");
    }
}

static LLVMValueRef in_shared(const struct jit *j, const struct jit_atomic *a, LLVMValueRef p,
                              LLVMValueRef b, LLVMValueRef c)
{
    LLVMValueRef old = LLVMBuildLoad2(j->code->b, a->element, p, ""), new;
    if (a->is_cas)
        new = LLVMBuildSelect(j->code->b, LLVMBuildICmp(j->code->b, LLVMIntEQ, old, b, ""), c, old,
                              "");
    else
        new = renew(j, a, p, old, b);
    LLVMBuildStore(j->code->b, new, p);
    return old;
}

/* A loop of compare-and-swap, for what no instruction does. */
static LLVMValueRef exchange_float(const struct jit *j, const struct jit_atomic *a, LLVMValueRef p,
                                   LLVMValueRef b)
{
    LLVMValueRef seen = LLVMBuildLoad2(j->code->b, a->element, p, "");
    LLVMSetOrdering(seen, LLVMAtomicOrderingMonotonic);
    LLVMSetAlignment(seen, a->bytes);
    LLVMBasicBlockRef from = LLVMGetInsertBlock(j->code->b), again = jit_new_block(j, "again");
    LLVMBasicBlockRef done = jit_new_block(j, "");
    LLVMBuildBr(j->code->b, again);
    jit_continue_in(j, again);
    LLVMValueRef old = LLVMBuildPhi(j->code->b, a->element, "");
    LLVMValueRef pair = LLVMBuildAtomicCmpXchg(j->code->b, p, old, renew(j, a, p, old, b), a->order,
                                               LLVMAtomicOrderingMonotonic, false);
    LLVMValueRef now = LLVMBuildExtractValue(j->code->b, pair, 0, "");
    LLVMBuildCondBr(j->code->b, LLVMBuildExtractValue(j->code->b, pair, 1, ""), done, again);
    LLVMValueRef values[] = {seen, now};
    LLVMBasicBlockRef blocks[] = {from, again};
    LLVMAddIncoming(old, values, blocks, 2);
    jit_continue_in(j, done);
    return now;
}

LLVMValueRef jit_atomic_op_emit(const struct jit *j, const struct jit_atomic *a, LLVMValueRef p,
                                LLVMValueRef b, LLVMValueRef c)
{
    if (a->is_shared)
        return in_shared(j, a, p, b, c);
    if (a->is_cas) {
        LLVMAtomicOrdering failure =
            a->order == LLVMAtomicOrderingAcquire || a->order == LLVMAtomicOrderingAcquireRelease
                ? LLVMAtomicOrderingAcquire
                : LLVMAtomicOrderingMonotonic;
        LLVMValueRef pair = LLVMBuildAtomicCmpXchg(j->code->b, p, b, c, a->order, failure, false);
        return LLVMBuildExtractValue(j->code->b, pair, 0, "");
    }
    if (a->is_float)
        return exchange_float(j, a, p, b);
    return LLVMBuildAtomicRMW(j->code->b, a->op, p, b, a->order, false);
}
