/* Emitters of comparison and selection (PTX ISA 9.7.6, 9.7.7, testp). */
#include "backend/jit/emit/emit.h"
#include "backend/jit/emit/half.h"
#include "backend/jit/emit/helpers.h"
#include "backend/jit/llvm/build.h"

static const struct {
    enum pt_mod mod;
    int is_signed, is_unsigned, is_real; /* LLVM's predicates; -1: none */
} comparisons[] = {
    {PT_M_eq, LLVMIntEQ, LLVMIntEQ, LLVMRealOEQ},
    {PT_M_ne, LLVMIntNE, LLVMIntNE, LLVMRealONE},
    {PT_M_lt, LLVMIntSLT, LLVMIntULT, LLVMRealOLT},
    {PT_M_le, LLVMIntSLE, LLVMIntULE, LLVMRealOLE},
    {PT_M_gt, LLVMIntSGT, LLVMIntUGT, LLVMRealOGT},
    {PT_M_ge, LLVMIntSGE, LLVMIntUGE, LLVMRealOGE},
    {PT_M_lo, -1, LLVMIntULT, -1},
    {PT_M_ls, -1, LLVMIntULE, -1},
    {PT_M_hi, -1, LLVMIntUGT, -1},
    {PT_M_hs, -1, LLVMIntUGE, -1},
    {PT_M_equ, -1, -1, LLVMRealUEQ},
    {PT_M_neu, -1, -1, LLVMRealUNE},
    {PT_M_ltu, -1, -1, LLVMRealULT},
    {PT_M_leu, -1, -1, LLVMRealULE},
    {PT_M_gtu, -1, -1, LLVMRealUGT},
    {PT_M_geu, -1, -1, LLVMRealUGE},
    {PT_M_num, -1, -1, LLVMRealORD},
    {PT_M_nan, -1, -1, LLVMRealUNO},
};

/* The index of the comparison that the form names. */
static unsigned comparison(const struct jit_op *op)
{
    unsigned i = 0;
    while (!jit_has(op, comparisons[i].mod))
        i++;
    return i;
}

/* f16 and bf16 are compared as f32, where they are exact. */
static LLVMValueRef half_as_real(struct jit_op *op, LLVMValueRef half, bool is_bf16)
{
    if (jit_has(op, PT_M_ftz)) {
        LLVMValueRef field = BUILD(And, half, jit_int_const(op, 16, 0x7c00));
        LLVMValueRef is_tiny = BUILD(ICmp, LLVMIntEQ, field, jit_int_const(op, 16, 0));
        half = BUILD(Select, is_tiny, jit_int_const(op, 16, 0), half);
    }
    return jit_half_to_f32(op, half, is_bf16);
}

static LLVMValueRef real_source(struct jit_op *op, unsigned i, enum pt_type type)
{
    if (type == PT_f32)
        return jit_flushed(op, i);
    return type == PT_f64 ? op->a[i] : half_as_real(op, op->a[i], type == PT_bf16);
}

/* Sources 0 and 1, of `type`, as the form compares them. */
static LLVMValueRef compare(struct jit_op *op, enum pt_type type)
{
    unsigned i = comparison(op);
    if (pt_type_class(type) == PT_CLASS_F)
        return BUILD(FCmp, (LLVMRealPredicate)comparisons[i].is_real, real_source(op, 0, type),
                     real_source(op, 1, type));
    bool is_signed = pt_type_class(type) == PT_CLASS_S;
    return BUILD(
        ICmp, (LLVMIntPredicate)(is_signed ? comparisons[i].is_signed : comparisons[i].is_unsigned),
        op->a[0], op->a[1]);
}

/* With the predicate that is the third source, if there is one. */
static LLVMValueRef combine(struct jit_op *op, LLVMValueRef test)
{
    if (jit_has(op, PT_M_and))
        return BUILD(And, test, op->a[2]);
    if (jit_has(op, PT_M_or))
        return BUILD(Or, test, op->a[2]);
    return jit_has(op, PT_M_xor) ? BUILD(Xor, test, op->a[2]) : test;
}

bool jit_emit_setp(struct jit_op *op)
{
    LLVMValueRef test = compare(op, jit_form_type(op, 0));
    op->d[0] = combine(op, test);
    op->d[1] = combine(op, BUILD(Not, test));
    return true;
}

