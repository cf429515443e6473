/* The special-function unit of one lane (PTX ISA 9.7.3.13 ...): rcp, rsqrt, sqrt, ex2, lg2, sin, cos, tanh .approx as
 * an H200 returns them, bit for bit; helpers of mufu.def.
 *
 * Each function is a parabola per segment of its argument, C0 * 2^a + C1 * xl + C2 * sq(xq) * 2^c + bias in fixed
 * point, cut without rounding. Only the squarer drops bits inside. What PTX puts around the unit (scaling of
 * subnormals, the reduction of angles) is done as the assembler expands it.
 */
#ifndef PTERA_BACKEND_SEMANTICS_MUFU_H
#define PTERA_BACKEND_SEMANTICS_MUFU_H

#include "backend/semantics/half.h"
#include "backend/semantics/mufu_table.h"

#define PT_MUFU_INF 0x7f800000u
#define PT_MUFU_SIGN 0x80000000u

/* The squarer: x * x / 2^19 of 17 bits without the partial products below 2^18. Of the cells i, j of the product those with both
 * i, j >= 9 are a square; of the mixed ones, which come twice, those with i + j >= 18 count. */
PT_LANE uint32_t pt_mufu_square(uint32_t x)
{
    uint32_t high = x >> 9, low = x & 0x1ff, mixed = 0;
    for (unsigned j = 10; j <= 16; j++)
        mixed += -(x >> j & 1) & (low >> (18 - j));
    return (high * high + 2 * mixed) >> 1;
}

