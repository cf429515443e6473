/* Emitters of integer arithmetic (PTX ISA 9.7.1). */
#include "backend/jit/emit/emit.h"
#include "backend/jit/emit/helpers.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/check.h"
#include "backend/jit/llvm/cpu.h"

static bool give(struct jit_op *op, LLVMValueRef value)
{
    op->d[0] = value;
    return true;
}

/* ---- sums and products ----------------------------------------------------------------------- */

bool jit_emit_add(struct jit_op *op)
{
    return give(op, BUILD(Add, op->a[0], op->a[1]));
}

bool jit_emit_sub(struct jit_op *op)
{
    return give(op, BUILD(Sub, op->a[0], op->a[1]));
}

bool jit_emit_add_sat(struct jit_op *op)
{
    return give(op, jit_binary(op, "llvm.sadd.sat", op->a[0], op->a[1]));
}

bool jit_emit_sub_sat(struct jit_op *op)
{
    return give(op, jit_binary(op, "llvm.ssub.sat", op->a[0], op->a[1]));
}

/* The product in twice the width. */
static LLVMValueRef wide_product(struct jit_op *op)
{
    unsigned bits = 2 * jit_form_bits(op, 0);
    bool is_signed = jit_form_signed(op, 0);
    return BUILD(Mul, jit_extend(op, op->a[0], bits, is_signed),
                 jit_extend(op, op->a[1], bits, is_signed));
}

/* Every other lane of 32 bits, from `first` on, in 64. */
static LLVMValueRef every_other(struct jit_op *op, LLVMValueRef value, unsigned first)
{
    LLVMTypeRef type = jit_int_type(op->j, 64, op->lanes / 2);
    LLVMValueRef half = jit_const(type, 32), pairs = BUILD(BitCast, value, type);
    pairs = first ? pairs : BUILD(Shl, pairs, half);
    return jit_form_signed(op, 0) ? BUILD(AShr, pairs, half) : BUILD(LShr, pairs, half);
}

/* The upper halves of products of 32 bits where the machine multiplies every other lane. */
static LLVMValueRef high_product_of_pairs(struct jit_op *op)
{
    LLVMValueRef product[2];
    int lanes[PT_WARP_SIZE];
    for (unsigned i = 0; i < 2; i++)
        product[i] =
            BUILD(BitCast, BUILD(Mul, every_other(op, op->a[0], i), every_other(op, op->a[1], i)),
                  jit_ints(op, 32));
    for (unsigned i = 0; i < op->lanes; i++)
        lanes[i] = (int)(i % 2 ? op->lanes + i : i + 1);
    return jit_shuffle(op->j, product[0], product[1], lanes, op->lanes);
}

static LLVMValueRef high_product(struct jit_op *op)
{
    unsigned bits = jit_form_bits(op, 0);
    if (bits == 32 && op->lanes > 1 && op->j->unit->cpu->multiplies_every_other)
        return high_product_of_pairs(op);
    LLVMValueRef product = wide_product(op);
    return jit_resize(op, BUILD(LShr, product, jit_int_const(op, 2 * bits, bits)), bits, false);
}

bool jit_emit_mul_lo(struct jit_op *op)
{
    return give(op, BUILD(Mul, op->a[0], op->a[1]));
}

bool jit_emit_mul_hi(struct jit_op *op)
{
    return give(op, high_product(op));
}

bool jit_emit_mul_wide(struct jit_op *op)
{
    return give(op, wide_product(op));
}

bool jit_emit_mad_lo(struct jit_op *op)
{
    return give(op, BUILD(Add, BUILD(Mul, op->a[0], op->a[1]), op->a[2]));
}

bool jit_emit_mad_hi(struct jit_op *op)
{
    return give(op, BUILD(Add, high_product(op), op->a[2]));
}

bool jit_emit_mad_hi_sat(struct jit_op *op)
{
    return give(op, jit_binary(op, "llvm.sadd.sat", high_product(op), op->a[2]));
}

bool jit_emit_mad_wide(struct jit_op *op)
{
    return give(op, BUILD(Add, wide_product(op), op->a[2]));
}

/* ---- 24 bits --------------------------------------------------------------------------------- */

static LLVMValueRef low24(struct jit_op *op, LLVMValueRef value)
{
    LLVMValueRef eight = jit_int_const(op, 32, 8);
    value = BUILD(Shl, value, eight);
    return jit_form_signed(op, 0) ? BUILD(AShr, value, eight) : BUILD(LShr, value, eight);
}

static LLVMValueRef product24(struct jit_op *op)
{
    LLVMValueRef a = low24(op, op->a[0]), b = low24(op, op->a[1]);
    bool is_signed = jit_form_signed(op, 0);
    if (jit_has(op, PT_M_lo))
        return BUILD(Mul, a, b);
    LLVMValueRef wide =
        BUILD(Mul, jit_extend(op, a, 64, is_signed), jit_extend(op, b, 64, is_signed));
    return jit_resize(op, BUILD(LShr, wide, jit_int_const(op, 64, 16)), 32, false);
}

