/* The special-function unit of one lane (PTX ISA 9.7.3.13 ...): rcp, rsqrt, sqrt, ex2, lg2, sin,
 * cos, tanh .approx as an H200 returns them, bit for bit; helpers of mufu.def.
 *
 * Each function is a parabola per segment of its argument, C0 * 2^a + C1 * xl + C2 * sq(xl) * 2^c +
 * bias in fixed point, cut without rounding. Only the squarer drops bits inside. What PTX puts
 * around the unit (scaling of subnormals, the reduction of angles) is done as the assembler expands
 * it.
 *
 * Here all of it fits 32 bits, so that a loop over lanes is made of 32-bit vectors: each segment is
 * cut in two halves, whose C0 holds what C1 makes of the upper bit of xl; C0 * 2^a has no bits
 * below 2^a, so it is added after the rest was shifted by a; and the rest is kept from being
 * negative by a multiple of 2^a, which C0 takes back.
 */
#ifndef PTERA_BACKEND_SEMANTICS_MUFU_H
#define PTERA_BACKEND_SEMANTICS_MUFU_H

#include "backend/semantics/half.h"
#include "backend/semantics/mufu_table.h"

#define PT_MUFU_INF 0x7f800000u
#define PT_MUFU_SIGN 0x80000000u

/* The tables of half segments: C0, and the magnitudes of C1 above C2 * 2^c, of 16 bits each.
 * ROWS(ROW, c0, c1, c2) makes the rows of a segment. */
#define PT_MUFU_C0(c0, c1, c2) (uint32_t)(c0),
#define PT_MUFU_C1_C2(c0, c1, c2) (uint32_t)(c1) << 16 | (uint32_t)(c2),
#define PT_MUFU_TABLE(name, n, SEGMENTS, ROWS)                                           \
    static const uint32_t pt_mufu_##name##_c0[n] = {SEGMENTS(ROWS, PT_MUFU_C0)};         \
    static const uint32_t pt_mufu_##name##_c1_c2[n] = {SEGMENTS(ROWS, PT_MUFU_C1_C2)};
/* The halves of a segment; `back` is what the rest was raised by, over 2^a. */
#define PT_MUFU_HALVES(ROW, c0, c1, a, back, row_c1, row_c2) \
    ROW((c0) - (back), row_c1, row_c2)                       \
    ROW((c0) - (back) + (c1) * (1 << (16 - (a))), row_c1, row_c2)

/* The functions that fall have a rest just below 2^32. */
enum {
    PT_MUFU_RCP_BACK = (1 << 19) - 3,    /* 2^a: 2^13, C1 negative */
    PT_MUFU_RSQ_BACK = (1 << 18) - 1520, /* 2^14, negative */
    PT_MUFU_SQRT_BACK = 4096,            /* 2^15; C1 without 2^15 */
    PT_MUFU_LG2_BACK = 16384,            /* 2^12 */
    PT_MUFU_SIN_BACK = 5120,             /* 2^11 */
    PT_MUFU_TANH_RAISE = 1 << 28
};

#define PT_MUFU_RCP_ROWS(ROW, c0, c1, c2) ROW((c0) - PT_MUFU_RCP_BACK, -(c1), c2)
#define PT_MUFU_RSQ_ROWS(ROW, c0, c1, c2) \
    PT_MUFU_HALVES(ROW, c0, c1, 14, PT_MUFU_RSQ_BACK, -(c1), 4 * (c2))
#define PT_MUFU_SQRT_ROWS(ROW, c0, c1, c2) \
    PT_MUFU_HALVES(ROW, c0, c1, 15, PT_MUFU_SQRT_BACK, (c1) - 32768, -2 * (c2))
#define PT_MUFU_EX2_ROWS(ROW, c0, c1, c2) PT_MUFU_HALVES(ROW, c0, c1, 13, 0, c1, c2)
#define PT_MUFU_LG2_ROWS(ROW, c0, c1, c2) \
    PT_MUFU_HALVES(ROW, c0, c1, 12, PT_MUFU_LG2_BACK, c1, -2 * (c2))
#define PT_MUFU_SIN_ROWS(ROW, c0, c1, c2) \
    PT_MUFU_HALVES(ROW, c0, c1, 11, PT_MUFU_SIN_BACK, c1, -(c2))
