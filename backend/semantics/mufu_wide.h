/* The special-function unit on vectors (wide.h): the arithmetic of mufu.h, in the same tables and the same 32 bits, for
 * arguments that need nothing around it. A function returns whether all lanes are such ones; if not, the result is none, and
 * the lane functions of mufu.h, which know every argument, are called.
 */
#ifndef PTERA_BACKEND_SEMANTICS_MUFU_WIDE_H
#define PTERA_BACKEND_SEMANTICS_MUFU_WIDE_H

#include "backend/semantics/mufu.h"
#include "backend/semantics/wide.h"

#ifdef PT_WIDE

/* The squarer of pt_mufu_square: its triangle of bit products is seven rectangles, which are products of bytes. Two
 * instructions multiply four pairs of bytes in each lane, bits in their places, so that all have the scale 2^6. */
PT_LANE pt_wide pt_mufu_wide_square(pt_wide x)
{
    pt_wide u = pt_wide_bytes(x >> 2), v = pt_wide_bytes(x >> 10), high = x >> 9;
    pt_wide s = pt_wide_maddubs(u & PT_WIDE_LITERAL(0x7c7e7f00), v & PT_WIDE_LITERAL(0x10204000));
    pt_wide t = pt_wide_maddubs(u & PT_WIDE_LITERAL(0x40607078), v & PT_WIDE_LITERAL(0x01020408));
    pt_wide corners =
        pt_wide_madd((pt_wide)((pt_wide_i16)s + (pt_wide_i16)t), PT_WIDE_LITERAL(0x00010001));
    return (corners + (pt_wide_madd(high, high) << 5)) >> 6;
}

/* raise + C1 * xl + C2 * sq(square), as pt_mufu_rest has it. */
PT_LANE pt_wide pt_mufu_wide_rest(pt_wide c1_c2, uint32_t raise, bool c1_falls, bool c2_falls,
                                  pt_wide xl, pt_wide square)
{
    pt_wide first = (c1_c2 >> 16) * (xl & 0xffff);
    pt_wide second = pt_wide_madd(c1_c2, pt_mufu_wide_square(square)); /* its upper half is 0 */
    pt_wide rest = c1_falls ? raise - first : raise + first;
    return c2_falls ? rest - second : rest + second;
}

/* C0 and C1, C2 of the half segment that bits 16 to 22 (23 of the roots) of x choose. AVX-512 holds the tables of whole
 * segments in registers, and adds to C0 what C1 makes of bit 16. */
#if PT_WIDE == 16
#define PT_MUFU_WIDE_ROW(name, n, first_bit, falls, a)                               \
    PT_LANE void pt_mufu_wide_##name##_row(pt_wide x, pt_wide *c0, pt_wide *c1_c2)   \
    {                                                                                \
        *c0 = pt_wide_lookup_##n(pt_mufu_##name##_whole_c0, x >> (first_bit));       \
        *c1_c2 = pt_wide_lookup_##n(pt_mufu_##name##_whole_c1_c2, x >> (first_bit)); \
        if ((first_bit) == 17) {                                                     \
            pt_wide half = pt_wide_if_bit(x, 16, *c1_c2 >> 16 << (16 - (a)));        \
            *c0 = (falls) ? *c0 - half : *c0 + half;                                 \
        }                                                                            \
    }
