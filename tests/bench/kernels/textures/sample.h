/* Textures sampled eight at a time, as one would write it for a CPU with AVX2, and with the GPU's
 * weights: positions and weights in 256ths, what is rounded as there. Clamped. */
#ifndef PTERA_TESTS_BENCH_KERNELS_TEXTURES_SAMPLE_H
#define PTERA_TESTS_BENCH_KERNELS_TEXTURES_SAMPLE_H

#include "tests/bench/case.h"

#ifdef __AVX2__
#include <immintrin.h>

#define EACH(v) _mm256_set1_epi32((int)(v))

struct texture_span {
    __m256i lower, upper, weight;
};

static inline __m256 texture_scaled(__m256i v, __m256 scale)
{
    return _mm256_mul_ps(_mm256_cvtepi32_ps(v), scale);
}

static inline __m256i texture_limit(__m256i i, unsigned most)
{
    return _mm256_min_epi32(_mm256_max_epi32(i, _mm256_setzero_si256()), EACH(most));
}

/* Of a coordinate in 256ths of texels. */
static inline struct texture_span texture_span_of(__m256 x, unsigned size)
{
    __m256 whole = _mm256_floor_ps(_mm256_add_ps(x, _mm256_set1_ps(0.5f)));
    __m256i p =
        texture_limit(_mm256_sub_epi32(_mm256_cvtps_epi32(whole), EACH(128)), (size - 1) * 256);
    struct texture_span s = {_mm256_srli_epi32(p, 8), p, _mm256_and_si256(p, EACH(255))};
    s.upper = _mm256_min_epi32(_mm256_add_epi32(s.lower, EACH(1)), EACH(size - 1));
    return s;
}

static inline __m256i texture_split(__m256i part, __m256i by)
{
    return _mm256_srli_epi32(_mm256_add_epi32(_mm256_madd_epi16(part, by), EACH(128)), 8);
}

static inline void texture_weigh(__m256i part, __m256i upper, __m256i b, __m256i *weight)
{
    __m256i lower = _mm256_sub_epi32(part, upper);
    weight[3] = texture_split(upper, b);
    weight[1] = _mm256_sub_epi32(upper, weight[3]);
    weight[0] = texture_split(lower, _mm256_sub_epi32(EACH(256), b));
    weight[2] = _mm256_sub_epi32(lower, weight[0]);
}

/* The four texels around a place, of four bytes, and their weights. */
static inline void texture_four(const struct bench_texture *t, const void *texels, __m256 u,
                                __m256 v, __m256i *texel, __m256i *weight)
{
    const __m256 unit = _mm256_set1_ps(256);
    struct texture_span x = texture_span_of(_mm256_mul_ps(u, unit), t->size[0]);
    struct texture_span y = texture_span_of(_mm256_mul_ps(v, unit), t->size[1]);
    __m256i row = _mm256_mullo_epi32(y.lower, EACH(t->size[0]));
    __m256i above = _mm256_mullo_epi32(y.upper, EACH(t->size[0]));
    texel[0] = _mm256_i32gather_epi32(texels, _mm256_add_epi32(row, x.lower), 4);
    texel[1] = _mm256_i32gather_epi32(texels, _mm256_add_epi32(row, x.upper), 4);
    texel[2] = _mm256_i32gather_epi32(texels, _mm256_add_epi32(above, x.lower), 4);
    texel[3] = _mm256_i32gather_epi32(texels, _mm256_add_epi32(above, x.upper), 4);
    texture_weigh(EACH(256), x.weight, y.weight, weight);
}

/* n / most, rounded, without a division. */
static inline __m256 texture_ratio(__m256i n, double most)
{
    const float first = (float)(1 / most), rest = (float)(1 / most - (double)first);
    __m256 f = _mm256_cvtepi32_ps(n);
    return _mm256_fmadd_ps(f, _mm256_set1_ps(first), _mm256_mul_ps(f, _mm256_set1_ps(rest)));
}

/* A sum of bytes by weights as a fraction. */
static inline __m256 texture_fraction(__m256i sum)
{
    __m256i more = _mm256_srli_epi32(_mm256_add_epi32(sum, EACH(128)), 8);
    return texture_ratio(_mm256_add_epi32(sum, more), 65535);
}

