/* Emitters of conversions (PTX ISA 9.7.9.21): integers, and floating point to nearest or to an
 * integral value. */
#include "backend/jit/emit/emit.h"
#include "backend/jit/emit/half.h"
#include "backend/jit/emit/helpers.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/check.h"
#include "backend/jit/llvm/cpu.h"

static bool give(struct jit_op *op, LLVMValueRef value)
{
    op->d[0] = value;
    return true;
}

/* ---- integers -------------------------------------------------------------------------------- */

bool jit_emit_cvt_int(struct jit_op *op)
{
    return give(op, jit_resize(op, op->a[0], jit_form_bits(op, 0), jit_form_signed(op, 1)));
}

/* Of `bits`: the lowest and highest number, as the low 64 bits of a two's complement. */
static uint64_t lowest(unsigned bits, bool is_signed)
{
    return is_signed ? UINT64_MAX << (bits - 1) : 0;
}

static uint64_t highest(unsigned bits, bool is_signed)
{
    return UINT64_MAX >> (64 - bits + is_signed);
}

/* Clamped in the source's type; limits that it cannot reach are left out. */
bool jit_emit_cvt_int_sat(struct jit_op *op)
{
    unsigned to = jit_form_bits(op, 0), from = jit_form_bits(op, 1);
    bool to_signed = jit_form_signed(op, 0), from_signed = jit_form_signed(op, 1);
    LLVMValueRef value = op->a[0];
    if (highest(to, to_signed) < highest(from, from_signed))
        value = jit_binary(op, from_signed ? "llvm.smin" : "llvm.umin", value,
                           jit_int_const(op, from, highest(to, to_signed)));
    if (from_signed && (int64_t)lowest(to, to_signed) > (int64_t)lowest(from, true))
        value = jit_binary(op, "llvm.smax", value, jit_int_const(op, from, lowest(to, to_signed)));
    return give(op, jit_resize(op, value, to, from_signed));
}

/* ---- floating point to integers -------------------------------------------------------------- */

/* Rounded as .rni, .rzi, .rmi, .rpi say. */
static LLVMValueRef integral(struct jit_op *op, LLVMValueRef value)
{
    const char *name = jit_has(op, PT_M_rzi)   ? "llvm.trunc"
                       : jit_has(op, PT_M_rmi) ? "llvm.floor"
                       : jit_has(op, PT_M_rpi) ? "llvm.ceil"
                                               : "llvm.rint";
    return jit_unary(op, name, value);
}

static bool is_half(enum pt_type type)
{
    return type == PT_f16 || type == PT_bf16 || type == PT_f16x2 || type == PT_bf16x2;
}

static bool is_bf16(enum pt_type type)
{
    return type == PT_bf16 || type == PT_bf16x2;
}

/* The form's result is an f16, and nothing here rounds to that. */
static bool cannot_narrow(const struct jit_op *op)
{
    return is_half(jit_form_type(op, 0)) && !jit_half_narrows_to(op, is_bf16(jit_form_type(op, 0)));
}

/* Source 0 as f32 or f64; .ftz is for f32. */
static LLVMValueRef real_source(struct jit_op *op)
{
    enum pt_type from = jit_form_type(op, 1);
    if (is_half(from))
        return jit_half_to_f32(op, op->a[0], is_bf16(from));
    return from == PT_f32 ? jit_flushed(op, 0) : op->a[0];
}

/* To the integers' limits; NaN gives 0. */
static LLVMValueRef to_int_saturating(struct jit_op *op, LLVMValueRef x, unsigned to,
                                      bool is_signed)
{
    LLVMTypeRef types[] = {jit_ints(op, to), LLVMTypeOf(x)};
    const char *name = is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
    unsigned id = LLVMLookupIntrinsicID(name, 15);
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(op->j->code->module, id, types, 2);
    return BUILD(Call2, LLVMGlobalGetValueType(function), function, &x, 1);
}

/* The machine converts vectors, but has other results beyond the limits, and LLVM would take lanes
 * one by one. */
