/* What Hopper's matrix units compute, bit for bit, as measured on an H200. One result is
 * D[m][n] = C[m][n] + sum over k of A[m][k] * B[k][n], where
 *
 *   types                      products    unit   sum of                     result
 *                              at once
 *   f16 bf16 tf32 (mma wmma    all of the  float  terms cut to multiples of  f32: toward zero;
 *     wgmma, sparse too)       form's k           2^(max - 25)               f16: nearest even
 *   e4m3 e5m2 (wgmma)          all         float  the same with 13 for 25    f32: toward zero, to
 *                                                                            14 bits; f16: nearest
 *   e4m3 e5m2 (mma)            half        float  as f16: k % 4 < 2, then    C added to nearest
 *                                                 the others, from zero
 *   f16 m8n8k4                 1           fma    f32 result: from 0 in      C added to nearest
 *                                                 order of k. f16 result:    one rounding to f16
 *                                                 C + the sum of k = 0, 1,
 *                                                 then + that of k = 2, 3
 *   f64                        1           fma    from C in order of k       the form's rounding
 *   s8 u8 s4 u4                all         int    exact                      wraps, or .satfinite
 *   b1                         all         bit    popcounts                  wraps
 *
 * The float unit. A term is a product, whose *place* is the sum of its factors' exponents, or C,
 * whose place is its exponent; a subnormal has the exponent of the smallest normal number and is
 * not normalised. max is the largest place of a term that is not zero. Terms are cut toward zero,
 * as magnitudes, and then added exactly, so there is no order. Subnormals are kept, also as
 * results; a result of zero is +0; too large is infinite. tf32 is the upper 19 bits of a word.
 * wmma takes tf32 in two steps of k = 4; where its C and D are one f16 and one f32 it converts, C
 * before and D after, to nearest. A NaN, infinity times zero or infinities of both signs give the
 * canonical NaN; a finite product beyond f32 is an ordinary term.
 *
 * A tile has 8 columns and up to 16 rows. Elements are kept one in a word, as they are encoded.
 */
#ifndef PTERA_BACKEND_SEMANTICS_MMA_H
#define PTERA_BACKEND_SEMANTICS_MMA_H

#include "backend/semantics/convert.h"
#include "ir/isa.h"

enum {
    PT_MMA_M = 16,  /* rows of a tile */
    PT_MMA_N = 8,   /* columns */
    PT_MMA_A = 64,  /* most elements of a row of A, as stored; b1: words */
    PT_MMA_K = 128, /* most rows of B */
    PT_MMA_FLOATS_A = 32,
    PT_MMA_FLOATS_K = 64 /* the same of the float unit */
};

/* Where a row of a sparse A has elements: stored element i meets row at[i] of B. */
struct pt_mma_sparsity {
    uint8_t at[PT_MMA_M][PT_MMA_A];
};

struct pt_mma_tile {
    uint32_t v[PT_MMA_M][PT_MMA_N];
};

/* ---- the float unit -------------------------------------------------------------------------- */

/* As many columns as a vector of this CPU level holds. */
#if defined(__AVX2__)
#include <immintrin.h>
enum { PT_MMA_WIDE = 8 };
#define PT_MMA_MAX(a, b) ((pt_mma_ints)_mm256_max_epi32((__m256i)(a), (__m256i)(b)))
#elif defined(__SSE4_1__)
#include <immintrin.h>
enum { PT_MMA_WIDE = 4 };
#define PT_MMA_MAX(a, b) ((pt_mma_ints)_mm_max_epi32((__m128i)(a), (__m128i)(b)))
#else
enum { PT_MMA_WIDE = 4 };
#define PT_MMA_MAX(a, b) (((a) & ((a) > (b))) | ((b) & ~((a) > (b))))
#endif
typedef float pt_mma_floats __attribute__((vector_size(4 * PT_MMA_WIDE), may_alias));
typedef int32_t pt_mma_ints __attribute__((vector_size(4 * PT_MMA_WIDE), may_alias));
typedef uint32_t pt_mma_uints __attribute__((vector_size(4 * PT_MMA_WIDE)));

