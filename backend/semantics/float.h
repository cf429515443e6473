/* Floating-point arithmetic of one lane (PTX ISA 9.7.3): f32 and f64 with every rounding, helpers
 * of float.def.
 *
 * Values are their bits. A lane function that rounds by direction rounds to nearest, and the sign
 * of what that left out (exact result less rounded one) says whether the result is stepped by one
 * unit. Of a sum the rest is a value of its own format; f32 products, fmas, quotients and roots
 * have theirs in double. f64 products have it by a fused multiplication; the others, and these
 * where there is none, are made of 128-bit integers.
 *
 * The rest is tested by its bits, so that all selects are of one width: loops over lanes become
 * vectors.
 */
#ifndef PTERA_BACKEND_SEMANTICS_FLOAT_H
#define PTERA_BACKEND_SEMANTICS_FLOAT_H

#include "backend/semantics/lane.h"

#if defined(__x86_64__) && defined(__FMA__)
#include <immintrin.h>
#endif

#define PT_FLOAT_NAN 0x7fffffffu

/* Over many lanes the host's own rounding modes are faster, where every operation, the fused one
 * included, obeys them: the functions to nearest, run in another mode, round by it (scaling by
 * powers of 2, which tells what .ftz flushes, is exact). PT_FLOAT_SELF(rnd) is the rounding that a
 * lane function has to do itself. Compilers know nothing of modes: what rounds has to read its
 * operands after pt_float_host_round and write its results before pt_float_host_restore. */
#if defined(__x86_64__) && defined(__FMA__)
#define PT_FLOAT_HOST_ROUNDS
#define PT_FLOAT_SELF(rnd) PT_RN

PT_LANE void pt_float_host_restore(uint32_t mode)
{
    __asm__ volatile("" : : : "memory");
    _mm_setcsr(mode);
    __asm__ volatile("" : : : "memory");
}

/* Returns the mode to restore. */
PT_LANE uint32_t pt_float_host_round(enum pt_round rnd)
{
    uint32_t mode = _mm_getcsr();
    uint32_t field = rnd == PT_RZ ? 3 : rnd == PT_RM ? 1 : rnd == PT_RP ? 2 : 0;
    pt_float_host_restore((mode & ~(3u << 13)) | field << 13);
    return mode;
}
#else
#define PT_FLOAT_SELF(rnd) rnd
#endif

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

/* What .ftz flushes is a result that is below 2^-126 when rounded to 24 bits of whatever exponent.
 * A result of 2^-126 may be one of them: without .ftz there is one bit fewer just below it, so more
 * is rounded up to it. */
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

/* True if a rest (the bits of it, or the upper half of a double's) is neither zero nor NaN. `inf`
 * are infinity's. */
PT_LANE bool pt_float_is_rest(uint32_t rest, uint32_t inf)
{
    int32_t m = rest & 0x7fffffff;
    return m > 0 && m <= (int32_t)inf;
}

/* Steps r, rounded to nearest, by one unit if `rnd` rounds the other way. The rest is `inexact` and
 * has the sign of `rest`. */
PT_LANE uint32_t pt_float_step(uint32_t r, bool inexact, uint32_t rest, enum pt_round rnd)
{
    uint32_t inward = (rest ^ r) >> 31,
             one = inexact; /* inward: the exact result is nearer to zero */
    switch (rnd) {
    case PT_RZ:
        return r - (inward & one);
    case PT_RM:
        return r + ((rest >> 31 & one) ^ -inward) + inward;
    case PT_RP:
        return r + ((~rest >> 31 & one) ^ -inward) + inward;
    case PT_RO:
        return r + ((~r & one) ^ -inward) + inward;
    default:
        return r;
    }
}

/* d + err to f32, where d is a double and err less than half a unit of it; neither, nor what d has
 * below an f32, is below 2^-1000 (but may be 0), so that the upper half of the rest tells all. */
PT_LANE uint32_t pt_float_from_sum(double d, double err, enum pt_round rnd)
{
    float f = (float)d;
    uint32_t rest = (uint32_t)(pt_lane_u64(d - (double)f + err) >> 32);
    return pt_float_step(pt_lane_u32(f), pt_float_is_rest(rest, 0x7ff00000), rest, rnd);
}

/* Any double (itself exact, or rounded to odd) to f32. */
PT_LANE uint32_t pt_float_from_f64(double d, enum pt_round rnd)
{
    float f = (float)d;
    uint64_t rest = pt_lane_u64(d - (double)f);
    uint32_t upper = (uint32_t)(rest >> 32) | (uint32_t)((uint32_t)rest != 0);
    bool inexact = pt_float_is_rest(upper, 0x7ff00000);
    return pt_float_step(pt_lane_u32(f), inexact, upper, rnd);
}