static inline __m256 texture_add_four(__m256 r, __m256 g, __m256 b, __m256 a)
{
    return _mm256_add_ps(_mm256_add_ps(r, g), _mm256_add_ps(b, a));
}

static inline __m256 texture_linear_rgba(const struct bench_texture *t, const void *texels,
                                         __m256 u, __m256 v)
{
    const __m256i bytes = EACH(0x00ff00ff), low = EACH(0xffff);
    __m256i texel[4], weight[4], even = _mm256_setzero_si256(), odd = even;
    texture_four(t, texels, u, v, texel, weight);
    for (int i = 0; i < 4; i++) {
        __m256i w = _mm256_or_si256(weight[i], _mm256_slli_epi32(weight[i], 16));
        __m256i up = _mm256_and_si256(_mm256_srli_epi32(texel[i], 8), bytes);
        even = _mm256_add_epi16(even, _mm256_mullo_epi16(_mm256_and_si256(texel[i], bytes), w));
        odd = _mm256_add_epi16(odd, _mm256_mullo_epi16(up, w));
    }
    return texture_add_four(texture_fraction(_mm256_and_si256(even, low)),
                            texture_fraction(_mm256_and_si256(odd, low)),
                            texture_fraction(_mm256_srli_epi32(even, 16)),
                            texture_fraction(_mm256_srli_epi32(odd, 16)));
}

/* Texels as integers in units of the largest exponent, 2^-27 of it; their sum by weights is exact
 * in f64. Half of the lanes. */
static inline __m128 texture_sum(const __m128i *aligned, const __m128i *weight, __m128i exponent)
{
    __m256d sum = _mm256_setzero_pd();
    for (int i = 0; i < 4; i++)
        sum = _mm256_fmadd_pd(_mm256_cvtepi32_pd(aligned[i]), _mm256_cvtepi32_pd(weight[i]), sum);
    __m128i power = _mm_add_epi32(exponent, _mm_set1_epi32(1023 - 127 - 27 - 8));
    __m256i scale = _mm256_slli_epi64(_mm256_cvtepi32_epi64(power), 52);
    /* a last bit more: halves are rounded away from zero */
    scale = _mm256_or_si256(scale, _mm256_set1_epi64x(1));
    return _mm256_cvtpd_ps(_mm256_mul_pd(sum, _mm256_castsi256_pd(scale)));
}

static inline __m256 texture_linear_f32(const struct bench_texture *t, const void *texels, __m256 u,
                                        __m256 v)
{
    __m256i texel[4], weight[4], exponent[4], most = _mm256_setzero_si256();
    __m128i aligned[2][4], half[2][4];
    const __m256i zero = most;
    texture_four(t, texels, u, v, texel, weight);
    for (int i = 0; i < 4; i++) {
        exponent[i] = _mm256_srli_epi32(_mm256_slli_epi32(texel[i], 1), 24);
        __m256i none = _mm256_cmpeq_epi32(weight[i], zero);
        most = _mm256_max_epi32(most, _mm256_andnot_si256(none, exponent[i]));
    }
    for (int i = 0; i < 4; i++) {
        __m256i m = _mm256_or_si256(_mm256_and_si256(texel[i], EACH(0x7fffff)), EACH(0x800000));
        __m256i sign = _mm256_srai_epi32(texel[i], 31);
        m = _mm256_andnot_si256(_mm256_cmpeq_epi32(exponent[i], zero), m);
        m = _mm256_srlv_epi32(_mm256_slli_epi32(m, 4), _mm256_sub_epi32(most, exponent[i]));
        m = _mm256_sub_epi32(_mm256_xor_si256(m, sign), sign);
        aligned[0][i] = _mm256_castsi256_si128(m);
        aligned[1][i] = _mm256_extracti128_si256(m, 1);
        half[0][i] = _mm256_castsi256_si128(weight[i]);
        half[1][i] = _mm256_extracti128_si256(weight[i], 1);
    }
    return _mm256_set_m128(texture_sum(aligned[1], half[1], _mm256_extracti128_si256(most, 1)),
                           texture_sum(aligned[0], half[0], _mm256_castsi256_si128(most)));
}

