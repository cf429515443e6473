/* atom and red of integers, and additions of f32. Lanes go upwards, one after the other. A CTA runs on one worker, so
 * shared memory needs no locked instruction. */
#include "backend/jit/region.h"
#include "backend/order.h"

struct atomic {
    const struct pt_operand *d, *base, *b, *c; /* d: NULL if nobody reads what was there */
    enum pt_type type;
    unsigned bytes;
    LLVMTypeRef element;
    bool is_shared, is_float;
    LLVMAtomicRMWBinOp op; /* unless it is cas */
    bool is_cas;
    LLVMAtomicOrdering order;
};

/* ---- what is done ---------------------------------------------------------------------------- */

static bool operation(const struct pt_form *form, bool is_float, bool is_signed,
                      LLVMAtomicRMWBinOp *op)
{
    static const struct {
        enum pt_mod mod;
        LLVMAtomicRMWBinOp op;
    } plain[] = {
        {PT_M_exch, LLVMAtomicRMWBinOpXchg}, {PT_M_and, LLVMAtomicRMWBinOpAnd},
        {PT_M_or, LLVMAtomicRMWBinOpOr},     {PT_M_xor, LLVMAtomicRMWBinOpXor},
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

static LLVMAtomicOrdering order_of(const struct pt_form *form)
{
    static const LLVMAtomicOrdering orders[] = {
        [PT_ORDER_RELAXED] = LLVMAtomicOrderingMonotonic,
        [PT_ORDER_ACQUIRE] = LLVMAtomicOrderingAcquire,
        [PT_ORDER_RELEASE] = LLVMAtomicOrderingRelease,
        [PT_ORDER_ACQ_REL] = LLVMAtomicOrderingAcquireRelease,
    };
    return orders[pt_order_of(form)];
}

static void note_use(void *ud, uint32_t reg, bool is_def)
{
    uint32_t *asked = ud;
    asked[1] |= !is_def && reg == asked[0];
}

static bool is_read(const struct jit *j, const struct pt_operand *d)
{
    uint32_t asked[2] = {d->index, 0};
    if (d->kind != PT_OPND_REG)
        return false;
    for (uint32_t i = 0; i < j->f->insns.n && !asked[1]; i++)
        pt_insn_regs(j->m, j->f, &j->f->insns.v[i], note_use, asked);
    return asked[1];
}

bool jit_is_ordered(const struct jit *j, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(j->m, insn);
    const struct pt_operand *o = &j->f->operands.v[insn->operands];
    bool commutes = pt_form_has(form, PT_M_add) || pt_form_has(form, PT_M_min) ||
                    pt_form_has(form, PT_M_max) || pt_form_has(form, PT_M_and) ||
                    pt_form_has(form, PT_M_or) || pt_form_has(form, PT_M_xor);
    return !commutes || (form->effects & PT_FX_FP) || (o->kind != PT_OPND_MEM && is_read(j, o));
}

static bool describe(struct jit *j, struct atomic *a)
{
    const struct pt_operand *o = &j->f->operands.v[j->insn->operands];
    bool has_dest = o->kind != PT_OPND_MEM;
    *a = (struct atomic){.type = (enum pt_type)j->form->type[0]};
    a->d = has_dest && is_read(j, o) ? o : NULL;
    o += has_dest;
    a->base = &j->f->operands.v[o->index];
    a->b = o + 1;
    a->is_cas = pt_form_has(j->form, PT_M_cas);
    a->c = a->is_cas ? o + 2 : NULL;
    a->bytes = pt_type_bits(a->type) / 8;
    a->is_shared = pt_form_has(j->form, PT_M_shared) || pt_form_has(j->form, PT_M_shared_cta);
    a->is_float = a->type == PT_f32;
    a->order = order_of(j->form);
    enum pt_type_class class = pt_type_class(a->type);
    bool knows = (a->bytes == 4 || a->bytes == 8) && j->form->vec == 1 &&
                 (class == PT_CLASS_B || class == PT_CLASS_U || class == PT_CLASS_S || a->is_float) &&
                 (a->is_cas || operation(j->form, a->is_float, class == PT_CLASS_S, &a->op)) &&
                 !(a->is_float && !a->is_shared && !pt_form_has(j->form, PT_M_global)) &&
                 !pt_form_has(j->form, PT_M_shared_cluster);
    if (!knows)
        j->why = "an atomic access of this kind";
    a->element = LLVMIntTypeInContext(j->context, a->bytes * 8);
    return knows;
}

/* ---- one lane -------------------------------------------------------------------------------- */

static LLVMValueRef add_float(struct jit *j, const struct atomic *a, LLVMValueRef old,
                              LLVMValueRef b)
{
    LLVMTypeRef f32 = LLVMFloatTypeInContext(j->context);
    old = LLVMBuildBitCast(j->b, old, f32, "");
    b = LLVMBuildBitCast(j->b, b, f32, "");
    if (!a->is_shared) { /* global memory flushes subnormals, shared memory does not */
        old = jit_flush(j, old);
        b = jit_flush(j, b);
    }
    LLVMValueRef sum = LLVMBuildFAdd(j->b, old, b, "");
    if (!a->is_shared)
        sum = jit_flush(j, sum);
    return LLVMBuildBitCast(j->b, jit_canonical(j, sum), a->element, "");
}

static LLVMValueRef pick(struct jit *j, LLVMIntPredicate test, LLVMValueRef x, LLVMValueRef y)
{
    return LLVMBuildSelect(j->b, LLVMBuildICmp(j->b, test, x, y, ""), x, y, "");
}

static LLVMValueRef renew(struct jit *j, const struct atomic *a, LLVMValueRef old, LLVMValueRef b)
{
    LLVMBuilderRef o = j->b;
    LLVMValueRef zero = LLVMConstNull(a->element), one = LLVMConstInt(a->element, 1, false), out;
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
    case LLVMAtomicRMWBinOpUDecWrap:
        out = LLVMBuildOr(o, LLVMBuildICmp(o, LLVMIntEQ, old, zero, ""),
                          LLVMBuildICmp(o, LLVMIntUGT, old, b, ""), "");
        return LLVMBuildSelect(o, out, b, LLVMBuildSub(o, old, one, ""), "");
    default:
        return add_float(j, a, old, b);
    }
}

static LLVMValueRef in_shared(struct jit *j, const struct atomic *a, LLVMValueRef p, LLVMValueRef b,
                              LLVMValueRef c)
{
    LLVMValueRef old = LLVMBuildLoad2(j->b, a->element, p, ""), new;
    if (a->is_cas)
        new = LLVMBuildSelect(j->b, LLVMBuildICmp(j->b, LLVMIntEQ, old, b, ""), c, old, "");
    else
        new = renew(j, a, old, b);
    LLVMBuildStore(j->b, new, p);
    return old;
}

/* A loop of compare-and-swap, for what no instruction does. */
static LLVMValueRef exchange_float(struct jit *j, const struct atomic *a, LLVMValueRef p,
                                   LLVMValueRef b)
{
    LLVMValueRef seen = LLVMBuildLoad2(j->b, a->element, p, "");
    LLVMSetOrdering(seen, LLVMAtomicOrderingMonotonic);
    LLVMSetAlignment(seen, a->bytes);
    LLVMBasicBlockRef from = LLVMGetInsertBlock(j->b), again = jit_new_block(j, "again");
    LLVMBasicBlockRef done = jit_new_block(j, "");
    LLVMBuildBr(j->b, again);
    jit_continue_in(j, again);
    LLVMValueRef old = LLVMBuildPhi(j->b, a->element, "");
    LLVMValueRef pair = LLVMBuildAtomicCmpXchg(j->b, p, old, renew(j, a, old, b), a->order,
                                               LLVMAtomicOrderingMonotonic, false);
    LLVMValueRef now = LLVMBuildExtractValue(j->b, pair, 0, "");
    LLVMBuildCondBr(j->b, LLVMBuildExtractValue(j->b, pair, 1, ""), done, again);
    LLVMValueRef values[] = {seen, now};
    LLVMBasicBlockRef blocks[] = {from, again};
    LLVMAddIncoming(old, values, blocks, 2);
    jit_continue_in(j, done);
    return now;
}

static LLVMValueRef one_lane(struct jit *j, const struct atomic *a, LLVMValueRef p, LLVMValueRef b,
                             LLVMValueRef c)
{
    if (a->is_shared)
        return in_shared(j, a, p, b, c);
    if (a->is_cas) {
        LLVMAtomicOrdering failure =
            a->order == LLVMAtomicOrderingAcquire || a->order == LLVMAtomicOrderingAcquireRelease
                ? LLVMAtomicOrderingAcquire
                : LLVMAtomicOrderingMonotonic;
        LLVMValueRef pair = LLVMBuildAtomicCmpXchg(j->b, p, b, c, a->order, failure, false);
        return LLVMBuildExtractValue(j->b, pair, 0, "");
    }
    if (a->is_float)
        return exchange_float(j, a, p, b);
    return LLVMBuildAtomicRMW(j->b, a->op, p, b, a->order, false);
}

/* ---- the lanes ------------------------------------------------------------------------------- */

/* Addresses in their space: shared ones are offsets of 32 bits. */
static LLVMValueRef address_of(struct jit *j, const struct atomic *a, unsigned copy)
{
    LLVMValueRef base =
        jit_read(j, a->base, copy, a->is_shared ? PT_u32 : PT_u64, j->width, false);
    if (a->base->kind == PT_OPND_REG && a->base->imm)
        base = LLVMBuildAdd(j->b, base, jit_const(LLVMTypeOf(base), (uint64_t)a->base->imm), "");
    return base;
}

static LLVMValueRef pointer_of(struct jit *j, const struct atomic *a, LLVMValueRef address)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->context);
    if (a->is_shared)
        return jit_at(j, j->shared, LLVMBuildZExt(j->b, address, i64, ""));
    return LLVMBuildIntToPtr(j->b, address, LLVMPointerTypeInContext(j->context, 0), "");
}

