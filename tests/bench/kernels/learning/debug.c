#include "tests/bench/case.h"
void omp_debug(struct bench_case *c)
{
    size_t n = c->size;
    const float *restrict x = F(c, 0);
    float *restrict y = F(c, 1);
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++) {
        float v[8], sum = 0.0f;
        v[0] = 1.0f;
        for (int k = 1; k < 8; k++)
            v[k] = v[k - 1] * x[i];
        for (int k = 7; k >= 0; k--)
            sum = sum * 0.5f + v[k];
        y[i] = sum;
    }
}
