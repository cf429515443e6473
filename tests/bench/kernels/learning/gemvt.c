#include "tests/bench/case.h"
/* 1024 columns at once: their sums stay in the first cache. */
void omp_gemvt(struct bench_case *c)
{
    size_t rows = c->launch[0].argument[0].u, columns = c->launch[0].argument[1].u;
    const float *restrict a = F(c, 0), *restrict x = F(c, 1);
    float *restrict y = F(c, 2);
#pragma omp parallel for schedule(static)
    for (size_t j = 0; j < columns; j += 1024) {
        float sum[1024] = {0};
        for (size_t i = 0; i < rows; i++)
#pragma omp simd
            for (size_t k = 0; k < 1024; k++)
                sum[k] += a[i * columns + j + k] * x[i];
        for (size_t k = 0; k < 1024; k++)
            y[j + k] = sum[k];
    }
}