/* What s = a + b leaves out, exact (unless an operand is infinite). */
PT_LANE double pt_float_sum_rest(double a, double b, double s)
{
    double z = s - a;
    return (a - (s - z)) + (b - z);
}

/* a + b in double, rounded to odd. */
PT_LANE double pt_float_sum_odd(double a, double b)
{
    double s = a + b;
    uint64_t bits = pt_lane_u64(s), rest = pt_lane_u64(pt_float_sum_rest(a, b, s));
    uint64_t inexact = (rest & INT64_MAX) - 1 < 0x7ff0000000000000, inward = (rest ^ bits) >> 63;
    return pt_lane_f64(bits + ((~bits & inexact) ^ -inward) + inward);
}

/* Gives an exact sum of zero the sign it has when rounding toward minus infinity. */
PT_LANE uint32_t pt_float_zero_sum(uint32_t r, bool is_zero, uint32_t sign_a, uint32_t sign_b,
                                   enum pt_round rnd)
{
    return rnd == PT_RM && is_zero ? (sign_a | sign_b) & 0x80000000 : r;
}

/* a + b: the rest of a sum is exact if the larger operand is taken off first. */
PT_LANE uint32_t pt_float_sum(uint32_t a, uint32_t b, enum pt_round rnd)
{
    uint32_t s = pt_lane_u32(pt_lane_f32(a) + pt_lane_f32(b));
    if (rnd == PT_RN)
        return s;
    bool swap = (int32_t)(a & 0x7fffffff) < (int32_t)(b & 0x7fffffff);
    uint32_t large = swap ? b : a, small = swap ? a : b;
    uint32_t rest = pt_lane_u32(pt_lane_f32(small) - (pt_lane_f32(s) - pt_lane_f32(large)));
    uint32_t r = pt_float_step(s, pt_float_is_rest(rest, 0x7f800000), rest, rnd);
    return pt_float_zero_sum(r, s << 1 == 0, a, b, rnd);
}

PT_LANE uint32_t pt_float_add(uint32_t a, uint32_t b, enum pt_round rnd, bool ftz, bool sat)
{
    a = pt_float_ftz(a, ftz);
    b = pt_float_ftz(b, ftz);
    return pt_float_finish(pt_float_sum(a, b, rnd), ftz, sat);
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
    return pt_float_finish_tiny(pt_float_from_sum(p, 0, rnd), ftz && pt_float_is_tiny(p, 1, rnd),
                                sat);
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
        float r = __builtin_fmaf(x, y, z);
        float scaled = ftz ? __builtin_fmaf(x * 0x1p64f, y, z * 0x1p64f) : 0;
        /* terms that overflow toward zero may cancel */
        bool tiny = pt_float_is_tiny_scaled(scaled) & (__builtin_fabsf(r) <= 0x1p-126f);
        return pt_float_finish_tiny(pt_lane_u32(r), ftz && tiny, sat);
    }
#endif
    double p = (double)x * (double)y;
    if (rnd == PT_RN || ftz) {
        double s = pt_float_sum_odd(p, z);
        uint32_t r = pt_float_zero_sum(pt_float_from_f64(s, rnd), s == 0, a ^ b, c, rnd);
        return pt_float_finish_tiny(r, ftz && pt_float_is_tiny(s, 1, rnd), sat);
    }
    double s = p + (double)z;
    uint32_t r = pt_float_from_sum(s, pt_float_sum_rest(p, z, s), rnd);
    bool is_zero = r << 1 == 0 && (uint32_t)(pt_lane_u64(s) >> 32) << 1 == 0;
    return pt_float_finish(pt_float_zero_sum(r, is_zero, a ^ b, c, rnd), false, sat);
}

/* The quotient times the divisor is exact in double: its distance from the dividend says which way
 * the quotient was rounded. (Infinite and NaN operands make it NaN or equal: no step.) */
PT_LANE uint32_t pt_float_div(uint32_t a, uint32_t b, enum pt_round rnd, bool ftz)
{
    a = pt_float_ftz(a, ftz);
    b = pt_float_ftz(b, ftz);
    float x = pt_lane_f32(a), y = pt_lane_f32(b), q = x / y;
    uint32_t rest = (uint32_t)(pt_lane_u64((double)x - (double)q * (double)y) >> 32);
    uint32_t r = pt_float_step(pt_lane_u32(q), pt_float_is_rest(rest, 0x7ff00000),
                               rest ^ (b & 0x80000000), rnd);
    bool tiny =
        rnd == PT_RN ? pt_float_is_tiny_scaled(x * 0x1p64f / y) : pt_float_is_tiny(x, y, rnd);
    return pt_float_finish_tiny(r, ftz && tiny, false);
}

