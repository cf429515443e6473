/* Emitters of f16 and bf16, single and packed (PTX ISA 9.7.4): values are i16, a packed pair is two
 * lanes.
 *
 * Operations run in f32 and are rounded once more, which changes nothing: f32 has more than twice
 * the bits of either format plus two. What is fused, or may leave f32's exponents, is rounded to
 * odd there: down and up, where the machine's instructions say how. Elsewhere a product of f16 is
 * exact, and one of bf16 where it is neither very small nor very large: that is rare, and then f64
 * is taken. All NaN results are 0x7fff. */
#include "backend/jit/emit/half.h"

#include "backend/jit/emit/emit.h"
#include "backend/jit/emit/helpers.h"
#include "backend/jit/emit/parts.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/cpu.h"

/* The machine converts f16: instructions for that came before those of fma. */
static bool converts_f16(const struct jit_op *op)
{
    return op->j->unit->cpu->has_f16_conversion;
}

bool jit_half_narrows_to(const struct jit_op *op, bool is_bf16)
{
    return is_bf16 || converts_f16(op);
}

/* Exponent and fraction where f32 has them, scaled by what the exponents' biases differ; infinities
 * and NaN are beyond that. */
static LLVMValueRef widen_f16(struct jit_op *op, LLVMValueRef half)
{
    LLVMValueRef bits = jit_extend(op, half, 32, false);
    LLVMValueRef magnitude = BUILD(And, bits, jit_int_const(op, 32, 0x7fff));
    LLVMValueRef real = jit_from_bits(op, BUILD(Shl, magnitude, jit_int_const(op, 32, 13)), 32);
    real = BUILD(FMul, real, jit_const_real(jit_floats(op, 32), 0x1p112));
    LLVMValueRef is_beyond = BUILD(ICmp, LLVMIntUGE, magnitude, jit_int_const(op, 32, 0x7c00));
    LLVMValueRef exponent =
        BUILD(Select, is_beyond, jit_int_const(op, 32, 0x7f800000), jit_int_const(op, 32, 0));
    LLVMValueRef sign =
        BUILD(Shl, BUILD(And, bits, jit_int_const(op, 32, 0x8000)), jit_int_const(op, 32, 16));
    LLVMValueRef d = BUILD(Or, jit_to_bits(op, real, 32), BUILD(Or, exponent, sign));
    return jit_from_bits(op, d, 32);
}

LLVMValueRef jit_half_to_f32(struct jit_op *op, LLVMValueRef half, bool is_bf16)
{
    if (!is_bf16 && !converts_f16(op))
        return widen_f16(op, half);
    if (!is_bf16)
        return BUILD(FPExt, BUILD(BitCast, half, jit_floats(op, 16)), jit_floats(op, 32));
    LLVMValueRef bits = BUILD(Shl, jit_extend(op, half, 32, false), jit_int_const(op, 32, 16));
    return jit_from_bits(op, bits, 32);
}

/* Half of the last bit that stays, and a tie to even. */
static LLVMValueRef round_bf16(struct jit_op *op, LLVMValueRef value)
{
    LLVMValueRef bits = jit_to_bits(op, value, 32), sixteen = jit_int_const(op, 32, 16);
    LLVMValueRef odd = BUILD(And, BUILD(LShr, bits, sixteen), jit_int_const(op, 32, 1));
    bits = BUILD(Add, bits, BUILD(Add, odd, jit_int_const(op, 32, 0x7fff)));
    return BUILD(Trunc, BUILD(LShr, bits, sixteen), jit_ints(op, 16));
}

LLVMValueRef jit_half_from_f32(struct jit_op *op, LLVMValueRef value, bool is_bf16)
{
    LLVMValueRef half =
        is_bf16 ? round_bf16(op, value)
                : BUILD(BitCast, BUILD(FPTrunc, value, jit_floats(op, 16)), jit_ints(op, 16));
    return BUILD(Select, jit_is_nan(op, value), jit_int_const(op, 16, 0x7fff), half);
}

/* ---- operands and results -------------------------------------------------------------------- */

static bool is_bf16(const struct jit_op *op)
{
    return jit_form_type(op, 0) == PT_bf16 || jit_form_type(op, 0) == PT_bf16x2;
}

/* An operation over i16: of a packed form, one with twice the lanes. */
struct half_op {
    struct jit_op op;
    bool is_bf16;
    LLVMValueRef a[3];
};

static LLVMValueRef flush_half(struct jit_op *op, LLVMValueRef half)
{
    if (!jit_has(op, PT_M_ftz))
        return half;
    LLVMValueRef field = BUILD(And, half, jit_int_const(op, 16, 0x7c00));
    LLVMValueRef sign = BUILD(And, half, jit_int_const(op, 16, 0x8000));
    return BUILD(Select, BUILD(ICmp, LLVMIntEQ, field, jit_int_const(op, 16, 0)), sign, half);
}

