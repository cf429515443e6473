#include "tests/bench/case.h"
/* 16 rows at once would need a transposition: a row at a time, its sums in order. */
void omp_warpscan(struct bench_case *c)
{
    size_t n = c->size;
    const float *restrict x = F(c, 0);
    float *restrict y = F(c, 1);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i += 32) {
        float v[32], sum = 0;
        for (size_t k = 0; k < 32; k++) {
            sum += x[i + k];
            v[k] = sum;
        }
        for (size_t k = 0; k < 32; k++)
            y[i + k] = v[k] / sum;
    }
}
