/* Emitters of --math fast (struct pt_native_options): what the exact results cost most for, in a
 * few instructions.
 *
 *   rcp, sqrt, div (.approx, .full)   the operation itself, to nearest
 *   rsqrt                             1 / sqrt
 *   ex2, lg2, tanh                    polynomials: relative error up to 4 * 2^-23
 *   sin, cos                          polynomials of the fraction of a turn: absolute error up to
 *                                     2^-21 where |x| <= pi, and |x| * 2^-23 beyond, where the
 *                                     machine's reduction is as coarse
 *   .rz, .rm, .rp of f32 arithmetic   to nearest: up to one unit off
 *
 * Zeros, infinities, NaNs and signs come out as they should; f64, conversions and halves are as
 * ever.
 */
#include "backend/jit/emit/fast_math.h"

#include "backend/jit/emit/emit.h"
#include "backend/jit/emit/helpers.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/cpu.h"
#include "backend/jit/tune.h"

static LLVMValueRef real(struct jit_op *op, double value)
{
    return jit_const_real(jit_floats(op, 32), value);
}

static LLVMValueRef muladd(struct jit_op *op, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c)
{
    LLVMValueRef args[] = {a, b, c};
    if (!op->j->unit->cpu->has_fma)
        return BUILD(FAdd, BUILD(FMul, a, b), c);
    return jit_intrinsic(op->j, "llvm.fma", LLVMTypeOf(a), args, 3);
}

/* c[0] + c[1] * x + ... of n coefficients, which is a long chain of few operations; or two
 * coefficients at a time, which is half as long. Measured: with 16 lanes their number counts, with
 * fewer the length. */
static LLVMValueRef polynomial(struct jit_op *op, LLVMValueRef x, const double *c, unsigned n)
{
    unsigned step = op->lanes < JIT_FAST_MATH_LANES ? 2 : 1;
    LLVMValueRef power = step == 2 ? BUILD(FMul, x, x) : x, sum = NULL;
    for (unsigned end = (n + step - 1) / step * step; end > 0; end -= step) {
        LLVMValueRef part = real(op, c[end - step]);
        if (step == 2 && end <= n)
            part = muladd(op, x, real(op, c[end - 1]), part);
        sum = sum ? muladd(op, sum, power, part) : part;
    }
    return sum;
}

#define POLYNOMIAL(op, x, c) polynomial(op, x, c, sizeof(c) / sizeof *(c))

static LLVMValueRef copy_sign(struct jit_op *op, LLVMValueRef magnitude, LLVMValueRef sign)
{
    return jit_binary(op, "llvm.copysign", magnitude, sign);
}

static LLVMValueRef absolute(struct jit_op *op, LLVMValueRef value)
{
    return jit_unary(op, "llvm.fabs", value);
}

/* a where cond(x, y), else b; false for NaN. */
static LLVMValueRef where(struct jit_op *op, LLVMRealPredicate cond, LLVMValueRef x, double y,
                          LLVMValueRef a, LLVMValueRef b)
{
    return BUILD(Select, BUILD(FCmp, cond, x, real(op, y)), a, b);
}

static bool has_ftz(const struct jit_op *op)
{
    return jit_has(op, PT_M_ftz) || op->j->unit->m->sm < 20;
}

static LLVMValueRef source(struct jit_op *op, unsigned i)
{
    return has_ftz(op) ? jit_flush(op->j, op->a[i]) : op->a[i];
}

static bool give(struct jit_op *op, LLVMValueRef value)
{
    op->d[0] = has_ftz(op) ? jit_flush(op->j, value) : value;
    op->is_number = true;
    return true;
}

/* ---- roots and quotients --------------------------------------------------------------------- */

static bool fast_rcp(struct jit_op *op)
{
    return give(op, BUILD(FDiv, real(op, 1), source(op, 0)));
}

static bool fast_rsqrt(struct jit_op *op)
{
    return give(op, BUILD(FDiv, real(op, 1), jit_unary(op, "llvm.sqrt", source(op, 0))));
}

static bool fast_sqrt(struct jit_op *op)
{
    return give(op, jit_unary(op, "llvm.sqrt", source(op, 0)));
}

