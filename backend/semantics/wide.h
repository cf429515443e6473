/* Vectors of 32-bit lanes, for functions of which a compiler makes poor vectors: only where the CPU
 * level has AVX2 or AVX-512, and PT_WIDE is the number of lanes. Elsewhere it is not defined, and
 * lane functions alone serve. */
#ifndef PTERA_BACKEND_SEMANTICS_WIDE_H
#define PTERA_BACKEND_SEMANTICS_WIDE_H

#include "backend/semantics/lane.h"

#if defined(__AVX512F__)
#define PT_WIDE 16
#define PT_WIDE_OP(op) _mm512_##op
#define PT_WIDE_INT __m512i
#define PT_WIDE_FLOAT __m512
#define PT_WIDE_DOUBLE __m512d
#elif defined(__AVX2__)
#define PT_WIDE 8
#define PT_WIDE_OP(op) _mm256_##op
#define PT_WIDE_INT __m256i
#define PT_WIDE_FLOAT __m256
#define PT_WIDE_DOUBLE __m256d
#endif

#ifdef PT_WIDE
#include <immintrin.h>

typedef uint32_t pt_wide __attribute__((vector_size(4 * PT_WIDE)));
typedef float pt_wide_f32 __attribute__((vector_size(4 * PT_WIDE)));
typedef int16_t pt_wide_i16 __attribute__((vector_size(4 * PT_WIDE)));
typedef uint16_t pt_wide_u16 __attribute__((vector_size(4 * PT_WIDE)));
typedef double pt_wide_f64 __attribute__((vector_size(4 * PT_WIDE))); /* half as many lanes */

PT_LANE pt_wide pt_wide_all(uint32_t v)
{
    return (pt_wide)PT_WIDE_OP(set1_epi32)((int32_t)v);
}

PT_LANE pt_wide pt_wide_all_64(uint64_t v)
{
#if PT_WIDE == 16
    return (pt_wide)_mm512_set1_epi64((int64_t)v);
#else
    return (pt_wide)_mm256_set1_epi64x((int64_t)v);
#endif
}

/* A literal in all lanes, from memory: compilers like to make it in a general register, again in
 * each round of a loop. */
#define PT_WIDE_LITERAL(v)                                           \
    ({                                                               \
        static const uint32_t literal_ = (v);                        \
        pt_wide all_;                                                \
        __asm__("vpbroadcastd %1, %0" : "=v"(all_) : "m"(literal_)); \
        all_;                                                        \
    })

PT_LANE pt_wide_f32 pt_wide_all_f32(float v)
{
    return (pt_wide_f32)PT_WIDE_OP(set1_ps)(v);
}

PT_LANE pt_wide pt_wide_load(const void *from)
{
    pt_wide v;
    memcpy(&v, from, sizeof v);
    return v;
}

PT_LANE void pt_wide_store(void *to, pt_wide v)
{
    memcpy(to, &v, sizeof v);
}

/* v >> n, signed. */
PT_LANE pt_wide pt_wide_sar(pt_wide v, int n)
{
    return (pt_wide)PT_WIDE_OP(srai_epi32)((PT_WIDE_INT)v, n);
}

/* v >> n, unsigned, n of each lane; 0 where that is beyond 31. */
PT_LANE pt_wide pt_wide_shr(pt_wide v, pt_wide n)
{
    return (pt_wide)PT_WIDE_OP(srlv_epi32)((PT_WIDE_INT)v, (PT_WIDE_INT)n);
}

PT_LANE pt_wide pt_wide_min_s32(pt_wide a, pt_wide b)
{
    return (pt_wide)PT_WIDE_OP(min_epi32)((PT_WIDE_INT)a, (PT_WIDE_INT)b);
}

PT_LANE pt_wide pt_wide_max_s32(pt_wide a, pt_wide b)
{
    return (pt_wide)PT_WIDE_OP(max_epi32)((PT_WIDE_INT)a, (PT_WIDE_INT)b);
}

PT_LANE pt_wide pt_wide_min_u32(pt_wide a, pt_wide b)
{
    return (pt_wide)PT_WIDE_OP(min_epu32)((PT_WIDE_INT)a, (PT_WIDE_INT)b);
}

