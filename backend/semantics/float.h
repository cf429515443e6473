/* Floating-point arithmetic of one lane (PTX ISA 9.7.3): f32 and f64 with every rounding, helpers of float.def.
 *
 * Values are their bits. Directed rounding never changes the host's mode: the result rounded to nearest is
 * compared with an exact one and stepped by one unit. An f32 sum, product or fma is exact up to one rounding to odd in
 * double, whose 53 bits are more than twice 24 plus 2, so the second rounding is the only visible one. f64 does the same in
 * 128-bit integers.
 */
#ifndef PTERA_BACKEND_SEMANTICS_FLOAT_H
#define PTERA_BACKEND_SEMANTICS_FLOAT_H

#include "backend/semantics/lane.h"

#define PT_FLOAT_NAN 0x7fffffffu

PT_LANE bool pt_float_is_nan(uint32_t a)
{
    return (a & 0x7fffffff) > 0x7f800000;
}

PT_LANE bool pt_float_is_nan64(uint64_t a)
{
    return (a & INT64_MAX) > 0x7ff0000000000000;
}

/* .ftz: a subnormal becomes zero of its sign. */
PT_LANE uint32_t pt_float_ftz(uint32_t a, bool ftz)
{
    return ftz && (a & 0x7f800000) == 0 ? a & 0x80000000 : a;
}

/* Every arithmetic NaN result is the canonical one. */
PT_LANE uint32_t pt_float_canon(uint32_t a)
{
    return pt_float_is_nan(a) ? PT_FLOAT_NAN : a;
}

/* .sat: to [0, 1], NaN to +0. */
PT_LANE uint32_t pt_float_sat(uint32_t a, bool sat)
{
    float x = pt_lane_f32(a);
    float low = x > 0.0f ? x : 0.0f;
    return sat ? pt_lane_u32(low < 1.0f ? low : 1.0f) : a;
}

PT_LANE uint32_t pt_float_finish(uint32_t r, bool ftz, bool sat)
{
    return pt_float_sat(pt_float_ftz(pt_float_canon(r), ftz), sat);
}

/* What .ftz flushes is a result that is below 2^-126 when rounded to 24 bits of whatever exponent. A
 * result of 2^-126 may be one of them: without .ftz there is one bit fewer just below it, so more is
 * rounded up to it. */
PT_LANE uint32_t pt_float_finish_tiny(uint32_t r, bool tiny, bool sat)
{
    return pt_float_sat(pt_float_canon(tiny ? r & 0x80000000 : r), sat);
}

/* Whether v / unit (both exact) is such a result. */
PT_LANE bool pt_float_is_tiny(double v, double unit, enum pt_round rnd)
{
    double m = __builtin_fabs(v), u = __builtin_fabs(unit);
    bool negative = (v < 0) != (unit < 0);
    bool outward = rnd == PT_RM ? negative : rnd == PT_RP && !negative;
    if (rnd == PT_RN)
        return m < u * 0x1.ffffffp-127;
    return outward ? m <= u * 0x1.fffffep-127 && m < u : m < u * 0x1p-126;
}

/* The same of a result to nearest by that of operands scaled by 2^64. (It is not tiny where that
 * overflows.) */
PT_LANE bool pt_float_is_tiny_scaled(float scaled)
{
    return __builtin_fabsf(scaled) < 0x1p-62f;
}

/* The next value away from (up) or toward zero, as bits. */
PT_LANE uint32_t pt_float_step(uint32_t r, bool exceeds, bool below, enum pt_round rnd)
{
    bool negative = r >> 31;
    switch (rnd) {
    case PT_RZ:
        return r - (negative ? below : exceeds);
    case PT_RM:
        return exceeds ? (negative ? r + 1 : r - 1) : r;
    case PT_RP:
        return below ? (negative ? r - 1 : r + 1) : r;
    case PT_RO:
        return (exceeds || below) && !(r & 1) ? (exceeds != negative ? r - 1 : r + 1) : r;
    default:
        return r;
    }
}

/* A double (itself exact, or rounded to odd) to f32. */
PT_LANE uint32_t pt_float_from_f64(double d, enum pt_round rnd)
{
    float f = (float)d;
    return rnd == PT_RN ? pt_lane_u32(f)
                        : pt_float_step(pt_lane_u32(f), (double)f > d, (double)f < d, rnd);
}