static bool open_half(struct jit_op *outer, struct half_op *h)
{
    *h = (struct half_op){.op = *outer, .is_bf16 = is_bf16(outer)};
    struct jit_op *op = &h->op;
    if (!jit_half_narrows_to(outer, h->is_bf16) || !jit_is_rn(outer))
        return false;
    op->lanes *= jit_form_bits(outer, 0) / 16;
    for (unsigned i = 0; i < outer->n; i++)
        h->a[i] = BUILD(BitCast, outer->a[i], jit_ints(op, 16));
    return true;
}

static bool close_half(struct jit_op *op, LLVMValueRef half)
{
    op->d[0] = BUILD(BitCast, half, jit_ints(op, jit_form_bits(op, 0)));
    return true;
}

static LLVMValueRef half_source(struct half_op *h, unsigned i)
{
    return jit_half_to_f32(&h->op, flush_half(&h->op, h->a[i]), h->is_bf16);
}

/* .ftz of a result: what is below 2^-14 when rounded to 11 bits of whatever exponent (see
 * semantics/half.h). */
static LLVMValueRef flush_rounded(struct jit_op *op, LLVMValueRef value, LLVMValueRef half)
{
    if (!jit_has(op, PT_M_ftz))
        return half;
    LLVMValueRef magnitude =
        BUILD(And, jit_to_bits(op, value, 32), jit_int_const(op, 32, 0x7fffffff));
    LLVMValueRef is_tiny = BUILD(ICmp, LLVMIntULT, magnitude, jit_int_const(op, 32, 0x387ff000));
    LLVMValueRef sign = BUILD(And, half, jit_int_const(op, 16, 0x8000));
    return BUILD(Select, is_tiny, sign, half);
}

