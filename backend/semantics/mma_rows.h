/* The float unit of mma.h for most of what comes: A and B of f16, or of bf16 or tf32 in the middle
 * of their range, C and D of f32, A dense. A lane is a row: vectors of 16 rows of A meet one
 * element of B at a time, and a tile's columns are summed one after the other. Terms are cut as
 * conversions to integers cut them.
 *
 * Elements come as words, as registers and shared memory have them: of f16 and bf16 two, of tf32
 * one, that follow each other in a row of A or a column of B.
 */
#ifndef PTERA_BACKEND_SEMANTICS_MMA_ROWS_H
#define PTERA_BACKEND_SEMANTICS_MMA_ROWS_H

#include "backend/semantics/mma.h"

/* As many rows as a vector of this CPU level holds. */
#if defined(__AVX512BW__)
enum { PT_ROWS_WIDE = 16 };
#define PT_ROWS_MAX(a, b) ((pt_rows_ints)_mm512_max_epi32((__m512i)(a), (__m512i)(b)))
#define PT_ROWS_MAX16(a, b) ((pt_rows_shorts)_mm512_max_epi16((__m512i)(a), (__m512i)(b)))
#define PT_ROWS_FMA(a, b, c) \
    ((pt_rows_floats)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define PT_ROWS_ANY(v) (_mm512_test_epi32_mask((__m512i)(v), (__m512i)(v)) != 0)
#elif defined(__AVX2__)
enum { PT_ROWS_WIDE = 8 };
#define PT_ROWS_MAX(a, b) ((pt_rows_ints)_mm256_max_epi32((__m256i)(a), (__m256i)(b)))
#define PT_ROWS_MAX16(a, b) ((pt_rows_shorts)_mm256_max_epi16((__m256i)(a), (__m256i)(b)))
#define PT_ROWS_FMA(a, b, c) \
    ((pt_rows_floats)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define PT_ROWS_ANY(v) (!_mm256_testz_si256((__m256i)(v), (__m256i)(v)))
#elif defined(__SSE4_1__)
enum { PT_ROWS_WIDE = 4 };
#define PT_ROWS_MAX(a, b) ((pt_rows_ints)_mm_max_epi32((__m128i)(a), (__m128i)(b)))
#define PT_ROWS_MAX16(a, b) ((pt_rows_shorts)_mm_max_epi16((__m128i)(a), (__m128i)(b)))
#define PT_ROWS_FMA(a, b, c) ((a) * (b) + (c))
#define PT_ROWS_ANY(v) (!_mm_testz_si128((__m128i)(v), (__m128i)(v)))
#else
enum { PT_ROWS_WIDE = 4 };
#define PT_ROWS_MAX(a, b) (((a) & ((a) > (b))) | ((b) & ~((a) > (b))))
#define PT_ROWS_MAX16(a, b) PT_ROWS_MAX(a, b)
#define PT_ROWS_FMA(a, b, c) ((a) * (b) + (c))
#define PT_ROWS_ANY(v) (((v)[0] | (v)[1] | (v)[2] | (v)[3]) != 0)
#endif
typedef float pt_rows_floats __attribute__((vector_size(4 * PT_ROWS_WIDE), may_alias));
typedef int32_t pt_rows_ints __attribute__((vector_size(4 * PT_ROWS_WIDE), may_alias));
typedef uint32_t pt_rows_words __attribute__((vector_size(4 * PT_ROWS_WIDE), may_alias));
typedef int16_t pt_rows_shorts __attribute__((vector_size(4 * PT_ROWS_WIDE), may_alias));

enum {
    PT_ROWS_WORDS = 8,     /* most words of a row of A */
    PT_ROWS_SHIFT = 300,   /* added to places of elements that are not zero; that of a zero is 0 */
    PT_ROWS_RANGE = 48,    /* places of bf16 and tf32 lie between this and its negative */
    PT_ROWS_FRACTION = 25, /* terms are cut to multiples of 2^(top - this) */
    PT_ROWS_LOW = -100,    /* places of sums lie between these */
    PT_ROWS_HIGH = 120
};

/* Words as values and places: element `e` of a word is in value[e], its place in half e of a word's
 * place. */
struct pt_rows_a {
    float value[2][PT_ROWS_WORDS][PT_MMA_M] __attribute__((aligned(64)));
    int32_t place[PT_ROWS_WORDS][PT_MMA_M] __attribute__((aligned(64)));
};

/* Word q of column n is number q / 4 * 32 + n * 4 + q % 4, as in registers, or, if is_across, q * 8
 * + n. */
struct pt_rows_b {
    float value[2][PT_ROWS_WORDS * PT_MMA_N] __attribute__((aligned(64)));
    int32_t place[PT_ROWS_WORDS * PT_MMA_N] __attribute__((aligned(64)));
    bool is_across;
};

/* C and D: columns. */
struct pt_rows_c {
    float v[PT_MMA_N][PT_MMA_M] __attribute__((aligned(64)));
};

/* ---- elements -------------------------------------------------------------------------------- */

/* The elements of words, 0 and 1. f16 as a number of f32 with its exponent is 2^-112 times what it
 * is. */
PT_LANE pt_rows_floats pt_rows_value(enum pt_type type, uint32_t e, pt_rows_words w)
{
    pt_rows_ints x = (pt_rows_ints)(e ? w : w << 16);
    if (type == PT_tf32)
        return (pt_rows_floats)(w & 0xffffe000);
    if (type == PT_bf16)
        return (pt_rows_floats)(x & (int32_t)0xffff0000);
    return (pt_rows_floats)(x >> 3 & (int32_t)0x8fffe000) * 0x1p112f;
}

/* Their places; *is_far becomes other than 0 where one is out of range, infinite or NaN. */
PT_LANE pt_rows_ints pt_rows_places(enum pt_type type, pt_rows_words w, pt_rows_ints *is_far)
{
    enum { BIAS = 127 };
    if (type == PT_tf32) {
        pt_rows_ints t = (pt_rows_ints)(w & 0x7fffe000), some = t != 0;
        pt_rows_ints place = (t >> 23) - BIAS;
        *is_far |= some & ((place > PT_ROWS_RANGE) | (place < -PT_ROWS_RANGE));
        return (place + PT_ROWS_SHIFT) & some;
    }
    pt_rows_shorts t = (pt_rows_shorts)w & 0x7fff, some = t != 0;
    if (type == PT_bf16) {
        pt_rows_shorts place = (t >> 7) - BIAS;
        *is_far |= (pt_rows_ints)(some & ((place > PT_ROWS_RANGE) | (place < -PT_ROWS_RANGE)));
        return (pt_rows_ints)((place + PT_ROWS_SHIFT) & some);
    }
    pt_rows_shorts least = (pt_rows_shorts){0} + 0x400;
    *is_far |= (pt_rows_ints)(t >= 0x7c00);
    return (pt_rows_ints)(((PT_ROWS_MAX16(t, least) >> 10) + (PT_ROWS_SHIFT - 15)) & some);
}

/* n words. Returns false if one is out of range, infinite or NaN. */
PT_LANE bool pt_rows_decode(enum pt_type type, uint32_t n, const uint32_t *words, float *value0,
                            float *value1, int32_t *place)
{
    pt_rows_ints is_far = {0};
    for (uint32_t i = 0; i < n; i += PT_ROWS_WIDE) {
        pt_rows_words w = *(const pt_rows_words *)&words[i];
        *(pt_rows_floats *)&value0[i] = pt_rows_value(type, 0, w);
        if (type != PT_tf32)
            *(pt_rows_floats *)&value1[i] = pt_rows_value(type, 1, w);
        *(pt_rows_ints *)&place[i] = pt_rows_places(type, w, &is_far);
    }
    return !PT_ROWS_ANY(is_far);
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Toward zero, in f32. */
PT_LANE pt_rows_floats pt_rows_to_float(pt_rows_ints v)
{
#if defined(__AVX512BW__)
    return (pt_rows_floats)_mm512_cvt_roundepi32_ps((__m512i)v,
                                                    _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#else
    pt_rows_floats r = __builtin_convertvector(v, pt_rows_floats);
    /* v < 2^31 - 64, so that r is an integer, too. */
    pt_rows_ints back = __builtin_convertvector(r, pt_rows_ints), sign = v >> 31;
    pt_rows_ints is_more = ((back ^ sign) - sign) > ((v ^ sign) - sign);
    return (pt_rows_floats)((pt_rows_ints)r + is_more);
#endif
}

PT_LANE pt_rows_floats pt_rows_power(pt_rows_ints e)
{
    return (pt_rows_floats)((e + 127) << 23);
}

PT_LANE uint32_t pt_rows_word(bool is_across, uint32_t n, uint32_t q)
{
    return is_across ? q * PT_MMA_N + n : q / 4 * 32 + n * 4 + q % 4;
}

/* The rows of A that a vector holds. */
struct pt_rows_part {
    pt_rows_floats value[2][PT_ROWS_WORDS];
    pt_rows_shorts place[PT_ROWS_WORDS];
};

PT_LANE struct pt_rows_part pt_rows_part(uint32_t per, uint32_t words, const struct pt_rows_a *a,
                                         uint32_t m)
{
    struct pt_rows_part part;
    for (uint32_t q = 0; q < words; q++) {
        for (uint32_t e = 0; e < per; e++)
            part.value[e][q] = *(const pt_rows_floats *)&a->value[e][q][m];
        part.place[q] = *(const pt_rows_shorts *)&a->place[q][m];
    }
    return part;
}

/* The largest place of the products with column n; below PT_ROWS_LOW if there is none. */
PT_LANE pt_rows_ints pt_rows_top(uint32_t words, bool is_across, const struct pt_rows_part *a,
                                 const struct pt_rows_b *b, uint32_t n)
{
    pt_rows_shorts max = {0};
    for (uint32_t q = 0; q < words; q++) {
        pt_rows_ints of_b = (pt_rows_ints){0} + b->place[pt_rows_word(is_across, n, q)];
        max = PT_ROWS_MAX16((pt_rows_shorts)of_b + a->place[q], max);
    }
    pt_rows_ints both = (pt_rows_ints)max, low = both << 16 >> 16, high = both >> 16;
    return PT_ROWS_MAX(low, high) - 2 * PT_ROWS_SHIFT;
}

/* Column n of D. Returns lanes other than 0 where it may be wrong. */
PT_LANE pt_rows_ints pt_rows_column(uint32_t per, uint32_t words, bool is_across,
                                    const struct pt_rows_part *a, const struct pt_rows_b *b,
                                    uint32_t n, pt_rows_floats *d)
{
    pt_rows_floats c = *d;
    pt_rows_ints low = (pt_rows_ints){0} + PT_ROWS_LOW, bits = (pt_rows_ints)c & 0x7fffffff;
    pt_rows_ints top = pt_rows_top(words, is_across, a, b, n);
    top = PT_ROWS_MAX(top, (bits >> 23) - 127);
    pt_rows_ints is_far = (top > PT_ROWS_HIGH) | ((top < PT_ROWS_LOW) & (bits != 0));
    top = PT_ROWS_MAX(top, low);
    pt_rows_floats scale = pt_rows_power(PT_ROWS_FRACTION - top);
    pt_rows_ints sum = {0};
    for (uint32_t q = 0; q < words; q++)
        for (uint32_t e = 0; e < per; e++) {
            pt_rows_floats product = a->value[e][q] * b->value[e][pt_rows_word(is_across, n, q)];
            sum += __builtin_convertvector(product * scale, pt_rows_ints);
        }
    /* 16 products fit in 32 bits; with C they may not. */
    is_far |= (sum > INT32_MAX - (1 << 26)) | (sum < (1 << 26) - INT32_MAX);
    sum += __builtin_convertvector(c * scale, pt_rows_ints);
    *d = pt_rows_to_float(sum) * pt_rows_power(top - PT_ROWS_FRACTION);
    return is_far;
}

/* d = a * b + d, of `words` words with `per` elements each. False if some result may be wrong. */
PT_LANE bool pt_rows_multiply(uint32_t per, uint32_t words, bool is_across,
                              const struct pt_rows_a *a, const struct pt_rows_b *b,
                              struct pt_rows_c *d)
{
    pt_rows_ints is_far = {0};
    for (uint32_t m = 0; m < PT_MMA_M; m += PT_ROWS_WIDE) {
        const struct pt_rows_part part = pt_rows_part(per, words, a, m);
        for (uint32_t n = 0; n < PT_MMA_N; n++) {
            pt_rows_floats *at = (pt_rows_floats *)&d->v[n][m];
            is_far |= pt_rows_column(per, words, is_across, &part, b, n, at);
        }
    }
    return !PT_ROWS_ANY(is_far);
}

/* ---- registers ------------------------------------------------------------------------------- */

/* Two registers of 8 rows each, with four words a row, become four columns of 16 rows: column i
 * goes to to[stride * i]. */
#if defined(__AVX512BW__)
typedef int32_t pt_rows_ints16 __attribute__((vector_size(64), may_alias, aligned(16)));
#define PT_ROWS_PICK(x, i)                                                                       \
    __builtin_shufflevector(x[0], x[1], i, i + 4, i + 8, i + 12, i + 16, i + 20, i + 24, i + 28, \
                            i + 1, i + 5, i + 9, i + 13, i + 17, i + 21, i + 25, i + 29)
#define PT_ROWS_HALVES(x, y, i)                                                               \
    __builtin_shufflevector(x, y, i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7, i + 16, \
                            i + 17, i + 18, i + 19, i + 20, i + 21, i + 22, i + 23)
PT_LANE void pt_rows_gather(const uint32_t *upper, const uint32_t *lower, uint32_t *to,
                            uint32_t stride)
{
    const pt_rows_ints16 *x = (const pt_rows_ints16 *)upper, *y = (const pt_rows_ints16 *)lower;
    pt_rows_ints16 x0 = PT_ROWS_PICK(x, 0), x2 = PT_ROWS_PICK(x, 2);
    pt_rows_ints16 y0 = PT_ROWS_PICK(y, 0), y2 = PT_ROWS_PICK(y, 2);
    *(pt_rows_ints16 *)to = PT_ROWS_HALVES(x0, y0, 0);
    *(pt_rows_ints16 *)(to + stride) = PT_ROWS_HALVES(x0, y0, 8);
    *(pt_rows_ints16 *)(to + 2 * stride) = PT_ROWS_HALVES(x2, y2, 0);
    *(pt_rows_ints16 *)(to + 3 * stride) = PT_ROWS_HALVES(x2, y2, 8);
}

/* And back. */
#define PT_ROWS_WEAVE(x, y, i)                                                                   \
    __builtin_shufflevector(x, y, i, i + 8, i + 16, i + 24, i + 1, i + 9, i + 17, i + 25, i + 2, \
                            i + 10, i + 18, i + 26, i + 3, i + 11, i + 19, i + 27)
PT_LANE void pt_rows_scatter(const uint32_t *from, uint32_t stride, uint32_t *upper,
                             uint32_t *lower)
{
    pt_rows_ints16 *x = (pt_rows_ints16 *)upper, *y = (pt_rows_ints16 *)lower;
    const pt_rows_ints16 a = *(const pt_rows_ints16 *)from,
                         b = *(const pt_rows_ints16 *)(from + stride),
                         c = *(const pt_rows_ints16 *)(from + 2 * stride),
                         d = *(const pt_rows_ints16 *)(from + 3 * stride);
    pt_rows_ints16 ab = PT_ROWS_HALVES(a, b, 0), cd = PT_ROWS_HALVES(c, d, 0);
    x[0] = PT_ROWS_WEAVE(ab, cd, 0);
    x[1] = PT_ROWS_WEAVE(ab, cd, 4);
    ab = PT_ROWS_HALVES(a, b, 8);
    cd = PT_ROWS_HALVES(c, d, 8);
    y[0] = PT_ROWS_WEAVE(ab, cd, 0);
    y[1] = PT_ROWS_WEAVE(ab, cd, 4);
}
#else
typedef int32_t pt_rows_ints4 __attribute__((vector_size(16), may_alias));

/* Four vectors, `in` words from each other, to four, `out` words from each other. */
PT_LANE void pt_rows_transpose(const uint32_t *from, uint32_t in, uint32_t *to, uint32_t out)
{
    pt_rows_ints4 a = *(const pt_rows_ints4 *)from, b = *(const pt_rows_ints4 *)(from + in),
                  c = *(const pt_rows_ints4 *)(from + 2 * in),
                  d = *(const pt_rows_ints4 *)(from + 3 * in);
    pt_rows_ints4 p = __builtin_shufflevector(a, b, 0, 4, 1, 5),
                  q = __builtin_shufflevector(c, d, 0, 4, 1, 5),
                  r = __builtin_shufflevector(a, b, 2, 6, 3, 7),
                  s = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    *(pt_rows_ints4 *)to = __builtin_shufflevector(p, q, 0, 1, 4, 5);
    *(pt_rows_ints4 *)(to + out) = __builtin_shufflevector(p, q, 2, 3, 6, 7);
    *(pt_rows_ints4 *)(to + 2 * out) = __builtin_shufflevector(r, s, 0, 1, 4, 5);
    *(pt_rows_ints4 *)(to + 3 * out) = __builtin_shufflevector(r, s, 2, 3, 6, 7);
}

PT_LANE void pt_rows_gather(const uint32_t *upper, const uint32_t *lower, uint32_t *to,
                            uint32_t stride)
{
    for (uint32_t i = 0; i < PT_MMA_M; i += 4)
        pt_rows_transpose((i < 8 ? upper : lower) + i % 8 * 4, 4, to + i, stride);
}

PT_LANE void pt_rows_scatter(const uint32_t *from, uint32_t stride, uint32_t *upper,
                             uint32_t *lower)
{
    for (uint32_t i = 0; i < PT_MMA_M; i += 4)
        pt_rows_transpose(from + i, stride, (i < 8 ? upper : lower) + i % 8 * 4, 4);
}
#endif

/* C, and D, of four registers, two of 8 rows each for columns of even number and of odd. */
PT_LANE void pt_rows_get_c(const uint32_t *const *regs, struct pt_rows_c *c)
{
    for (uint32_t i = 0; i < 2; i++)
        pt_rows_gather(regs[i], regs[i + 2], (uint32_t *)c->v[i], 2 * PT_MMA_M);
}

PT_LANE void pt_rows_put_c(const struct pt_rows_c *c, uint32_t *const *regs)
{
    for (uint32_t i = 0; i < 2; i++)
        pt_rows_scatter((const uint32_t *)c->v[i], 2 * PT_MMA_M, regs[i], regs[i + 2]);
}

/* ---- types known when they run --------------------------------------------------------------- */

/* A product that can be made so, if its numbers allow it. */
PT_LANE bool pt_rows_takes(enum pt_type type_a, enum pt_type type_d, uint32_t rows)
{
    return (type_a == PT_f16 || type_a == PT_bf16 || type_a == PT_tf32) && type_d == PT_f32 &&
           rows == PT_MMA_M;
}

static inline bool pt_rows_decode_any(enum pt_type type, uint32_t n, const uint32_t *words,
                                      float *value0, float *value1, int32_t *place)
{
    return type == PT_f16    ? pt_rows_decode(PT_f16, n, words, value0, value1, place)
           : type == PT_bf16 ? pt_rows_decode(PT_bf16, n, words, value0, value1, place)
                             : pt_rows_decode(PT_tf32, n, words, value0, value1, place);
}

/* A from `words` columns of words. False if an element is out of range, infinite or NaN. */
static inline bool pt_rows_set_a(struct pt_rows_a *a, enum pt_type type, uint32_t words,
                                 const uint32_t v[][PT_MMA_M])
{
    return pt_rows_decode_any(type, words * PT_MMA_M, v[0], a->value[0][0], a->value[1][0],
                              a->place[0]);
}

static inline bool pt_rows_set_b(struct pt_rows_b *b, enum pt_type type, uint32_t words,
                                 bool is_across, const uint32_t *v)
{
    b->is_across = is_across;
    return pt_rows_decode_any(type, words * PT_MMA_N, v, b->value[0], b->value[1], b->place);
}

/* d = a * b + d. False if some result may be wrong. */
static inline bool pt_rows_product(enum pt_type type, uint32_t words, const struct pt_rows_a *a,
                                   const struct pt_rows_b *b, struct pt_rows_c *d)
{
#define PT_ROWS_CASE(per_, words_, is_across_)                                             \
    if ((per_ == 1) == (type == PT_tf32) && words_ == words && is_across_ == b->is_across) \
        return pt_rows_multiply(per_, words_, is_across_, a, b, d);
    PT_ROWS_CASE(2, 8, false)
    PT_ROWS_CASE(2, 8, true)
    PT_ROWS_CASE(2, 4, false)
    PT_ROWS_CASE(1, 8, false)
    PT_ROWS_CASE(1, 4, false)
#undef PT_ROWS_CASE
    return false;
}

#endif