/* The texel at a place, of four bytes. */
static inline __m256i texture_point(const struct bench_texture *t, const void *texels, __m256 u,
                                    __m256 v)
{
    __m256i x = texture_limit(_mm256_cvtps_epi32(_mm256_floor_ps(u)), t->size[0] - 1);
    __m256i y = texture_limit(_mm256_cvtps_epi32(_mm256_floor_ps(v)), t->size[1] - 1);
    y = _mm256_mullo_epi32(y, EACH(t->size[0]));
    return _mm256_i32gather_epi32(texels, _mm256_add_epi32(y, x), 4);
}

static inline __m256 texture_point_rgba(const struct bench_texture *t, const void *texels, __m256 u,
                                        __m256 v)
{
    __m256i p = texture_point(t, texels, u, v), byte = EACH(255);
    return texture_add_four(texture_ratio(_mm256_and_si256(p, byte), 255),
                            texture_ratio(_mm256_and_si256(_mm256_srli_epi32(p, 8), byte), 255),
                            texture_ratio(_mm256_and_si256(_mm256_srli_epi32(p, 16), byte), 255),
                            texture_ratio(_mm256_srli_epi32(p, 24), 255));
}

static inline __m256 texture_point_f32(const struct bench_texture *t, const void *texels, __m256 u,
                                       __m256 v)
{
    return _mm256_castsi256_ps(texture_point(t, texels, u, v));
}

/* Bytes in three dimensions, of normalised coordinates, of which 21 bits count. */
static inline __m256 texture_linear_volume(const struct bench_texture *t, const uint8_t *texels,
                                           __m256 u, __m256 v, __m256 w)
{
    __m256 place[3] = {u, v, w};
    __m256i weight[8], sum = _mm256_setzero_si256();
    struct texture_span s[3];
    for (int i = 0; i < 3; i++) {
        __m256 cut = _mm256_floor_ps(_mm256_mul_ps(place[i], _mm256_set1_ps(1 << 21)));
        s[i] = texture_span_of(
            _mm256_mul_ps(cut, _mm256_set1_ps((float)t->size[i] / (1 << (21 - 8)))), t->size[i]);
    }
    __m256i upper = s[2].weight, lower = _mm256_sub_epi32(EACH(256), upper);
    texture_weigh(lower, texture_split(lower, s[0].weight), s[1].weight, weight);
    texture_weigh(upper, texture_split(upper, s[0].weight), s[1].weight, weight + 4);
    for (int i = 0; i < 8; i++) {
        __m256i at = _mm256_mullo_epi32(i & 4 ? s[2].upper : s[2].lower, EACH(t->size[1]));
        at = _mm256_add_epi32(at, i & 2 ? s[1].upper : s[1].lower);
        at = _mm256_mullo_epi32(at, EACH(t->size[0]));
        at = _mm256_add_epi32(at, i & 1 ? s[0].upper : s[0].lower);
        __m256i byte =
            _mm256_and_si256(_mm256_i32gather_epi32((const int *)texels, at, 1), EACH(255));
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(byte, weight[i]));
    }
    return texture_fraction(sum);
}

/* A row of an image turned and scaled, as the kernels do: a sample a pixel. */
static inline __attribute__((always_inline)) void
texture_turn_row(struct bench_case *c, int y,
                 __m256 (*sample)(const struct bench_texture *, const void *, __m256, __m256))
{
    const struct bench_argument *argument = c->launch[0].argument;
    const struct bench_texture t = argument[5].texture;
    int width = (int)argument[0].u, a = (int)argument[1].u, b = (int)argument[2].u;
    const __m256 scale = _mm256_set1_ps(1 / 256.0f);
    const __m256i eight = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256i u = EACH((int)argument[3].u - b * y), v = EACH((int)argument[4].u + a * y);
    u = _mm256_add_epi32(u, _mm256_mullo_epi32(eight, EACH(a)));
    v = _mm256_add_epi32(v, _mm256_mullo_epi32(eight, EACH(b)));
    float *out = F(c, 1) + (size_t)y * (size_t)width;
    for (int x = 0; x < width; x += 8) {
        _mm256_storeu_ps(out + x, sample(&t, AS(void, c, 0), texture_scaled(u, scale),
                                         texture_scaled(v, scale)));
        u = _mm256_add_epi32(u, EACH(8 * a));
        v = _mm256_add_epi32(v, EACH(8 * b));
    }
}

#endif
#endif