/* a + b in double, rounded to odd. */
PT_LANE double pt_float_sum_odd(double a, double b)
{
    double s = a + b;
    double z = s - a;
    double err = (a - (s - z)) + (b - z);
    uint64_t bits = pt_lane_u64(s);
    bool up = (err > 0) == (s > 0);
    uint64_t stepped = up ? bits + 1 : bits - 1;
    return pt_lane_f64((err > 0 || err < 0) && !(bits & 1) ? stepped : bits);
}

/* Gives an exact sum of zero the sign it has when rounding toward minus infinity. */
PT_LANE uint32_t pt_float_zero_sum(uint32_t r, bool is_zero, uint32_t sign_a, uint32_t sign_b,
                                   enum pt_round rnd)
{
    return rnd == PT_RM && is_zero ? (sign_a | sign_b) & 0x80000000 : r;
}

PT_LANE uint32_t pt_float_add(uint32_t a, uint32_t b, enum pt_round rnd, bool ftz, bool sat)
{
    a = pt_float_ftz(a, ftz);
    b = pt_float_ftz(b, ftz);
    uint32_t r;
    if (rnd == PT_RN) {
        r = pt_lane_u32(pt_lane_f32(a) + pt_lane_f32(b));
    } else {
        double s = pt_float_sum_odd(pt_lane_f32(a), pt_lane_f32(b));
        r = pt_float_zero_sum(pt_float_from_f64(s, rnd), s == 0, a, b, rnd);
    }
    return pt_float_finish(r, ftz, sat);
}

PT_LANE uint32_t pt_float_sub(uint32_t a, uint32_t b, enum pt_round rnd, bool ftz, bool sat)
{
    return pt_float_add(a, b ^ 0x80000000, rnd, ftz, sat);
}

PT_LANE uint32_t pt_float_mul(uint32_t a, uint32_t b, enum pt_round rnd, bool ftz, bool sat)
{
    a = pt_float_ftz(a, ftz);
    b = pt_float_ftz(b, ftz);
    float x = pt_lane_f32(a), y = pt_lane_f32(b);
    if (rnd == PT_RN)
        return pt_float_finish_tiny(pt_lane_u32(x * y),
                                    ftz && pt_float_is_tiny_scaled(x * 0x1p64f * y), sat);
    double p = (double)x * (double)y;
    return pt_float_finish_tiny(pt_float_from_f64(p, rnd), ftz && pt_float_is_tiny(p, 1, rnd), sat);
}

PT_LANE uint32_t pt_float_fma(uint32_t a, uint32_t b, uint32_t c, enum pt_round rnd, bool ftz,
                              bool sat)
{
    a = pt_float_ftz(a, ftz);
    b = pt_float_ftz(b, ftz);
    c = pt_float_ftz(c, ftz);
    float x = pt_lane_f32(a), y = pt_lane_f32(b), z = pt_lane_f32(c);
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    if (rnd == PT_RN) {
        float scaled = ftz ? __builtin_fmaf(x * 0x1p64f, y, z * 0x1p64f) : 0;
        return pt_float_finish_tiny(pt_lane_u32(__builtin_fmaf(x, y, z)),
                                    ftz && pt_float_is_tiny_scaled(scaled), sat);
    }
#endif
    double s = pt_float_sum_odd((double)x * (double)y, z);
    uint32_t r = pt_float_zero_sum(pt_float_from_f64(s, rnd), s == 0, a ^ b, c, rnd);
    return pt_float_finish_tiny(r, ftz && pt_float_is_tiny(s, 1, rnd), sat);
}

/* The quotient times the divisor is exact in double: its distance from the dividend says which way the quotient
 * was rounded. (Infinite and NaN operands make it NaN or equal: no step.) */
PT_LANE uint32_t pt_float_div(uint32_t a, uint32_t b, enum pt_round rnd, bool ftz)
{
    a = pt_float_ftz(a, ftz);
    b = pt_float_ftz(b, ftz);
    float x = pt_lane_f32(a), y = pt_lane_f32(b), q = x / y;
    double back = (double)q * (double)y;
    bool more = back > (double)x, less = back < (double)x, negative = b >> 31;
    uint32_t r = pt_float_step(pt_lane_u32(q), negative ? less : more, negative ? more : less, rnd);
    bool tiny = rnd == PT_RN ? pt_float_is_tiny_scaled(x * 0x1p64f / y) : pt_float_is_tiny(x, y, rnd);
    return pt_float_finish_tiny(r, ftz && tiny, false);
}