static bool is_clamped(const struct jit_op *op, unsigned to)
{
    const struct jit_cpu *cpu = op->j->unit->cpu;
    return op->lanes > 1 && !cpu->saturates_conversions && (to < 64 || cpu->has_mask_registers);
}

/* Likewise, of vectors: what is lower becomes the lowest number before the conversion, what is
 * higher the highest one after it. Both limits are exact. */
static LLVMValueRef to_int_clamped(struct jit_op *op, LLVMValueRef x, unsigned to, bool is_signed)
{
    LLVMTypeRef type = LLVMTypeOf(x), ints = jit_ints(op, to);
    double half = (double)(UINT64_C(1) << (to - 1)), beyond = is_signed ? half : 2 * half;
    LLVMValueRef low = jit_const_real(type, is_signed ? -half : 0);
    LLVMValueRef raised = BUILD(Select, BUILD(FCmp, LLVMRealOGT, x, low), x, low);
    LLVMValueRef is_high = BUILD(FCmp, LLVMRealOGE, raised, jit_const_real(type, beyond));
    LLVMValueRef d = is_signed ? BUILD(FPToSI, raised, ints) : BUILD(FPToUI, raised, ints);
    jit_check_proven(op->j->code, d, "range"); /* where it is not, the lane is not chosen */
    d = BUILD(Select, is_high, jit_int_const(op, to, highest(to, is_signed)), d);
    return is_signed ? BUILD(Select, jit_is_nan(op, x), LLVMConstNull(ints), d) : d;
}

/* NaN gives 0, or the lowest number of its width where either side has 64 bits. */
bool jit_emit_cvt_to_int(struct jit_op *op)
{
    unsigned to = jit_form_bits(op, 0);
    bool is_signed = jit_form_signed(op, 0);
    LLVMValueRef x = real_source(op);
    x = jit_has(op, PT_M_rzi) ? x : integral(op, x); /* the conversion truncates */
    LLVMValueRef d = is_clamped(op, to) ? to_int_clamped(op, x, to, is_signed)
                                        : to_int_saturating(op, x, to, is_signed);
    if (to == 64 || jit_form_type(op, 1) == PT_f64)
        d = BUILD(Select, jit_is_nan(op, x), jit_int_const(op, to, UINT64_C(1) << (to - 1)), d);
    return give(op, d);
}

/* ---- integers to floating point -------------------------------------------------------------- */

static LLVMValueRef to_real(struct jit_op *op, LLVMValueRef value, unsigned bits)
{
    LLVMTypeRef type = jit_floats(op, bits);
    return jit_form_signed(op, 1) ? BUILD(SIToFP, value, type) : BUILD(UIToFP, value, type);
}

/* What rounds to infinity in f16 anyway is cut, so that the rest is exact in f32. */
static LLVMValueRef cut_for_f16(struct jit_op *op)
{
    unsigned from = jit_form_bits(op, 1);
    LLVMValueRef limit = jit_int_const(op, from, 1 << 17);
    if (from < 32)
        return op->a[0];
    if (!jit_form_signed(op, 1))
        return jit_binary(op, "llvm.umin", op->a[0], limit);
    LLVMValueRef value = jit_binary(op, "llvm.smin", op->a[0], limit);
    return jit_binary(op, "llvm.smax", value, jit_int_const(op, from, -(UINT64_C(1) << 17)));
}

static LLVMValueRef give_half(struct jit_op *op, LLVMValueRef value);

bool jit_emit_cvt_from_int(struct jit_op *op)
{
    enum pt_type to = jit_form_type(op, 0);
    unsigned from = jit_form_bits(op, 1), exact = to == PT_f64 ? 32 : 16;
    bool is_exact = !is_half(to) && from <= exact; /* then every rounding is the same */
    if ((!is_exact && !jit_is_rn(op)) || cannot_narrow(op) || (to == PT_bf16 && from > 16))
        return false;
    if (is_half(to))
        return give(op, give_half(op, to_real(op, to == PT_f16 ? cut_for_f16(op) : op->a[0], 32)));
    LLVMValueRef d = to_real(op, op->a[0], pt_type_bits(to));
    return give(op, jit_has(op, PT_M_sat) ? jit_saturate(op, d) : d);
}

