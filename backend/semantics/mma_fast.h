/* Products of matrices under --math fast: A and B of f16, bf16 or tf32, C and D of f32, A of 16
 * rows, dense. Terms are added to C one after the other, in f32, to nearest, in the order of k, by
 * fused multiply-adds where this CPU level has them; infinities and NaNs come out of that as they
 * do of f32 arithmetic, NaNs canonical.
 *
 * C and D stay as registers have them: vectors of a few rows by the four columns of even number, or
 * of odd. A row's element meets its vector spread over four lanes, which is a shuffle within 128
 * bits; an element of B's columns is loaded for all rows at once.
 *
 * Words are those of registers and of shared memory, in parts: eight elements that follow each
 * other in a row of A or a column of B, of tf32 four, are four words.
 */
#ifndef PTERA_BACKEND_SEMANTICS_MMA_FAST_H
#define PTERA_BACKEND_SEMANTICS_MMA_FAST_H

#include "backend/semantics/mma_rows.h"

enum {
    PT_FAST_K = 16,                /* most elements of a row of A */
    PT_FAST_PARTS = PT_FAST_K / 8, /* most parts of it */
    PT_FAST_WORDS = 4              /* of a part */
};

/* Four elements of each row lie together: those that follow each other, or, of types that are woven
 * at this CPU level, the four of even number of a part, then those of odd number. */
struct pt_fast_a {
    float v[PT_FAST_K / 4][PT_MMA_M][4] __attribute__((aligned(64)));
};

/* Columns 0, 2, 4, 6 and 1, 3, 5, 7. */
struct pt_fast_b {
    float v[PT_FAST_K][2][4] __attribute__((aligned(64)));
};

#if defined(__clang__)
#define PT_FAST_UNROLL _Pragma("clang loop unroll(full)")
#else
#define PT_FAST_UNROLL _Pragma("GCC unroll 8")
#endif

/* ---- elements -------------------------------------------------------------------------------- */

/* The lower elements of words, or the upper ones. */
#define PT_FAST_WIDEN(name, words, floats, ints)                              \
    PT_LANE floats name(enum pt_type type, uint32_t e, words w)               \
    {                                                                         \
        ints x = (ints)(e ? w : w << 16);                                     \
        if (type == PT_tf32)                                                  \
            return (floats)(w & 0xffffe000);                                  \
        if (type == PT_bf16)                                                  \
            return (floats)(x & (int32_t)0xffff0000);                         \
        floats v = (floats)(x >> 3 & (int32_t)0x8fffe000) * 0x1p112f;         \
        ints is_special = (x & 0x7c000000) == 0x7c000000; /* infinite, NaN */ \
        return (floats)((ints)v | (is_special & 0x7f800000));                 \
    }
PT_FAST_WIDEN(pt_fast_widen, pt_rows_words, pt_rows_floats, pt_rows_ints)

/* PT_FAST_SPREAD: lane i of each four lanes in all of them. PT_FAST_FOUR: four numbers in each four
 * lanes. */
#if defined(__AVX2__) && defined(__F16C__)
typedef uint32_t pt_fast_words __attribute__((vector_size(32), may_alias));
typedef float pt_fast_floats __attribute__((vector_size(32), may_alias));
typedef int32_t pt_fast_ints __attribute__((vector_size(32), may_alias));
PT_FAST_WIDEN(pt_fast_widen8, pt_fast_words, pt_fast_floats, pt_fast_ints)

#if defined(__AVX512BW__)
#define PT_FAST_SPREAD(v, i) ((pt_rows_floats)_mm512_permute_ps((__m512)(v), (i) * 0x55))
#define PT_FAST_FOUR(from) ((pt_rows_floats)_mm512_broadcast_f32x4(_mm_load_ps(from)))
/* A part of a few rows of f16: the first four elements of each, and the others. */
PT_LANE void pt_fast_widen_rows(const uint32_t *words, float *first, float *others)
{
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    __m512i w = _mm512_permutexvar_epi64(order, _mm512_load_si512(words));
    _mm512_store_ps(first, _mm512_cvtph_ps(_mm512_castsi512_si256(w)));
    _mm512_store_ps(others, _mm512_cvtph_ps(_mm512_extracti64x4_epi64(w, 1)));
}
#else
#define PT_FAST_SPREAD(v, i) ((pt_rows_floats)_mm256_permute_ps((__m256)(v), (i) * 0x55))
#define PT_FAST_FOUR(from) ((pt_rows_floats)_mm256_broadcast_ps((const __m128 *)(from)))
PT_LANE void pt_fast_widen_rows(const uint32_t *words, float *first, float *others)
{
    __m256i w = _mm256_permute4x64_epi64(_mm256_load_si256((const __m256i *)words), 0xd8);
    _mm256_store_ps(first, _mm256_cvtph_ps(_mm256_castsi256_si128(w)));
    _mm256_store_ps(others, _mm256_cvtph_ps(_mm256_extracti128_si256(w, 1)));
}
#endif

