/* f16 and bf16 arithmetic of one lane (PTX ISA 9.7.4): helpers of half.def, and the conversions of
 * both formats.
 *
 * Values are their bits in the low half of a word. Operations run in f32 or double and round once:
 * f32 has more than twice the bits of either format plus two, and where the intermediate is not
 * exact it is rounded to odd.
 */
#ifndef PTERA_BACKEND_SEMANTICS_HALF_H
#define PTERA_BACKEND_SEMANTICS_HALF_H

#include "backend/semantics/float.h"

enum pt_half { PT_F16, PT_BF16 };

/* Exact. A NaN stays a NaN with its payload moved up. */
PT_LANE uint32_t pt_half_to_f32(uint32_t h, enum pt_half fmt)
{
    h &= 0xffff;
    if (fmt == PT_BF16)
        return h << 16;
    /* The exponent is corrected by a multiplication, which also normalises subnormals. */
    uint32_t m = h & 0x7fff;
    uint32_t small = pt_lane_u32((float)(int32_t)m * 0x1p-24f);
    uint32_t u = (m << 13) + (112u << 23);
    u |= (int32_t)m < 0x7c00 ? 0 : 0x7f800000;
    u = (int32_t)m < 0x400 ? small : u;
    return u | (h ^ m) << 16;
}

/* The magnitude u of an f32 to f16, to nearest even, at most infinity. */
PT_LANE uint32_t pt_half_nearest(uint32_t u)
{
    /* Below 2^-14 the unit is 2^-24, that of a sum with 0.5. */
    uint32_t small = pt_lane_u32(pt_lane_f32(u) + 0.5f) - 0x3f000000;
    uint32_t normal = (u - (112u << 23) + 0xfff + (u >> 13 & 1)) >> 13;
    int32_t q = (int32_t)((int32_t)u < 113 << 23 ? small : normal);
    return (uint32_t)(q < 0x7c00 ? q : 0x7c00);
}

/* The same toward zero, at most the largest finite value unless u is infinite. */
PT_LANE uint32_t pt_half_toward_zero(uint32_t u)
{
    int32_t least = 113 << 23, over = 0x47800000, inf = 0x7f800000;
    uint32_t small = (int32_t)u < least ? u : 0;
    int32_t q = (int32_t)((u - (112u << 23)) >> 13);
    q = (int32_t)u < least ? (int32_t)(pt_lane_f32(small) * 0x1p24f) : q;
    q = (int32_t)u < over ? q : 0x7bff;
    return (uint32_t)((int32_t)u < inf ? q : 0x7c00);
}

/* f32 bits to a half format in one rounding. Every NaN becomes 0x7fff. */
PT_LANE uint32_t pt_half_from_f32(uint32_t a, enum pt_half fmt, enum pt_round rnd)
{
    uint32_t u = a & 0x7fffffff, sign = a >> 31;
    if (fmt == PT_F16 && (rnd == PT_RN || rnd == PT_RZ)) {
        uint32_t h = (rnd == PT_RN ? pt_half_nearest(u) : pt_half_toward_zero(u)) | (a ^ u) >> 16;
        return (int32_t)u > 0x7f800000 ? 0x7fff : h;
    }
    uint32_t m = u, drop = 16, inf = 0x7f80;
    if (fmt == PT_F16) {
        uint32_t e = u >> 23;
        uint32_t frac = (u & 0x7fffff) | (e ? 0x800000 : 0);
        uint32_t low = 126 - e > 25 ? 25 : 126 - e; /* subnormal result: in units of 2^-24 */
        m = e >= 113 ? u - (112u << 23) : frac;
        drop = e >= 113 ? 13 : low;
        inf = 0x7c00;
    }
    uint32_t q = m >> drop, rest = m & ((1u << drop) - 1), half = 1u << (drop - 1);
    switch (rnd) {
    case PT_RN:
        q += (rest + (q & 1)) > half;
        break;
    case PT_RNA:
        q += rest >= half;
        break;
    case PT_RM:
        q += sign && rest;
        break;
    case PT_RP:
        q += !sign && rest;
        break;
    case PT_RO:
        q |= rest != 0;
        break;
    case PT_RZ:
        break;
    }
    bool to_inf =
        rnd == PT_RN || rnd == PT_RNA || (rnd == PT_RM && sign) || (rnd == PT_RP && !sign);
    uint32_t most = to_inf ? inf : inf - 1;
    q = q < most ? q : most;
    q = u == 0x7f800000 ? inf : q;
    return u > 0x7f800000 ? 0x7fff : q | sign << 15;
}

PT_LANE uint32_t pt_half_ftz(uint32_t h, enum pt_half fmt, bool ftz)
{
    uint32_t field = fmt == PT_F16 ? 0x7c00 : 0x7f80;
    return ftz && (h & field) == 0 ? h & 0x8000 : h & 0xffff;
}

/* What follows the arithmetic: one rounding, .ftz, .sat or .relu. .ftz (of f16, to nearest) flushes
 * what is below 2^-14 when rounded to 11 bits of whatever exponent: as f32, see
 * pt_float_finish_tiny. */
PT_LANE uint32_t pt_half_finish(uint32_t r, enum pt_half fmt, enum pt_round rnd, bool ftz, bool sat,
                                bool relu)
{
    r = pt_float_sat(r, sat);
    bool tiny = ftz && (r & 0x7fffffff) < 0x387ff000; /* 2^-14 - 2^-26 */
    uint32_t h = tiny ? r >> 16 & 0x8000 : pt_half_from_f32(r, fmt, rnd);
    return relu && (h & 0x8000) ? 0 : h;
}