/* ---- between floating-point types ------------------------------------------------------------ */

static bool is_integral(const struct jit_op *op)
{
    return jit_has(op, PT_M_rni) || jit_has(op, PT_M_rzi) || jit_has(op, PT_M_rmi) ||
           jit_has(op, PT_M_rpi);
}

/* An f32 to the half format of the form: .sat before the rounding; .satfinite, .relu after it. */
static LLVMValueRef give_half(struct jit_op *op, LLVMValueRef value)
{
    bool to_bf16 = is_bf16(jit_form_type(op, 0));
    if (jit_has(op, PT_M_sat))
        value = jit_saturate(op, value);
    LLVMValueRef half = jit_half_from_f32(op, value, to_bf16);
    if (jit_has(op, PT_M_satfinite)) {
        LLVMValueRef inf = jit_int_const(op, 16, to_bf16 ? 0x7f80 : 0x7c00),
                     one = jit_int_const(op, 16, 1);
        LLVMValueRef magnitude = BUILD(And, half, jit_int_const(op, 16, 0x7fff));
        LLVMValueRef is_inf = BUILD(ICmp, LLVMIntEQ, magnitude, inf);
        half = BUILD(Select, is_inf, BUILD(Sub, half, one), half);
    }
    if (jit_has(op, PT_M_relu)) {
        LLVMValueRef zero = jit_int_const(op, 16, 0);
        half = BUILD(Select, BUILD(ICmp, LLVMIntSLT, half, zero), zero, half);
    }
    return half;
}

bool jit_emit_cvt_to_half(struct jit_op *op)
{
    if (!jit_is_rn(op) || cannot_narrow(op))
        return false;
    LLVMValueRef value = real_source(op);
    return give(op, give_half(op, is_integral(op) ? integral(op, value) : value));
}

/* a to the upper half, b to the lower. */
bool jit_emit_cvt_to_pair(struct jit_op *op)
{
    if (!jit_is_rn(op) || cannot_narrow(op))
        return false;
    LLVMValueRef high = jit_extend(op, give_half(op, op->a[0]), 32, false);
    LLVMValueRef low = jit_extend(op, give_half(op, op->a[1]), 32, false);
    return give(op, BUILD(Or, low, BUILD(Shl, high, jit_int_const(op, 32, 16))));
}

/* Without a modifier a move, payloads included. */
bool jit_emit_cvt_f32_f32(struct jit_op *op)
{
    LLVMValueRef value = jit_flushed(op, 0);
    value = is_integral(op) ? integral(op, value) : value;
    bool is_saturated = jit_has(op, PT_M_sat);
    op->is_number = !is_saturated && (is_integral(op) || jit_has(op, PT_M_ftz));
    return give(op, is_saturated ? jit_saturate(op, value) : value);
}

static LLVMValueRef quiet(struct jit_op *op, LLVMValueRef value)
{
    LLVMValueRef bits =
        BUILD(Or, jit_to_bits(op, value, 64), jit_int_const(op, 64, 0x0008000000000000));
    return jit_from_bits(op, bits, 64);
}

bool jit_emit_cvt_f64_f64(struct jit_op *op)
{
    LLVMValueRef value = op->a[0];
    if (is_integral(op))
        value = BUILD(Select, jit_is_nan(op, value), quiet(op, value), integral(op, value));
    return give(op, jit_has(op, PT_M_sat) ? jit_saturate(op, value) : value);
}

/* The NaN of the same sign and the same top of the payload, quiet. */
static LLVMValueRef narrow_nan(struct jit_op *op, LLVMValueRef value)
{
    LLVMValueRef bits = jit_to_bits(op, value, 64);
    LLVMValueRef high = jit_resize(op, BUILD(LShr, bits, jit_int_const(op, 64, 32)), 32, false);
    LLVMValueRef payload = jit_resize(op, BUILD(LShr, bits, jit_int_const(op, 64, 29)), 32, false);
    high = BUILD(And, high, jit_int_const(op, 32, 0x80000000));
    payload = BUILD(And, payload, jit_int_const(op, 32, 0x3fffff));
    high = BUILD(Or, BUILD(Or, high, payload), jit_int_const(op, 32, 0x7fc00000));
    return jit_from_bits(op, high, 32);
}