PT_MUFU_TABLE(rcp, 128, PT_MUFU_RCP, PT_MUFU_RCP_ROWS)
PT_MUFU_TABLE(rsq, 256, PT_MUFU_RSQ, PT_MUFU_RSQ_ROWS)
PT_MUFU_TABLE(sqrt, 256, PT_MUFU_SQRT, PT_MUFU_SQRT_ROWS)
PT_MUFU_TABLE(ex2, 128, PT_MUFU_EX2, PT_MUFU_EX2_ROWS)
PT_MUFU_TABLE(lg2, 128, PT_MUFU_LG2, PT_MUFU_LG2_ROWS)
PT_MUFU_TABLE(sin, 128, PT_MUFU_SIN, PT_MUFU_SIN_ROWS)

/* The squarer: x * x / 2^19 of 17 bits without the partial products below 2^18. Of the cells i, j
 * of the product those with both i, j >= 9 are a square; of the mixed ones, which come twice, those
 * with i + j >= 18 count: a triangle, row j of which is bit j times the bits from 18 - j on. A
 * product of pairs, one in each half of a word, has two rows in its upper half. */
PT_LANE uint32_t pt_mufu_square(uint32_t x)
{
    uint32_t high = x >> 9, u = x >> 2, v = x >> 10;
    uint32_t uu = u | u << 16, vv = v | v << 16;
    uint32_t rows = (uu & 0x007e007f) * (vv & 0x00400020) + (uu & 0x0078007c) * (vv & 0x00100008) +
                    (uu & 0x00600070) * (vv & 0x00040002);
    uint32_t corner = (u & x) >> 8 & 1; /* row 10 */
    return (high * high >> 1) + (rows >> 22) + corner;
}

/* raise + C1 * xl + C2 * sq(square), as the function has the signs of C1 and C2. */
PT_LANE uint32_t pt_mufu_rest(uint32_t c1_c2, uint32_t raise, bool c1_falls, bool c2_falls,
                              uint32_t xl, uint32_t square)
{
    uint32_t first = (c1_c2 >> 16) * (xl & 0xffff);
    uint32_t second = (c1_c2 & 0xffff) * pt_mufu_square(square);
    uint32_t rest = c1_falls ? raise - first : raise + first;
    return c2_falls ? rest - second : rest + second;
}

/* 0 <= v < 2^30 to f32, toward zero. */
PT_LANE uint32_t pt_mufu_cut(uint32_t v)
{
    float f = (float)(int32_t)v;
    return pt_lane_u32(f) - ((int32_t)f > (int32_t)v);
}

PT_LANE bool pt_mufu_is_subnormal(uint32_t x)
{
    return (x & PT_MUFU_INF) == 0 && (x & 0x7fffff) != 0;
}

/* 24 bits, 2^23 to 2^24, of the reciprocal of a fraction, and of the roots' reciprocal of one in
 * [1, 4). */
PT_LANE uint32_t pt_mufu_rcp_fraction(uint32_t f)
{
    uint32_t raise = ((uint32_t)PT_MUFU_RCP_BACK << 13) + 0x47e7;
    uint32_t rest = pt_mufu_rest(pt_mufu_rcp_c1_c2[(int32_t)(f >> 16)], raise, true, false, f,
                                 (f & 0xffff) << 1);
    return (pt_mufu_rcp_c0[(int32_t)(f >> 16)] + (rest >> 13)) >> 2;
}

PT_LANE uint32_t pt_mufu_rsq_fraction(uint32_t g)
{
    uint32_t raise = ((uint32_t)PT_MUFU_RSQ_BACK << 14) + 0x7fff;
    uint32_t rest =
        pt_mufu_rest(pt_mufu_rsq_c1_c2[(int32_t)(g >> 16)], raise, true, false, g, g & 0x1ffff);
    return (pt_mufu_rsq_c0[(int32_t)(g >> 16)] + (rest >> 14)) >> 2;
}

PT_LANE uint32_t pt_mufu_rcp(uint32_t x, bool ftz)
{
    uint32_t s = x & PT_MUFU_SIGN, u = x & 0x7fffffff;
    bool scaled = !ftz && pt_mufu_is_subnormal(x);
    uint32_t y = scaled ? pt_lane_u32(pt_lane_f32(u) * 0x1p24f) : u;
    uint32_t f = y & 0x7fffff;
    int32_t er = 253 - (int32_t)(y >> 23);
    er = scaled ? er + 24 : er;
    uint32_t m = pt_mufu_rcp_fraction(f);
    er += (int32_t)(m >> 24); /* m is 2^23 ... 2^24 */
    uint32_t r = s | (((uint32_t)er << 23) + (m & 0x7fffff));
    /* A subnormal result is the 24-bit one rounded again, to nearest even. */
    uint32_t tiny =
        s | pt_lane_u32(pt_lane_f32(((uint32_t)(er + 64) << 23) | (m & 0x7fffff)) * 0x1p-64f);
    r = er <= 0 ? (ftz ? s : tiny) : er >= 255 ? s | PT_MUFU_INF : r;
    r = y < 0x800000 ? s | PT_MUFU_INF : r;
    r = u == PT_MUFU_INF ? s : r;
    return u > PT_MUFU_INF ? PT_FLOAT_NAN : r;
}