static void check(struct jit *j, const struct atomic *a, LLVMValueRef addresses, LLVMValueRef mask)
{
    LLVMTypeRef type = LLVMTypeOf(addresses);
    LLVMValueRef low = LLVMBuildAnd(j->b, addresses, jit_const(type, a->bytes - 1), "");
    LLVMValueRef bad = LLVMBuildICmp(j->b, LLVMIntNE, low, LLVMConstNull(type), "");
    LLVMBasicBlockRef fail = jit_new_block(j, "misaligned"), on = jit_new_block(j, "");
    bad = jit_any(j, mask ? LLVMBuildAnd(j->b, bad, mask, "") : bad);
    LLVMBuildCondBr(j->b, bad, fail, on);
    jit_continue_in(j, fail);
    jit_fail(j, PT_FAULT_MISALIGNED);
    jit_continue_in(j, on);
}

static LLVMValueRef as_bits(struct jit *j, const struct atomic *a, const struct pt_operand *o,
                            unsigned copy)
{
    LLVMValueRef value = jit_read(j, o, copy, a->type, j->width, false);
    return LLVMBuildBitCast(j->b, value, LLVMVectorType(a->element, j->width), "");
}

static void run_chunk(struct jit *j, const struct atomic *a, unsigned copy)
{
    LLVMTypeRef vector = LLVMVectorType(a->element, j->width);
    LLVMValueRef addresses = address_of(j, a, copy), mask = j->mask[copy];
    check(j, a, addresses, mask);
    if (mask && a->is_shared) { /* lanes that are off change a word of the reserved kilobyte */
        LLVMValueRef nowhere = jit_splat(j, jit_i32(j, PT_SHARED_BASE - 64));
        addresses = LLVMBuildSelect(j->b, mask, addresses, nowhere, "");
        mask = NULL;
    }
    LLVMValueRef b = as_bits(j, a, a->b, copy), c = a->c ? as_bits(j, a, a->c, copy) : NULL;
    LLVMValueRef result = a->d ? jit_alloca(j, vector, "") : NULL;
    for (unsigned i = 0; i < j->width; i++) {
        LLVMBasicBlockRef on = NULL;
        if (mask) {
            LLVMBasicBlockRef run = jit_new_block(j, "lane");
            on = jit_new_block(j, "");
            LLVMBuildCondBr(j->b, jit_lane(j, mask, i), run, on);
            jit_continue_in(j, run);
        }
        LLVMValueRef p = pointer_of(j, a, jit_lane(j, addresses, i));
        LLVMValueRef old =
            one_lane(j, a, p, jit_lane(j, b, i), c ? jit_lane(j, c, i) : NULL);
        if (result)
            LLVMBuildStore(j->b, old, jit_at(j, result, jit_i64(j, i * a->bytes)));
        if (on) {
            LLVMBuildBr(j->b, on);
            jit_continue_in(j, on);
        }
    }
    if (result)
        jit_write(j, a->d, copy, a->type, LLVMBuildLoad2(j->b, vector, result, ""), j->width,
                  false);
}

bool jit_atomic(struct jit *j)
{
    struct atomic a;
    if (!describe(j, &a))
        return false;
    for (unsigned u = 0; u < j->copies; u++)
        run_chunk(j, &a, u);
    return true;
}