/* Four columns where a result is made. */
typedef float pt_mma_floats4 __attribute__((vector_size(16), may_alias));
typedef int32_t pt_mma_ints4 __attribute__((vector_size(16), may_alias));
typedef int64_t pt_mma_longs4 __attribute__((vector_size(32), may_alias));
typedef double pt_mma_doubles4 __attribute__((vector_size(32), may_alias));

enum { PT_MMA_NOWHERE = -(1 << 20) }; /* the place of a zero */

/* An operand of the unit: elements are value * 2^place, |value| < 2; of narrow A and B
 * (pt_mma_is_narrow) value alone. `v` are those it was made of. */
struct pt_mma_float_a {
    float value[PT_MMA_M][PT_MMA_FLOATS_A];
    int32_t place[PT_MMA_M][PT_MMA_FLOATS_A];
    const uint32_t (*v)[PT_MMA_A];
    enum pt_type type;
    bool is_special; /* there may be an infinity or a NaN */
};

struct pt_mma_float_b {
    float value[PT_MMA_FLOATS_K][PT_MMA_N] __attribute__((aligned(32)));
    int32_t place[PT_MMA_FLOATS_K][PT_MMA_N] __attribute__((aligned(32)));
    const uint32_t (*v)[PT_MMA_N];
    enum pt_type type;
    bool is_special;
};

struct pt_mma_float_c {
    float value[PT_MMA_M][PT_MMA_N] __attribute__((aligned(32)));
    int32_t place[PT_MMA_M][PT_MMA_N] __attribute__((aligned(32)));
    const struct pt_mma_tile *v; /* NULL: C is no term */
    enum pt_type type;
    bool is_special;
};

/* One step of the unit. */
struct pt_mma_float {
    uint32_t rows, k;
    int32_t fraction; /* terms are cut to multiples of 2^(max - fraction) */
    uint32_t dropped; /* low bits of a double's fraction that a result in f32 has not */
    bool to_f16;
};

struct pt_mma_layout {
    uint32_t exponent, fraction; /* bits */
    bool has_infinity;
};

PT_LANE struct pt_mma_layout pt_mma_layout(enum pt_type type)
{
    switch (type) {
    case PT_f16:
        return (struct pt_mma_layout){5, 10, true};
    case PT_bf16:
        return (struct pt_mma_layout){8, 7, true};
    case PT_tf32:
        return (struct pt_mma_layout){8, 10, true};
    case PT_e4m3:
        return (struct pt_mma_layout){4, 3, false};
    case PT_e5m2:
        return (struct pt_mma_layout){5, 2, true};
    default: /* f32 */
        return (struct pt_mma_layout){8, 23, true};
    }
}

/* An infinity or NaN as it is, a zero, and +-1 for every other number: sums of products of these
 * are infinite or NaN where those of the elements are. */
PT_LANE float pt_mma_kind(uint32_t v, struct pt_mma_layout l)
{
    uint32_t fraction = v & ((1u << l.fraction) - 1), most = (1u << l.exponent) - 1;
    uint32_t exponent = v >> l.fraction & most, sign = v >> (l.exponent + l.fraction) << 31;
    bool is_nan = exponent == most && (l.has_infinity ? fraction != 0 : fraction == 7);
    bool is_infinite = exponent == most && l.has_infinity && !fraction;
    uint32_t kind = is_nan ? 0x7fffffff : is_infinite ? 0x7f800000 : 0x3f800000;
    return pt_lane_f32(sign | (v << (32 - l.exponent - l.fraction) ? kind : 0));
}

/* Products of such elements, and of these with any scale that a term needs, are in f32's range. */
PT_LANE bool pt_mma_is_narrow(enum pt_type type)
{
    return type == PT_f16 || type == PT_e4m3 || type == PT_e5m2;
}

/* n elements; is_whole: value alone is the element. True if there may be an infinity or a NaN
 * among them. */