/* Lower half times lower half plus upper half times upper half, all signed. */
PT_LANE pt_wide pt_wide_madd(pt_wide a, pt_wide b)
{
    return (pt_wide)PT_WIDE_OP(madd_epi16)((PT_WIDE_INT)a, (PT_WIDE_INT)b);
}

/* To an integer, toward zero. */
PT_LANE pt_wide pt_wide_trunc(pt_wide_f32 v)
{
    return (pt_wide)PT_WIDE_OP(cvttps_epi32)((PT_WIDE_FLOAT)v);
}

/* Of integers with a sign. */
PT_LANE pt_wide_f32 pt_wide_to_f32(pt_wide v)
{
    return (pt_wide_f32)PT_WIDE_OP(cvtepi32_ps)((PT_WIDE_INT)v);
}

PT_LANE pt_wide_f32 pt_wide_floor(pt_wide_f32 v)
{
    return (pt_wide_f32)PT_WIDE_OP(floor_ps)((PT_WIDE_FLOAT)v);
}

PT_LANE pt_wide_f32 pt_wide_fma(pt_wide_f32 a, pt_wide_f32 b, pt_wide_f32 c)
{
    return (pt_wide_f32)PT_WIDE_OP(fmadd_ps)((PT_WIDE_FLOAT)a, (PT_WIDE_FLOAT)b, (PT_WIDE_FLOAT)c);
}

PT_LANE pt_wide_f64 pt_wide_fma_f64(pt_wide_f64 a, pt_wide_f64 b, pt_wide_f64 c)
{
    return (pt_wide_f64)PT_WIDE_OP(fmadd_pd)((PT_WIDE_DOUBLE)a, (PT_WIDE_DOUBLE)b,
                                             (PT_WIDE_DOUBLE)c);
}

/* The larger; b if a is NaN. */
PT_LANE pt_wide_f32 pt_wide_max(pt_wide_f32 a, pt_wide_f32 b)
{
    return (pt_wide_f32)PT_WIDE_OP(max_ps)((PT_WIDE_FLOAT)a, (PT_WIDE_FLOAT)b);
}

PT_LANE pt_wide_f32 pt_wide_min(pt_wide_f32 a, pt_wide_f32 b)
{
    return (pt_wide_f32)PT_WIDE_OP(min_ps)((PT_WIDE_FLOAT)a, (PT_WIDE_FLOAT)b);
}

/* The order of a shuffle of bytes within four lanes: a, b, c, d of each. */
#define PT_WIDE_BYTES(a, b, c, d)                                                             \
    _mm_setr_epi8(a, b, c, d, a + 4, b + 4, c + 4, d + 4, a + 8, b + 8, c + 8, d + 8, a + 12, \
                  b + 12, c + 12, d + 12)

#if PT_WIDE == 16

/* The first n < PT_WIDE lanes; the others are `rest`. */
PT_LANE pt_wide pt_wide_load_part(const void *from, uint32_t n, pt_wide rest)
{
    return (pt_wide)_mm512_mask_loadu_epi32((__m512i)rest, (__mmask16)((1u << n) - 1), from);
}

PT_LANE void pt_wide_store_part(void *to, pt_wide v, uint32_t n)
{
    _mm512_mask_storeu_epi32(to, (__mmask16)((1u << n) - 1), (__m512i)v);
}

typedef __mmask16 pt_wide_mask;

PT_LANE pt_wide pt_wide_select(pt_wide_mask m, pt_wide x, pt_wide y)
{
    return (pt_wide)_mm512_mask_blend_epi32(m, (__m512i)y, (__m512i)x);
}

/* v where not m, else 0. */
PT_LANE pt_wide pt_wide_unless(pt_wide_mask m, pt_wide v)
{
    return (pt_wide)_mm512_maskz_mov_epi32(_knot_mask16(m), (__m512i)v);
}

PT_LANE pt_wide_mask pt_wide_is_equal(pt_wide a, pt_wide b)
{
    return _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b);
}

/* a < b, signed. */
PT_LANE pt_wide_mask pt_wide_is_less(pt_wide a, pt_wide b)
{
    return _mm512_cmplt_epi32_mask((__m512i)a, (__m512i)b);
}

PT_LANE pt_wide_mask pt_wide_is_less_f32(pt_wide_f32 a, pt_wide_f32 b)
{
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OQ);
}

PT_LANE bool pt_wide_are_all(pt_wide_mask m)
{
    return m == 0xffff;
}