PT_LANE uint32_t pt_float_sqrt(uint32_t a, enum pt_round rnd, bool ftz)
{
    a = pt_float_ftz(a, ftz);
    float x = pt_lane_f32(a), q = __builtin_sqrtf(x);
    double back = (double)q * (double)q;
    uint32_t r = pt_float_step(pt_lane_u32(q), back > (double)x, back < (double)x, rnd);
    return pt_float_finish(r, ftz, false);
}

/* min and max order -0 below +0; one NaN gives the other operand, unless .NaN. */
PT_LANE uint32_t pt_float_pick(uint32_t a, uint32_t b, bool larger, bool ftz, bool nan)
{
    a = pt_float_ftz(a, ftz);
    b = pt_float_ftz(b, ftz);
    /* Bits as integers in the order of the values. */
    int32_t x = (int32_t)(a ^ ((uint32_t)((int32_t)a >> 31) >> 1));
    int32_t y = (int32_t)(b ^ ((uint32_t)((int32_t)b >> 31) >> 1));
    uint32_t r = (x > y) == larger ? a : b;
    bool nan_a = pt_float_is_nan(a), nan_b = pt_float_is_nan(b);
    r = nan_a ? b : nan_b ? a : r;
    return nan ? (nan_a || nan_b ? PT_FLOAT_NAN : r) : pt_float_canon(r);
}

/* .xorsign.abs: of the magnitudes, with the product's sign. */
PT_LANE uint32_t pt_float_pick_xorsign(uint32_t a, uint32_t b, bool larger, bool ftz, bool nan)
{
    uint32_t r = pt_float_pick(a & 0x7fffffff, b & 0x7fffffff, larger, ftz, nan);
    return pt_float_is_nan(r) ? r : r | ((a ^ b) & 0x80000000);
}

/* ---- f64 ----------------------------------------------------------------------------------------------- */

/* Rounds (-1)^negative * m * 2^e, m any 64-bit value whose bit 0 also stands for all that lies below, to `p` bits with
 * the exponents of a format whose smallest subnormal is 2^emin and whose exponent field has `max` as infinity.
 * Returns the bits without sign. */
PT_LANE uint64_t pt_float_pack(bool negative, int e, uint64_t m, unsigned p, int emin, uint64_t max,
                               enum pt_round rnd)
{
    if (m == 0)
        return 0;
    int shift = __builtin_clzll(m);
    m <<= shift;
    e -= shift;
    int drop = 64 - (int)p;
    int subnormal = emin - e; /* bits below the smallest subnormal */
    uint64_t field = 0;       /* exponent field, less the implicit bit */
    if (subnormal > drop)
        drop = subnormal > 64 ? 65 : subnormal;
    else
        field = (uint64_t)(drop - subnormal);
    uint64_t q = drop > 63 ? 0 : m >> drop;
    uint64_t rest = drop > 64 ? 1 : drop == 64 ? m : m & ((1ull << drop) - 1);
    uint64_t half = drop > 64 ? 2 : 1ull << (drop - 1);
    bool up = false;
    switch (rnd) {
    case PT_RN:
        up = rest > half || (rest == half && (q & 1));
        break;
    case PT_RZ:
        break;
    case PT_RM:
        up = negative && rest;
        break;
    case PT_RP:
        up = !negative && rest;
        break;
    case PT_RNA:
        up = rest >= half;
        break;
    case PT_RO:
        q |= rest != 0;
        break;
    }
    uint64_t r = (field << (p - 1)) + q + up;
    uint64_t inf = max << (p - 1);
    if (r >= inf)
        r = rnd == PT_RN || rnd == PT_RNA || (rnd == PT_RM && negative) ||
                    (rnd == PT_RP && !negative)
                ? inf
                : inf - 1;
    return r;
}

PT_LANE uint64_t pt_float_pack64(bool negative, int e, uint64_t m, enum pt_round rnd)
{
    return pt_float_pack(negative, e, m, 53, -1074, 2047, rnd) | (uint64_t)negative << 63;
}

/* A finite nonzero f64 as m * 2^e with m in [2^52, 2^53). */
struct pt_float_parts {
    uint64_t m;
    int e;
    bool negative;
};

