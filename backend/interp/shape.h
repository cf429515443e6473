/* What the addresses of a warp's lanes are like: of lanes that access memory one behind the other,
 * or all at one place, many do it at once.
 *
 * Vectors here are as wide as the CPU level has them, and values of PT_HALF lanes a few of them. */
#ifndef PTERA_BACKEND_INTERP_SHAPE_H
#define PTERA_BACKEND_INTERP_SHAPE_H

#include "backend/interp/access.h"

enum { PT_HALF = PT_WARP_SIZE / 2 };

#if defined(__AVX512F__)
enum { PT_VECTOR_BYTES = 64 };
#elif defined(__AVX2__)
enum { PT_VECTOR_BYTES = 32 };
#else
enum { PT_VECTOR_BYTES = 16 };
#endif

/* Whether `n` addresses, multiples of a vector, lie `bytes` apart, one behind the other: 0 is one
 * address. */
#if defined(__AVX512F__)
PT_ACCESS_INLINE bool pt_shape_is_run32(const uint32_t *a, uint32_t n, uint32_t bytes)
{
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m512i first = _mm512_set1_epi32((int)a[0]), differ = _mm512_setzero_si512();
    for (uint32_t i = 0; i < n; i += 16) {
        __m512i at = _mm512_add_epi32(lane, _mm512_set1_epi32((int)i));
        at = _mm512_mullo_epi32(at, _mm512_set1_epi32((int)bytes));
        at = _mm512_sub_epi32(_mm512_loadu_si512(a + i), at);
        differ = _mm512_or_si512(differ, _mm512_xor_si512(at, first));
    }
    return !_mm512_test_epi32_mask(differ, differ);
}

PT_ACCESS_INLINE bool pt_shape_is_run64(const uint64_t *a, uint32_t n, uint64_t bytes)
{
    __m512i first = _mm512_set1_epi64((long long)a[0]), differ = _mm512_setzero_si512();
    for (uint32_t i = 0; i < n; i += 8) {
        const long long from = (long long)(i * bytes), by = (long long)bytes;
        __m512i at = _mm512_setr_epi64(from, from + by, from + 2 * by, from + 3 * by, from + 4 * by,
                                       from + 5 * by, from + 6 * by, from + 7 * by);
        at = _mm512_sub_epi64(_mm512_loadu_si512(a + i), at);
        differ = _mm512_or_si512(differ, _mm512_xor_si512(at, first));
    }
    return !_mm512_test_epi64_mask(differ, differ);
}
#elif defined(__AVX2__)
PT_ACCESS_INLINE bool pt_shape_is_run32(const uint32_t *a, uint32_t n, uint32_t bytes)
{
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256i first = _mm256_set1_epi32((int)a[0]), differ = _mm256_setzero_si256();
    for (uint32_t i = 0; i < n; i += 8) {
        __m256i at = _mm256_add_epi32(lane, _mm256_set1_epi32((int)i));
        at = _mm256_mullo_epi32(at, _mm256_set1_epi32((int)bytes));
        at = _mm256_sub_epi32(_mm256_loadu_si256((const __m256i *)(a + i)), at);
        differ = _mm256_or_si256(differ, _mm256_xor_si256(at, first));
    }
    return _mm256_testz_si256(differ, differ);
}

PT_ACCESS_INLINE bool pt_shape_is_run64(const uint64_t *a, uint32_t n, uint64_t bytes)
{
    __m256i first = _mm256_set1_epi64x((long long)a[0]), differ = _mm256_setzero_si256();
    for (uint32_t i = 0; i < n; i += 4) {
        const long long from = (long long)(i * bytes), by = (long long)bytes;
        __m256i at = _mm256_setr_epi64x(from, from + by, from + 2 * by, from + 3 * by);
        at = _mm256_sub_epi64(_mm256_loadu_si256((const __m256i *)(a + i)), at);
        differ = _mm256_or_si256(differ, _mm256_xor_si256(at, first));
    }
    return _mm256_testz_si256(differ, differ);
}
#else
PT_ACCESS_INLINE bool pt_shape_is_run32(const uint32_t *a, uint32_t n, uint32_t bytes)
{
    uint32_t differ = 0;
    for (uint32_t i = 1; i < n; i++)
        differ |= a[i] ^ (a[0] + i * bytes);
    return !differ;
}

PT_ACCESS_INLINE bool pt_shape_is_run64(const uint64_t *a, uint32_t n, uint64_t bytes)
{
    uint64_t differ = 0;
    for (uint32_t i = 1; i < n; i++)
        differ |= a[i] ^ (a[0] + i * bytes);
    return !differ;
}
#endif

/* A loop over the vectors of something, to be unrolled: they stay in registers. */
#define PT_SHAPE_EACH(k, n) _Pragma("GCC unroll 16") for (uint32_t k = 0; k < (n); k++)
/* A loop that becomes vectors: what it reads is not what it writes. */
#if defined(__clang__)
#define PT_SHAPE_LOOP(i, n) \
    _Pragma("clang loop vectorize(assume_safety)") for (uint32_t i = 0; i < (n); i++)
#else
#define PT_SHAPE_LOOP(i, n) _Pragma("GCC ivdep") for (uint32_t i = 0; i < (n); i++)
#endif

/* Values of a warp in registers: vectors. */
typedef uint64_t pt_shape_piece
    __attribute__((vector_size(PT_VECTOR_BYTES), aligned(PT_VECTOR_BYTES), may_alias));
typedef uint32_t pt_shape_piece32
    __attribute__((vector_size(PT_VECTOR_BYTES), aligned(PT_VECTOR_BYTES), may_alias));
typedef uint64_t pt_shape_memory
    __attribute__((vector_size(PT_VECTOR_BYTES), aligned(1), may_alias));

/* Vectors that hold values of type E of half a warp. */
#define PT_SHAPE_PIECES(E) (PT_HALF * sizeof(E) / PT_VECTOR_BYTES)

/* Half a warp's values, of `bytes` each: from memory, to memory, and one for all. */
PT_ACCESS_INLINE void pt_shape_load(pt_shape_piece *v, const void *from, uint32_t bytes)
{
    PT_SHAPE_EACH(k, PT_HALF * bytes / PT_VECTOR_BYTES)
    v[k] = ((const pt_shape_memory *)from)[k];
}

PT_ACCESS_INLINE void pt_shape_store(void *to, const pt_shape_piece *v, uint32_t bytes)
{
    PT_SHAPE_EACH(k, PT_HALF * bytes / PT_VECTOR_BYTES)
    ((pt_shape_memory *)to)[k] = v[k];
}

PT_ACCESS_INLINE void pt_shape_fill(pt_shape_piece *v, uint64_t value, uint32_t bytes)
{
    PT_SHAPE_EACH(k, PT_HALF * bytes / PT_VECTOR_BYTES)
    if (bytes == 8)
        v[k] = (pt_shape_piece){0} + value;
    else
        v[k] = (pt_shape_piece)((pt_shape_piece32){0} + (uint32_t)value);
}

#endif
