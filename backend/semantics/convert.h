/* Conversions of one lane (PTX ISA 9.7.9.21): helpers of convert.def and of the interpreter's
 * general conversion.
 *
 * A conversion takes its source to a double (every format but 64-bit integers is exact there) or a
 * 64-bit integer, and from there to the destination in one rounding.
 */
#ifndef PTERA_BACKEND_SEMANTICS_CONVERT_H
#define PTERA_BACKEND_SEMANTICS_CONVERT_H

#include "backend/semantics/half.h"

/* x rounded to an integer. */
PT_LANE double pt_convert_integral(double x, enum pt_round rnd)
{
    switch (rnd) {
    case PT_RZ:
        return __builtin_trunc(x);
    case PT_RM:
        return __builtin_floor(x);
    case PT_RP:
        return __builtin_ceil(x);
    default:
        return __builtin_rint(x);
    }
}

PT_LANE float pt_convert_integralf(float x, enum pt_round rnd)
{
    switch (rnd) {
    case PT_RZ:
        return __builtin_truncf(x);
    case PT_RM:
        return __builtin_floorf(x);
    case PT_RP:
        return __builtin_ceilf(x);
    default:
        return __builtin_rintf(x);
    }
}

/* An integral double, clamped to a signed or unsigned type of up to 64 bits; NaN gives 0. */
PT_LANE int64_t pt_convert_to_signed(double x, unsigned bits)
{
    double low = bits == 64 ? -0x1p63 : -(double)(1ull << (bits - 1));
    int64_t min = INT64_MIN >> (64 - bits), max = INT64_MAX >> (64 - bits);
    bool inside = x >= low && x < -low;
    int64_t v = (int64_t)(inside ? x : 0.0);
    return inside ? v : x < 0 ? min : x > 0 ? max : 0;
}

PT_LANE uint64_t pt_convert_to_unsigned(double x, unsigned bits)
{
    double high = 2.0 * (double)(1ull << (bits - 1));
    bool inside = x >= 0 && x < high;
    double y = inside ? x : 0.0;
    bool upper = y >= 0x1p63;
    uint64_t v = (uint64_t)(int64_t)(upper ? y - 0x1p63 : y) ^ (uint64_t)upper << 63;
    return inside ? v : x > 0 ? UINT64_MAX >> (64 - bits) : 0;
}

/* f32 to 32-bit integers without leaving f32. The cast itself rounds toward zero. */
PT_LANE int32_t pt_convert_f32_s32(uint32_t a, enum pt_round rnd, bool ftz)
{
    float x = pt_lane_f32(pt_float_ftz(a, ftz));
    x = rnd == PT_RZ ? x : pt_convert_integralf(x, rnd);
    bool inside = x >= -0x1p31f && x < 0x1p31f;
    int32_t v = (int32_t)(inside ? x : 0.0f);
    return inside ? v : x < 0 ? INT32_MIN : x > 0 ? INT32_MAX : 0;
}

PT_LANE uint32_t pt_convert_f32_u32(uint32_t a, enum pt_round rnd, bool ftz)
{
    float x = pt_lane_f32(pt_float_ftz(a, ftz));
    x = rnd == PT_RZ ? x : pt_convert_integralf(x, rnd);
    bool inside = x >= 0 && x < 0x1p32f, upper = inside && x >= 0x1p31f;
    float y = inside ? (upper ? x - 0x1p31f : x) : 0.0f;
    uint32_t v = (uint32_t)(int32_t)y ^ (uint32_t)upper << 31;
    return inside ? v : x > 0 ? UINT32_MAX : 0;
}

/* A 64-bit integer, given as magnitude and sign, to f32 or f64. */
PT_LANE uint32_t pt_convert_int_f32(uint64_t m, bool negative, enum pt_round rnd)
{
    return (uint32_t)pt_float_pack(negative, 0, m, 24, -149, 255, rnd) | (uint32_t)negative << 31;
}

PT_LANE uint64_t pt_convert_int_f64(uint64_t m, bool negative, enum pt_round rnd)
{
    return pt_float_pack64(negative, 0, m, rnd);
}

/* The NaN that f64 NaN bits become in a narrower format: sign and top of the payload stay,
 * quiet. */