/* In each four words the lower halves, then the upper ones. */
PT_LANE __m256i pt_fast_part_halves(pt_fast_words w)
{
    const __m256i order = _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15, 0,
                                           1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
    return _mm256_shuffle_epi8((__m256i)w, order);
}

PT_LANE void pt_fast_widen_both(__m256i halves, float (*to)[2][4])
{
    _mm256_store_ps(to[0][0], _mm256_cvtph_ps(_mm256_castsi256_si128(halves)));
    _mm256_store_ps(to[1][0], _mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1)));
}

/* A word of each column, those of even number before those of odd number: one or two rows of B. */
PT_LANE void pt_fast_set_rows(enum pt_type type, pt_fast_words w, float (*to)[2][4])
{
    if (type == PT_f16) {
        pt_fast_widen_both(_mm256_permute4x64_epi64(pt_fast_part_halves(w), 0xd8), to);
        return;
    }
    *(pt_fast_floats *)to[0] = pt_fast_widen8(type, 0, w);
    if (type != PT_tf32)
        *(pt_fast_floats *)to[1] = pt_fast_widen8(type, 1, w);
}

PT_LANE void pt_fast_transpose(enum pt_type type, const uint32_t w[PT_MMA_N][PT_FAST_WORDS],
                               float (*to)[2][4])
{
    const uint32_t per = type == PT_tf32 ? 1 : 2;
    const pt_fast_words *x = (const pt_fast_words *)w;
    pt_fast_words p = __builtin_shufflevector(x[0], x[1], 0, 8, 1, 9, 4, 12, 5, 13),
                  q = __builtin_shufflevector(x[2], x[3], 0, 8, 1, 9, 4, 12, 5, 13),
                  r = __builtin_shufflevector(x[0], x[1], 2, 10, 3, 11, 6, 14, 7, 15),
                  s = __builtin_shufflevector(x[2], x[3], 2, 10, 3, 11, 6, 14, 7, 15);
    pt_fast_set_rows(type, __builtin_shufflevector(p, q, 0, 1, 8, 9, 4, 5, 12, 13), to);
    pt_fast_set_rows(type, __builtin_shufflevector(p, q, 2, 3, 10, 11, 6, 7, 14, 15), to + per);
    pt_fast_set_rows(type, __builtin_shufflevector(r, s, 0, 1, 8, 9, 4, 5, 12, 13), to + 2 * per);
    pt_fast_set_rows(type, __builtin_shufflevector(r, s, 2, 3, 10, 11, 6, 7, 14, 15), to + 3 * per);
}

/* Two rows of B, words of two columns. */
PT_LANE void pt_fast_set_two(enum pt_type type, const uint32_t w[2][PT_FAST_WORDS],
                             float (*to)[2][4])
{
    pt_fast_words x = *(const pt_fast_words *)w;
    if (type == PT_f16) {
        pt_fast_widen_both(pt_fast_part_halves(x), to);
        return;
    }
    pt_fast_floats even = pt_fast_widen8(type, 0, x), odd = pt_fast_widen8(type, 1, x);
    *(pt_fast_floats *)to[0] = __builtin_shufflevector(even, odd, 0, 1, 2, 3, 8, 9, 10, 11);
    *(pt_fast_floats *)to[1] = __builtin_shufflevector(even, odd, 4, 5, 6, 7, 12, 13, 14, 15);
}

PT_LANE bool pt_fast_is_woven(enum pt_type type)
{
    return type == PT_bf16;
}

#else /* four lanes, and no instruction that widens f16 */
#define PT_FAST_SPREAD(v, i) __builtin_shufflevector(v, v, i, i, i, i)
#define PT_FAST_FOUR(from) (*(const pt_rows_floats *)(from))

PT_LANE void pt_fast_transpose(enum pt_type type, const uint32_t w[PT_MMA_N][PT_FAST_WORDS],
                               float (*to)[2][4])
{
    const uint32_t per = type == PT_tf32 ? 1 : 2;
    uint32_t rows[PT_FAST_WORDS][2][4] __attribute__((aligned(16)));
    for (uint32_t p = 0; p < 2; p++)
        pt_rows_transpose(w[p], 2 * PT_FAST_WORDS, rows[0][p], 8);
    for (uint32_t i = 0; i < PT_FAST_WORDS; i++)
        for (uint32_t p = 0; p < 2; p++)
            for (uint32_t e = 0; e < per; e++)
                *(pt_rows_floats *)to[per * i + e][p] =
                    pt_fast_widen(type, e, *(const pt_rows_words *)rows[i][p]);
}