bool jit_emit_mul24(struct jit_op *op)
{
    return give(op, product24(op));
}

bool jit_emit_mad24(struct jit_op *op)
{
    return give(op, BUILD(Add, product24(op), op->a[2]));
}

/* ---- one of two ------------------------------------------------------------------------------ */

static LLVMValueRef is_greater(struct jit_op *op, LLVMValueRef a, LLVMValueRef b, bool is_signed)
{
    return BUILD(ICmp, is_signed ? LLVMIntSGT : LLVMIntUGT, a, b);
}

bool jit_emit_sad(struct jit_op *op)
{
    LLVMValueRef a = op->a[0], b = op->a[1];
    LLVMValueRef more = BUILD(Sub, a, b), less = BUILD(Sub, b, a);
    LLVMValueRef distance = BUILD(Select, is_greater(op, a, b, jit_form_signed(op, 0)), more, less);
    return give(op, BUILD(Add, op->a[2], distance));
}

bool jit_emit_neg_int(struct jit_op *op)
{
    return give(op, BUILD(Neg, op->a[0]));
}

bool jit_emit_abs_int(struct jit_op *op)
{
    LLVMValueRef zero = jit_int_const(op, jit_form_bits(op, 0), 0);
    LLVMValueRef is_negative = BUILD(ICmp, LLVMIntSLT, op->a[0], zero);
    return give(op, BUILD(Select, is_negative, BUILD(Neg, op->a[0]), op->a[0]));
}

/* ---- packed pairs: twice as many lanes of half the width ------------------------------------- */

static bool is_pair(const struct jit_op *op)
{
    return jit_form_type(op, 0) == PT_u16x2 || jit_form_type(op, 0) == PT_s16x2;
}

static LLVMValueRef halves(struct jit_op *op, LLVMValueRef value)
{
    return BUILD(BitCast, value, jit_int_type(op->j, 16, 2 * op->lanes));
}

static LLVMValueRef pairs(struct jit_op *op, LLVMValueRef value)
{
    return BUILD(BitCast, value, jit_ints(op, 32));
}

bool jit_emit_add_x2(struct jit_op *op)
{
    return give(op, pairs(op, BUILD(Add, halves(op, op->a[0]), halves(op, op->a[1]))));
}

static bool pick(struct jit_op *op, const char *for_signed, const char *for_unsigned)
{
    bool is_signed = jit_form_signed(op, 0) || jit_form_type(op, 0) == PT_s16x2;
    LLVMValueRef a = op->a[0], b = op->a[1];
    if (is_pair(op)) {
        a = halves(op, a);
        b = halves(op, b);
    }
    LLVMValueRef picked = jit_binary(op, is_signed ? for_signed : for_unsigned, a, b);
    if (jit_has(op, PT_M_relu))
        picked = jit_binary(op, "llvm.smax", picked, LLVMConstNull(LLVMTypeOf(picked)));
    return give(op, is_pair(op) ? pairs(op, picked) : picked);
}

bool jit_emit_min_int(struct jit_op *op)
{
    return pick(op, "llvm.smin", "llvm.umin");
}

bool jit_emit_max_int(struct jit_op *op)
{
    return pick(op, "llvm.smax", "llvm.umax");
}

/* ---- division -------------------------------------------------------------------------------- */

/* Neither 0 nor -1, as far as the divide instructions care. */
static bool is_plain_divisor(LLVMValueRef b, unsigned bits, bool is_signed)
{
    uint64_t value;
    return jit_is_const(b, &value) && value && !(is_signed && value == UINT64_MAX >> (64 - bits));
}

/* By b, which is neither 0 nor (signed) -1, as in all that follows. */
static LLVMValueRef divide(struct jit_op *op, LLVMValueRef a, LLVMValueRef b, bool is_signed)
{
    return jit_check_proven(op->j->code, is_signed ? BUILD(SDiv, a, b) : BUILD(UDiv, a, b),
                            "divisor");
}

/* Quotients of up to 32 bits, truncated from quotients of floating-point values with more than
 * twice the bits minus the quotient's: the distance to the next integer is at least 1 / b, and the
 * error less. They are no larger than a, so fit in its type. */
static LLVMValueRef divide_real(struct jit_op *op, LLVMValueRef a, LLVMValueRef b, bool is_signed)
{
    unsigned bits = jit_form_bits(op, 0);
    LLVMTypeRef real = jit_floats(op, 2 * bits), integer = jit_ints(op, bits);
    if (!is_signed) {
        LLVMValueRef q = BUILD(FDiv, BUILD(UIToFP, a, real), BUILD(UIToFP, b, real));
        return jit_check_proven(op->j->code, BUILD(FPToUI, q, integer), "range");
    }
    LLVMValueRef q = BUILD(FDiv, BUILD(SIToFP, a, real), BUILD(SIToFP, b, real));
    return jit_check_proven(op->j->code, BUILD(FPToSI, q, integer), "range");
}

