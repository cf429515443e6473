/* The special-function unit on vectors (wide.h): the arithmetic of mufu.h in fewer instructions,
 * for arguments that need nothing around it. A function takes its arguments from memory, as their
 * segments are looked up by what lies there, and returns whether all lanes are such ones; if not,
 * the result is none, and the lane functions of mufu.h, which know every argument, are called.
 *
 * Here xl is the lowest 16 bits of x less 2^15, so that both products of a parabola are of 16 bits
 * with a sign (mufu_rows.h), and one instruction makes and adds them.
 */
#ifndef PTERA_BACKEND_SEMANTICS_MUFU_WIDE_H
#define PTERA_BACKEND_SEMANTICS_MUFU_WIDE_H

#include "backend/semantics/mufu_rows.h"
#include "backend/semantics/wide.h"

#ifdef PT_WIDE

/* ---- tables ---------------------------------------------------------------------------------- */

/* A function gives the row of its argument. AVX-512 has the tables of whole segments in registers,
 * and adds what C1 makes of bit 16. Elsewhere rows are of half segments, as xl has 16 bits, and
 * numbered by bits 16 to 23 with a sign: those of odd exponents have numbers below 0, and where
 * exponents do not matter, all are there twice. */
#if PT_WIDE == 16
#define PT_MUFU_WIDE_ROW_SUM(bits, n, a, linear, all, odd, c0, c1, c2) \
    PT_MUFU_WIDE_SUM(n, (n) << ((bits) - 16), a, linear, all, odd, c0, c1),
#define PT_MUFU_WIDE_ROW_C2_C1(bits, n, a, linear, all, odd, c0, c1, c2) \
    PT_MUFU_WIDE_C2_C1(linear, c1, c2),