#else
#define PT_MUFU_WIDE_ROW(name, n, first_bit, falls, a)                             \
    PT_LANE void pt_mufu_wide_##name##_row(pt_wide x, pt_wide *c0, pt_wide *c1_c2) \
    {                                                                              \
        enum { ROWS = (n) << ((first_bit) - 16) };                                 \
        pt_wide_rows(pt_mufu_##name##_rows, x >> 16 & (ROWS - 1), c0, c1_c2);      \
    }
#endif
PT_MUFU_WIDE_ROW(rcp, 128, 16, true, 13)
PT_MUFU_WIDE_ROW(rsq, 128, 17, true, 14)
PT_MUFU_WIDE_ROW(sqrt, 128, 17, false, 15)
PT_MUFU_WIDE_ROW(ex2, 64, 17, false, 13)
PT_MUFU_WIDE_ROW(lg2, 64, 17, false, 12)
PT_MUFU_WIDE_ROW(sin, 64, 17, false, 11)

/* Positive and normal. */
PT_LANE bool pt_mufu_wide_are_normal(pt_wide x)
{
    return pt_wide_are_within(x, 0x800000, PT_MUFU_INF);
}

/* Either sign; argument and result are normal. */
PT_LANE bool pt_mufu_wide_rcp(pt_wide x, pt_wide *r)
{
    pt_wide c0, c1_c2, f = x & 0x7fffff;
    pt_mufu_wide_rcp_row(x, &c0, &c1_c2);
    uint32_t raise = ((uint32_t)PT_MUFU_RCP_BACK << 13) + 0x47e7;
    pt_wide rest = pt_mufu_wide_rest(c1_c2, raise, true, false, f, (f & 0xffff) << 1);
    pt_wide m = (c0 + (rest >> 13)) >> 2;     /* 2^23 ... 2^24 */
    *r = (252u << 23) - (x & 0xff800000) + m; /* the sign rides along */
    return pt_wide_are_within(x & 0x7fffffff, 0x800000, 253u << 23);
}

/* The exponent field of a root, half of the argument's, at its place. */
PT_LANE pt_wide pt_mufu_wide_half_exponent(pt_wide x)
{
    return (x + 0x800000) >> 24 << 23;
}

PT_LANE bool pt_mufu_wide_rsqrt(pt_wide x, pt_wide *r)
{
    pt_wide c0, c1_c2;
    pt_mufu_wide_rsq_row(x ^ 0x800000, &c0,
                         &c1_c2); /* by the lowest bit of the exponent less its bias */
    uint32_t raise = ((uint32_t)PT_MUFU_RSQ_BACK << 14) + 0x7fff;
    pt_wide rest = pt_mufu_wide_rest(c1_c2, raise, true, false, x, x & 0x1ffff);
    pt_wide m = (c0 + (rest >> 14)) >> 2;
    m = pt_wide_count(m,
                      pt_wide_is_equal(x << 8, pt_wide_all(1u << 31))); /* powers of 4 are exact */
    *r = (189u << 23) - pt_mufu_wide_half_exponent(x) + m;
    return pt_mufu_wide_are_normal(x);
}

PT_LANE bool pt_mufu_wide_sqrt(pt_wide x, pt_wide *r)
{
    pt_wide c0, c1_c2;
    pt_mufu_wide_sqrt_row(x ^ 0x800000, &c0, &c1_c2);
    uint32_t raise = ((uint32_t)PT_MUFU_SQRT_BACK << 15) + 0x7fff;
    pt_wide rest = pt_mufu_wide_rest(c1_c2, raise, false, true, x, x & 0x1ffff);
    pt_wide low = x & (PT_WIDE == 16 ? 0x1ffff : 0xffff); /* what C1 has above 16 bits */
    *r = (62u << 23) + pt_mufu_wide_half_exponent(x) + ((c0 + low + (rest >> 15)) >> 2);
    return pt_mufu_wide_are_normal(x);
}

/* 2^x of x < 128, subnormal results flushed. */
PT_LANE bool pt_mufu_wide_exp(pt_wide_f32 x, pt_wide *r)
{
    pt_wide v = pt_wide_trunc(pt_wide_max(x, pt_wide_all_f32(-128)) * 0x1p23f); /* 9.23, signed */
    /* one's complement of a negative fraction */
    v += pt_wide_select(pt_wide_is_equal(v & 0x7fffff, pt_wide_all(0)), pt_wide_all(0),
                        pt_wide_sar(v, 31));
    pt_wide c0, c1_c2;
    pt_mufu_wide_ex2_row(v, &c0, &c1_c2);
    pt_wide rest = pt_mufu_wide_rest(c1_c2, 0x77e2, false, false, v, v & 0x1ffff);
    pt_wide m = (c0 + (rest >> 13)) >> 2;
    pt_wide result = (v & 0xff800000) + (126u << 23) + m;
    pt_wide_mask is_tiny = pt_wide_is_less(v, pt_wide_all(-126u << 23));
    *r = pt_wide_select(is_tiny, pt_wide_all(0), result);
    return pt_wide_are_all(pt_wide_is_less_f32(x, pt_wide_all_f32(128)));
}

PT_LANE bool pt_mufu_wide_ex2_ftz(pt_wide x, pt_wide *r)
{
    return pt_mufu_wide_exp((pt_wide_f32)x, r);
}

PT_LANE bool pt_mufu_wide_ex2(pt_wide x, pt_wide *r)
{
    pt_wide_f32 v = (pt_wide_f32)x;
    pt_wide_mask low = pt_wide_is_less_f32(v, pt_wide_all_f32(-126));
    v = (pt_wide_f32)pt_wide_select(low, (pt_wide)(v * 0.5f), x);
    pt_wide once;
    bool is_plain = pt_mufu_wide_exp(v, &once);
    pt_wide_f32 y = (pt_wide_f32)once;
    *r = pt_wide_select(low, (pt_wide)(y * y), once);
    return is_plain;
}

PT_LANE bool pt_mufu_wide_lg2(pt_wide x, pt_wide *r)
{
    pt_wide c0, c1_c2;
    pt_mufu_wide_lg2_row(x, &c0, &c1_c2);
    uint32_t raise = ((uint32_t)PT_MUFU_LG2_BACK << 12) + 0x3345;
    pt_wide rest = pt_mufu_wide_rest(c1_c2, raise, false, true, x, x & 0x1ffff);
    pt_wide e = (x >> 23) - 127, flip = pt_wide_sar(e, 31), whole = e ^ flip, none = pt_wide_all(0);
    pt_wide upper = (c0 + (rest >> 12)) ^ (flip & 0x3ffffff);
    pt_wide lower = (rest >> 2 ^ flip) & 0x3ff;
    pt_wide_mask is_fraction = pt_wide_is_equal(whole, none),
                 is_tiny = pt_wide_is_less(upper, pt_wide_all(1u << 20));
    pt_wide v = pt_wide_select(is_tiny, upper << 10 | lower, upper << 3 | lower >> 7);
    v = pt_wide_select(is_fraction, v, whole << 23 | upper >> 3);
    pt_wide unit = pt_wide_select(is_tiny, (pt_wide)pt_wide_all_f32(0x1p-36f),
                                  (pt_wide)pt_wide_all_f32(0x1p-29f));
    unit = pt_wide_select(is_fraction, unit, (pt_wide)pt_wide_all_f32(0x1p-23f));
    pt_wide y = (pt_wide)(pt_wide_cut(v) * (pt_wide_f32)unit) | (flip & PT_MUFU_SIGN);
    *r = pt_wide_select(pt_wide_is_equal(x, pt_wide_all(0x3f800000)), none, y); /* exact */
    return pt_mufu_wide_are_normal(x);
}

/* x / 2 pi, toward zero. */
PT_LANE pt_wide pt_mufu_wide_turns(pt_wide_f32 x)
{
    const pt_wide_f32 factor = pt_wide_all_f32(0x1.45f306p-3f);
    pt_wide_f32 p = x * factor, rest = pt_wide_fma(x, factor, -p);
    pt_wide none = pt_wide_all(0);
    pt_wide inward = ((pt_wide)rest ^ (pt_wide)p) >> 31;
    pt_wide_mask is_exact = pt_wide_is_equal((pt_wide)rest << 1, none);
    return (pt_wide)p - pt_wide_select(is_exact, none, inward);
}

/* Of up to 2^24: more turns than that have no fraction. */
PT_LANE bool pt_mufu_wide_sincos(pt_wide x, bool cosine, pt_wide *r)
{
    pt_wide t = pt_mufu_wide_turns((pt_wide_f32)x);
    pt_wide_f32 turns = (pt_wide_f32)(t & 0x7fffffff);
    pt_wide v = pt_wide_trunc(pt_wide_fraction(turns) * 0x1p25f); /* quarters, 2.23 */
    pt_wide q = cosine ? (v >> 23) + 1 : v >> 23;
    pt_wide s = (cosine ? pt_wide_all(0) : t & PT_MUFU_SIGN) ^ (q >> 1 << 31);
    pt_wide f = v ^ -(q & 1);
    pt_wide c0, c1_c2;
    pt_mufu_wide_sin_row(f, &c0, &c1_c2);
    uint32_t raise = (uint32_t)PT_MUFU_SIN_BACK << 11;
    pt_wide rest = pt_mufu_wide_rest(c1_c2, raise, false, true, f, f & 0x1ffff);
    pt_wide upper = c0 + (rest >> 11), lower = rest & 0x7ff;
    pt_wide_mask is_tiny = pt_wide_is_less(upper, pt_wide_all(1u << 19));
    pt_wide_f32 cut =
        pt_wide_cut(pt_wide_select(is_tiny, upper << 11 | lower, upper << 4 | lower >> 7));
    pt_wide unit = pt_wide_select(is_tiny, (pt_wide)pt_wide_all_f32(0x1p-37f),
                                  (pt_wide)pt_wide_all_f32(0x1p-30f));
    *r = (pt_wide)(cut * (pt_wide_f32)unit) | s;
    return pt_wide_are_within(x & 0x7fffffff, 0, 0x4b800000);
}

PT_LANE bool pt_mufu_wide_sin(pt_wide x, pt_wide *r)
{
    return pt_mufu_wide_sincos(x, false, r);
}

PT_LANE bool pt_mufu_wide_cos(pt_wide x, pt_wide *r)
{
    return pt_mufu_wide_sincos(x, true, r);
}

#endif
#endif
