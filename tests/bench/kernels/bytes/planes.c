#include "tests/bench/case.h"
void omp_planes(struct bench_case *c)
{
    size_t n = c->launch[0].argument[0].u;
    const uint8_t *restrict rgba = AS(uint8_t, c, 0);
    uint8_t *restrict r = AS(uint8_t, c, 1), *restrict g = AS(uint8_t, c, 2),
                      *restrict b = AS(uint8_t, c, 3);
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++)
        r[i] = rgba[4 * i], g[i] = rgba[4 * i + 1], b[i] = rgba[4 * i + 2];
}