PT_LANE uint32_t pt_convert_nan_f32(uint64_t a)
{
    return (uint32_t)(a >> 32 & 0x80000000) | 0x7fc00000 | (uint32_t)(a >> 29 & 0x3fffff);
}

PT_LANE uint32_t pt_convert_nan_half(uint64_t a, enum pt_half fmt)
{
    uint32_t payload =
        fmt == PT_F16 ? 0x7e00 | (uint32_t)(a >> 42 & 0x1ff) : 0x7fc0 | (uint32_t)(a >> 45 & 0x3f);
    return (uint32_t)(a >> 48 & 0x8000) | payload;
}

/* f64 to f32. */
PT_LANE uint32_t pt_convert_f64_f32(uint64_t a, enum pt_round rnd, bool ftz, bool sat)
{
    double d = pt_lane_f64(a);
    uint32_t r = pt_float_from_f64(d, rnd);
    r = ftz && pt_float_is_tiny(d, 1, rnd) ? r & 0x80000000 : r;
    return pt_float_sat(pt_float_is_nan64(a) ? pt_convert_nan_f32(a) : r, sat);
}

/* f32 to f64, exact: a NaN keeps its payload and becomes quiet; with .ftz it is the canonical one
 * first. */
PT_LANE uint64_t pt_convert_f32_f64(uint32_t a, bool ftz)
{
    uint32_t x = ftz ? pt_float_canon(pt_float_ftz(a, true)) : a;
    return pt_lane_u64((double)pt_lane_f32(x));
}

/* cvt.tf32: f32 cut to 10 bits of fraction; the low 13 bits are 0. With .rna a NaN is cut as it is,
 * and .satfinite steps back from every pattern with the exponent of infinity; else NaN becomes
 * 0x7fffe000. */
PT_LANE uint32_t pt_convert_f32_tf32(uint32_t a, enum pt_round rnd, bool relu, bool satfinite)
{
    bool finite = (a & 0x7f800000) != 0x7f800000;
    uint32_t half = rnd == PT_RZ ? 0 : rnd == PT_RN ? 0xfff + (a >> 13 & 1) : 0x1000;
    uint32_t q = (finite ? a + half : a) & ~0x1fffu;
    if (rnd != PT_RNA && (a & 0x7fffffff) > 0x7f800000)
        return 0x7fffe000;
    if (relu && a >> 31)
        return 0;
    return satfinite && (q & 0x7f800000) == 0x7f800000 ? q - 0x2000 : q;
}

/* 8-bit formats. e4m3 has no infinity and one NaN, 0x7f. */
enum pt_fp8 { PT_E4M3, PT_E5M2 };

/* f32 to an 8-bit format in one rounding to nearest; beyond the largest finite value that value,
 * NaN 0x7f (.satfinite). */
PT_LANE uint32_t pt_convert_f32_fp8(uint32_t a, enum pt_fp8 fmt, bool relu)
{
    uint32_t fraction = fmt == PT_E4M3 ? 3 : 2, bias = fmt == PT_E4M3 ? 7 : 15,
             max = fmt == PT_E4M3 ? 0x7e : 0x7b;
    uint32_t u = a & 0x7fffffff, sign = a >> 31, e = u >> 23;
    uint32_t units = 151 - bias - fraction - e; /* a subnormal result is in units of its last bit */
    bool is_normal = e >= 128 - bias;
    uint32_t m = is_normal ? u - ((127 - bias) << 23) : (u & 0x7fffff) | (e ? 0x800000 : 0);
    uint32_t drop = is_normal ? 23 - fraction : units > 25 ? 25 : units;
    uint32_t q = m >> drop, rest = m & ((1u << drop) - 1);
    q += (rest + (q & 1)) > 1u << (drop - 1);
    q = q > max ? max : q;
    return u > 0x7f800000 ? 0x7f : relu && sign ? 0 : q | sign << 7;
}

/* Exact; NaN becomes 0x7fff. */
PT_LANE uint32_t pt_convert_fp8_f16(uint32_t a, enum pt_fp8 fmt, bool relu)
{
    uint32_t m = a & 0x7f, sign = a >> 7 & 1;
    uint32_t small = pt_lane_u32((float)(int32_t)m * 0x1p-9f); /* subnormal e4m3 */
    small = pt_half_from_f32(small, PT_F16, PT_RN);
    uint32_t h = fmt == PT_E5M2 ? m << 8 : m < 8 ? small : (m << 7) + (8u << 10);
    bool is_nan = fmt == PT_E5M2 ? m > 0x7c : m == 0x7f;
    return is_nan ? 0x7fff : relu && sign ? 0 : h | sign << 15;
}

