#include "tests/bench/case.h"
#ifdef __clang__
#include <math.h>
#else
#pragma omp declare simd notinbranch
float expf(float);
#endif
void omp_bilateral(struct bench_case *c)
{
    int w = (int)c->launch[0].argument[0].u, h = (int)c->launch[0].argument[1].u;
    float space = c->launch[0].argument[2].f, range = c->launch[0].argument[3].f;
    const uint8_t *restrict in = AS(uint8_t, c, 0);
    uint8_t *restrict out = AS(uint8_t, c, 1);
#pragma omp parallel for schedule(static)
    for (int y = 2; y < h - 2; y++) {
        const uint8_t *restrict m = in + (size_t)y * (size_t)w;
        uint8_t *restrict o = out + (size_t)y * (size_t)w;
#pragma omp simd
        for (int x = 2; x < w - 2; x++) {
            float mid = m[x], sum = 0.0f, weights = 0.0f;
#pragma GCC unroll 5
            for (int dy = -2; dy <= 2; dy++)
#pragma GCC unroll 5
                for (int dx = -2; dx <= 2; dx++) {
                    float v = m[x + dx + dy * w], d = v - mid;
                    float k = expf(-(float)(dx * dx + dy * dy) * space - d * d * range);
                    sum += k * v;
                    weights += k;
                }
            o[x] = (uint8_t)(sum / weights + 0.5f);
        }
    }
}