/* A mask as bits. */
PT_LANE uint32_t pt_wide_bits(pt_wide_mask m)
{
    return m;
}

/* Which of the numbers of 64 bits are equal, as bits. */
PT_LANE uint32_t pt_wide_are_equal_64(pt_wide a, pt_wide b)
{
    return _mm512_cmpeq_epi64_mask((__m512i)a, (__m512i)b);
}

/* What lies `at` bytes behind `from`, with a sign, in words of any alignment. */
PT_LANE pt_wide pt_wide_gather(const void *from, pt_wide at)
{
    return (pt_wide)_mm512_i32gather_epi32((__m512i)at, from, 1);
}

/* Integers with a sign, of the lower half of the lanes (0) or of the upper one. */
PT_LANE pt_wide_f64 pt_wide_to_f64(pt_wide v, int half)
{
    __m256i part =
        half ? _mm512_extracti64x4_epi64((__m512i)v, 1) : _mm512_castsi512_si256((__m512i)v);
    return (pt_wide_f64)_mm512_cvtepi32_pd(part);
}

/* 2^(v - 1023), likewise, a last bit more. */
PT_LANE pt_wide_f64 pt_wide_above_power(pt_wide v, int half)
{
    __m256i part =
        half ? _mm512_extracti64x4_epi64((__m512i)v, 1) : _mm512_castsi512_si256((__m512i)v);
    __m512i bits = _mm512_slli_epi64(_mm512_cvtepi32_epi64(part), 52);
    return (pt_wide_f64)_mm512_or_si512(bits, _mm512_set1_epi64(1));
}

PT_LANE pt_wide_f32 pt_wide_from_f64(pt_wide_f64 lower, pt_wide_f64 upper)
{
    __m512 v = _mm512_castps256_ps512(_mm512_cvtpd_ps((__m512d)lower));
    return (pt_wide_f32)_mm512_insertf32x8(v, _mm512_cvtpd_ps((__m512d)upper), 1);
}

/* lo <= v < hi in all lanes, unsigned. */
PT_LANE bool pt_wide_are_within(pt_wide v, uint32_t lo, uint32_t hi)
{
    return _mm512_cmplt_epu32_mask((__m512i)(v - lo), _mm512_set1_epi32((int32_t)(hi - lo))) ==
           0xffff;
}