/* .ftz flushes what is tiny before it loses bits to a small exponent. */
static LLVMValueRef flush_tiny(struct jit_op *op, LLVMValueRef narrow, LLVMValueRef wide)
{
    LLVMValueRef limit = jit_const_real(jit_floats(op, 64), 0x1.ffffffp-127);
    LLVMValueRef is_tiny = BUILD(FCmp, LLVMRealOLT, jit_unary(op, "llvm.fabs", wide), limit);
    LLVMValueRef bits = jit_to_bits(op, narrow, 32);
    LLVMValueRef sign = BUILD(And, bits, jit_int_const(op, 32, 0x80000000));
    return jit_from_bits(op, BUILD(Select, is_tiny, sign, bits), 32);
}

bool jit_emit_cvt_f32_f64(struct jit_op *op)
{
    if (!jit_is_rn(op))
        return false;
    LLVMValueRef wide = op->a[0], d = BUILD(FPTrunc, wide, jit_floats(op, 32));
    if (jit_has(op, PT_M_ftz))
        d = flush_tiny(op, d, wide);
    d = BUILD(Select, jit_is_nan(op, wide), narrow_nan(op, wide), d);
    return give(op, jit_has(op, PT_M_sat) ? jit_saturate(op, d) : d);
}

/* A NaN keeps its payload; with .ftz it is the canonical one. */
bool jit_emit_cvt_f64_f32(struct jit_op *op)
{
    LLVMValueRef value = jit_flushed(op, 0);
    if (jit_has(op, PT_M_ftz))
        value = jit_canonical(op->j, value);
    LLVMValueRef d = BUILD(FPExt, value, jit_floats(op, 64));
    return give(op, jit_has(op, PT_M_sat) ? jit_saturate(op, d) : d);
}

/* From bf16 without .ftz the bits are moved; else NaN becomes the canonical one. */
bool jit_emit_cvt_f32_half(struct jit_op *op)
{
    bool from_bf16 = is_bf16(jit_form_type(op, 1)), is_saturated = jit_has(op, PT_M_sat);
    LLVMValueRef d = jit_half_to_f32(op, op->a[0], from_bf16);
    if (from_bf16 && jit_has(op, PT_M_ftz))
        d = jit_flush(op->j, d);
    op->is_number = !is_saturated && (!from_bf16 || jit_has(op, PT_M_ftz));
    return give(op, is_saturated ? jit_saturate(op, d) : d);
}

bool jit_emit_cvt_f64_half(struct jit_op *op)
{
    LLVMValueRef value = jit_half_to_f32(op, op->a[0], is_bf16(jit_form_type(op, 1)));
    LLVMValueRef d = BUILD(FPExt, value, jit_floats(op, 64));
    return give(op, jit_has(op, PT_M_sat) ? jit_saturate(op, d) : d);
}

/* Rounded to 10 bits of fraction, ties away from zero; a NaN is cut as it is. .satfinite steps back
 * from all that has the exponent of infinity. */
bool jit_emit_cvt_tf32(struct jit_op *op)
{
    LLVMValueRef a = jit_to_bits(op, op->a[0], 32), field = jit_int_const(op, 32, 0x7f800000);
    LLVMValueRef is_special = BUILD(ICmp, LLVMIntEQ, BUILD(And, a, field), field);
    LLVMValueRef rounded = BUILD(Add, a, jit_int_const(op, 32, 0x1000));
    LLVMValueRef d =
        BUILD(And, BUILD(Select, is_special, a, rounded), jit_int_const(op, 32, ~0x1fffu));
    if (!jit_has(op, PT_M_satfinite))
        return give(op, d);
    is_special = BUILD(ICmp, LLVMIntEQ, BUILD(And, d, field), field);
    return give(op, BUILD(Select, is_special, BUILD(Sub, d, jit_int_const(op, 32, 0x2000)), d));
}