/* Reciprocal square root; x is not subnormal or counts as zero. */
PT_LANE uint32_t pt_mufu_rsq(uint32_t x)
{
    int32_t e = (int32_t)(x >> 23 & 255) - 127;
    uint32_t g = (x & 0x7fffff) | (uint32_t)(e & 1) << 23;
    int32_t h = e >> 1;
    uint32_t m = pt_mufu_rsq_fraction(g);
    uint32_t r = ((uint32_t)(126 - h + (int32_t)(m >> 24)) << 23) | (m & 0x7fffff);
    r = g == 0 ? (uint32_t)(127 - h) << 23 : r; /* exact */
    r = x == PT_MUFU_INF ? 0 : x > PT_MUFU_INF ? PT_FLOAT_NAN : r;
    return (x & PT_MUFU_INF) == 0 ? (x & PT_MUFU_SIGN) | PT_MUFU_INF : r;
}

PT_LANE uint32_t pt_mufu_sqrt(uint32_t x)
{
    int32_t e = (int32_t)(x >> 23 & 255) - 127;
    uint32_t g = (x & 0x7fffff) | (uint32_t)(e & 1) << 23;
    uint32_t raise = ((uint32_t)PT_MUFU_SQRT_BACK << 15) + 0x7fff;
    uint32_t rest =
        pt_mufu_rest(pt_mufu_sqrt_c1_c2[(int32_t)(g >> 16)], raise, false, true, g, g & 0x1ffff);
    uint32_t m = (pt_mufu_sqrt_c0[(int32_t)(g >> 16)] + (g & 0xffff) + (rest >> 15)) >> 2;
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
    const uint32_t end = 0x43000000; /* 128 */
    uint32_t u = x & 0x7fffffff, inside = u < end ? u : end - 1;
    uint32_t v = (uint32_t)(int32_t)(pt_lane_f32(inside) * 0x1p23f); /* 7.23, toward zero */
    bool negative = (int32_t)x < 0;
    int32_t ip = (int32_t)(v >> 23);
    uint32_t f = v & 0x7fffff;
    bool inverted = negative && f != 0; /* one's complement: 2^-23 is lost */
    ip = inverted ? ~ip : negative ? -ip : ip;
    f ^= inverted ? 0x7fffff : 0;
    uint32_t rest =
        pt_mufu_rest(pt_mufu_ex2_c1_c2[(int32_t)(f >> 16)], 0x77e2, false, false, f, f & 0x1ffff);
    uint32_t m = (pt_mufu_ex2_c0[(int32_t)(f >> 16)] + (rest >> 13)) >> 2;
    int32_t er = ip + 127 + (int32_t)(m >> 24);
    uint32_t r = er <= 0 ? 0 : er >= 255 ? PT_MUFU_INF : ((uint32_t)er << 23) | (m & 0x7fffff);
    r = pt_lane_select(u < end, r, pt_lane_select(negative, 0, PT_MUFU_INF));
    return pt_lane_select(u > PT_MUFU_INF, PT_FLOAT_NAN, r);
}

PT_LANE uint32_t pt_mufu_ex2(uint32_t x, bool ftz)
{
    bool low = !ftz && pt_lane_f32(x) < -126.0f;
    float r = pt_lane_f32(pt_mufu_exp(low ? pt_lane_u32(pt_lane_f32(x) * 0.5f) : x));
    return low ? pt_lane_u32(r * r) : pt_lane_u32(r);
}

