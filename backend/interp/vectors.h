/* Vectors as wide as the CPU level has them, for handlers that the compiler does not make of loops
 * over lanes. */
#ifndef PTERA_BACKEND_INTERP_VECTORS_H
#define PTERA_BACKEND_INTERP_VECTORS_H

#include "backend/interp/interp.h"

#if defined(__AVX512F__)
enum { PT_VECTOR_BYTES = 64 };
#elif defined(__AVX2__)
enum { PT_VECTOR_BYTES = 32 };
#else
enum { PT_VECTOR_BYTES = 16 };
#endif

/* A loop over the vectors of something, to be unrolled: they stay in registers. */
#define PT_VECTORS_EACH(k, n) _Pragma("GCC unroll 16") for (uint32_t k = 0; k < (n); k++)
/* A loop that becomes vectors: what it reads is not what it writes. */
#if defined(__clang__)
#define PT_VECTORS_LOOP(i, n) \
    _Pragma("clang loop vectorize(assume_safety)") for (uint32_t i = 0; i < (n); i++)
#else
#define PT_VECTORS_LOOP(i, n) _Pragma("GCC ivdep") for (uint32_t i = 0; i < (n); i++)
#endif

/* pt_mask_of by vectors of this width: what a loop wrote need not go through memory. */
static inline uint32_t pt_vectors_mask_of(const uint32_t *flags)
{
#if defined(__AVX512DQ__)
    const __m512i *v = (const __m512i *)flags;
    return _mm512_movepi32_mask(v[0]) | (uint32_t)_mm512_movepi32_mask(v[1]) << 16;
#else
    return pt_mask_of(flags);
#endif
}

/* The mask of lanes for which `expr` over a and b holds: name(c, f). */
#define PT_VECTORS_TEST2(name, KA, TA, KB, TB, expr)                               \
    static inline uint32_t name(const struct pt_code *c, const struct pt_frame *f) \
    {                                                                              \
        const PT_ELT_##TA *a_ = PT_SLOT(KA, TA);                                   \
        const PT_ELT_##TB *b_ = PT_SLOT(KB, TB);                                   \
        uint32_t flags[PT_WARP_SIZE] __attribute__((aligned(64)));                 \
        PT_LANES                                                                   \
        {                                                                          \
            const PT_VAL_##TA a = (PT_VAL_##TA)a_[i];                              \
            const PT_VAL_##TB b = (PT_VAL_##TB)b_[i];                              \
            flags[i] = (expr) ? UINT32_MAX : 0;                                    \
        }                                                                          \
        return pt_vectors_mask_of(flags);                                          \
    }

/* A warp's f64 values, and whether any of them is a NaN. */
#if defined(__AVX2__) && defined(__FMA__)
#define PT_VECTORS_F64
enum { PT_VECTORS_OF_F64 = PT_WARP_SIZE * 8 / PT_VECTOR_BYTES };
#endif
#if defined(__AVX512F__)
typedef __m512d pt_vector_f64;

static inline pt_vector_f64 pt_vector_fma64(pt_vector_f64 a, pt_vector_f64 b, pt_vector_f64 c)
{
    return _mm512_fmadd_pd(a, b, c);
}

static inline pt_vector_f64 pt_vector_sqrt64(pt_vector_f64 a)
{
    return _mm512_sqrt_pd(a);
}

static inline bool pt_vector_has_nan64(const pt_vector_f64 *v)
{
    uint32_t any = 0;
    PT_VECTORS_EACH(k, PT_VECTORS_OF_F64 / 2)
    any |= _mm512_cmp_pd_mask(v[2 * k], v[2 * k + 1], _CMP_UNORD_Q);
    return any;
}
#elif defined(PT_VECTORS_F64)
typedef __m256d pt_vector_f64;

static inline pt_vector_f64 pt_vector_fma64(pt_vector_f64 a, pt_vector_f64 b, pt_vector_f64 c)
{
    return _mm256_fmadd_pd(a, b, c);
}

static inline pt_vector_f64 pt_vector_sqrt64(pt_vector_f64 a)
{
    return _mm256_sqrt_pd(a);
}

static inline bool pt_vector_has_nan64(const pt_vector_f64 *v)
{
    __m256d any = _mm256_setzero_pd();
    PT_VECTORS_EACH(k, PT_VECTORS_OF_F64 / 2)
    any = _mm256_or_pd(any, _mm256_cmp_pd(v[2 * k], v[2 * k + 1], _CMP_UNORD_Q));
    return _mm256_movemask_pd(any);
}
#endif

/* Writes the lanes of `mask`. */
#if defined(__AVX512F__)
static inline void pt_vector_store64(double *d, const pt_vector_f64 *v, uint32_t mask)
{
    PT_VECTORS_EACH(k, PT_VECTORS_OF_F64)
    if (mask == UINT32_MAX)
        _mm512_store_pd(d + 8 * k, v[k]);
    else
        _mm512_mask_store_pd(d + 8 * k, (__mmask8)(mask >> 8 * k), v[k]);
}
#elif defined(PT_VECTORS_F64)
static inline void pt_vector_store64(double *d, const pt_vector_f64 *v, uint32_t mask)
{
    const __m256i bit = _mm256_setr_epi64x(1, 2, 4, 8);
    PT_VECTORS_EACH(k, PT_VECTORS_OF_F64)
    {
        __m256i lanes = _mm256_and_si256(_mm256_set1_epi64x(mask >> 4 * k), bit);
        if (mask == UINT32_MAX)
            _mm256_store_pd(d + 4 * k, v[k]);
        else
            _mm256_maskstore_pd(d + 4 * k, _mm256_cmpeq_epi64(lanes, bit), v[k]);
    }
}
#endif

#endif