static bool fast_div(struct jit_op *op)
{
    return give(op, BUILD(FDiv, source(op, 0), source(op, 1)));
}

/* ---- 2^x ------------------------------------------------------------------------------------- */

/* Of -126 <= x <= 128, or NaN; of other arguments no matter what. */
static LLVMValueRef exp2_of(struct jit_op *op, LLVMValueRef x)
{
    /* (2^f - 1) / f, |f| <= 1/2 */
    static const double c[] = {0x1.62e4302fc626dp-1, 0x1.ebfbe00e63b49p-3,  0x1.c6af6cdbbdd3ap-5,
                               0x1.3b2a530454de3p-7, 0x1.5f0890162562dp-10, 0x1.4413896c32413p-13};
    LLVMValueRef magic = real(op, 0x1.8p23), shifted = BUILD(FAdd, x, magic);
    LLVMValueRef f = BUILD(FSub, x, BUILD(FSub, shifted, magic));
    LLVMValueRef m = muladd(op, f, POLYNOMIAL(op, f, c), real(op, 1));
    /* the integer lies in the lowest bits; at the ends of the range m is on the side that stays
     * normal, or is 1 */
    LLVMValueRef e = BUILD(Shl, jit_to_bits(op, shifted, 32), jit_int_const(op, 32, 23));
    LLVMValueRef r = jit_from_bits(op, BUILD(Add, jit_to_bits(op, m, 32), e), 32);
    return muladd(op, x, real(op, 0), r); /* NaN stays NaN */
}

/* Where the result is subnormal, the square of the half's; with .ftz zero. */
static bool fast_ex2(struct jit_op *op)
{
    LLVMValueRef x = where(op, LLVMRealOGT, op->a[0], 128, real(op, 128), op->a[0]), r, low;
    if (has_ftz(op)) {
        r = exp2_of(op, x);
        low = real(op, 0);
    } else {
        LLVMValueRef half = BUILD(FMul, x, real(op, 0.5));
        half = where(op, LLVMRealOLT, x, -160, real(op, -80), half);
        r = exp2_of(op, where(op, LLVMRealOLT, x, -126, half, x));
        low = BUILD(FMul, r, r);
    }
    op->d[0] = where(op, LLVMRealOLT, x, -126, low, r);
    op->is_number = true;
    return true;
}

/* ---- log2 ------------------------------------------------------------------------------------ */

/* Of a positive normal number 2^e * m with m from sqrt(1/2) on: by the area tangent, so that
 * nothing cancels near 1. */
static LLVMValueRef log2_of(struct jit_op *op, LLVMValueRef x, LLVMValueRef offset)
{
    static const double c[] = {0x1.7154764e713e8p+1, 0x1.ec70e633f4c2bp-1, 0x1.274701613531bp-1,
                               0x1.ba1f7b8ccef61p-2};
    LLVMValueRef bits = jit_to_bits(op, x, 32);
    LLVMValueRef least = jit_int_const(op, 32, 0x3f3504f3), field = jit_int_const(op, 32, 23);
    LLVMValueRef e = BUILD(AShr, BUILD(Sub, bits, least), field);
    LLVMValueRef m = jit_from_bits(op, BUILD(Sub, bits, BUILD(Shl, e, field)), 32);
    LLVMValueRef s = BUILD(FDiv, BUILD(FSub, m, real(op, 1)), BUILD(FAdd, m, real(op, 1)));
    LLVMValueRef whole = BUILD(FAdd, BUILD(SIToFP, e, jit_floats(op, 32)), offset);
    return muladd(op, s, POLYNOMIAL(op, BUILD(FMul, s, s), c), whole);
}

static bool fast_lg2(struct jit_op *op)
{
    LLVMValueRef x = source(op, 0), zero = real(op, 0);
    LLVMValueRef is_small = BUILD(FCmp, LLVMRealOLT, x, real(op, 0x1p-126));
    LLVMValueRef normal = BUILD(Select, is_small, BUILD(FMul, x, real(op, 0x1p24)), x);
    LLVMValueRef r = log2_of(op, normal, BUILD(Select, is_small, real(op, -24), zero));
    LLVMValueRef infinity = BUILD(FDiv, real(op, 1), zero), nan = BUILD(FDiv, zero, zero);
    r = BUILD(Select, BUILD(FCmp, LLVMRealOLT, x, infinity), r, x); /* infinity and NaN */
    r = where(op, LLVMRealOLT, x, 0, nan, r);
    return give(op, where(op, LLVMRealOEQ, x, 0, BUILD(FNeg, infinity), r));
}