/* f32 to a half format with .ftz, .sat, .relu, .satfinite (largest finite value instead of
 * infinity). */
PT_LANE uint32_t pt_convert_f32_half(uint32_t a, enum pt_half fmt, enum pt_round rnd, bool ftz,
                                     bool sat, bool relu, bool satfinite)
{
    uint32_t h = pt_half_from_f32(pt_float_sat(pt_float_ftz(a, ftz), sat), fmt, rnd);
    uint32_t inf = fmt == PT_F16 ? 0x7c00 : 0x7f80;
    if (satfinite && (h & 0x7fff) == inf)
        h -= 1;
    return relu && (h & 0x8000) ? 0 : h;
}

/* A value of a 64-bit integer clamped to a type of up to 64 bits. */
PT_LANE int64_t pt_convert_clamp_s(int64_t v, unsigned bits, bool is_signed)
{
    int64_t low = is_signed ? INT64_MIN >> (64 - bits) : 0;
    int64_t high = is_signed    ? INT64_MAX >> (64 - bits)
                   : bits == 64 ? INT64_MAX
                                : (int64_t)((1ull << (bits & 63)) - 1);
    return v < low ? low : v > high ? high : v;
}

PT_LANE uint64_t pt_convert_clamp_u(uint64_t v, unsigned bits, bool is_signed)
{
    uint64_t high = UINT64_MAX >> (64 - bits + is_signed);
    return v > high ? high : v;
}

/* cvt.pack (PTX ISA 9.7.9.22): a and b clamped to `bits` each, b low, above them what c holds in
 * its low bits. */
PT_LANE uint32_t pt_convert_pack(int32_t a, int32_t b, uint32_t c, unsigned bits, bool is_signed)
{
    uint32_t mask = (1u << bits) - 1;
    uint32_t hi = (uint32_t)pt_convert_clamp_s(a, bits, is_signed) & mask;
    uint32_t lo = (uint32_t)pt_convert_clamp_s(b, bits, is_signed) & mask;
    uint32_t rest = bits == 16 ? 0 : c << 2 * bits;
    return lo | hi << bits | rest;
}

/* ---- the general conversion ------------------------------------------------------------------ */

enum pt_convert_kind {
    PT_CONVERT_U,
    PT_CONVERT_S,
    PT_CONVERT_F16,
    PT_CONVERT_BF16,
    PT_CONVERT_F32,
    PT_CONVERT_F64
};
_Static_assert(PT_CONVERT_U == 0 && PT_CONVERT_S == 1, "integers come first");

struct pt_cvt {
    uint8_t from, to;           /* enum pt_convert_kind */
    uint8_t from_bits, to_bits; /* of integers */
    uint8_t rnd;                /* enum pt_round */
    bool integral;              /* rounds to an integer, floating point to floating point */
    bool ftz, sat, relu, satfinite;
};

/* An integer source as magnitude and sign. */
PT_LANE uint64_t pt_convert_magnitude(const struct pt_cvt *k, uint64_t a, bool *negative)
{
    unsigned unused = 64u - k->from_bits;
    int64_t v = (int64_t)(a << unused) >> unused;
    *negative = k->from == PT_CONVERT_S && v < 0;
    return k->from == PT_CONVERT_U ? a << unused >> unused
           : *negative             ? 0 - (uint64_t)v
                                   : (uint64_t)v;
}

/* .ftz flushes the source, but the assembler drops it from f32 to f16 with .rm and .rp. */
PT_LANE bool pt_convert_flushes(const struct pt_cvt *k)
{
    return k->ftz && !(k->to == PT_CONVERT_F16 && (k->rnd == PT_RM || k->rnd == PT_RP));
}

/* A floating-point source, exact in double. */
PT_LANE double pt_convert_source(const struct pt_cvt *k, uint64_t a)
{
    switch (k->from) {
    case PT_CONVERT_F16:
        return pt_lane_f32(pt_half_to_f32((uint32_t)a, PT_F16));
    case PT_CONVERT_BF16:
        return pt_lane_f32(pt_half_to_f32((uint32_t)a, PT_BF16));
    case PT_CONVERT_F32:
        return pt_lane_f32(pt_float_ftz((uint32_t)a, pt_convert_flushes(k)));
    default:
        return pt_lane_f64(a);
    }
}

