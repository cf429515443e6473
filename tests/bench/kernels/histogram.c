#include "tests/bench/case.h"
#include <string.h>
void omp_histogram(struct bench_case *c)
{
    size_t n = c->size;
    const uint32_t *in = U(c, 0);
    uint32_t *hist = U(c, 1);
#pragma omp parallel
    {
        uint32_t h[4][256];
        memset(h, 0, sizeof h);
#pragma omp for schedule(static) nowait
        for (size_t i = 0; i < n / 4; i++) {
            h[0][in[4 * i] >> 24]++;
            h[1][in[4 * i + 1] >> 24]++;
            h[2][in[4 * i + 2] >> 24]++;
            h[3][in[4 * i + 3] >> 24]++;
        }
#pragma omp critical
        for (int b = 0; b < 256; b++)
            hist[b] += h[0][b] + h[1][b] + h[2][b] + h[3][b];
    }
    for (size_t i = n / 4 * 4; i < n; i++)
        hist[in[i] >> 24]++;
}
