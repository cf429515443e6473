/* Emitters of f32 and f64 arithmetic to nearest (PTX ISA 9.7.3), of f32 in the other modes where
 * instructions carry them. Approximate functions have none. */
#include <math.h>

#include "backend/jit/emit/emit.h"
#include "backend/jit/emit/helpers.h"
#include "backend/jit/emit/nan_order.h"
#include "backend/jit/emit/parts.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/cpu.h"

/* ---- f32 ------------------------------------------------------------------------------------- */

/* .ftz, which targets before sm_20 have without it (PTX ISA 9.7.3). */
static bool has_ftz(const struct jit_op *op)
{
    return jit_has(op, PT_M_ftz) || op->j->unit->m->sm < 20;
}

static LLVMValueRef source(struct jit_op *op, unsigned i)
{
    return has_ftz(op) ? jit_flush(op->j, op->a[i]) : op->a[i];
}

/* .sat has no NaN left. */
static bool give_f32(struct jit_op *op, LLVMValueRef value)
{
    bool is_saturated = jit_has(op, PT_M_sat);
    op->d[0] = is_saturated ? jit_saturate(op, value) : value;
    op->is_number = !is_saturated;
    return true;
}

static LLVMValueRef real(struct jit_op *op, double value)
{
    return jit_const_real(jit_floats(op, 32), value);
}

/* With .ftz a result is zero if it is tiny *before* it loses bits to a small exponent: the same
 * operation on operands scaled by 2^64 tells, as it rounds to 24 bits. */
static LLVMValueRef flush_tiny(struct jit_op *op, LLVMValueRef value, LLVMValueRef scaled)
{
    LLVMValueRef magnitude = jit_unary(op, "llvm.fabs", scaled);
    LLVMValueRef is_tiny = BUILD(FCmp, LLVMRealOLT, magnitude, real(op, 0x1p-62));
    LLVMValueRef bits = jit_to_bits(op, value, 32);
    LLVMValueRef sign = BUILD(And, bits, jit_int_const(op, 32, 0x80000000));
    return jit_from_bits(op, BUILD(Select, is_tiny, sign, bits), 32);
}

/* Sums of f32 lose nothing to small exponents. */
static bool give_sum(struct jit_op *op, LLVMValueRef sum)
{
    return give_f32(op, has_ftz(op) ? jit_flush(op->j, sum) : sum);
}

/* An operation of AVX-512 that rounds as the form says: "add.ps". */
static LLVMValueRef round_as_told(struct jit_op *op, const char *name, LLVMValueRef *args,
                                  unsigned n)
{
    enum jit_rounding mode = jit_has(op, PT_M_rm)   ? JIT_DOWN
                             : jit_has(op, PT_M_rp) ? JIT_UP
                                                    : JIT_TO_ZERO;
    return jit_parts_round(op, name, mode, args, n);
}

/* True if the form's rounding is what instructions do here. */
static bool can_round(const struct jit_op *op)
{
    return jit_is_rn(op) || (jit_rounds_itself(op->j->unit, op->form) && jit_parts_fill(op, 32));
}

static LLVMValueRef binary(struct jit_op *op, LLVMOpcode opcode, const char *name, LLVMValueRef a,
                           LLVMValueRef b)
{
    LLVMValueRef args[] = {a, b};
    return jit_is_rn(op) ? BUILD(BinOp, opcode, a, b) : round_as_told(op, name, args, 2);
}

static LLVMValueRef add(struct jit_op *op, LLVMValueRef a, LLVMValueRef b)
{
    return binary(op, LLVMFAdd, "add.ps", a, b);
}

static LLVMValueRef subtract(struct jit_op *op, LLVMValueRef a, LLVMValueRef b)
{
    return binary(op, LLVMFSub, "sub.ps", a, b);
}

static LLVMValueRef multiply(struct jit_op *op, LLVMValueRef a, LLVMValueRef b)
{
    return binary(op, LLVMFMul, "mul.ps", a, b);
}

static LLVMValueRef divide(struct jit_op *op, LLVMValueRef a, LLVMValueRef b)
{
    return binary(op, LLVMFDiv, "div.ps", a, b);
}