PT_LANE void pt_fast_set_two(enum pt_type type, const uint32_t w[2][PT_FAST_WORDS],
                             float (*to)[2][4])
{
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t p = 0; p < 2; p++)
            *(pt_rows_floats *)to[i][p] = pt_fast_widen(type, p, *(const pt_rows_words *)w[i]);
}

PT_LANE bool pt_fast_is_woven(enum pt_type type)
{
    return type != PT_tf32;
}
#endif
#undef PT_FAST_WIDEN

/* A: parts of 16 rows of words. */
PT_LANE void pt_fast_set_a_as(enum pt_type type, uint32_t parts,
                              const uint32_t w[][PT_MMA_M][PT_FAST_WORDS], struct pt_fast_a *a)
{
    for (uint32_t h = 0; h < parts; h++)
        for (uint32_t m = 0; m < PT_MMA_M; m += PT_ROWS_WIDE / 4) {
            const pt_rows_words x = *(const pt_rows_words *)w[h][m];
            if (type == PT_tf32) {
                *(pt_rows_floats *)a->v[h][m] = pt_fast_widen(type, 0, x);
                continue;
            }
#if defined(__AVX2__) && defined(__F16C__)
            if (type == PT_f16) {
                pt_fast_widen_rows(w[h][m], a->v[2 * h][m], a->v[2 * h + 1][m]);
                continue;
            }
#endif
            *(pt_rows_floats *)a->v[2 * h][m] = pt_fast_widen(type, 0, x);
            *(pt_rows_floats *)a->v[2 * h + 1][m] = pt_fast_widen(type, 1, x);
        }
}

/* B: parts of 8 columns of words. */
PT_LANE void pt_fast_set_b_as(enum pt_type type, uint32_t parts,
                              const uint32_t w[][PT_MMA_N][PT_FAST_WORDS], struct pt_fast_b *b)
{
    for (uint32_t h = 0; h < parts; h++)
        pt_fast_transpose(type, w[h], &b->v[(type == PT_tf32 ? 4 : 8) * h]);
}