PT_LANE uint32_t pt_half_add(uint32_t a, uint32_t b, enum pt_half fmt, bool ftz, bool sat)
{
    float x = pt_lane_f32(pt_half_to_f32(pt_half_ftz(a, fmt, ftz), fmt));
    float y = pt_lane_f32(pt_half_to_f32(pt_half_ftz(b, fmt, ftz), fmt));
    return pt_half_finish(pt_lane_u32(x + y), fmt, PT_RN, ftz, sat, false);
}

PT_LANE uint32_t pt_half_sub(uint32_t a, uint32_t b, enum pt_half fmt, bool ftz, bool sat)
{
    return pt_half_add(a, b ^ 0x8000, fmt, ftz, sat);
}

PT_LANE uint32_t pt_half_mul(uint32_t a, uint32_t b, enum pt_half fmt, bool ftz, bool sat)
{
    float x = pt_lane_f32(pt_half_to_f32(pt_half_ftz(a, fmt, ftz), fmt));
    float y = pt_lane_f32(pt_half_to_f32(pt_half_ftz(b, fmt, ftz), fmt));
    uint32_t r = fmt == PT_F16 ? pt_lane_u32(x * y) : pt_float_from_sum((double)x * y, 0, PT_RO);
    return pt_half_finish(r, fmt, PT_RN, ftz, sat, false);
}

/* x * y + z to f32, rounded to odd. A product of f16 values is exact there. */
PT_LANE uint32_t pt_half_fma_odd(float x, float y, float z, enum pt_half fmt)
{
    if (fmt == PT_BF16) {
        double p = (double)x * (double)y, s = p + (double)z;
        return pt_float_from_sum(s, pt_float_sum_rest(p, z, s), PT_RO);
    }
    return pt_float_sum(pt_lane_u32(x * y), pt_lane_u32(z), PT_RO);
}

/* .oob: a factor 0x7ff7 of either sign (the NaN that stands for a value outside a tensor, for both
 * formats) makes the result 0. */
PT_LANE uint32_t pt_half_fma(uint32_t a, uint32_t b, uint32_t c, enum pt_half fmt, bool ftz,
                             bool sat, bool relu, bool oob)
{
    float x = pt_lane_f32(pt_half_to_f32(pt_half_ftz(a, fmt, ftz), fmt));
    float y = pt_lane_f32(pt_half_to_f32(pt_half_ftz(b, fmt, ftz), fmt));
    float z = pt_lane_f32(pt_half_to_f32(pt_half_ftz(c, fmt, ftz), fmt));
    uint32_t h = pt_half_finish(pt_half_fma_odd(x, y, z, fmt), fmt, PT_RN, ftz, sat, relu);
    return oob && ((a & 0x7fff) == 0x7ff7 || (b & 0x7fff) == 0x7ff7) ? 0 : h;
}

/* fma.{rz,rm,rp}.bf16 as the assembler expands it: the operands read as f16, an f32 fma with that
 * rounding, and its result rounded to nearest f16; .relu and .oob are dropped. */
PT_LANE uint32_t pt_half_fma_directed(uint32_t a, uint32_t b, uint32_t c, enum pt_round rnd)
{
    uint32_t x = pt_half_to_f32(a, PT_F16), y = pt_half_to_f32(b, PT_F16),
             z = pt_half_to_f32(c, PT_F16);
    return pt_half_from_f32(pt_float_fma(x, y, z, rnd, false, false), PT_F16, PT_RN);
}

PT_LANE bool pt_half_is_nan(uint32_t h, enum pt_half fmt)
{
    return (h & 0x7fff) > (fmt == PT_F16 ? 0x7c00u : 0x7f80u);
}

PT_LANE uint32_t pt_half_abs(uint32_t h, enum pt_half fmt, bool ftz)
{
    return pt_half_is_nan(h, fmt) ? 0x7fff : pt_half_ftz(h, fmt, ftz) & 0x7fff;
}

PT_LANE uint32_t pt_half_neg(uint32_t h, enum pt_half fmt, bool ftz)
{
    return pt_half_is_nan(h, fmt) ? 0x7fff : pt_half_ftz(h, fmt, ftz) ^ 0x8000;
}

PT_LANE uint32_t pt_half_pick(uint32_t a, uint32_t b, enum pt_half fmt, bool larger, bool ftz,
                              bool nan, bool xorsign)
{
    uint32_t sign = xorsign ? (a ^ b) & 0x8000 : 0, mask = xorsign ? 0x7fff : 0xffff;
    a = pt_half_ftz(a & mask, fmt, ftz);
    b = pt_half_ftz(b & mask, fmt, ftz);
    /* Bits as integers in the order of the values: -0 below +0. */
    int32_t x = a & 0x8000 ? -(int32_t)(a & 0x7fff) - 1 : (int32_t)a;
    int32_t y = b & 0x8000 ? -(int32_t)(b & 0x7fff) - 1 : (int32_t)b;
    bool nan_a = pt_half_is_nan(a, fmt), nan_b = pt_half_is_nan(b, fmt);
    uint32_t r = (x > y) == larger ? a : b;
    r = nan_a ? b : nan_b ? a : r;
    return (nan ? nan_a || nan_b : nan_a && nan_b) ? 0x7fff : r | sign;
}

/* Both halves of a packed pair. */
#define PT_HALF_BOTH(lo, hi) (((lo) & 0xffffu) | (hi) << 16)

#endif
