#include "tests/bench/case.h"
void omp_unsharp(struct bench_case *c)
{
    int w = (int)c->launch[0].argument[0].u, h = (int)c->launch[0].argument[1].u;
    int amount = (int)c->launch[0].argument[2].u;
    const uint16_t *restrict in = AS(uint16_t, c, 0);
    uint16_t *restrict out = AS(uint16_t, c, 1);
#pragma omp parallel for schedule(static)
    for (int y = 1; y < h - 1; y++) {
        const uint16_t *restrict a = in + (size_t)(y - 1) * (size_t)w, *restrict b = a + w,
                                 *restrict d = b + w;
        uint16_t *restrict o = out + (size_t)y * (size_t)w;
#pragma omp simd
        for (int x = 1; x < w - 1; x++) {
            int blur = (a[x - 1] + 2 * a[x] + a[x + 1] + 2 * b[x - 1] + 4 * b[x] + 2 * b[x + 1] +
                        d[x - 1] + 2 * d[x] + d[x + 1]) >>
                       4;
            int v = b[x] + ((b[x] - blur) * amount >> 8);
            v = v < 0 ? 0 : v;
            o[x] = (uint16_t)(v > 65535 ? 65535 : v);
        }
    }
}