/* Machines have no vectors of division. */
static LLVMValueRef quotient(struct jit_op *op, LLVMValueRef b, bool is_signed)
{
    bool is_slow = op->lanes > 1 && jit_form_bits(op, 0) < 64 && !LLVMIsConstant(b);
    return is_slow ? divide_real(op, op->a[0], b, is_signed) : divide(op, op->a[0], b, is_signed);
}

static LLVMValueRef equals(struct jit_op *op, LLVMValueRef a, uint64_t value)
{
    return BUILD(ICmp, LLVMIntEQ, a, jit_int_const(op, jit_form_bits(op, 0), value));
}

/* By 0: all ones. */
static bool emit_division(struct jit_op *op, bool is_rem)
{
    unsigned bits = jit_form_bits(op, 0);
    bool is_signed = jit_form_signed(op, 0);
    LLVMValueRef a = op->a[0], b = op->a[1], one = jit_int_const(op, bits, 1);
    bool is_plain = is_plain_divisor(b, bits, is_signed);
    LLVMValueRef is_zero = equals(op, b, 0), is_minus = equals(op, b, UINT64_MAX);
    LLVMValueRef is_bad = is_signed ? BUILD(Or, is_zero, is_minus) : is_zero;
    LLVMValueRef by = is_plain ? b : BUILD(Select, is_bad, one, b);
    LLVMValueRef d = quotient(op, by, is_signed);
    if (is_rem)
        d = BUILD(Sub, a, BUILD(Mul, d, by));
    if (is_plain)
        return give(op, d);
    if (is_signed && !is_rem) /* the remainder by 1 is that by -1 */
        d = BUILD(Select, is_minus, BUILD(Neg, a), d);
    return give(op, BUILD(Select, is_zero, jit_int_const(op, bits, UINT64_MAX), d));
}

bool jit_emit_div_int(struct jit_op *op)
{
    return emit_division(op, false);
}

bool jit_emit_rem_int(struct jit_op *op)
{
    return emit_division(op, true);
}

/* ---- dot products ---------------------------------------------------------------------------- */

/* `bits` of value from bit `at`, extended to 32. */
static LLVMValueRef part(struct jit_op *op, LLVMValueRef value, unsigned at, unsigned bits,
                         bool is_signed)
{
    value = BUILD(Shl, value, jit_int_const(op, 32, 32 - bits - at));
    LLVMValueRef n = jit_int_const(op, 32, 32 - bits);
    return is_signed ? BUILD(AShr, value, n) : BUILD(LShr, value, n);
}

/* c plus the products of `n` parts of a and bytes of b from byte `first` on. */
static bool emit_dot(struct jit_op *op, unsigned n, unsigned bits, unsigned first)
{
    LLVMValueRef sum = op->a[2];
    for (unsigned i = 0; i < n; i++) {
        LLVMValueRef a = part(op, op->a[0], bits * i, bits, jit_form_signed(op, 0));
        LLVMValueRef b = part(op, op->a[1], 8 * (first + i), 8, jit_form_signed(op, 1));
        sum = BUILD(Add, sum, BUILD(Mul, a, b));
    }
    return give(op, sum);
}

bool jit_emit_dp4a(struct jit_op *op)
{
    return emit_dot(op, 4, 8, 0);
}

bool jit_emit_dp2a(struct jit_op *op)
{
    return emit_dot(op, 2, 16, jit_has(op, PT_M_hi) ? 2 : 0);
}

/* ---- counts ---------------------------------------------------------------------------------- */

bool jit_emit_popc(struct jit_op *op)
{
    return give(op, jit_resize(op, jit_unary(op, "llvm.ctpop", op->a[0]), 32, false));
}

static LLVMValueRef leading_zeros(struct jit_op *op, LLVMValueRef value)
{
    LLVMValueRef args[] = {value,
                           LLVMConstInt(LLVMInt1TypeInContext(op->j->code->context), 0, false)};
    return jit_resize(op, jit_intrinsic(op->j, "llvm.ctlz", LLVMTypeOf(value), args, 2), 32, false);
}

bool jit_emit_clz(struct jit_op *op)
{
    return give(op, leading_zeros(op, op->a[0]));
}

bool jit_emit_brev(struct jit_op *op)
{
    return give(op, jit_unary(op, "llvm.bitreverse", op->a[0]));
}