PT_LANE struct pt_float_parts pt_float_unpack64(uint64_t a)
{
    struct pt_float_parts x = {
        .m = a & 0xfffffffffffff, .e = (int)(a >> 52 & 2047), .negative = a >> 63};
    if (x.e)
        x.m |= 1ull << 52;
    else
        x.e = 1;
    x.e -= 1075;
    if (x.m && x.m < 1ull << 52) {
        int n = __builtin_clzll(x.m) - 11;
        x.m <<= n;
        x.e -= n;
    }
    return x;
}

PT_LANE bool pt_float_is_plain64(uint64_t a)
{
    return (a << 1) != 0 && (a >> 52 & 2047) != 2047;
}

/* A NaN result of f64 arithmetic: the NaN operand made quiet, b before c before a; the default one if there is none. */
PT_LANE uint64_t pt_float_nan64(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t r = pt_float_is_nan64(a) ? a : 1ull << 63;
    r = pt_float_is_nan64(c) ? c : r;
    r = pt_float_is_nan64(b) ? b : r;
    return r | 0x7ff8000000000000;
}

/* m * 2^e of 128 bits down to 64, the lost bits kept in the last. */
PT_LANE uint64_t pt_float_squeeze(unsigned __int128 m, int *e)
{
    uint64_t hi = (uint64_t)(m >> 64), lo = (uint64_t)m;
    if (hi == 0)
        return lo;
    int n = 64 - __builtin_clzll(hi);
    *e += n;
    bool lost = n == 64 ? lo != 0 : (lo & ((1ull << n) - 1)) != 0;
    return (n == 64 ? hi : (uint64_t)(m >> n)) | lost;
}

/* a * b + c, all finite, a and b not zero, in any rounding: exact in 128 bits with what lies far below folded in. */
static inline uint64_t pt_float_fma64_exact(uint64_t a, uint64_t b, uint64_t c, enum pt_round rnd)
{
    struct pt_float_parts x = pt_float_unpack64(a), y = pt_float_unpack64(b),
                          z = pt_float_unpack64(c);
    unsigned __int128 p = (unsigned __int128)x.m * y.m << 20, q = 0; /* p below 2^126 */
    int e = x.e + y.e - 20;
    bool neg_p = x.negative ^ y.negative;
    if (z.m) {
        q = (unsigned __int128)z.m << 72; /* in [2^124, 2^125) */
        int ez = z.e - 72, d = e - ez;
        unsigned __int128 *small = d >= 0 ? &q : &p;
        unsigned n = (unsigned)(d >= 0 ? d : -d);
        unsigned __int128 s = *small;
        *small = n > 127 ? s != 0 : (s >> n) | ((s & (((unsigned __int128)1 << n) - 1)) != 0);
        e = d >= 0 ? e : ez;
    }
    bool negative = neg_p;
    unsigned __int128 sum;
    if (neg_p == z.negative || q == 0) {
        sum = p + q;
    } else if (p >= q) {
        sum = p - q;
    } else {
        sum = q - p;
        negative = z.negative;
    }
    if (sum == 0)
        return rnd == PT_RM ? 1ull << 63 : 0;
    uint64_t m = pt_float_squeeze(sum, &e);
    return pt_float_pack64(negative, e, m, rnd);
}

PT_LANE uint64_t pt_float_fma64(uint64_t a, uint64_t b, uint64_t c, enum pt_round rnd)
{
    bool plain = pt_float_is_plain64(a) && pt_float_is_plain64(b) && (c >> 52 & 2047) != 2047;
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    bool hardware = rnd == PT_RN;
    double r = __builtin_fma(pt_lane_f64(a), pt_lane_f64(b), pt_lane_f64(c));
#else
    bool hardware = false;
    /* A finite product must not overflow before it meets an infinite c. */
    bool finite = (a >> 52 & 2047) != 2047 && (b >> 52 & 2047) != 2047;
    double r =
        (finite && !plain ? pt_lane_f64((a ^ b) & 1ull << 63) : pt_lane_f64(a) * pt_lane_f64(b)) +
        pt_lane_f64(c);
#endif
    if (!hardware && plain)
        return pt_float_fma64_exact(a, b, c, rnd);
    if (r != r)
        return pt_float_nan64(a, b, c);
    if (rnd == PT_RM && r == 0) /* both addends are zeros here */
        return ((a ^ b) | c) & 1ull << 63;
    return pt_lane_u64(r);
}