PT_LANE uint32_t pt_mufu_log(uint32_t x)
{
    uint32_t f = x & 0x7fffff;
    uint32_t raise = ((uint32_t)PT_MUFU_LG2_BACK << 12) + 0x3345;
    uint32_t rest =
        pt_mufu_rest(pt_mufu_lg2_c1_c2[(int32_t)(f >> 16)], raise, false, true, f, f & 0x1ffff);
    /* e and a fraction of 26 and 10 bits; a negative sum's magnitude is its one's complement */
    int32_t e = (int32_t)(x >> 23 & 255) - 127;
    uint32_t flip = (uint32_t)(e >> 31), whole = (uint32_t)e ^ flip;
    uint32_t upper = (pt_mufu_lg2_c0[(int32_t)(f >> 16)] + (rest >> 12)) ^ (flip & 0x3ffffff);
    uint32_t lower = (rest >> 2 & 0x3ff) ^ (flip & 0x3ff);
    bool tiny = upper < 1u << 20, large = whole != 0;
    uint32_t v = large  ? whole << 23 | upper >> 3
                 : tiny ? upper << 10 | lower
                        : upper << 3 | lower >> 7;
    float unit = large ? 0x1p-23f : tiny ? 0x1p-36f : 0x1p-29f;
    uint32_t r = pt_lane_u32(pt_lane_f32(pt_mufu_cut(v)) * unit) | (flip & PT_MUFU_SIGN);
    r = x == 0x3f800000 ? 0 : r; /* exact */
    r = x == PT_MUFU_INF ? PT_MUFU_INF : x > PT_MUFU_INF ? PT_FLOAT_NAN : r;
    return (x & PT_MUFU_INF) == 0 ? PT_MUFU_SIGN | PT_MUFU_INF : r;
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
    uint32_t u = t & 0x7fffffff;
    float turns =
        pt_lane_f32(u < 0x4b000000 ? u : 0x4b000000); /* from 2^23 on there is no fraction */
    /* the fraction of a turn in quarters, 2.23, toward zero */
    uint32_t v = (uint32_t)(int32_t)((turns - __builtin_truncf(turns)) * 0x1p25f);
    uint32_t q = ((v >> 23) + cosine) & 3, f = v & 0x7fffff, s = cosine ? 0 : t >> 31;
    f ^= -(q & 1) & 0x7fffff;
    s ^= q >> 1;
    uint32_t raise = (uint32_t)PT_MUFU_SIN_BACK << 11;
    uint32_t rest =
        pt_mufu_rest(pt_mufu_sin_c1_c2[(int32_t)(f >> 16)], raise, false, true, f, f & 0x1ffff);
    uint32_t upper = pt_mufu_sin_c0[(int32_t)(f >> 16)] + (rest >> 11),
             lower = rest & 0x7ff; /* 26 and 11 bits of fraction */
    bool tiny = upper < 1u << 19;
    uint32_t cut = pt_mufu_cut(tiny ? upper << 11 | lower : upper << 4 | lower >> 7);
    uint32_t r = pt_lane_u32(pt_lane_f32(cut) * (tiny ? 0x1p-37f : 0x1p-30f));
    return u >= PT_MUFU_INF ? PT_FLOAT_NAN : r | s << 31;
}

/* x / 2 pi, toward zero (results below 2^-100, which are no angle, as they come). */
PT_LANE uint32_t pt_mufu_turns(uint32_t x)
{
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    const float factor = 0x1.45f306p-3f;
    float p = pt_lane_f32(x) * factor;
    uint32_t rest = pt_lane_u32(__builtin_fmaf(pt_lane_f32(x), factor, -p));
    return pt_float_step(pt_lane_u32(p), pt_float_is_rest(rest, 0x7f800000), rest, PT_RZ);
#else
    return pt_float_mul(x, 0x3e22f983, PT_RZ, false, false);
#endif
}

/* .ftz makes no difference: what it flushes is no angle either way. */
PT_LANE uint32_t pt_mufu_sincos(uint32_t x, bool cosine)
{
    return pt_mufu_turn(pt_mufu_turns(x), cosine);
}

/* The binades of tanh, from 2^-8 on: X(number k, log of its segments, number of its first one, log
 * of what its C1 and C2 are multiples of: so scaled they have 16 bits). */
#define PT_MUFU_TANH_BINADES(X)                                                           \
    X(0, 0, 0, 2)                                                                         \
    X(1, 0, 1, 2)                                                                         \
    X(2, 0, 2, 3) X(3, 1, 3, 2) X(4, 1, 5, 4) X(5, 2, 7, 3) X(6, 2, 11, 3) X(7, 2, 15, 4) \
        X(8, 3, 19, 3) X(9, 4, 27, 1) X(10, 3, 43, 3)