#define PT_MUFU_POLY(table, i, a, xl, xq, c, bias)      \
    ((int64_t)pt_mufu_##table##_c0[i] * (1ll << (a)) +  \
     (int64_t)pt_mufu_##table##_c1[i] * (int32_t)(xl) + \
     (int64_t)pt_mufu_##table##_c2[i] * (int32_t)(pt_mufu_square(xq) << (c)) + (bias))

/* Fixed point (0 <= v < 2^45, `frac` fraction bits) to f32, low bits dropped: exact in double, whose lower bits are then cut
 * away. */
PT_LANE uint32_t pt_mufu_pack(int64_t v, int frac)
{
    double d = (double)(int32_t)(v >> 22) * 0x1p22 + (double)(int32_t)(v & 0x3fffff);
    d = pt_lane_f64(pt_lane_u64(d) & ~0x1fffffffull);
    return pt_lane_u32((float)(d / (double)(1ll << frac)));
}

PT_LANE bool pt_mufu_is_subnormal(uint32_t x)
{
    return (x & PT_MUFU_INF) == 0 && (x & 0x7fffff) != 0;
}

PT_LANE uint32_t pt_mufu_rcp(uint32_t x, bool ftz)
{
    uint32_t s = x & PT_MUFU_SIGN, u = x & 0x7fffffff;
    bool scaled = !ftz && pt_mufu_is_subnormal(x);
    uint32_t y = scaled ? pt_lane_u32(pt_lane_f32(u) * 0x1p24f) : u;
    uint32_t f = y & 0x7fffff;
    int32_t er = 253 - (int32_t)(y >> 23) + (scaled ? 24 : 0);
    uint32_t xl = f & 0xffff;
    uint32_t m = (uint32_t)(PT_MUFU_POLY(rcp, f >> 16, 13, xl, xl << 1, 0, 0x47e7) >> 15);
    er += (int32_t)(m >> 24); /* m is 2^23 ... 2^24 */
    uint32_t r = s | (((uint32_t)er << 23) + (m & 0x7fffff));
    /* A subnormal result is the 24-bit one rounded again, to nearest even. */
    uint32_t tiny =
        s | pt_lane_u32(pt_lane_f32(((uint32_t)(er + 64) << 23) | (m & 0x7fffff)) * 0x1p-64f);
    r = er <= 0 ? (ftz ? s : tiny) : er >= 255 ? s | PT_MUFU_INF : r;
    r = u < 0x800000 && !scaled ? s | PT_MUFU_INF : r;
    r = u == PT_MUFU_INF ? s : r;
    return u > PT_MUFU_INF ? PT_FLOAT_NAN : r;
}

/* Reciprocal square root; x is not subnormal or counts as zero. */
PT_LANE uint32_t pt_mufu_rsq(uint32_t x)
{
    int32_t e = (int32_t)(x >> 23 & 255) - 127;
    uint32_t g = (x & 0x7fffff) | (uint32_t)(e & 1) << 23;
    int32_t h = e >> 1;
    uint32_t xl = g & 0x1ffff;
    uint32_t m = (uint32_t)(PT_MUFU_POLY(rsq, g >> 17, 14, xl, xl, 2, 0x7fff) >> 16);
    uint32_t r = ((uint32_t)(126 - h + (int32_t)(m >> 24)) << 23) | (m & 0x7fffff);
    r = g == 0 ? (uint32_t)(127 - h) << 23 : r; /* exact */
    r = x == PT_MUFU_INF ? 0 : x > PT_MUFU_INF ? PT_FLOAT_NAN : r;
    return (x & PT_MUFU_INF) == 0 ? (x & PT_MUFU_SIGN) | PT_MUFU_INF : r;
}

PT_LANE uint32_t pt_mufu_sqrt(uint32_t x)
{
    int32_t e = (int32_t)(x >> 23 & 255) - 127;
    uint32_t g = (x & 0x7fffff) | (uint32_t)(e & 1) << 23;
    uint32_t xl = g & 0x1ffff;
    uint32_t m = (uint32_t)(PT_MUFU_POLY(sqrt, g >> 17, 15, xl, xl, 1, 0x7fff) >> 17);
    uint32_t r = ((uint32_t)(127 + (e >> 1) + (int32_t)(m >> 24)) << 23) | (m & 0x7fffff);
    r = x == PT_MUFU_INF ? PT_MUFU_INF : x > PT_MUFU_INF ? PT_FLOAT_NAN : r;
    return (x & PT_MUFU_INF) == 0 ? x & PT_MUFU_SIGN : r;
}

PT_LANE uint32_t pt_mufu_rsqrt(uint32_t x, bool ftz)
{
    bool scaled = !ftz && pt_mufu_is_subnormal(x);
    uint32_t r = pt_mufu_rsq(scaled ? pt_lane_u32(pt_lane_f32(x) * 0x1p24f) : x);
    return scaled ? pt_float_canon(pt_lane_u32(pt_lane_f32(r) * 0x1p12f)) : r;
}

PT_LANE uint32_t pt_mufu_root(uint32_t x, bool ftz)
{
    bool scaled = !ftz && pt_mufu_is_subnormal(x);
    uint32_t r = pt_mufu_sqrt(scaled ? pt_lane_u32(pt_lane_f32(x) * 0x1p24f) : x);
    return scaled ? pt_float_canon(pt_lane_u32(pt_lane_f32(r) * 0x1p-12f)) : r;
}

/* 2^x, subnormal results flushed. */
PT_LANE uint32_t pt_mufu_exp(uint32_t x)
{
    float a = pt_lane_f32(x & 0x7fffffff);
    bool inside = a < 128.0f, negative = x >> 31;
    uint32_t v = (uint32_t)(int32_t)((inside ? a : 0.0f) * 0x1p23f); /* 7.23, toward zero */
    int32_t ip = (int32_t)(v >> 23);
    uint32_t f = v & 0x7fffff;
    bool inverted = negative && f != 0; /* one's complement: 2^-23 is lost */
    ip = negative ? -ip - (inverted ? 1 : 0) : ip;
    f ^= inverted ? 0x7fffff : 0;
    uint32_t xl = f & 0x1ffff;
    uint32_t m = (uint32_t)(PT_MUFU_POLY(ex2, f >> 17, 13, xl, xl, 0, 0x77e2) >> 15);
    int32_t er = ip + 127 + (int32_t)(m >> 24);
    uint32_t r = er <= 0 ? 0 : er >= 255 ? PT_MUFU_INF : ((uint32_t)er << 23) | (m & 0x7fffff);
    r = inside ? r : negative ? 0 : PT_MUFU_INF;
    return pt_float_is_nan(x) ? PT_FLOAT_NAN : r;
}

PT_LANE uint32_t pt_mufu_ex2(uint32_t x, bool ftz)
{
    bool low = !ftz && pt_lane_f32(x) < -126.0f;
    float r = pt_lane_f32(pt_mufu_exp(low ? pt_lane_u32(pt_lane_f32(x) * 0.5f) : x));
    return low ? pt_lane_u32(r * r) : pt_lane_u32(r);
}

PT_LANE uint32_t pt_mufu_log(uint32_t x)
{
    uint32_t f = x & 0x7fffff, xl = f & 0x1ffff;
    int64_t e = (int64_t)(x >> 23 & 255) - 127;
    int64_t r = (int64_t)((uint64_t)PT_MUFU_POLY(lg2, f >> 17, 12, xl, xl, 1, 0x3345) >> 2);
    r = (x == 0x3f800000 ? 0 : r) + e * (1ll << 36);
    uint32_t s = r < 0 ? PT_MUFU_SIGN : 0;
    uint32_t d = s | pt_mufu_pack(r < 0 ? ~r : r, 36);
    d = x == PT_MUFU_INF ? PT_MUFU_INF : x > PT_MUFU_INF ? PT_FLOAT_NAN : d;
    return (x & PT_MUFU_INF) == 0 ? PT_MUFU_SIGN | PT_MUFU_INF : d;
}

PT_LANE uint32_t pt_mufu_lg2(uint32_t x, bool ftz)
{
    bool scaled = !ftz && pt_mufu_is_subnormal(x);
    uint32_t r = pt_mufu_log(scaled ? pt_lane_u32(pt_lane_f32(x) * 0x1p24f) : x);
    return scaled ? pt_float_canon(pt_lane_u32(pt_lane_f32(r) - 24.0f)) : r;
}

/* sin or cos of t turns. */
PT_LANE uint32_t pt_mufu_turn(uint32_t t, bool cosine)
{
    int32_t e = (int32_t)(t >> 23 & 255);
    uint32_t m = (t & 0x7fffff) | 0x800000;
    /* |t| in quarter turns with 23 fraction bits, toward zero, modulo 4 */
    uint32_t v =
        e >= 125 ? pt_lane_shl(m, (uint32_t)(e - 125)) : pt_lane_shr(m, (uint32_t)(125 - e));
    v = e ? v & 0x1ffffff : 0;
    uint32_t q = ((v >> 23) + cosine) & 3, f = v & 0x7fffff, s = cosine ? 0 : t >> 31;
    f ^= q & 1 ? 0x7fffff : 0;
    s ^= q >> 1;
    uint32_t xl = f & 0x1ffff;
    uint32_t r = pt_mufu_pack(PT_MUFU_POLY(sin, f >> 17, 11, xl, xl, 0, 0), 37);
    return e == 255 ? PT_FLOAT_NAN : r | s << 31;
}

PT_LANE uint32_t pt_mufu_sincos(uint32_t x, bool cosine, bool ftz)
{
    return pt_mufu_turn(pt_float_mul(x, 0x3e22f983, PT_RZ, ftz, false), cosine);
}

/* Binade 2^(k-8) has 2^bits[k] segments. */
static const uint32_t pt_mufu_tanh_bits[11] = {0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3};
static const uint32_t pt_mufu_tanh_base[11] = {0, 1, 2, 3, 5, 7, 11, 15, 19, 27, 43};

PT_LANE uint32_t pt_mufu_tanh(uint32_t x)
{
    uint32_t s = x & PT_MUFU_SIGN, u = x & 0x7fffffff, f = x & 0x7fffff;
    int32_t k = (int32_t)(u >> 23) - 119;
    bool inside = k >= 0 && k <= 10;
    uint32_t row = inside ? (uint32_t)k : 0;
    uint32_t n = pt_mufu_tanh_bits[row], xl = f >> (6 - n) & 0x1ffff;
    uint32_t i = pt_mufu_tanh_base[row] + (f >> (23 - n));
    uint32_t r = s | pt_mufu_pack(PT_MUFU_POLY(tanh, i, 16, xl, xl, 0, 0), 40);
    r = k < 0 ? x : k > 10 ? s | 0x3f800000 : r;
    return u > PT_MUFU_INF ? PT_FLOAT_NAN : r;
}

/* div.approx, div.full: a * rcp(b), both scaled where b or its reciprocal is subnormal. */
PT_LANE uint32_t pt_mufu_div(uint32_t a, uint32_t b, bool full)
{
    uint32_t m = b & 0x7fffffff;
    float scale = m < 0x800000 ? 0x1p24f : 1.0f;
    if (full)
        scale = m > 0x7e800000 && m <= PT_MUFU_INF ? 0.25f : scale;
    uint32_t r = pt_mufu_rcp(pt_lane_u32(pt_lane_f32(b) * scale), true);
    return pt_float_canon(pt_lane_u32(pt_lane_f32(r) * (pt_lane_f32(a) * scale)));
}

PT_LANE uint32_t pt_mufu_div_ftz(uint32_t a, uint32_t b, bool full)
{
    uint32_t m = b & 0x7fffffff;
    float scale = full && m > 0x7e800000 && m <= PT_MUFU_INF ? 0.25f : 1.0f;
    uint32_t x = pt_float_ftz(pt_lane_u32(pt_lane_f32(pt_float_ftz(a, true)) * scale), true);
    uint32_t r = pt_mufu_rcp(pt_lane_u32(pt_lane_f32(b) * scale), true);
    return pt_float_mul(r, x, PT_RN, true, false);
}

/* The half forms: the f32 function, cut to the format. */
PT_LANE uint32_t pt_mufu_ex2_half(uint32_t h, enum pt_half fmt)
{
    uint32_t r = pt_mufu_ex2(pt_half_to_f32(pt_half_ftz(h, fmt, fmt == PT_BF16), fmt), true);
    uint32_t cut = pt_half_ftz(pt_half_from_f32(r, fmt, PT_RZ), fmt, fmt == PT_BF16);
    return fmt == PT_F16 && r >= 0x47800000 && r < PT_MUFU_INF ? 0x7c00
                                                               : cut; /* 2^16 and above overflow */
}

PT_LANE uint32_t pt_mufu_tanh_half(uint32_t h, enum pt_half fmt)
{
    return pt_half_from_f32(pt_mufu_tanh(pt_half_to_f32(h, fmt)), fmt, PT_RZ);
}

/* ---- f64: the unit sees and gives the upper word; the lower is 0 ----------------------------------------- */

PT_LANE uint64_t pt_mufu_rcp64(uint64_t a)
{
    uint32_t high = (uint32_t)(a >> 32), s = high & PT_MUFU_SIGN, u = high & 0x7fffffff;
    uint32_t f = (u & 0xfffff) << 3, xl = f & 0xffff;
    uint32_t m = (uint32_t)(PT_MUFU_POLY(rcp, f >> 16, 13, xl, xl << 1, 0, 0x47e7) >> 15);
    int32_t er = 2045 - (int32_t)(u >> 20) + (int32_t)(m >> 24);
    uint32_t r = er <= 0 ? 0 : ((uint32_t)er << 20) | (m >> 3 & 0xfffff);
    r = u < 0x100000 ? 0x7ff00000 : u == 0x7ff00000 ? 0 : r;
    return u > 0x7ff00000 ? 0x7fffffffull << 32 : (uint64_t)(s | r) << 32;
}

PT_LANE uint64_t pt_mufu_rsq64(uint64_t a)
{
    uint32_t x = (uint32_t)(a >> 32);
    int32_t e = (int32_t)(x >> 20 & 2047) - 1023;
    uint32_t g = (x & 0xfffff) << 3 | (uint32_t)(e & 1) << 23, xl = g & 0x1ffff;
    uint32_t m = (uint32_t)(PT_MUFU_POLY(rsq, g >> 17, 14, xl, xl, 2, 0x7fff) >> 16);
    uint32_t r = ((uint32_t)(1022 - (e >> 1) + (int32_t)(m >> 24)) << 20) | (m >> 3 & 0xfffff);
    r = g == 0 ? (uint32_t)(1023 - (e >> 1)) << 20 : r;
    r = x == 0x7ff00000 ? 0 : x > 0x7ff00000 ? 0x7fffffff : r;
    r = (x & 0x7ff00000) == 0 ? (x & PT_MUFU_SIGN) | 0x7ff00000 : r;
    return (uint64_t)r << 32;
}

/* One step of refinement of the unit's result, as the assembler expands it. */
PT_LANE uint64_t pt_mufu_rsqrt64_step(uint64_t a)
{
    const uint64_t sign = 1ull << 63, one = 0x3ff0000000000000, half = 0x3fe0000000000000,
                   coeff = 0x3fd8000000000000;
    uint64_t y = pt_mufu_rsq64(a);
    uint64_t square = pt_float_mul64(y, y, PT_RN);
    uint64_t err = pt_float_fma64(a, square ^ sign, one, PT_RN);
    uint64_t factor = pt_float_fma64(err, coeff, half, PT_RN);
    return pt_float_fma64(factor, pt_float_mul64(y, err, PT_RN), y, PT_RN);
}

PT_LANE uint64_t pt_mufu_rsqrt64(uint64_t a)
{
    uint32_t high = (uint32_t)(a >> 32);
    uint64_t u = a & INT64_MAX;
    if (high - 0x100000 < 0x7fe00000u)
        return pt_mufu_rsqrt64_step(a);
    if (u == 0)
        return a | 0x7ff0000000000000;
    if (u > 0x7ff0000000000000)
        return a | 0x0008000000000000;
    if (a >> 63)
        return 0xfff8000000000000;
    if (u == 0x7ff0000000000000)
        return 0;
    uint64_t r = pt_mufu_rsqrt64_step(pt_lane_u64(pt_lane_f64(a) * 0x1p54));
    return pt_lane_u64(pt_lane_f64(r) * 0x1p27);
}

#endif