bool jit_emit_add_f32(struct jit_op *op)
{
    return can_round(op) && give_sum(op, add(op, source(op, 0), source(op, 1)));
}

bool jit_emit_sub_f32(struct jit_op *op)
{
    return can_round(op) && give_sum(op, subtract(op, source(op, 0), source(op, 1)));
}

/* An operand with 2^64 times its value. */
static LLVMValueRef scale(struct jit_op *op, LLVMValueRef value)
{
    return BUILD(FMul, value, real(op, 0x1p64));
}

bool jit_emit_mul_f32(struct jit_op *op)
{
    if (!can_round(op))
        return false;
    LLVMValueRef a = source(op, 0), b = source(op, 1), d = multiply(op, a, b);
    if (has_ftz(op))
        d = flush_tiny(op, d, multiply(op, scale(op, a), b));
    return give_f32(op, d);
}

static LLVMValueRef fused(struct jit_op *op, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c)
{
    LLVMValueRef args[] = {a, b, c};
    if (!jit_is_rn(op))
        return round_as_told(op, "vfmadd.ps", args, 3);
    return jit_intrinsic(op->j, "llvm.fma", LLVMTypeOf(a), args, 3);
}

bool jit_emit_fma_f32(struct jit_op *op)
{
    if (!can_round(op) || !op->j->unit->cpu->has_fma)
        return false;
    LLVMValueRef a = source(op, 0), b = source(op, 1), c = source(op, 2);
    LLVMValueRef d = fused(op, a, b, c);
    if (has_ftz(op))
        d = flush_tiny(op, d, fused(op, scale(op, a), b, scale(op, c)));
    return give_f32(op, d);
}

static bool divide_f32(struct jit_op *op, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef d = divide(op, a, b);
    if (has_ftz(op))
        d = flush_tiny(op, d, divide(op, scale(op, a), b));
    return give_f32(op, d);
}

bool jit_emit_div_f32(struct jit_op *op)
{
    return can_round(op) && divide_f32(op, source(op, 0), source(op, 1));
}

bool jit_emit_rcp_f32(struct jit_op *op)
{
    return can_round(op) && divide_f32(op, real(op, 1), source(op, 0));
}

/* The fence: LLVM 22 knows that the root of a negative number is NaN, and takes any NaN for as good
 * as the canonical one. */
static LLVMValueRef root_f32(struct jit_op *op, LLVMValueRef a)
{
    return jit_unary(op, "llvm.arithmetic.fence", jit_unary(op, "llvm.sqrt", a));
}

bool jit_emit_sqrt_f32(struct jit_op *op)
{
    if (!can_round(op))
        return false;
    LLVMValueRef a = source(op, 0);
    return give_f32(op, jit_is_rn(op) ? root_f32(op, a) : round_as_told(op, "sqrt.ps", &a, 1));
}

bool jit_emit_abs_f32(struct jit_op *op)
{
    return give_f32(op, jit_unary(op, "llvm.fabs", source(op, 0)));
}

bool jit_emit_neg_f32(struct jit_op *op)
{
    return give_f32(op, BUILD(FNeg, source(op, 0)));
}

/* ---- min, max: -0 below +0; one NaN gives the other operand ---------------------------------- */

/* The bits decide between zeros, and do nothing to other equal values: the or of two has the sign
 * of one of them, the and that of both. */
static LLVMValueRef pick_number(struct jit_op *op, LLVMValueRef a, LLVMValueRef b, unsigned bits,
                                bool larger)
{
    LLVMValueRef x = jit_to_bits(op, a, bits), y = jit_to_bits(op, b, bits);
    LLVMValueRef is_first = BUILD(FCmp, larger ? LLVMRealOGT : LLVMRealOLT, a, b);
    LLVMValueRef same = jit_from_bits(op, larger ? BUILD(And, x, y) : BUILD(Or, x, y), bits);
    LLVMValueRef d = BUILD(Select, is_first, a, b);
    d = BUILD(Select, BUILD(FCmp, LLVMRealOEQ, a, b), same, d);
    return BUILD(Select, jit_is_nan(op, b), a, d);
}

/* A constant that is a number no other value equals but itself, or the zero that is picked before
 * the other one. */