bool jit_emit_set(struct jit_op *op)
{
    enum pt_type to = jit_form_type(op, 0);
    LLVMValueRef test = combine(op, compare(op, jit_form_type(op, 1)));
    if (to == PT_f32) {
        LLVMTypeRef real = jit_floats(op, 32);
        op->d[0] = BUILD(Select, test, jit_const_real(real, 1), jit_const_real(real, 0));
        return true;
    }
    unsigned bits = pt_type_bits(to);
    uint64_t yes = to == PT_f16 ? 0x3c00 : to == PT_bf16 ? 0x3f80 : UINT64_MAX;
    op->d[0] = BUILD(Select, test, jit_int_const(op, bits, yes), jit_int_const(op, bits, 0));
    return true;
}

/* ---- packed pairs ---------------------------------------------------------------------------- */

/* The halves at bit `at` of sources 0 and 1, with the third source. */
static LLVMValueRef compare_halves(struct jit_op *op, enum pt_type type, unsigned at)
{
    LLVMValueRef half[2];
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef bits = BUILD(LShr, op->a[i], jit_int_const(op, 32, at));
        half[i] = half_as_real(op, jit_resize(op, bits, 16, false), type == PT_bf16x2);
    }
    LLVMRealPredicate predicate = (LLVMRealPredicate)comparisons[comparison(op)].is_real;
    return combine(op, BUILD(FCmp, predicate, half[0], half[1]));
}

bool jit_emit_setp_x2(struct jit_op *op)
{
    enum pt_type type = jit_form_type(op, 0);
    op->d[0] = compare_halves(op, type, 0);
    op->d[1] = compare_halves(op, type, 16);
    return true;
}

bool jit_emit_set_x2(struct jit_op *op)
{
    enum pt_type to = jit_form_type(op, 0), type = jit_form_type(op, 1);
    uint64_t yes = to == PT_f16x2 ? 0x3c00 : to == PT_bf16x2 ? 0x3f80 : 0xffff;
    LLVMValueRef zero = jit_int_const(op, 32, 0);
    LLVMValueRef low = BUILD(Select, compare_halves(op, type, 0), jit_int_const(op, 32, yes), zero);
    LLVMValueRef high =
        BUILD(Select, compare_halves(op, type, 16), jit_int_const(op, 32, yes << 16), zero);
    op->d[0] = BUILD(Or, low, high);
    return true;
}

/* ---- selection ------------------------------------------------------------------------------- */

bool jit_emit_selp(struct jit_op *op)
{
    op->d[0] = BUILD(Select, op->a[2], op->a[0], op->a[1]);
    return true;
}

bool jit_emit_slct(struct jit_op *op)
{
    LLVMValueRef c = jit_form_type(op, 1) == PT_f32 ? jit_flushed(op, 2) : op->a[2];
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(c));
    LLVMValueRef test = jit_form_type(op, 1) == PT_f32 ? BUILD(FCmp, LLVMRealOGE, c, zero)
                                                       : BUILD(ICmp, LLVMIntSGE, c, zero);
    op->d[0] = BUILD(Select, test, op->a[0], op->a[1]);
    return true;
}

/* By the magnitude's bits, and those of infinity and of the smallest normal value. Zero counts as
 * normal. */
bool jit_emit_testp(struct jit_op *op)
{
    unsigned bits = jit_form_bits(op, 0);
    LLVMValueRef inf = jit_int_const(op, bits, bits == 32 ? 0x7f800000 : 0x7ff0000000000000);
    LLVMValueRef least = jit_int_const(op, bits, bits == 32 ? 0x00800000 : 0x0010000000000000);
    LLVMValueRef zero = jit_int_const(op, bits, 0), one = jit_int_const(op, bits, 1);
    LLVMValueRef m = BUILD(LShr, BUILD(Shl, jit_to_bits(op, op->a[0], bits), one), one);
    LLVMValueRef is_finite = BUILD(ICmp, LLVMIntULT, m, inf);
    LLVMValueRef is_zero = BUILD(ICmp, LLVMIntEQ, m, zero);
    LLVMValueRef is_small = BUILD(ICmp, LLVMIntULT, m, least);
    if (jit_has(op, PT_M_finite))
        op->d[0] = is_finite;
    else if (jit_has(op, PT_M_infinite))
        op->d[0] = BUILD(ICmp, LLVMIntEQ, m, inf);
    else if (jit_has(op, PT_M_number))
        op->d[0] = BUILD(ICmp, LLVMIntULE, m, inf);
    else if (jit_has(op, PT_M_notanumber))
        op->d[0] = BUILD(ICmp, LLVMIntUGT, m, inf);
    else if (jit_has(op, PT_M_normal))
        op->d[0] = BUILD(Or, is_zero, BUILD(And, is_finite, BUILD(Not, is_small)));
    else
        op->d[0] = BUILD(And, is_small, BUILD(Not, is_zero));
    return true;
}
