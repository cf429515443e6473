#include "tests/bench/case.h"
/* 16 columns at once, as vectors. */
void omp_topk8(struct bench_case *c)
{
    size_t n = c->size;
    const float *restrict in = F(c, 0);
    float *restrict out = F(c, 1);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i += 16) {
        float best[8][16];
        for (size_t k = 0; k < 8; k++)
            for (size_t x = 0; x < 16; x++)
                best[k][x] = -1e30f;
        for (size_t w = 0; w < 256; w++)
#pragma omp simd
            for (size_t x = 0; x < 16; x++) {
                float v = in[w * n + i + x];
                for (size_t k = 0; k < 8; k++) {
                    float b = best[k][x];
                    best[k][x] = b > v ? b : v;
                    v = b > v ? v : b;
                }
            }
        for (size_t k = 0; k < 8; k++)
            for (size_t x = 0; x < 16; x++)
                out[k * n + i + x] = best[k][x];
    }
}