PT_LANE uint32_t pt_float_sqrt(uint32_t a, enum pt_round rnd, bool ftz)
{
    a = pt_float_ftz(a, ftz);
    float x = pt_lane_f32(a), q = __builtin_sqrtf(x);
    uint32_t rest = (uint32_t)(pt_lane_u64((double)x - (double)q * (double)q) >> 32);
    uint32_t r = pt_float_step(pt_lane_u32(q), pt_float_is_rest(rest, 0x7ff00000), rest, rnd);
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

/* ---- f64 ------------------------------------------------------------------------------------- */

/* Rounds (-1)^negative * m * 2^e, m any 64-bit value whose bit 0 also stands for all that lies
 * below, to `p` bits with the exponents of a format whose smallest subnormal is 2^emin and whose
 * exponent field has `max` as infinity. Returns the bits without sign. */
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

/* A NaN result of f64 arithmetic: the NaN operand made quiet, b before c before a; the default one
 * if there is none. */
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

/* a * b + c, all finite, a and b not zero, in any rounding: exact in 128 bits with what lies far
 * below folded in. */
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

/* pt_float_step of an f64; `rest` are the rest's bits, NaN where an operand was infinite. */
PT_LANE uint64_t pt_float_step64(uint64_t r, double rest, enum pt_round rnd)
{
    uint64_t bits = pt_lane_u64(rest), m = bits & INT64_MAX, inward = (bits ^ r) >> 63;
    uint64_t one = (int64_t)m > 0 && (int64_t)m <= 0x7ff0000000000000;
    switch (rnd) {
    case PT_RZ:
        return r - (inward & one);
    case PT_RM:
        return r + ((bits >> 63 & one) ^ -inward) + inward;
    case PT_RP:
        return r + ((~bits >> 63 & one) ^ -inward) + inward;
    default:
        return r;
    }
}

PT_LANE uint64_t pt_float_add64(uint64_t a, uint64_t b, enum pt_round rnd)
{
    double s = pt_lane_f64(a) + pt_lane_f64(b);
    bool swap = (int64_t)(a & INT64_MAX) < (int64_t)(b & INT64_MAX);
    double large = pt_lane_f64(swap ? b : a), small = pt_lane_f64(swap ? a : b);
    uint64_t r = pt_float_step64(pt_lane_u64(s), small - (s - large), rnd);
    if (rnd == PT_RM)
        r = s == 0 ? (a | b) & 1ull << 63 : r;
    return s != s ? pt_float_nan64(a, b, b) : r;
}

/* Memory holds a, atom.add.f64 adds b. A NaN is the result: of two the added one, as it is, in
 * global memory; in shared memory the one that was there, made quiet. */
PT_LANE uint64_t pt_float_atom_add64(uint64_t a, uint64_t b, bool in_shared)
{
    bool is_nan_a = pt_float_is_nan64(a), is_nan_b = pt_float_is_nan64(b);
    if (in_shared && (is_nan_a || is_nan_b))
        return (is_nan_a ? a : b) | UINT64_C(0x0008000000000000);
    return is_nan_b ? b : is_nan_a ? a : pt_float_add64(a, b, PT_RN);
}

PT_LANE uint64_t pt_float_sub64(uint64_t a, uint64_t b, enum pt_round rnd)
{
    uint64_t r = rnd == PT_RN ? pt_lane_u64(pt_lane_f64(a) - pt_lane_f64(b))
                              : pt_float_add64(a, b ^ 1ull << 63, rnd);
    if (rnd == PT_RN)
        return pt_float_is_nan64(r) ? pt_float_nan64(a, b, b) : r;
    return pt_float_is_nan64(a) || pt_float_is_nan64(b) ? pt_float_nan64(a, b, b) : r;
}

/* What p = a * b leaves out, or a multiple of it. Where that would be too small, both are scaled by
 * 2^1100. */
PT_LANE double pt_float_product_rest(uint64_t a, uint64_t b, double p)
{
    bool swap = (int64_t)(a & INT64_MAX) < (int64_t)(b & INT64_MAX);
    double large = pt_lane_f64(swap ? b : a), small = pt_lane_f64(swap ? a : b);
    double half = __builtin_fabs(p) < 0x1p-900 ? 0x1p550 : 1;
    return __builtin_fma(large, small * half * half, -(p * half * half));
}

PT_LANE uint64_t pt_float_mul64(uint64_t a, uint64_t b, enum pt_round rnd)
{
    double p = pt_lane_f64(a) * pt_lane_f64(b);
    uint64_t r = pt_lane_u64(p);
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    if (rnd != PT_RN)
        r = pt_float_step64(r, pt_float_product_rest(a, b, p), rnd);
#else
    if (rnd != PT_RN && pt_float_is_plain64(a) && pt_float_is_plain64(b))
        return pt_float_fma64_exact(a, b, 0, rnd);
#endif
    return p != p ? pt_float_nan64(a, b, b) : r;
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