/* tanh * 2^(34 - k) in 32 bits: the rest has `shift` more below. */
#define PT_MUFU_TANH_SHIFT(k, scale) (6 + (k) - (scale))
#define PT_MUFU_TANH_HALF(ROW, k, scale, c0, c1, c2)                                 \
    ROW(((c0) << (10 - (k))) - (PT_MUFU_TANH_RAISE >> PT_MUFU_TANH_SHIFT(k, scale)), \
        (c1) >> (scale), -(c2) >> (scale))
#define PT_MUFU_TANH_ROWS(ROW, k, scale, c0, c1, c2) \
    PT_MUFU_TANH_HALF(ROW, k, scale, c0, c1, c2)     \
    PT_MUFU_TANH_HALF(ROW, k, scale, (c0) + (c1), c1, c2)
PT_MUFU_TABLE(tanh, 102, PT_MUFU_TANH, PT_MUFU_TANH_ROWS)
/* By the exponent field: the log of the binade's segments, shift << 4, the number of its first row
 * << 8. */
static const uint32_t pt_mufu_tanh_binades[256] = {
#define X(k, log, first, scale) \
    [119 + k] = log | PT_MUFU_TANH_SHIFT(k, scale) << 4 | 2 * first << 8,
    PT_MUFU_TANH_BINADES(X)
#undef X
};

PT_LANE uint32_t pt_mufu_tanh(uint32_t x)
{
    uint32_t s = x & PT_MUFU_SIGN, u = x & 0x7fffffff, f = x & 0x7fffff;
    int32_t e = (int32_t)(u >> 23);
    uint32_t binade = pt_mufu_tanh_binades[e], log = binade & 15, shift = binade >> 4 & 15;
    uint32_t i = (binade >> 8) + (f >> (22 - log));
    uint32_t xl = f >> (6 - log) & 0x1ffff;
    uint32_t rest =
        pt_mufu_rest(pt_mufu_tanh_c1_c2[(int32_t)(i)], PT_MUFU_TANH_RAISE, false, true, xl, xl);
    uint32_t r = s | (pt_mufu_cut(pt_mufu_tanh_c0[(int32_t)(i)] + (rest >> shift)) +
                      ((uint32_t)e << 23) - (153u << 23));
    r = e < 119 ? x : e > 129 ? s | 0x3f800000 : r;
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
    bool overflows = fmt == PT_F16 && r - 0x47800000 < PT_MUFU_INF - 0x47800000; /* from 2^16 on */
    return overflows ? 0x7c00 : cut;
}

PT_LANE uint32_t pt_mufu_tanh_half(uint32_t h, enum pt_half fmt)
{
    return pt_half_from_f32(pt_mufu_tanh(pt_half_to_f32(h, fmt)), fmt, PT_RZ);
}

/* ---- f64: the unit sees and gives the upper word; the lower is 0 ----------------------------- */

PT_LANE uint64_t pt_mufu_rcp64(uint64_t a)
{
    uint32_t high = (uint32_t)(a >> 32), s = high & PT_MUFU_SIGN, u = high & 0x7fffffff;
    uint32_t m = pt_mufu_rcp_fraction((u & 0xfffff) << 3);
    int32_t er = 2045 - (int32_t)(u >> 20) + (int32_t)(m >> 24);
    uint32_t r = er <= 0 ? 0 : ((uint32_t)er << 20) | (m >> 3 & 0xfffff);
    r = u < 0x100000 ? 0x7ff00000 : u == 0x7ff00000 ? 0 : r;
    return u > 0x7ff00000 ? 0x7fffffffull << 32 : (uint64_t)(s | r) << 32;
}

PT_LANE uint64_t pt_mufu_rsq64(uint64_t a)
{
    uint32_t x = (uint32_t)(a >> 32);
    int32_t e = (int32_t)(x >> 20 & 2047) - 1023;
    uint32_t g = (x & 0xfffff) << 3 | (uint32_t)(e & 1) << 23;
    uint32_t m = pt_mufu_rsq_fraction(g);
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
    uint64_t u = a & INT64_MAX;
    bool scaled = a < 1ull << 52;
    uint64_t r = pt_mufu_rsqrt64_step(scaled ? pt_lane_u64(pt_lane_f64(a) * 0x1p54) : a);
    r = scaled ? pt_lane_u64(pt_lane_f64(r) * 0x1p27) : r;
    r = a == 0x7ff0000000000000 ? 0 : r;
    r = a >> 63 ? 0xfff8000000000000 : r;
    r = u > 0x7ff0000000000000 ? a | 0x0008000000000000 : r;
    return u == 0 ? a | 0x7ff0000000000000 : r;
}

#endif