PT_LANE bool pt_mma_decode(enum pt_type type, bool is_whole, uint32_t n, const uint32_t *restrict v,
                           float *restrict value, int32_t *restrict place)
{
    struct pt_mma_layout l = pt_mma_layout(type);
    uint32_t most = (1u << l.exponent) - 1, low = type == PT_tf32 ? 13 : 0;
    int32_t bias = (1 << (l.exponent - 1)) - 1;
    uint32_t special = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t x = v[i] >> low, exponent = x >> l.fraction & most;
        uint32_t fraction = x << (23 - l.fraction) & 0x7fffff;
        float magnitude = pt_lane_f32(0x3f800000 | fraction) - (exponent ? 0.0f : 1.0f);
        int32_t at = (exponent ? (int32_t)exponent : 1) - bias;
        if (is_whole)
            magnitude *= pt_lane_f32((uint32_t)(127 + at) << 23);
        value[i] = x >> (l.exponent + l.fraction) ? -magnitude : magnitude;
        place[i] = exponent | fraction ? at : PT_MMA_NOWHERE;
        special |= exponent == most;
    }
    return special;
}

PT_LANE void pt_mma_kinds(enum pt_type type, uint32_t n, const uint32_t *v, float *kind)
{
    struct pt_mma_layout l = pt_mma_layout(type);
    for (uint32_t i = 0; i < n; i++)
        kind[i] = pt_mma_kind(type == PT_tf32 ? v[i] >> 13 : v[i], l);
}

/* The two for a type that is known when it runs. */
#define PT_MMA_TYPES(X) X(f16) X(bf16) X(tf32) X(e4m3) X(e5m2) X(f32)

