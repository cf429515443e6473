#include "tests/bench/case.h"
#define W0 0.30f
#define W1 0.20f
#define W2 0.10f
#define W3 0.04f
#define W4 0.01f
void omp_stencil1d(struct bench_case *c)
{
    size_t n = c->size;
    const float *restrict s = F(c, 0);
    float *restrict out = F(c, 1);
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++)
        out[i] = W0 * s[i + 4] + W1 * (s[i + 3] + s[i + 5]) + W2 * (s[i + 2] + s[i + 6]) +
                 W3 * (s[i + 1] + s[i + 7]) + W4 * (s[i] + s[i + 8]);
}