PT_LANE uint64_t pt_convert_to_half(const struct pt_cvt *k, uint32_t f32, enum pt_round rnd)
{
    enum pt_half fmt = k->to == PT_CONVERT_F16 ? PT_F16 : PT_BF16;
    return pt_convert_f32_half(f32, fmt, rnd, false, k->sat, k->relu, k->satfinite);
}

PT_LANE uint64_t pt_convert_from_int(const struct pt_cvt *k, uint64_t a)
{
    bool negative;
    uint64_t m = pt_convert_magnitude(k, a, &negative);
    enum pt_round rnd = (enum pt_round)k->rnd;
    switch (k->to) {
    case PT_CONVERT_F64: {
        double d = pt_lane_f64(pt_convert_int_f64(m, negative, rnd));
        return pt_lane_u64(!k->sat ? d : d > 1 ? 1.0 : d > 0 ? d : 0.0);
    }
    case PT_CONVERT_F32:
        return pt_float_sat(pt_convert_int_f32(m, negative, rnd), k->sat);
    default:
        return pt_convert_to_half(k, pt_convert_int_f32(m, negative, PT_RO), rnd);
    }
}

/* NaN gives an integer 0, or the lowest one of its width where the source or the destination has 64
 * bits. To f64 payloads move up and from f64 they are cut; cvt without any modifier is a move;
 * everything else gives the canonical NaN. */
PT_LANE uint64_t pt_convert_from_nan(const struct pt_cvt *k, uint64_t a)
{
    bool from64 = k->from == PT_CONVERT_F64;
    switch (k->to) {
    case PT_CONVERT_U:
    case PT_CONVERT_S:
        return from64 || k->to_bits == 64 ? 1ull << (k->to_bits - 1) : 0;
    case PT_CONVERT_F64: {
        uint64_t quiet = pt_lane_u64(pt_convert_source(k, a)) | 0x0008000000000000;
        if (k->sat)
            return 0;
        return k->from == PT_CONVERT_F32 ? pt_convert_f32_f64((uint32_t)a, k->ftz)
               : from64 && !k->integral  ? a
                                         : quiet;
    }
    case PT_CONVERT_F32:
        if (k->sat)
            return 0;
        if (k->from == PT_CONVERT_BF16 && !k->ftz)
            return a << 16;
        return from64                                                 ? pt_convert_nan_f32(a)
               : k->from == PT_CONVERT_F32 && !k->integral && !k->ftz ? a
                                                                      : PT_FLOAT_NAN;
    default:
        if (k->sat)
            return 0;
        return from64 ? pt_convert_nan_half(a, k->to == PT_CONVERT_F16 ? PT_F16 : PT_BF16) : 0x7fff;
    }
}

PT_LANE uint64_t pt_convert_from_float(const struct pt_cvt *k, uint64_t a)
{
    double d = pt_convert_source(k, a);
    enum pt_round rnd = (enum pt_round)k->rnd;
    if (d != d)
        return pt_convert_from_nan(k, a);
    if (k->integral || k->to <= PT_CONVERT_S)
        d = pt_convert_integral(d, rnd);
    switch (k->to) {
    case PT_CONVERT_U:
        return pt_convert_to_unsigned(d, k->to_bits);
    case PT_CONVERT_S:
        return (uint64_t)pt_convert_to_signed(d, k->to_bits);
    case PT_CONVERT_F64:
        if (k->sat)
            return pt_lane_u64(d > 0 ? (d < 1 ? d : 1.0) : 0.0);
        return pt_lane_u64(d);
    case PT_CONVERT_F32:
        return pt_convert_f64_f32(pt_lane_u64(d), rnd, k->ftz, k->sat);
    default:
        return pt_convert_to_half(k, pt_float_from_f64(d, PT_RO), rnd);
    }
}

PT_LANE uint64_t pt_convert_any(const struct pt_cvt *k, uint64_t a)
{
    return k->from <= PT_CONVERT_S ? pt_convert_from_int(k, a) : pt_convert_from_float(k, a);
}

#endif
