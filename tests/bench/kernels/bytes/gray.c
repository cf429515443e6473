#include "tests/bench/case.h"
void omp_gray(struct bench_case *c)
{
    size_t n = c->launch[0].argument[0].u;
    const uint8_t *restrict rgb = AS(uint8_t, c, 0);
    uint8_t *restrict gray = AS(uint8_t, c, 1);
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++)
        gray[i] = (uint8_t)((77u * rgb[3 * i] + 151u * rgb[3 * i + 1] + 28u * rgb[3 * i + 2]) >> 8);
}