static bool is_plain_constant(LLVMValueRef value, bool larger)
{
    double number;
    return jit_is_const_real(value, &number) && (isnormal((float)number) || isinf(number) ||
                                                 (number == 0 && !signbit(number) == larger));
}

/* One comparison tells. */
static LLVMValueRef pick_constant(struct jit_op *op, LLVMValueRef a, LLVMValueRef constant,
                                  bool larger)
{
    LLVMValueRef is_first = BUILD(FCmp, larger ? LLVMRealOGT : LLVMRealOLT, a, constant);
    return BUILD(Select, is_first, a, constant);
}

static LLVMValueRef quiet_source(struct jit_op *op, unsigned i, LLVMValueRef value)
{
    return op->quiet[i] ? value : jit_parts_quiet(op, value);
}

static LLVMValueRef pick_number_f32(struct jit_op *op, LLVMValueRef a, LLVMValueRef b, bool larger)
{
    if (is_plain_constant(b, larger))
        return pick_constant(op, a, b, larger);
    if (is_plain_constant(a, larger))
        return pick_constant(op, b, a, larger);
    if (!op->j->unit->cpu->has_fixup || !jit_parts_fill(op, 32))
        return pick_number(op, a, b, 32, larger);
    return jit_parts_pick(op, quiet_source(op, 0, a), quiet_source(op, 1, b), larger);
}

static LLVMValueRef with_sign(struct jit_op *op, LLVMValueRef value, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef signs = BUILD(Xor, jit_to_bits(op, a, 32), jit_to_bits(op, b, 32));
    signs = BUILD(And, signs, jit_int_const(op, 32, 0x80000000));
    return jit_from_bits(op, BUILD(Or, jit_to_bits(op, value, 32), signs), 32);
}

static bool pick_f32(struct jit_op *op, bool larger)
{
    LLVMValueRef a = source(op, 0), b = source(op, 1);
    bool is_xorsign = jit_has(op, PT_M_xorsign);
    if (is_xorsign) {
        a = jit_unary(op, "llvm.fabs", a);
        b = jit_unary(op, "llvm.fabs", b);
    }
    LLVMValueRef d =
        is_xorsign ? pick_number(op, a, b, 32, larger) : pick_number_f32(op, a, b, larger);
    if (jit_has(op, PT_M_NaN)) /* a NaN in b has given a; one in a has given b */
        d = BUILD(Select, BUILD(FCmp, LLVMRealUNO, a, b), BUILD(FAdd, a, b), d);
    return give_f32(op, is_xorsign ? with_sign(op, d, op->a[0], op->a[1]) : d);
}

bool jit_emit_min_f32(struct jit_op *op)
{
    return pick_f32(op, false);
}

bool jit_emit_max_f32(struct jit_op *op)
{
    return pick_f32(op, true);
}

bool jit_emit_copysign(struct jit_op *op)
{
    unsigned bits = jit_form_bits(op, 0);
    LLVMValueRef sign = jit_int_const(op, bits, UINT64_C(1) << (bits - 1));
    LLVMValueRef a = BUILD(And, jit_to_bits(op, op->a[0], bits), sign);
    LLVMValueRef b = BUILD(And, jit_to_bits(op, op->a[1], bits), BUILD(Not, sign));
    op->d[0] = jit_from_bits(op, BUILD(Or, a, b), bits);
    return true;
}

/* ---- f64: a NaN result is a NaN operand made quiet, else the default one --------------------- */

static LLVMValueRef quiet(struct jit_op *op, LLVMValueRef value)
{
    LLVMValueRef bits =
        BUILD(Or, jit_to_bits(op, value, 64), jit_int_const(op, 64, 0x0008000000000000));
    return jit_from_bits(op, bits, 64);
}

static bool give(struct jit_op *op, LLVMValueRef value)
{
    op->d[0] = value;
    return true;
}

/* `value`, or the NaN that it should be: of the first NaN among the n operands, which come in the
 * order of a GPU. */
static bool give_f64(struct jit_op *op, LLVMValueRef value, LLVMValueRef *operands, unsigned n)
{
    LLVMValueRef nan = jit_from_bits(op, jit_int_const(op, 64, 0xfff8000000000000), 64);
    while (n-- > 0)
        nan = BUILD(Select, jit_is_nan(op, operands[n]), operands[n], nan);
    return give(op, BUILD(Select, jit_is_nan(op, value), quiet(op, nan), value));
}