#define PT_MUFU_WIDE_TABLE(name, NAME, copies, n, bits, a)                                      \
    enum { PT_MUFU_WIDE_FIRST_##NAME = __COUNTER__ + 1 };                                       \
    static const uint32_t pt_mufu_wide_##name##_sum[] = {                                       \
        PT_MUFU_##NAME(PT_MUFU_WIDE_##NAME, PT_MUFU_WIDE_ROW_SUM)};                             \
    static const uint32_t pt_mufu_wide_##name##_c2_c1[] = {                                     \
        PT_MUFU_##NAME(PT_MUFU_WIDE_##NAME, PT_MUFU_WIDE_ROW_C2_C1)};                           \
    PT_LANE void pt_mufu_wide_##name##_row(const uint32_t *lanes, pt_wide *sum, pt_wide *c2_c1) \
    {                                                                                           \
        pt_wide x = pt_wide_load(lanes);                                                        \
        pt_wide at = (copies == 1 ? x ^ 0x800000 : x) >> (bits);                                \
        *sum = pt_wide_lookup_##n(pt_mufu_wide_##name##_sum, at);                               \
        *c2_c1 = pt_wide_lookup_##n(pt_mufu_wide_##name##_c2_c1, at);                           \
        if ((bits) == 17)                                                                       \
            *sum += pt_wide_if_bit(x, 16, pt_wide_sar(*c2_c1 << 16, a));                        \
    }
#else
#define PT_MUFU_WIDE_ROW(n, at, a, linear, all, odd, c0, c1, c2) \
    {PT_MUFU_WIDE_SUM(n, at, a, linear, all, odd, c0, c1), PT_MUFU_WIDE_C2_C1(linear, c1, c2)},
#define PT_MUFU_WIDE_ROWS_16(n, a, linear, all, odd, c0, c1, c2) \
    PT_MUFU_WIDE_ROW(n, n, a, linear, all, odd, c0, c1, c2)
#define PT_MUFU_WIDE_ROWS_17(n, a, linear, all, odd, c0, c1, c2)  \
    PT_MUFU_WIDE_ROW(n, 2 * (n), a, linear, all, odd, c0, c1, c2) \
    PT_MUFU_WIDE_ROW(n, 2 * (n) + 1, a, linear, all, odd, (c0) + (c1) * (1 << (16 - (a))), c1, c2)
#define PT_MUFU_WIDE_ROWS(bits, ...) PT_MUFU_WIDE_ROWS_##bits(__VA_ARGS__)
#define PT_MUFU_WIDE_1(rows) rows
#define PT_MUFU_WIDE_2(rows) rows rows
#define PT_MUFU_WIDE_TABLE(name, NAME, copies, n, bits, a)                                      \
    enum { PT_MUFU_WIDE_FIRST_##NAME = __COUNTER__ + 1 };                                       \
    static const uint32_t pt_mufu_wide_##name##_rows[256][2] = {                                \
        PT_MUFU_WIDE_##copies(PT_MUFU_##NAME(PT_MUFU_WIDE_##NAME, PT_MUFU_WIDE_ROWS))};         \
    PT_LANE void pt_mufu_wide_##name##_row(const uint32_t *lanes, pt_wide *sum, pt_wide *c2_c1) \
    {                                                                                           \
        pt_wide_rows(pt_mufu_wide_##name##_rows + 128, lanes, sum, c2_c1);                      \
    }
#endif
PT_MUFU_WIDE_TABLE(rcp, RCP, 2, 128, 16, 13)
PT_MUFU_WIDE_TABLE(rsq, RSQ, 1, 128, 17, 14)
PT_MUFU_WIDE_TABLE(sqrt, SQRT, 1, 128, 17, 15)
PT_MUFU_WIDE_TABLE(ex2, EX2, 2, 64, 17, 13)
PT_MUFU_WIDE_TABLE(lg2, LG2, 2, 64, 17, 12)
PT_MUFU_WIDE_TABLE(sin, SIN, 2, 64, 17, 11)

/* ---- the parabola ---------------------------------------------------------------------------- */

/* The squarer of pt_mufu_square, 2^16 times its result, and what it drops below: of bits 2 to 17 of
 * the argument in w's lower half. Its triangle of bit products is seven rectangles, each of one of
 * bits 10 to 16 times some of bits 2 to 8, which are products of bytes: two instructions multiply
 * four pairs in each lane, bits in their places, so that all have the scale 2^6. The square of bits
 * 9 to 16 is made twice. */
PT_LANE pt_wide pt_mufu_wide_square(pt_wide w)
{
    pt_wide g = pt_wide_bytes(w, 0, 1, 0, 1), h = pt_wide_bytes(w, 1, 0, 1, 0);
    pt_wide s = pt_wide_maddubs(g & PT_WIDE_LITERAL(0x087c207f), h & PT_WIDE_LITERAL(0x78107e40));
    pt_wide t = pt_wide_maddubs(g & PT_WIDE_LITERAL(0x00400270), h & PT_WIDE_LITERAL(0x00016004));
    pt_wide corners =
        pt_wide_madd((pt_wide)((pt_wide_i16)s + (pt_wide_i16)t), PT_WIDE_LITERAL(0x04000400));
    pt_wide high = g & PT_WIDE_LITERAL(0x7f807f80);
    return corners + pt_wide_madd(high, high);
}

/* raise + (C1 - linear) * xl + C2 * sq, which are of x and w. */
PT_LANE pt_wide pt_mufu_wide_rest(pt_wide c2_c1, uint32_t raise, pt_wide x, pt_wide w)
{
    pt_wide xl = x ^ PT_WIDE_LITERAL(0x8000);
    return raise + pt_wide_madd(c2_c1, pt_wide_halves(xl, pt_mufu_wide_square(w)));
}

/* ---- functions ------------------------------------------------------------------------------- */

/* Positive and normal. */
PT_LANE bool pt_mufu_wide_are_normal(pt_wide x)
{
    return pt_wide_are_within(x, 0x800000, PT_MUFU_INF);
}

/* Either sign; argument and result are normal. */
PT_LANE bool pt_mufu_wide_rcp(const uint32_t *a, pt_wide *r)
{
    pt_wide x = pt_wide_load(a), sum, c2_c1, down = (253u << 23) - 1 - x; /* the sign rides along */
    pt_mufu_wide_rcp_row(a, &sum, &c2_c1);
    pt_wide rest = pt_mufu_wide_rest(c2_c1, 0x47e7, x, x >> 1);
    *r = ((sum + pt_wide_sar(rest, 13)) >> 2) + down;
    return pt_wide_are_all(pt_wide_is_less(down & 0x7fffffff, pt_wide_all(252u << 23)));
}

PT_LANE bool pt_mufu_wide_rsqrt(const uint32_t *a, pt_wide *r)
{
    pt_wide x = pt_wide_load(a), sum, c2_c1, up = x + PT_MUFU_INF;
    pt_mufu_wide_rsq_row(a, &sum, &c2_c1);
    pt_wide rest = pt_mufu_wide_rest(c2_c1, 0x7fff, x, x >> 2);
    pt_wide y = (((sum + pt_wide_sar(rest, 14)) >> 1) - up) >> 1;
    *r = pt_wide_count(y, pt_wide_is_equal(up << 8, pt_wide_all(0))); /* powers of 4 are exact */
    return pt_wide_are_all(pt_wide_is_less(up, pt_wide_all(PT_MUFU_INF << 1)));
}

PT_LANE bool pt_mufu_wide_sqrt(const uint32_t *a, pt_wide *r)
{
    pt_wide x = pt_wide_load(a), sum, c2_c1;
    pt_mufu_wide_sqrt_row(a, &sum, &c2_c1);
    pt_wide rest = pt_mufu_wide_rest(c2_c1, 0x7fff, x, x >> 2);
    *r = (((sum + pt_wide_sar(rest, 15)) >> 1) + x) >> 1;
    return pt_mufu_wide_are_normal(x);
}

/* The argument of 2^x, x < 128, in fixed point: 9.23, signed. A negative one's fraction is made of
 * its one's complement. */
PT_LANE pt_wide pt_mufu_wide_fixed(pt_wide_f32 x)
{
    pt_wide v = pt_wide_trunc(pt_wide_max(x, pt_wide_all_f32(-128)) * 0x1p23f);
    return v + pt_wide_unless(pt_wide_is_equal(v & 0x7fffff, pt_wide_all(0)), pt_wide_sar(v, 31));
}

/* 2^x of it, subnormal results flushed. */
PT_LANE pt_wide pt_mufu_wide_exp(const uint32_t *fixed)
{
    pt_wide v = pt_wide_load(fixed), sum, c2_c1;
    pt_mufu_wide_ex2_row(fixed, &sum, &c2_c1);
    pt_wide rest = pt_mufu_wide_rest(c2_c1, 0x77e2, v, v >> 2);
    pt_wide result = ((sum + pt_wide_sar(rest, 13)) >> 2) + v;
    return pt_wide_unless(pt_wide_is_less(v, pt_wide_all(-126u << 23)), result);
}

PT_LANE pt_wide pt_mufu_wide_ex2_ftz_fixed(const uint32_t *a)
{
    return pt_mufu_wide_fixed((pt_wide_f32)pt_wide_load(a));
}

PT_LANE bool pt_mufu_wide_ex2_ftz(const uint32_t *a, const uint32_t *fixed, pt_wide *r)
{
    *r = pt_mufu_wide_exp(fixed);
    return pt_wide_are_all(pt_wide_is_less_f32((pt_wide_f32)pt_wide_load(a), pt_wide_all_f32(128)));
}

/* Where the result may be subnormal, it is the square of 2^(x / 2). */
PT_LANE pt_wide_mask pt_mufu_wide_is_low(pt_wide x)
{
    return pt_wide_is_less_f32((pt_wide_f32)x, pt_wide_all_f32(-126));
}

PT_LANE pt_wide pt_mufu_wide_ex2_fixed(const uint32_t *a)
{
    pt_wide x = pt_wide_load(a), half = (pt_wide)((pt_wide_f32)x * 0.5f);
    return pt_mufu_wide_fixed((pt_wide_f32)pt_wide_select(pt_mufu_wide_is_low(x), half, x));
}

PT_LANE bool pt_mufu_wide_ex2(const uint32_t *a, const uint32_t *fixed, pt_wide *r)
{
    pt_wide once;
    bool is_plain = pt_mufu_wide_ex2_ftz(a, fixed, &once);
    pt_wide_f32 y = (pt_wide_f32)once;
    *r = pt_wide_select(pt_mufu_wide_is_low(pt_wide_load(a)), (pt_wide)(y * y), once);
    return is_plain;
}

PT_LANE bool pt_mufu_wide_lg2(const uint32_t *a, pt_wide *r)
{
    pt_wide x = pt_wide_load(a), sum, c2_c1;
    pt_mufu_wide_lg2_row(a, &sum, &c2_c1);
    pt_wide rest = pt_mufu_wide_rest(c2_c1, 0x3345, x, x >> 2);
    sum += x << 9 >> 6;
    pt_wide e = (x >> 23) - 127, flip = pt_wide_sar(e, 31), whole = e ^ flip;
    pt_wide upper = (sum + pt_wide_sar(rest, 12)) ^ (flip & 0x3ffffff);
    pt_wide lower = (rest >> 2 ^ flip) & 0x3ff;
    pt_wide_mask is_fraction = pt_wide_is_equal(whole, pt_wide_all(0)),
                 is_tiny = pt_wide_is_less(upper, pt_wide_all(1u << 20));
    pt_wide v = pt_wide_select(is_tiny, upper << 10 | lower, upper << 3 | lower >> 7);
    v = pt_wide_select(is_fraction, v, whole << 23 | upper >> 3);
    pt_wide unit = pt_wide_select(is_tiny, (pt_wide)pt_wide_all_f32(0x1p-36f),
                                  (pt_wide)pt_wide_all_f32(0x1p-29f));
    unit = pt_wide_select(is_fraction, unit, (pt_wide)pt_wide_all_f32(0x1p-23f));
    pt_wide y = (pt_wide)(pt_wide_cut(v) * (pt_wide_f32)unit) | (flip & PT_MUFU_SIGN);
    *r = pt_wide_unless(pt_wide_is_equal(x, pt_wide_all(0x3f800000)), y); /* exact */
    return pt_mufu_wide_are_normal(x);
}

/* x / 2 pi, toward zero. */
PT_LANE pt_wide pt_mufu_wide_turns(pt_wide_f32 x)
{
    const pt_wide_f32 factor = pt_wide_all_f32(0x1.45f306p-3f);
    pt_wide_f32 p = x * factor, rest = pt_wide_fma(x, factor, -p);
    pt_wide inward = ((pt_wide)rest ^ (pt_wide)p) >> 31;
    pt_wide_mask is_exact = pt_wide_is_equal((pt_wide)rest << 1, pt_wide_all(0));
    return (pt_wide)p - pt_wide_unless(is_exact, inward);
}

/* Of up to 2^24: more turns than that have no fraction. */
PT_LANE bool pt_mufu_wide_sincos(const uint32_t *a, bool cosine, pt_wide *r)
{
    pt_wide x = pt_wide_load(a), t = pt_mufu_wide_turns((pt_wide_f32)x);
    pt_wide_f32 turns = (pt_wide_f32)(t & 0x7fffffff);
    pt_wide v = pt_wide_trunc(pt_wide_fraction(turns) * 0x1p25f); /* quarters, 2.23 */
    pt_wide q = cosine ? (v >> 23) + 1 : v >> 23;
    pt_wide s = (cosine ? pt_wide_all(0) : t & PT_MUFU_SIGN) ^ (q >> 1 << 31);
    pt_wide f = v ^ -(q & 1);
    uint32_t lanes[PT_WIDE];
    pt_wide_spill(lanes, f);
    pt_wide sum, c2_c1;
    pt_mufu_wide_sin_row(lanes, &sum, &c2_c1);
    pt_wide rest = pt_mufu_wide_rest(c2_c1, 0, f, f >> 2);
    pt_wide upper = sum + pt_wide_sar(rest, 11), lower = rest & 0x7ff;
    pt_wide_mask is_tiny = pt_wide_is_less(upper, pt_wide_all(1u << 19));
    pt_wide_f32 cut =
        pt_wide_cut(pt_wide_select(is_tiny, upper << 11 | lower, upper << 4 | lower >> 7));
    pt_wide unit = pt_wide_select(is_tiny, (pt_wide)pt_wide_all_f32(0x1p-37f),
                                  (pt_wide)pt_wide_all_f32(0x1p-30f));
    *r = (pt_wide)(cut * (pt_wide_f32)unit) | s;
    return pt_wide_are_within(x & 0x7fffffff, 0, 0x4b800000);
}

PT_LANE bool pt_mufu_wide_sin(const uint32_t *a, pt_wide *r)
{
    return pt_mufu_wide_sincos(a, false, r);
}

PT_LANE bool pt_mufu_wide_cos(const uint32_t *a, pt_wide *r)
{
    return pt_mufu_wide_sincos(a, true, r);
}

#endif
#endif
