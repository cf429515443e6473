#include "tests/bench/case.h"
void omp_box(struct bench_case *c)
{
    int w = (int)c->launch[0].argument[0].u, h = (int)c->launch[0].argument[1].u;
    const uint8_t *restrict in = AS(uint8_t, c, 0);
    uint8_t *restrict out = AS(uint8_t, c, 1);
#pragma omp parallel for schedule(static)
    for (int y = 1; y < h - 1; y++) {
        const uint8_t *restrict a = in + (size_t)(y - 1) * (size_t)w, *restrict b = a + w,
                                *restrict d = b + w;
        uint8_t *restrict o = out + (size_t)y * (size_t)w;
#pragma omp simd
        for (int x = 1; x < w - 1; x++)
            o[x] = (uint8_t)((a[x - 1] + a[x] + a[x + 1] + b[x - 1] + b[x] + b[x + 1] + d[x - 1] +
                              d[x] + d[x + 1]) /
                             9);
    }
}