static bool second_first(struct jit_op *op, LLVMValueRef value)
{
    LLVMValueRef operands[] = {op->a[1], op->a[0]};
    return give_f64(op, value, operands, 2);
}

/* The machine has such NaNs by itself. */
static bool has_order(const struct jit_op *op)
{
    return op->j->unit->cpu->has_first_nan;
}

bool jit_emit_add_f64(struct jit_op *op)
{
    if (!jit_is_rn(op))
        return false;
    return has_order(op) ? give(op, jit_nan_order_add(op, op->a[1], op->a[0]))
                         : second_first(op, BUILD(FAdd, op->a[0], op->a[1]));
}

bool jit_emit_sub_f64(struct jit_op *op)
{
    if (!jit_is_rn(op))
        return false;
    return has_order(op) ? give(op, jit_nan_order_subtract(op, op->a[0], op->a[1]))
                         : second_first(op, BUILD(FSub, op->a[0], op->a[1]));
}

bool jit_emit_mul_f64(struct jit_op *op)
{
    if (!jit_is_rn(op))
        return false;
    return has_order(op) ? give(op, jit_nan_order_multiply(op, op->a[1], op->a[0]))
                         : second_first(op, BUILD(FMul, op->a[0], op->a[1]));
}

bool jit_emit_fma_f64(struct jit_op *op)
{
    if (!jit_is_rn(op) || !op->j->unit->cpu->has_fma)
        return false;
    if (has_order(op))
        return give(op, jit_nan_order_fuse(op, op->a[1], op->a[0], op->a[2]));
    LLVMValueRef operands[] = {op->a[1], op->a[2], op->a[0]};
    return give_f64(op, fused(op, op->a[0], op->a[1], op->a[2]), operands, 3);
}

static bool divide_f64(struct jit_op *op, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef operands[] = {a, b};
    if (!jit_is_rn(op))
        return false;
    return has_order(op) ? give(op, jit_nan_order_divide(op, a, b))
                         : give_f64(op, BUILD(FDiv, a, b), operands, 2);
}

bool jit_emit_div_f64(struct jit_op *op)
{
    return divide_f64(op, op->a[0], op->a[1]);
}

bool jit_emit_rcp_f64(struct jit_op *op)
{
    return divide_f64(op, jit_const_real(jit_floats(op, 64), 1), op->a[0]);
}

bool jit_emit_sqrt_f64(struct jit_op *op)
{
    if (!jit_is_rn(op))
        return false;
    return has_order(op) ? give(op, jit_nan_order_root(op, op->a[0]))
                         : give_f64(op, jit_unary(op, "llvm.sqrt", op->a[0]), op->a, 1);
}

/* The sign of a NaN stays. */
static bool give_signed(struct jit_op *op, LLVMValueRef value)
{
    return give(op, BUILD(Select, jit_is_nan(op, op->a[0]), quiet(op, op->a[0]), value));
}

bool jit_emit_abs_f64(struct jit_op *op)
{
    return has_order(op) ? give(op, jit_nan_order_abs(op, op->a[0]))
                         : give_signed(op, jit_unary(op, "llvm.fabs", op->a[0]));
}

bool jit_emit_neg_f64(struct jit_op *op)
{
    return has_order(op) ? give(op, jit_nan_order_negate(op, op->a[0]))
                         : give_signed(op, BUILD(FNeg, op->a[0]));
}

static bool pick_f64(struct jit_op *op, bool larger)
{
    LLVMValueRef a = op->a[0], b = op->a[1], d = jit_nan_order_pick(op, a, b, larger);
    if (d)
        return give(op, d);
    d = pick_number(op, a, b, 64, larger);
    LLVMValueRef is_none = BUILD(And, jit_is_nan(op, a), jit_is_nan(op, b));
    return give(op, BUILD(Select, is_none, quiet(op, b), d));
}

bool jit_emit_min_f64(struct jit_op *op)
{
    return pick_f64(op, false);
}

bool jit_emit_max_f64(struct jit_op *op)
{
    return pick_f64(op, true);
}
