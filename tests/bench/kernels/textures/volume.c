#include "sample.h"

#ifdef __AVX2__
/* Eight rays, side by side. */
static __m256 rays(const struct bench_texture *t, const uint8_t *texels, __m256 scale, int x, int y)
{
    __m256i xs = _mm256_add_epi32(_mm256_set1_epi32(x), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    __m256i u = _mm256_mullo_epi32(xs, _mm256_set1_epi32(200)), v = _mm256_set1_epi32(210 * y);
    __m256i w =
        _mm256_mullo_epi32(_mm256_sub_epi32(xs, _mm256_set1_epi32(y)), _mm256_set1_epi32(5));
    __m256 sum = _mm256_setzero_ps();
    for (int i = 0; i < 64; i++) {
        sum = _mm256_add_ps(sum, texture_linear_volume(t, texels, texture_scaled(u, scale),
                                                       texture_scaled(v, scale),
                                                       texture_scaled(w, scale)));
        u = _mm256_add_epi32(u, _mm256_set1_epi32(40));
        v = _mm256_add_epi32(v, _mm256_set1_epi32(30));
        w = _mm256_add_epi32(w, _mm256_set1_epi32(250));
    }
    return sum;
}

void omp_volume(struct bench_case *c)
{
    const struct bench_argument *argument = c->launch[0].argument;
    const struct bench_texture *t = &argument[2].texture;
    int width = (int)argument[0].u;
    __m256 scale = _mm256_set1_ps(argument[1].f);
#pragma omp parallel for schedule(static)
    for (int y = 0; y < width; y++)
        for (int x = 0; x < width; x += 8)
            _mm256_storeu_ps(F(c, 1) + (size_t)y * (size_t)width + x,
                             rays(t, AS(uint8_t, c, 0), scale, x, y));
}
#endif