/* B of 16 bits an element as 16 rows of words, of two columns each. */
PT_LANE void pt_fast_set_across_as(enum pt_type type, const uint32_t w[][PT_FAST_WORDS],
                                   struct pt_fast_b *b)
{
    for (uint32_t k = 0; k < PT_FAST_K; k += 2)
        pt_fast_set_two(type, &w[k], &b->v[k]);
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* The products of element `lane` of place `slot` of A's rows with row `k` of B are added. */
#define PT_FAST_STEP(slot, lane, k)                                                           \
    do {                                                                                      \
        const pt_rows_floats even = PT_FAST_FOUR(b->v[k][0]), odd = PT_FAST_FOUR(b->v[k][1]); \
        PT_FAST_UNROLL for (uint32_t i = 0; i < 4; i++)                                       \
        {                                                                                     \
            const pt_rows_floats x =                                                          \
                PT_FAST_SPREAD(*(const pt_rows_floats *)a->v[slot][m + i * EACH], lane);      \
            sum[0][i] = PT_ROWS_FMA(x, even, sum[0][i]);                                      \
            sum[1][i] = PT_ROWS_FMA(x, odd, sum[1][i]);                                       \
        }                                                                                     \
    } while (0)

PT_LANE pt_rows_floats pt_fast_canonical(pt_rows_floats v)
{
    const pt_rows_ints is_nan = v != v;
    return (pt_rows_floats)(((pt_rows_ints)v & ~is_nan) | (is_nan & 0x7fffffff));
}

/* Where row m begins in the registers of even columns (e = 0) or odd ones. */
PT_LANE pt_rows_floats *pt_fast_at(float *const d[4], uint32_t e, uint32_t m)
{
    return (pt_rows_floats *)(d[m / 8 * 2 + e] + m % 8 * 4);
}

/* Elements of `slots` places of four; d is a sum already where has_c. */
PT_LANE void pt_fast_sums(uint32_t slots, bool is_woven, bool has_c, const struct pt_fast_a *a,
                          const struct pt_fast_b *b, float *const d[4])
{
    enum { EACH = PT_ROWS_WIDE / 4 }; /* rows of a vector */
    for (uint32_t m = 0; m < PT_MMA_M; m += 4 * EACH) {
        pt_rows_floats sum[2][4] = {{{0}}};
        PT_FAST_UNROLL for (uint32_t i = 0; has_c && i < 8; i++) sum[i % 2][i / 2] =
            *pt_fast_at(d, i % 2, m + i / 2 * EACH);
        for (uint32_t s = 0; !is_woven && s < slots; s++) {
            PT_FAST_STEP(s, 0, 4 * s);
            PT_FAST_STEP(s, 1, 4 * s + 1);
            PT_FAST_STEP(s, 2, 4 * s + 2);
            PT_FAST_STEP(s, 3, 4 * s + 3);
        }
        for (uint32_t s = 0; is_woven && s < slots; s += 2) {
            PT_FAST_STEP(s, 0, 4 * s);
            PT_FAST_STEP(s + 1, 0, 4 * s + 1);
            PT_FAST_STEP(s, 1, 4 * s + 2);
            PT_FAST_STEP(s + 1, 1, 4 * s + 3);
            PT_FAST_STEP(s, 2, 4 * s + 4);
            PT_FAST_STEP(s + 1, 2, 4 * s + 5);
            PT_FAST_STEP(s, 3, 4 * s + 6);
            PT_FAST_STEP(s + 1, 3, 4 * s + 7);
        }
        PT_FAST_UNROLL for (uint32_t i = 0; i < 8; i++) * pt_fast_at(d, i % 2, m + i / 2 * EACH) =
            pt_fast_canonical(sum[i % 2][i / 2]);
    }
}
#undef PT_FAST_STEP

/* ---- types known when they run --------------------------------------------------------------- */

/* d = a * b + d, or, without has_c, a * b: four registers of 32 lanes, of rows of `parts` parts. */
static inline void pt_fast_multiply(enum pt_type type, uint32_t parts, bool has_c,
                                    const struct pt_fast_a *a, const struct pt_fast_b *b,
                                    float *const d[4])
{
    uint32_t slots = type == PT_tf32 ? parts : 2 * parts;
#define PT_FAST_CASE(slots_, is_woven_)                           \
    if (slots == slots_ && pt_fast_is_woven(type) == is_woven_) { \
        if (has_c)                                                \
            pt_fast_sums(slots_, is_woven_, true, a, b, d);       \
        else                                                      \
            pt_fast_sums(slots_, is_woven_, false, a, b, d);      \
    }
    PT_FAST_CASE(4, false)
    PT_FAST_CASE(4, true)
    PT_FAST_CASE(2, false)
    PT_FAST_CASE(2, true)
    PT_FAST_CASE(1, false)
#undef PT_FAST_CASE
}

#define PT_FAST_TYPES(function, ...)    \
    switch (type) {                     \
    case PT_f16:                        \
        function(PT_f16, __VA_ARGS__);  \
        break;                          \
    case PT_bf16:                       \
        function(PT_bf16, __VA_ARGS__); \
        break;                          \
    default:                            \
        function(PT_tf32, __VA_ARGS__); \
        break;                          \
    }

static inline void pt_fast_set_a(enum pt_type type, uint32_t parts,
                                 const uint32_t w[][PT_MMA_M][PT_FAST_WORDS], struct pt_fast_a *a)
{
    PT_FAST_TYPES(pt_fast_set_a_as, parts, w, a)
}

static inline void pt_fast_set_b(enum pt_type type, uint32_t parts,
                                 const uint32_t w[][PT_MMA_N][PT_FAST_WORDS], struct pt_fast_b *b)
{
    PT_FAST_TYPES(pt_fast_set_b_as, parts, w, b)
}

static inline void pt_fast_set_across(enum pt_type type, const uint32_t w[][PT_FAST_WORDS],
                                      struct pt_fast_b *b)
{
    PT_FAST_TYPES(pt_fast_set_across_as, w, b)
}
#undef PT_FAST_TYPES

/* d = a * b + d, of a warp's registers. */
static inline void pt_fast_mma(enum pt_type type, uint32_t parts, uint32_t (*d)[32],
                               const uint32_t (*a)[32], const uint32_t (*b)[32])
{
    struct pt_fast_a x;
    struct pt_fast_b y;
    float *const r[] = {(float *)d[0], (float *)d[1], (float *)d[2], (float *)d[3]};
    pt_fast_set_a(type, parts, (const uint32_t(*)[PT_MMA_M][PT_FAST_WORDS])a, &x);
    pt_fast_set_b(type, parts, (const uint32_t(*)[PT_MMA_N][PT_FAST_WORDS])b, &y);
    pt_fast_multiply(type, parts, true, &x, &y, r);
}

#endif
