#include "tests/bench/case.h"
void omp_embed(struct bench_case *c)
{
    size_t n = c->size, positions = c->launch[0].argument[0].u;
    float scale = c->launch[0].argument[1].f;
    const uint32_t *restrict token = U(c, 0);
    const float *restrict table = F(c, 1), *restrict position = F(c, 2);
    float *restrict out = F(c, 3);
#pragma omp parallel for schedule(static)
    for (size_t t = 0; t < n; t++)
#pragma omp simd
        for (size_t d = 0; d < 256; d++)
            out[t * 256 + d] =
                table[(size_t)token[t] * 256 + d] * scale + position[t % positions * 256 + d];
}