/* One rounding; .sat, .ftz, .relu. */
static bool give_rounded(struct jit_op *outer, struct half_op *h, LLVMValueRef value)
{
    struct jit_op *op = &h->op;
    if (jit_has(op, PT_M_sat))
        value = jit_saturate(op, value);
    LLVMValueRef half = flush_rounded(op, value, jit_half_from_f32(op, value, h->is_bf16));
    if (jit_has(op, PT_M_relu)) {
        LLVMValueRef zero = jit_int_const(op, 16, 0);
        half = BUILD(Select, BUILD(ICmp, LLVMIntSLT, half, zero), zero, half);
    }
    return close_half(outer, half);
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

bool jit_emit_add_half(struct jit_op *op)
{
    struct half_op h;
    return open_half(op, &h) &&
           give_rounded(op, &h, BUILD(FAdd, half_source(&h, 0), half_source(&h, 1)));
}

bool jit_emit_sub_half(struct jit_op *op)
{
    struct half_op h;
    return open_half(op, &h) &&
           give_rounded(op, &h, BUILD(FSub, half_source(&h, 0), half_source(&h, 1)));
}

/* An operation of AVX-512 rounded to odd: of the numbers beside an inexact result one is odd. Of an
 * exact zero both are the same one, but that of a sum of opposite numbers: +0 comes of rounding
 * up. */
static LLVMValueRef round_to_odd(struct jit_op *op, const char *name, const LLVMValueRef *a,
                                 unsigned n)
{
    LLVMValueRef args[] = {a[0], a[1], a[2]};
    LLVMValueRef below = jit_parts_round(op, name, JIT_DOWN, args, n);
    LLVMValueRef above = jit_parts_round(op, name, JIT_UP, args, n);
    LLVMValueRef last = BUILD(And, jit_to_bits(op, below, 32), jit_int_const(op, 32, 1));
    LLVMValueRef is_odd = BUILD(ICmp, LLVMIntNE, last, jit_int_const(op, 32, 0));
    return BUILD(Select, is_odd, below, above);
}

static bool rounds_itself(const struct jit_op *op)
{
    return op->j->unit->cpu->has_embedded_rounding && jit_parts_fill(op, 32);
}

/* x + y, of `bits`, rounded to odd: the error of the rounded sum, which is exact, says whether and
 * where to step. Where it has the sign of the sum, the last bit is set; where it has the other,
 * that of the number below. */
static LLVMValueRef sum_to_odd(struct jit_op *op, LLVMValueRef x, LLVMValueRef y, unsigned bits)
{
    LLVMValueRef zero = jit_const_real(jit_floats(op, bits), 0), one = jit_int_const(op, bits, 1);
    LLVMValueRef sum = BUILD(FAdd, x, y), of_y = BUILD(FSub, sum, x);
    LLVMValueRef of_x = BUILD(FSub, sum, of_y);
    LLVMValueRef error = BUILD(FAdd, BUILD(FSub, x, of_x), BUILD(FSub, y, of_y));
    LLVMValueRef number = jit_to_bits(op, sum, bits), signs = jit_to_bits(op, error, bits);
    LLVMValueRef steps = BUILD(FCmp, LLVMRealONE, error, zero);
    LLVMValueRef is_inward =
        BUILD(ICmp, LLVMIntSLT, BUILD(Xor, number, signs), jit_int_const(op, bits, 0));
    LLVMValueRef below = BUILD(Select, is_inward, BUILD(Sub, number, one), number);
    return jit_from_bits(op, BUILD(Select, steps, BUILD(Or, below, one), number), bits);
}

/* An f64, exact or rounded to odd, as f32 rounded to odd. */
static LLVMValueRef narrow_to_odd(struct jit_op *op, LLVMValueRef wide)
{
    LLVMValueRef value = BUILD(FPTrunc, wide, jit_floats(op, 32)), one = jit_int_const(op, 32, 1);
    LLVMValueRef back = BUILD(FPExt, value, jit_floats(op, 64));
    LLVMValueRef bits = jit_to_bits(op, value, 32), steps = BUILD(FCmp, LLVMRealONE, wide, back);
    LLVMValueRef is_negative = BUILD(ICmp, LLVMIntSLT, bits, jit_int_const(op, 32, 0));
    LLVMValueRef is_larger = BUILD(Select, is_negative, BUILD(FCmp, LLVMRealOLT, back, wide),
                                   BUILD(FCmp, LLVMRealOGT, back, wide));
    LLVMValueRef below = BUILD(Select, is_larger, BUILD(Sub, bits, one), bits);
    return jit_from_bits(op, BUILD(Select, steps, BUILD(Or, below, one), bits), 32);
}

/* a * b (+ c) to f32, exact or rounded to odd, in f64, which holds products of bf16. */
static LLVMValueRef multiply_wide(struct jit_op *op, const LLVMValueRef *a)
{
    LLVMTypeRef wide = jit_floats(op, 64);
    LLVMValueRef d = BUILD(FMul, BUILD(FPExt, a[0], wide), BUILD(FPExt, a[1], wide));
    if (a[2])
        d = sum_to_odd(op, d, BUILD(FPExt, a[2], wide), 64);
    return narrow_to_odd(op, d);
}

/* i1: the product of some lane is not exact in f32, or may not be. */
static LLVMValueRef is_beyond_f32(struct jit_op *op, const LLVMValueRef *a, LLVMValueRef product)
{
    enum { LEAST = 0x0c800000, END = 0x7f000000 }; /* 2^-102, 2^127 */
    LLVMValueRef zero = jit_const_real(jit_floats(op, 32), 0);
    LLVMValueRef bits = jit_to_bits(op, product, 32);
    bits = BUILD(And, bits, jit_int_const(op, 32, 0x7fffffff));
    bits = BUILD(Sub, bits, jit_int_const(op, 32, LEAST));
    LLVMValueRef lanes = BUILD(ICmp, LLVMIntUGE, bits, jit_int_const(op, 32, END - LEAST));
    lanes = BUILD(And, lanes, BUILD(FCmp, LLVMRealUNE, a[0], zero));
    lanes = BUILD(And, lanes, BUILD(FCmp, LLVMRealUNE, a[1], zero));
    if (op->lanes == 1)
        return lanes;
    LLVMTypeRef type = LLVMIntTypeInContext(op->j->code->context, op->lanes);
    return BUILD(ICmp, LLVMIntNE, BUILD(BitCast, lanes, type), LLVMConstNull(type));
}

/* The same for bf16: in f32 where that is enough. */
static LLVMValueRef multiply_bf16(struct jit_op *op, const LLVMValueRef *a)
{
    const struct jit *j = op->j;
    if (rounds_itself(op))
        return a[2] ? round_to_odd(op, "vfmadd.ps", a, 3) : round_to_odd(op, "mul.ps", a, 2);
    LLVMValueRef product = BUILD(FMul, a[0], a[1]);
    LLVMValueRef near = a[2] ? sum_to_odd(op, product, a[2], 32) : product;
    LLVMBasicBlockRef rare = jit_new_block(j, "wide"), after = jit_new_block(j, "");
    LLVMBasicBlockRef here = LLVMGetInsertBlock(op->b);
    jit_branch_mostly(j, BUILD(Not, is_beyond_f32(op, a, product)), after, rare);
    jit_continue_in(j, rare);
    LLVMValueRef values[] = {near, multiply_wide(op, a)};
    LLVMBasicBlockRef blocks[] = {here, LLVMGetInsertBlock(op->b)};
    LLVMBuildBr(op->b, after);
    jit_continue_in(j, after);
    LLVMValueRef d = BUILD(Phi, jit_floats(op, 32));
    LLVMAddIncoming(d, values, blocks, 2);
    return d;
}

bool jit_emit_mul_half(struct jit_op *op)
{
    struct half_op h;
    if (!open_half(op, &h))
        return false;
    LLVMValueRef a[] = {half_source(&h, 0), half_source(&h, 1), NULL};
    return give_rounded(op, &h, h.is_bf16 ? multiply_bf16(&h.op, a) : BUILD(FMul, a[0], a[1]));
}

bool jit_emit_fma_half(struct jit_op *op)
{
    struct half_op h;
    if (!open_half(op, &h))
        return false;
    LLVMValueRef a[] = {half_source(&h, 0), half_source(&h, 1), half_source(&h, 2)};
    if (h.is_bf16)
        return give_rounded(op, &h, multiply_bf16(&h.op, a));
    return give_rounded(op, &h,
                        rounds_itself(&h.op)
                            ? round_to_odd(&h.op, "vfmadd.ps", a, 3)
                            : sum_to_odd(&h.op, BUILD(FMul, a[0], a[1]), a[2], 32));
}

/* ---- signs and choices, in integers ---------------------------------------------------------- */

static LLVMValueRef half_is_nan(struct half_op *h, LLVMValueRef half)
{
    struct jit_op *op = &h->op;
    LLVMValueRef magnitude = BUILD(And, half, jit_int_const(op, 16, 0x7fff));
    return BUILD(ICmp, LLVMIntUGT, magnitude, jit_int_const(op, 16, h->is_bf16 ? 0x7f80 : 0x7c00));
}

static bool give_bits(struct jit_op *outer, struct half_op *h, LLVMValueRef is_nan,
                      LLVMValueRef half)
{
    struct jit_op *op = &h->op;
    return close_half(outer, BUILD(Select, is_nan, jit_int_const(op, 16, 0x7fff), half));
}

bool jit_emit_neg_half(struct jit_op *op)
{
    struct half_op h;
    if (!open_half(op, &h))
        return false;
    LLVMValueRef half = flush_half(&h.op, h.a[0]);
    half = BUILD(Xor, half, jit_int_const(&h.op, 16, 0x8000));
    return give_bits(op, &h, half_is_nan(&h, h.a[0]), half);
}

bool jit_emit_abs_half(struct jit_op *op)
{
    struct half_op h;
    if (!open_half(op, &h))
        return false;
    LLVMValueRef half = flush_half(&h.op, h.a[0]);
    half = BUILD(And, half, jit_int_const(&h.op, 16, 0x7fff));
    return give_bits(op, &h, half_is_nan(&h, h.a[0]), half);
}

/* Bits as integers in the order of the values: -0 below +0. */
static LLVMValueRef order(struct jit_op *op, LLVMValueRef half)
{
    LLVMValueRef negative = BUILD(AShr, half, jit_int_const(op, 16, 15));
    return BUILD(Xor, half, BUILD(LShr, negative, jit_int_const(op, 16, 1)));
}

static bool pick_half(struct jit_op *outer, bool larger)
{
    struct half_op h;
    if (!open_half(outer, &h))
        return false;
    struct jit_op *op = &h.op;
    LLVMValueRef a = h.a[0], b = h.a[1], sign = NULL;
    if (jit_has(op, PT_M_xorsign)) {
        LLVMValueRef magnitude = jit_int_const(op, 16, 0x7fff);
        sign = BUILD(And, BUILD(Xor, a, b), BUILD(Not, magnitude));
        a = BUILD(And, a, magnitude);
        b = BUILD(And, b, magnitude);
    }
    a = flush_half(op, a);
    b = flush_half(op, b);
    LLVMIntPredicate is_better = larger ? LLVMIntSGT : LLVMIntSLE;
    LLVMValueRef d = BUILD(Select, BUILD(ICmp, is_better, order(op, a), order(op, b)), a, b);
    LLVMValueRef nan_a = half_is_nan(&h, a), nan_b = half_is_nan(&h, b);
    d = BUILD(Select, nan_a, b, BUILD(Select, nan_b, a, d));
    d = sign ? BUILD(Or, d, sign) : d;
    return give_bits(outer, &h,
                     jit_has(op, PT_M_NaN) ? BUILD(Or, nan_a, nan_b) : BUILD(And, nan_a, nan_b), d);
}

bool jit_emit_min_half(struct jit_op *op)
{
    return pick_half(op, false);
}

bool jit_emit_max_half(struct jit_op *op)
{
    return pick_half(op, true);
}
