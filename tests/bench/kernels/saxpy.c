#include "tests/bench/case.h"
void omp_saxpy(struct bench_case *c)
{
    size_t n = c->size;
    float a = c->launch[0].argument[1].f;
    const float *restrict x = F(c, 0);
    float *restrict y = F(c, 1);
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
}