/* ---- angles ---------------------------------------------------------------------------------- */

/* x in turns, less the nearest whole number; -0 stays. */
static LLVMValueRef turn(struct jit_op *op)
{
    LLVMValueRef t = BUILD(FMul, source(op, 0), real(op, 0x1.45f306dc9c883p-3));
    LLVMValueRef rest = BUILD(FSub, t, jit_unary(op, "llvm.rint", t));
    return where(op, LLVMRealOLT, absolute(op, t), 0.5, t, rest);
}

/* The sine of y turns, |y| <= 1/4. */
static LLVMValueRef sine_of(struct jit_op *op, LLVMValueRef y)
{
    static const double c[] = {0x1.921fb5273e318p+2, -0x1.4abbc30ba0012p+5, 0x1.4668ef90b4999p+6,
                               -0x1.32531eebf29d1p+6, 0x1.3e1420391f578p+5};
    return BUILD(FMul, y, POLYNOMIAL(op, BUILD(FMul, y, y), c));
}

static bool fast_sin(struct jit_op *op)
{
    LLVMValueRef t = turn(op), a = absolute(op, t);
    LLVMValueRef y = where(op, LLVMRealOGT, a, 0.25, BUILD(FSub, real(op, 0.5), a), a);
    return give(op, sine_of(op, copy_sign(op, y, t)));
}

static bool fast_cos(struct jit_op *op)
{
    return give(op, sine_of(op, BUILD(FSub, real(op, 0.25), absolute(op, turn(op)))));
}

/* ---- tanh ------------------------------------------------------------------------------------ */

/* (1 - e) / (1 + e) with e = exp(-2|x|), where that does not cancel. */
static bool fast_tanh(struct jit_op *op)
{
    /* (tanh(x) / x - 1) / x^2 by x^2, |x| <= 0.6 */
    static const double c[] = {-0x1.55555351d589fp-2, 0x1.110ee014ef76bp-3, -0x1.b955dc0d84d1fp-5,
                               0x1.59e1c7af582a9p-6, -0x1.9ada603563e35p-8};
    LLVMValueRef x = op->a[0], a = absolute(op, x), square = BUILD(FMul, a, a);
    LLVMValueRef low = muladd(op, BUILD(FMul, a, square), POLYNOMIAL(op, square, c), a);
    LLVMValueRef limited = where(op, LLVMRealOGT, a, 16, real(op, 16), a);
    LLVMValueRef e = exp2_of(op, BUILD(FMul, limited, real(op, -0x1.71547652b82fep+1)));
    LLVMValueRef one = real(op, 1);
    LLVMValueRef high = BUILD(FDiv, BUILD(FSub, one, e), BUILD(FAdd, one, e));
    op->d[0] = copy_sign(op, where(op, LLVMRealOLT, a, 0.6, low, high), x);
    op->is_number = true;
    return true;
}

/* ---- the hook -------------------------------------------------------------------------------- */

jit_emitter *jit_fast_math_emitter(const struct jit_unit *u, const struct pt_form *form)
{
    static jit_emitter *const emitters[PT_OP_COUNT] = {
        [PT_OP_rcp_approx] = fast_rcp,   [PT_OP_rsqrt_approx] = fast_rsqrt,
        [PT_OP_sqrt_approx] = fast_sqrt, [PT_OP_div_approx] = fast_div,
        [PT_OP_ex2_approx] = fast_ex2,   [PT_OP_lg2_approx] = fast_lg2,
        [PT_OP_sin_approx] = fast_sin,   [PT_OP_cos_approx] = fast_cos,
        [PT_OP_tanh_approx] = fast_tanh,
    };
    return u->options->math_fast ? emitters[form->op] : NULL;
}