bool jit_emit_bfind(struct jit_op *op)
{
    unsigned bits = jit_form_bits(op, 0);
    LLVMValueRef value = op->a[0];
    if (jit_form_signed(op, 0))
        value = BUILD(Xor, value, BUILD(AShr, value, jit_int_const(op, bits, bits - 1)));
    LLVMValueRef n = leading_zeros(op, value);
    if (!jit_has(op, PT_M_shiftamt))
        n = BUILD(Sub, jit_int_const(op, 32, bits - 1), n);
    LLVMValueRef is_none = BUILD(ICmp, LLVMIntEQ, value, jit_int_const(op, bits, 0));
    return give(op, BUILD(Select, is_none, jit_int_const(op, 32, UINT32_MAX), n));
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* The low n bits, n being 32 bits wide and any number. */
static LLVMValueRef low_ones(struct jit_op *op, LLVMValueRef n, unsigned bits)
{
    return BUILD(Not, jit_shift(op, jit_int_const(op, bits, UINT64_MAX), n, bits, true));
}

/* A position or length: the 32-bit forms read its low byte. */
static LLVMValueRef field_count(struct jit_op *op, LLVMValueRef n, unsigned bits)
{
    return bits == 32 ? BUILD(And, n, jit_int_const(op, 32, 255)) : n;
}

/* Bit `pos + len - 1` of the source, or its top bit where that is beyond: all ones or zeros; zeros
 * for no length. */
static LLVMValueRef field_sign(struct jit_op *op, LLVMValueRef pos, LLVMValueRef len, unsigned bits)
{
    LLVMValueRef top = jit_int_const(op, 32, bits - 1), one = jit_int_const(op, 32, 1);
    LLVMValueRef at = BUILD(Sub, BUILD(Add, pos, len), one);
    /* Either alone may be beyond, and their sum may wrap. */
    LLVMValueRef is_beyond =
        BUILD(Or, BUILD(ICmp, LLVMIntUGT, pos, top), BUILD(ICmp, LLVMIntUGT, len, top));
    at = BUILD(Select, is_beyond, top, jit_min_const(op, at, 32, bits - 1));
    LLVMValueRef left = jit_resize(op, BUILD(Sub, top, at), bits, false); /* at <= top */
    LLVMValueRef high = jit_check_proven(op->j->code, BUILD(Shl, op->a[0], left), "amount");
    LLVMValueRef sign = BUILD(AShr, high, jit_int_const(op, bits, bits - 1));
    LLVMValueRef is_empty = BUILD(ICmp, LLVMIntEQ, len, jit_int_const(op, 32, 0));
    return BUILD(Select, is_empty, jit_int_const(op, bits, 0), sign);
}

bool jit_emit_bfe(struct jit_op *op)
{
    unsigned bits = jit_form_bits(op, 0);
    LLVMValueRef pos = field_count(op, op->a[1], bits), len = field_count(op, op->a[2], bits);
    LLVMValueRef keep = low_ones(op, len, bits);
    LLVMValueRef field = BUILD(And, jit_shift(op, op->a[0], pos, bits, false), keep);
    if (!jit_form_signed(op, 0))
        return give(op, field);
    keep = BUILD(And, keep, jit_shift(op, jit_int_const(op, bits, UINT64_MAX), pos, bits, false));
    LLVMValueRef fill = BUILD(And, field_sign(op, pos, len, bits), BUILD(Not, keep));
    return give(op, BUILD(Or, field, fill));
}

bool jit_emit_bfi(struct jit_op *op)
{
    unsigned bits = jit_form_bits(op, 0);
    LLVMValueRef pos = field_count(op, op->a[2], bits), len = field_count(op, op->a[3], bits);
    LLVMValueRef mask = jit_shift(op, low_ones(op, len, bits), pos, bits, true);
    LLVMValueRef field = BUILD(And, jit_shift(op, op->a[0], pos, bits, true), mask);
    return give(op, BUILD(Or, field, BUILD(And, op->a[1], BUILD(Not, mask))));
}

static LLVMValueRef wrapped(struct jit_op *op, LLVMValueRef n)
{
    return jit_has(op, PT_M_wrap) ? BUILD(And, n, jit_int_const(op, 32, 31)) : n;
}

bool jit_emit_bmsk(struct jit_op *op)
{
    LLVMValueRef ones = low_ones(op, wrapped(op, op->a[1]), 32);
    return give(op, jit_shift(op, ones, wrapped(op, op->a[0]), 32, true));
}

bool jit_emit_szext(struct jit_op *op)
{
    LLVMValueRef n = wrapped(op, op->a[1]), keep = low_ones(op, n, 32);
    LLVMValueRef d = BUILD(And, op->a[0], keep), zero = jit_int_const(op, 32, 0);
    if (!jit_form_signed(op, 0))
        return give(op, d);
    LLVMValueRef fill = BUILD(And, field_sign(op, zero, n, 32), BUILD(Not, keep));
    return give(op, BUILD(Or, d, fill));
}
