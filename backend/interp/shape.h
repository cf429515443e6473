/* What the addresses of a warp's lanes are like: of lanes that access memory one behind the other,
 * or all at one place, many do it at once. */
#ifndef PTERA_BACKEND_INTERP_SHAPE_H
#define PTERA_BACKEND_INTERP_SHAPE_H

#include "backend/interp/access.h"
#include "backend/interp/vectors.h"

enum { PT_HALF = PT_WARP_SIZE / 2 };

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
    __m512i at, first = _mm512_set1_epi64((long long)a[0]), differ = _mm512_setzero_si512();
    __m512i behind = _mm512_mullo_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7),
                                        _mm512_set1_epi64((long long)bytes));
    for (uint32_t i = 0; i < n; i += 8) {
        at = _mm512_add_epi64(behind, _mm512_set1_epi64((long long)(i * bytes)));
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

/* The same of the lanes of `mask`, which are not none, and where lane 0's address would be: for
 * values of 4 and 8 bytes, and only where vectors can leave lanes out. */
#if defined(__AVX512F__)
#define PT_SHAPE_PARTS
PT_ACCESS_INLINE bool pt_shape_is_part32(const uint32_t *a, uint32_t mask, uint32_t bytes)
{
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const uint32_t lowest = (uint32_t)__builtin_ctz(mask);
    const __m512i start = _mm512_set1_epi32((int)(a[lowest] - lowest * bytes));
    uint32_t differ = 0;
    for (uint32_t i = 0; i < PT_WARP_SIZE; i += 16) {
        __m512i at = _mm512_add_epi32(lane, _mm512_set1_epi32((int)i));
        at = _mm512_mullo_epi32(at, _mm512_set1_epi32((int)bytes));
        at = _mm512_sub_epi32(_mm512_loadu_si512(a + i), at);
        differ |= _mm512_mask_cmpneq_epi32_mask((__mmask16)(mask >> i), at, start);
    }
    return !differ;
}

PT_ACCESS_INLINE bool pt_shape_is_part64(const uint64_t *a, uint32_t mask, uint64_t bytes)
{
    const uint32_t lowest = (uint32_t)__builtin_ctz(mask);
    const __m512i start = _mm512_set1_epi64((long long)(a[lowest] - lowest * bytes));
    uint32_t differ = 0;
    for (uint32_t i = 0; i < PT_WARP_SIZE; i += 8) {
        const long long from = (long long)(i * bytes), by = (long long)bytes;
        __m512i at = _mm512_setr_epi64(from, from + by, from + 2 * by, from + 3 * by, from + 4 * by,
                                       from + 5 * by, from + 6 * by, from + 7 * by);
        at = _mm512_sub_epi64(_mm512_loadu_si512(a + i), at);
        differ |= _mm512_mask_cmpneq_epi64_mask((__mmask8)(mask >> i), at, start);
    }
    return !differ;
}

/* The values of those lanes: all are read before one is written. */
PT_ACCESS_INLINE void pt_shape_move_part(void *to, const void *from, uint32_t mask, uint32_t bytes)
{
    __m512i v[PT_WARP_SIZE * 8 / 64];
    const uint32_t n = PT_WARP_SIZE * bytes / 64, lanes = 64 / bytes;
    PT_VECTORS_EACH(k, n)
    v[k] = bytes == 4 ? _mm512_maskz_loadu_epi32((__mmask16)(mask >> k * lanes),
                                                 (const char *)from + 64 * k)
                      : _mm512_maskz_loadu_epi64((__mmask8)(mask >> k * lanes),
                                                 (const char *)from + 64 * k);
    PT_VECTORS_EACH(k, n)
    if (bytes == 4)
        _mm512_mask_storeu_epi32((char *)to + 64 * k, (__mmask16)(mask >> k * lanes), v[k]);
    else
        _mm512_mask_storeu_epi64((char *)to + 64 * k, (__mmask8)(mask >> k * lanes), v[k]);
}
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
    PT_VECTORS_EACH(k, PT_HALF * bytes / PT_VECTOR_BYTES)
    v[k] = ((const pt_shape_memory *)from)[k];
}

PT_ACCESS_INLINE void pt_shape_store(void *to, const pt_shape_piece *v, uint32_t bytes)
{
    PT_VECTORS_EACH(k, PT_HALF * bytes / PT_VECTOR_BYTES)
    ((pt_shape_memory *)to)[k] = v[k];
}

PT_ACCESS_INLINE void pt_shape_fill(pt_shape_piece *v, uint64_t value, uint32_t bytes)
{
    PT_VECTORS_EACH(k, PT_HALF * bytes / PT_VECTOR_BYTES)
    if (bytes == 8)
        v[k] = (pt_shape_piece){0} + value;
    else
        v[k] = (pt_shape_piece)((pt_shape_piece32){0} + (uint32_t)value);
}

#endif