static inline void pt_mma_kinds_any(enum pt_type type, uint32_t n, const uint32_t *v, float *kind)
{
    switch (type) {
#define X(t)                              \
    case PT_##t:                          \
        pt_mma_kinds(PT_##t, n, v, kind); \
        break;
        PT_MMA_TYPES(X)
#undef X
    default:
        break;
    }
}

/* Elements of A or B. */
static inline bool pt_mma_decode_any(enum pt_type type, uint32_t n, const uint32_t *v, float *value,
                                     int32_t *place)
{
    switch (type) {
#define X(t)                                                                      \
    case PT_##t: {                                                                \
        bool is_whole = pt_mma_is_narrow(PT_##t);                                 \
        return n == 16    ? pt_mma_decode(PT_##t, is_whole, 16, v, value, place)  \
               : n == 128 ? pt_mma_decode(PT_##t, is_whole, 128, v, value, place) \
                          : pt_mma_decode(PT_##t, is_whole, n, v, value, place);  \
    }
        PT_MMA_TYPES(X)
#undef X
    default:
        return false;
    }
}

static inline void pt_mma_float_set_a(struct pt_mma_float_a *a, enum pt_type type, uint32_t rows,
                                      uint32_t k, const uint32_t v[][PT_MMA_A])
{
    a->v = v;
    a->type = type;
    a->is_special = false;
    for (uint32_t m = 0; m < rows; m++)
        a->is_special |= pt_mma_decode_any(type, k, v[m], a->value[m], a->place[m]);
}

static inline void pt_mma_float_set_b(struct pt_mma_float_b *b, enum pt_type type, uint32_t k,
                                      const uint32_t v[][PT_MMA_N])
{
    b->v = v;
    b->type = type;
    b->is_special = pt_mma_decode_any(type, k * PT_MMA_N, v[0], b->value[0], b->place[0]);
}

/* v is NULL where C is no term. */
static inline void pt_mma_float_set_c(struct pt_mma_float_c *c, enum pt_type type, uint32_t rows,
                                      const struct pt_mma_tile *v)
{
    c->v = v;
    c->type = type;
    c->is_special = false;
    uint32_t n = rows * PT_MMA_N;
    if (v) {
        c->is_special = type == PT_f16
                            ? pt_mma_decode(PT_f16, false, n, v->v[0], c->value[0], c->place[0])
                            : pt_mma_decode(PT_f32, false, n, v->v[0], c->value[0], c->place[0]);
        return;
    }
    for (uint32_t m = 0; m < rows; m++)
        for (uint32_t i = 0; i < PT_MMA_N; i++) {
            c->value[m][i] = 0;
            c->place[m][i] = PT_MMA_NOWHERE;
        }
}

/* 2^e, e in a double's normal range. */
PT_LANE double pt_mma_power(int32_t e)
{
    return pt_lane_f64((uint64_t)(1023 + e) << 52);
}

PT_LANE uint32_t pt_mma_to_f32(double d, uint32_t dropped)
{
    double cut = pt_lane_f64(pt_lane_u64(d) >> dropped << dropped);
    /* A subnormal has a fixed unit: 2^-149 where 29 bits are dropped. */
    double unit = pt_mma_power((int32_t)dropped - 178);
    bool is_tiny = __builtin_fabs(d) < 0x1p-126;
    double tiny = (double)(int32_t)((is_tiny ? d : 0) / unit) * unit;
    return pt_lane_u32((float)(is_tiny ? tiny : cut) + 0.0f);
}

/* By way of f32 rounded to odd. */
PT_LANE uint32_t pt_mma_to_f16(double d)
{
    uint64_t bits = pt_lane_u64(d), rest = bits & 0x1fffffff;
    uint32_t u = pt_lane_u32((float)pt_lane_f64(bits ^ rest)) | (rest != 0);
    uint32_t h = pt_half_nearest(u & 0x7fffffff);
    return h ? h | u >> 31 << 15 : 0;
}

/* Puts in what an infinity or a NaN decides. */
static __attribute__((noinline, unused)) void
pt_mma_float_specials(const struct pt_mma_float *op, const struct pt_mma_float_a *a,
                      const struct pt_mma_float_b *b, const struct pt_mma_float_c *c,
                      const struct pt_mma_sparsity *sparsity, struct pt_mma_tile *d)
{
    uint32_t depth = sparsity ? PT_MMA_FLOATS_K : op->k;
    float ka[PT_MMA_FLOATS_A], kb[PT_MMA_FLOATS_K][PT_MMA_N], kc[PT_MMA_N] = {0};
    pt_mma_kinds_any(b->type, depth * PT_MMA_N, b->v[0], kb[0]);
    for (uint32_t m = 0; m < op->rows; m++) {
        pt_mma_kinds_any(a->type, op->k, a->v[m], ka);
        if (c->v)
            pt_mma_kinds_any(c->type, PT_MMA_N, c->v->v[m], kc);
        for (uint32_t n = 0; n < PT_MMA_N; n++) {
            float sum = kc[n];
            for (uint32_t i = 0; i < op->k; i++)
                sum += ka[i] * kb[sparsity ? sparsity->at[m][i] : i][n];
            uint32_t u = pt_lane_u32(sum), magnitude = u & 0x7fffffff;
            if (magnitude > 0x7f800000)
                d->v[m][n] = op->to_f16 ? 0x7fff : 0x7fffffff;
            else if (magnitude == 0x7f800000)
                d->v[m][n] = op->to_f16 ? (u >> 16 & 0x8000) | 0x7c00 : u;
        }
    }
}

/* The sum of the products of a row of A with columns of B, in units of 2^(*top - fraction): in
 * 32 bits, since at most 16 terms are as large as 2^27. *top is C's place before. */
PT_LANE pt_mma_ints pt_mma_float_sum(bool is_narrow, const float *value, const int32_t *place,
                                     const struct pt_mma_float_b *b, uint32_t n, const uint8_t *at,
                                     uint32_t k, int32_t fraction, pt_mma_ints *top)
{
    pt_mma_ints max = *top;
    pt_mma_uints sum = {
        0}; /* wraps where there is an infinity or a NaN, whose result is put in later */
    for (uint32_t i = 0; i < k; i++) {
        pt_mma_ints p = *(const pt_mma_ints *)&b->place[at ? at[i] : i][n] + place[i];
        max = PT_MMA_MAX(p, max);
    }
    *top = max;
    pt_mma_ints base = 127 + fraction - max, none = {0};
    /* Where there is no term, the scale does not matter. */
    pt_mma_floats one = (pt_mma_floats)(PT_MMA_MAX(base, none) << 23 & 0x7fffffff);
    for (uint32_t i = 0; i < k; i++) {
        uint32_t r = at ? at[i] : i;
        pt_mma_floats product = *(const pt_mma_floats *)&b->value[r][n] * value[i];
        pt_mma_ints scale = base + (*(const pt_mma_ints *)&b->place[r][n] + place[i]);
        scale = PT_MMA_MAX(scale, none) << 23;
        product *= is_narrow ? one : (pt_mma_floats)scale;
        sum += (pt_mma_uints) __builtin_convertvector(product, pt_mma_ints);
    }
    return (pt_mma_ints)sum;
}

/* The elements of one row from sums, C and places. */
PT_LANE void pt_mma_float_finish(const struct pt_mma_float *op, const int32_t *sum,
                                 const int32_t *top, const float *c, const int32_t *c_place,
                                 uint32_t *d)
{
    for (uint32_t n = 0; n < PT_MMA_N; n++) {
        int32_t scale = 127 + op->fraction - top[n] + c_place[n];
        int32_t term = (int32_t)(c[n] * pt_lane_f32((uint32_t)(scale > 0 ? scale : 0) << 23));
        int32_t e = top[n] < -300 ? -300 : top[n]; /* without a term the sum is 0 */
        double total = ((double)sum[n] + (double)term) * pt_mma_power(e - op->fraction);
        d[n] = op->to_f16 ? pt_mma_to_f16(total) : pt_mma_to_f32(total, op->dropped);
    }
}

/* The same for f32 where no result leaves its normal range. Returns lanes, all ones, where one
 * may. */
PT_LANE pt_mma_ints4 pt_mma_float_finish4(const struct pt_mma_float *op, const int32_t *sum,
                                          const int32_t *top, const float *c,
                                          const int32_t *c_place, uint32_t *d)
{
    enum { LOW = -100, HIGH = 120 };
    pt_mma_ints4 at = *(const pt_mma_ints4 *)top, is_low = at < LOW;
    pt_mma_ints4 scale = 127 + op->fraction - at + *(const pt_mma_ints4 *)c_place;
    scale = (scale & (scale > 0)) << 23;
    pt_mma_ints4 term =
        __builtin_convertvector(*(const pt_mma_floats4 *)c * (pt_mma_floats4)scale, pt_mma_ints4);
    pt_mma_doubles4 total = __builtin_convertvector(*(const pt_mma_ints4 *)sum, pt_mma_doubles4) +
                            __builtin_convertvector(term, pt_mma_doubles4);
    total = (pt_mma_doubles4)((pt_mma_longs4)total & -(INT64_C(1) << op->dropped));
    pt_mma_ints4 unit = (127 - op->fraction + (at & ~is_low)) << 23;
    pt_mma_floats4 r = __builtin_convertvector(total, pt_mma_floats4) * (pt_mma_floats4)unit;
    memcpy(d, &r, sizeof r);
    return (is_low & (at != PT_MMA_NOWHERE)) | (at > HIGH);
}

/* All rows, by finish4 if is_quick: then it returns whether that was wrong. */
PT_LANE bool pt_mma_float_rows(bool is_quick, bool is_narrow, uint32_t k,
                               const struct pt_mma_float *op, const struct pt_mma_float_a *a,
                               const struct pt_mma_float_b *b, const struct pt_mma_float_c *c,
                               const struct pt_mma_sparsity *sparsity, struct pt_mma_tile *d)
{
    pt_mma_ints4 is_far = {0};
    for (uint32_t m = 0; m < op->rows; m++) {
        int32_t sum[PT_MMA_N] __attribute__((aligned(32)));
        int32_t top[PT_MMA_N] __attribute__((aligned(32)));
        for (uint32_t n = 0; n < PT_MMA_N; n += PT_MMA_WIDE) {
            pt_mma_ints max = *(const pt_mma_ints *)&c->place[m][n];
            *(pt_mma_ints *)&sum[n] =
                pt_mma_float_sum(is_narrow, a->value[m], a->place[m], b, n,
                                 sparsity ? sparsity->at[m] : NULL, k, op->fraction, &max);
            *(pt_mma_ints *)&top[n] = max;
        }
        if (!is_quick)
            pt_mma_float_finish(op, sum, top, c->value[m], c->place[m], d->v[m]);
        for (uint32_t n = 0; is_quick && n < PT_MMA_N; n += 4)
            is_far |= pt_mma_float_finish4(op, &sum[n], &top[n], &c->value[m][n], &c->place[m][n],
                                           &d->v[m][n]);
    }
    return is_far[0] | is_far[1] | is_far[2] | is_far[3];
}

/* d = a * b + c */
static inline void pt_mma_float(const struct pt_mma_float *op, const struct pt_mma_float_a *a,
                                const struct pt_mma_float_b *b, const struct pt_mma_float_c *c,
                                const struct pt_mma_sparsity *sparsity, struct pt_mma_tile *d)
{
    struct pt_mma_tile r;
    bool is_narrow = pt_mma_is_narrow(a->type), is_far = true;
    if (is_narrow && !sparsity && op->k == 16 && !op->to_f16)
        is_far = pt_mma_float_rows(true, true, 16, op, a, b, c, NULL, &r);
    else if (!is_narrow && !sparsity && !op->to_f16)
        is_far = pt_mma_float_rows(true, false, op->k, op, a, b, c, NULL, &r);
    if (is_far && is_narrow)
        pt_mma_float_rows(false, true, op->k, op, a, b, c, sparsity, &r);
    else if (is_far)
        pt_mma_float_rows(false, false, op->k, op, a, b, c, sparsity, &r);
    if (a->is_special || b->is_special || c->is_special)
        pt_mma_float_specials(op, a, b, c, sparsity, &r);
    memcpy(d, &r, op->rows * sizeof *r.v);
}

/* 8-bit formats through mma: two steps as f16, then C. */
static inline void pt_mma_float8(const struct pt_mma_float *op, const enum pt_type type[2],
                                 const uint32_t va[][PT_MMA_A], const uint32_t vb[][PT_MMA_N],
                                 const struct pt_mma_tile *vc,
                                 const struct pt_mma_sparsity *sparsity, struct pt_mma_tile *d)
{
    enum pt_type result = op->to_f16 ? PT_f16 : PT_f32;
    enum pt_fp8 fmt_a = type[0] == PT_e4m3 ? PT_E4M3 : PT_E5M2;
    enum pt_fp8 fmt_b = type[1] == PT_e4m3 ? PT_E4M3 : PT_E5M2;
    struct pt_mma_float half = *op;
    uint32_t wide_a[PT_MMA_M][PT_MMA_A], wide_b[PT_MMA_FLOATS_K][PT_MMA_N];
    struct pt_mma_float_a a;
    struct pt_mma_float_b b;
    struct pt_mma_float_c c;
    struct pt_mma_sparsity all;
    uint32_t depth = sparsity ? PT_MMA_FLOATS_K : op->k;
    half.k = op->k / 2;
    for (uint32_t i = 0; i < depth; i++)
        for (uint32_t n = 0; n < PT_MMA_N; n++)
            wide_b[i][n] = pt_convert_fp8_f16(vb[i][n], fmt_b, false);
    pt_mma_float_set_b(&b, PT_f16, depth, (const uint32_t(*)[PT_MMA_N])wide_b);
    pt_mma_float_set_c(&c, result, op->rows, NULL);
    for (uint32_t step = 0; step < 2; step++) {
        for (uint32_t m = 0; m < op->rows; m++)
            for (uint32_t i = 0; i < half.k; i++) {
                uint32_t from = i / 2 * 4 + i % 2 + 2 * step;
                wide_a[m][i] = pt_convert_fp8_f16(va[m][from], fmt_a, false);
                all.at[m][i] = sparsity ? sparsity->at[m][from] : (uint8_t)from;
            }
        pt_mma_float_set_a(&a, PT_f16, op->rows, half.k, (const uint32_t(*)[PT_MMA_A])wide_a);
        pt_mma_float(&half, &a, &b, &c, &all, d);
        pt_mma_float_set_c(&c, result, op->rows, d);
    }
    for (uint32_t m = 0; m < op->rows; m++)
        for (uint32_t n = 0; n < PT_MMA_N; n++) {
            uint32_t sum = d->v[m][n], addend = vc->v[m][n];
            d->v[m][n] = op->to_f16 ? pt_half_add(sum, addend, PT_F16, false, false)
                                    : pt_float_add(sum, addend, PT_RN, false, false);
        }
}

/* ---- chains of fused multiply-adds ----------------------------------------------------------- */

/* f16 m8n8k4: 8 rows; C and D are f16 or f32. A result of f16 is C + two sums of two products, k =
 * 0 and 1 first. */
static inline void pt_mma_quad(bool from_f16, bool to_f16, const uint32_t a[][PT_MMA_A],
                               const uint32_t b[][PT_MMA_N], const struct pt_mma_tile *c,
                               struct pt_mma_tile *d)
{
    for (uint32_t m = 0; m < 8; m++)
        for (uint32_t n = 0; n < PT_MMA_N; n++) {
            uint32_t addend = c->v[m][n], sum[2] = {0, 0};
            if (from_f16)
                addend = pt_float_canon(pt_half_to_f32(addend, PT_F16));
            for (uint32_t k = 0; k < 4; k++) {
                uint32_t *s = &sum[to_f16 ? k / 2 : 0], x = pt_half_to_f32(a[m][k], PT_F16),
                         y = pt_half_to_f32(b[k][n], PT_F16);
                *s = to_f16 && k % 2 == 0 ? pt_float_mul(x, y, PT_RN, false, false)
                                          : pt_float_fma(x, y, *s, PT_RN, false, false);
            }
            addend = pt_float_add(addend, sum[0], PT_RN, false, false);
            if (to_f16)
                addend = pt_float_add(addend, sum[1], PT_RN, false, false);
            d->v[m][n] = to_f16 ? pt_half_from_f32(addend, PT_F16, PT_RN) : addend;
        }
}

/* One element of f64: k products. */
static inline uint64_t pt_mma_f64(uint32_t k, const uint64_t *a, const uint64_t *b, uint64_t c,
                                  enum pt_round rnd)
{
    for (uint32_t i = 0; i < k; i++)
        c = pt_float_fma64(a[i], b[i], c, rnd);
    return c;
}

/* ---- integers and bits ----------------------------------------------------------------------- */

/* Elements are sign- or zero-extended. */
static inline void pt_mma_int(uint32_t rows, uint32_t k, const uint32_t a[][PT_MMA_A],
                              const uint32_t b[][PT_MMA_N], const struct pt_mma_tile *c,
                              const struct pt_mma_sparsity *sparsity, bool saturates,
                              struct pt_mma_tile *d)
{
    for (uint32_t m = 0; m < rows; m++) {
        int32_t sum[PT_MMA_N] = {0};
        for (uint32_t i = 0; i < k; i++) {
            const uint32_t *row = b[sparsity ? sparsity->at[m][i] : i];
            for (uint32_t n = 0; n < PT_MMA_N; n++)
                sum[n] += (int32_t)a[m][i] * (int32_t)row[n];
        }
        for (uint32_t n = 0; n < PT_MMA_N; n++) {
            int64_t total = (int64_t)sum[n] + (int32_t)c->v[m][n];
            d->v[m][n] =
                saturates ? (uint32_t)pt_convert_clamp_s(total, 32, true) : (uint32_t)total;
        }
    }
}

/* k words of 32 elements. */
static inline void pt_mma_bits(uint32_t rows, uint32_t k, const uint32_t a[][PT_MMA_A],
                               const uint32_t b[][PT_MMA_N], const struct pt_mma_tile *c,
                               bool is_xor, struct pt_mma_tile *d)
{
    for (uint32_t m = 0; m < rows; m++)
        for (uint32_t n = 0; n < PT_MMA_N; n++) {
            uint32_t sum = c->v[m][n];
            for (uint32_t i = 0; i < k; i++) {
                uint32_t both = is_xor ? a[m][i] ^ b[i][n] : a[m][i] & b[i][n];
                sum += (uint32_t)__builtin_popcount(both);
            }
            d->v[m][n] = sum;
        }
}

#endif