PT_LANE uint64_t pt_float_add64(uint64_t a, uint64_t b, enum pt_round rnd)
{
    const uint64_t one = 0x3ff0000000000000;
    bool finite = (a >> 52 & 2047) != 2047 && (b >> 52 & 2047) != 2047;
    if (rnd != PT_RN && finite && pt_float_is_plain64(a))
        return pt_float_fma64_exact(a, one, b, rnd);
    if (rnd != PT_RN && finite && pt_float_is_plain64(b))
        return pt_float_fma64_exact(b, one, a, rnd);
    double r = pt_lane_f64(a) + pt_lane_f64(b);
    if (rnd == PT_RM && r == 0) /* of two zeros */
        return (a | b) & 1ull << 63;
    return r != r ? pt_float_nan64(a, b, b) : pt_lane_u64(r);
}

PT_LANE uint64_t pt_float_sub64(uint64_t a, uint64_t b, enum pt_round rnd)
{
    if (pt_float_is_nan64(a) || pt_float_is_nan64(b))
        return pt_float_nan64(a, b, b);
    return pt_float_add64(a, b ^ 1ull << 63, rnd);
}

PT_LANE uint64_t pt_float_mul64(uint64_t a, uint64_t b, enum pt_round rnd)
{
    if (rnd != PT_RN && pt_float_is_plain64(a) && pt_float_is_plain64(b))
        return pt_float_fma64_exact(a, b, 0, rnd);
    double r = pt_lane_f64(a) * pt_lane_f64(b);
    return r != r ? pt_float_nan64(a, b, b) : pt_lane_u64(r);
}

PT_LANE uint64_t pt_float_div64(uint64_t a, uint64_t b, enum pt_round rnd)
{
    if (rnd != PT_RN && pt_float_is_plain64(a) && pt_float_is_plain64(b)) {
        struct pt_float_parts x = pt_float_unpack64(a), y = pt_float_unpack64(b);
        unsigned __int128 n = (unsigned __int128)x.m << 62;
        uint64_t q = (uint64_t)(n / y.m);
        q |= n % y.m != 0;
        return pt_float_pack64(x.negative ^ y.negative, x.e - y.e - 62, q, rnd);
    }
    double r = pt_lane_f64(a) / pt_lane_f64(b);
    return r != r ? pt_float_nan64(b, a, a) : pt_lane_u64(r); /* here a comes before b */
}

PT_LANE uint64_t pt_float_sqrt64(uint64_t a, enum pt_round rnd)
{
    double r = __builtin_sqrt(pt_lane_f64(a));
    uint64_t bits = pt_lane_u64(r);
    if (r != r)
        return pt_float_nan64(a, a, a);
    if (rnd != PT_RN && pt_float_is_plain64(a)) {
        struct pt_float_parts x = pt_float_unpack64(a), s = pt_float_unpack64(bits);
        /* s.m^2 * 2^(2 s.e) against x.m * 2^x.e; the shift is 52 or 53 */
        unsigned __int128 square = (unsigned __int128)s.m * s.m,
                          value = (unsigned __int128)x.m << (x.e - 2 * s.e);
        bits = square > value && rnd != PT_RP   ? bits - 1
               : square < value && rnd == PT_RP ? bits + 1
                                                : bits;
    }
    return bits;
}

PT_LANE uint64_t pt_float_pick64(uint64_t a, uint64_t b, bool larger)
{
    int64_t x = (int64_t)(a ^ ((uint64_t)((int64_t)a >> 63) >> 1));
    int64_t y = (int64_t)(b ^ ((uint64_t)((int64_t)b >> 63) >> 1));
    uint64_t r = (x > y) == larger ? a : b;
    bool nan_a = pt_float_is_nan64(a), nan_b = pt_float_is_nan64(b);
    r = nan_a ? b : nan_b ? a : r;
    return nan_a && nan_b ? pt_float_nan64(a, b, b) : r;
}

/* abs and neg leave a NaN its sign and make it quiet. */
PT_LANE uint64_t pt_float_sign64(uint64_t a, uint64_t changed)
{
    return pt_float_is_nan64(a) ? pt_float_nan64(a, a, a) : changed;
}

#endif