/* To f32, toward zero. */
PT_LANE pt_wide_f32 pt_wide_cut(pt_wide v)
{
    return (pt_wide_f32)_mm512_cvt_roundepi32_ps((__m512i)v,
                                                 _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}

/* What a truncation leaves. */
PT_LANE pt_wide_f32 pt_wide_fraction(pt_wide_f32 v)
{
    return v - (pt_wide_f32)_mm512_roundscale_ps((__m512)v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}

/* Lanes made of bytes a, b, c, d of each. */
PT_LANE pt_wide pt_wide_bytes(pt_wide v, char a, char b, char c, char d)
{
    return (pt_wide)_mm512_shuffle_epi8((__m512i)v,
                                        _mm512_broadcast_i32x4(PT_WIDE_BYTES(a, b, c, d)));
}

/* The lower halves of a's lanes, the upper ones of b's. */
PT_LANE pt_wide pt_wide_halves(pt_wide a, pt_wide b)
{
    return (pt_wide)_mm512_mask_blend_epi16(0x55555555, (__m512i)b, (__m512i)a);
}

PT_LANE pt_wide pt_wide_maddubs(pt_wide a, pt_wide b)
{
    return (pt_wide)_mm512_maddubs_epi16((__m512i)a, (__m512i)b);
}

/* v in memory, for what looks at its lanes there. */
PT_LANE void pt_wide_spill(uint32_t *lanes, pt_wide v)
{
    pt_wide_store(lanes, v);
}

/* table[v % 64], and % 128: held in registers. */
PT_LANE pt_wide pt_wide_lookup_32(const uint32_t *table, pt_wide v)
{
    return (pt_wide)_mm512_permutex2var_epi32((__m512i)pt_wide_load(table), (__m512i)v,
                                              (__m512i)pt_wide_load(table + 16));
}

PT_LANE pt_wide pt_wide_lookup_64(const uint32_t *table, pt_wide v)
{
    __mmask16 upper = _mm512_test_epi32_mask((__m512i)v, _mm512_set1_epi32(32));
    return pt_wide_select(upper, pt_wide_lookup_32(table + 32, v), pt_wide_lookup_32(table, v));
}

PT_LANE pt_wide pt_wide_lookup_128(const uint32_t *table, pt_wide v)
{
    __mmask16 upper = _mm512_test_epi32_mask((__m512i)v, _mm512_set1_epi32(64));
    return pt_wide_select(upper, pt_wide_lookup_64(table + 64, v), pt_wide_lookup_64(table, v));
}

/* a where bit `bit` of v is set, else 0. */
PT_LANE pt_wide pt_wide_if_bit(pt_wide v, int bit, pt_wide a)
{
    __mmask16 m = _mm512_test_epi32_mask((__m512i)v, _mm512_set1_epi32(1 << bit));
    return (pt_wide)_mm512_maskz_mov_epi32(m, (__m512i)a);
}

/* v + 1 where m. */
PT_LANE pt_wide pt_wide_count(pt_wide v, pt_wide_mask m)
{
    return (pt_wide)_mm512_mask_add_epi32((__m512i)v, m, (__m512i)v, _mm512_set1_epi32(1));
}

#else

PT_LANE __m256i pt_wide_first(uint32_t n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int32_t)n),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/* The first n < PT_WIDE lanes; the others are `rest`. */
PT_LANE pt_wide pt_wide_load_part(const void *from, uint32_t n, pt_wide rest)
{
    __m256i first = pt_wide_first(n), part = _mm256_maskload_epi32(from, first);
    return (pt_wide)_mm256_blendv_epi8((__m256i)rest, part, first);
}

PT_LANE void pt_wide_store_part(void *to, pt_wide v, uint32_t n)
{
    _mm256_maskstore_epi32(to, pt_wide_first(n), (__m256i)v);
}

typedef pt_wide pt_wide_mask;

/* v + 1 where m. */
PT_LANE pt_wide pt_wide_count(pt_wide v, pt_wide_mask m)
{
    return v - m;
}

PT_LANE pt_wide pt_wide_select(pt_wide_mask m, pt_wide x, pt_wide y)
{
    return (pt_wide)_mm256_blendv_ps((__m256)y, (__m256)x, (__m256)m);
}

/* v where not m, else 0. */
PT_LANE pt_wide pt_wide_unless(pt_wide_mask m, pt_wide v)
{
    return ~m & v;
}

PT_LANE pt_wide_mask pt_wide_is_equal(pt_wide a, pt_wide b)
{
    return (pt_wide)_mm256_cmpeq_epi32((__m256i)a, (__m256i)b);
}

/* a < b, signed. */
PT_LANE pt_wide_mask pt_wide_is_less(pt_wide a, pt_wide b)
{
    return (pt_wide)_mm256_cmpgt_epi32((__m256i)b, (__m256i)a);
}

PT_LANE pt_wide_mask pt_wide_is_less_f32(pt_wide_f32 a, pt_wide_f32 b)
{
    return (pt_wide)_mm256_cmp_ps((__m256)a, (__m256)b, _CMP_LT_OQ);
}

PT_LANE bool pt_wide_are_all(pt_wide_mask m)
{
    return _mm256_movemask_ps((__m256)m) == 0xff;
}

/* A mask as bits. */
PT_LANE uint32_t pt_wide_bits(pt_wide_mask m)
{
    return (uint32_t)_mm256_movemask_ps((__m256)m);
}

/* Which of the numbers of 64 bits are equal, as bits. */
PT_LANE uint32_t pt_wide_are_equal_64(pt_wide a, pt_wide b)
{
    return (uint32_t)_mm256_movemask_pd((__m256d)_mm256_cmpeq_epi64((__m256i)a, (__m256i)b));
}

/* What lies `at` bytes behind `from`, with a sign, in words of any alignment. */
PT_LANE pt_wide pt_wide_gather(const void *from, pt_wide at)
{
    return (pt_wide)_mm256_i32gather_epi32(from, (__m256i)at, 1);
}

/* Integers with a sign, of the lower half of the lanes (0) or of the upper one. */
PT_LANE pt_wide_f64 pt_wide_to_f64(pt_wide v, int half)
{
    __m128i part =
        half ? _mm256_extracti128_si256((__m256i)v, 1) : _mm256_castsi256_si128((__m256i)v);
    return (pt_wide_f64)_mm256_cvtepi32_pd(part);
}

/* 2^(v - 1023), likewise, a last bit more. */
PT_LANE pt_wide_f64 pt_wide_above_power(pt_wide v, int half)
{
    __m128i part =
        half ? _mm256_extracti128_si256((__m256i)v, 1) : _mm256_castsi256_si128((__m256i)v);
    __m256i bits = _mm256_slli_epi64(_mm256_cvtepi32_epi64(part), 52);
    return (pt_wide_f64)_mm256_or_si256(bits, _mm256_set1_epi64x(1));
}

PT_LANE pt_wide_f32 pt_wide_from_f64(pt_wide_f64 lower, pt_wide_f64 upper)
{
    return (pt_wide_f32)_mm256_set_m128(_mm256_cvtpd_ps((__m256d)upper),
                                        _mm256_cvtpd_ps((__m256d)lower));
}

/* lo <= v < hi in all lanes, unsigned. */
PT_LANE bool pt_wide_are_within(pt_wide v, uint32_t lo, uint32_t hi)
{
    const uint32_t sign = 0x80000000;
    return pt_wide_are_all(pt_wide_is_less(v + (sign - lo), pt_wide_all((hi - lo) ^ sign)));
}

/* To f32, toward zero, of 0 <= v < 2^30. */
PT_LANE pt_wide_f32 pt_wide_cut(pt_wide v)
{
    __m256 f = _mm256_cvtepi32_ps((__m256i)v);
    return (pt_wide_f32)((pt_wide)f + pt_wide_is_less(v, pt_wide_trunc((pt_wide_f32)f)));
}

/* What a truncation leaves. */
PT_LANE pt_wide_f32 pt_wide_fraction(pt_wide_f32 v)
{
    return v - (pt_wide_f32)_mm256_round_ps((__m256)v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}

/* Lanes made of bytes a, b, c, d of each. */
PT_LANE pt_wide pt_wide_bytes(pt_wide v, char a, char b, char c, char d)
{
    return (pt_wide)_mm256_shuffle_epi8((__m256i)v,
                                        _mm256_broadcastsi128_si256(PT_WIDE_BYTES(a, b, c, d)));
}

/* The lower halves of a's lanes, the upper ones of b's. */
PT_LANE pt_wide pt_wide_halves(pt_wide a, pt_wide b)
{
    return (pt_wide)_mm256_blend_epi16((__m256i)b, (__m256i)a, 0x55);
}

PT_LANE pt_wide pt_wide_maddubs(pt_wide a, pt_wide b)
{
    return (pt_wide)_mm256_maddubs_epi16((__m256i)a, (__m256i)b);
}

/* v in memory, for what looks at its lanes there. */
PT_LANE void pt_wide_spill(uint32_t *lanes, pt_wide v)
{
    pt_wide_store(lanes, v);
    __asm__("" : "+m"(*(uint32_t(*)[PT_WIDE])lanes)); /* a compiler would take them from v */
}

/* Rows of two words, by the number that the third byte of each lane is, with its sign. Lanes are
 * taken from memory: to take them from a vector, and gathers, keep more of the machine busy. */
PT_LANE void pt_wide_rows(const uint32_t (*rows)[2], const uint32_t *lanes, pt_wide *first,
                          pt_wide *second)
{
    const int8_t *at = (const int8_t *)lanes + 2;
#define ROW(i) ((const void *)rows[at[4 * (i)]])
#define TWO_ROWS(i, k) _mm_loadh_pi(_mm_castsi128_ps(_mm_loadl_epi64(ROW(i))), ROW(k))
    /* rows 0, 1, 4, 5 and 2, 3, 6, 7: a shuffle within halves then puts the lanes in order */
    __m256 a = _mm256_set_m128(TWO_ROWS(4, 5), TWO_ROWS(0, 1));
    __m256 b = _mm256_set_m128(TWO_ROWS(6, 7), TWO_ROWS(2, 3));
#undef TWO_ROWS
#undef ROW
    *first = (pt_wide)_mm256_shuffle_ps(a, b, 0x88);
    *second = (pt_wide)_mm256_shuffle_ps(a, b, 0xdd);
}

#endif
#endif
#endif
