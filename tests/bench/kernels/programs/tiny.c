#include "tests/bench/case.h"
static void step(size_t n, float a, float *x)
{
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++)
        x[i] = ((0.01f * x[i] - 0.02f) * x[i] + 0.9f) * x[i] + a;
}
void omp_tiny(struct bench_case *c)
{
    for (int i = 0; i < c->n_launches; i++)
        step(c->launch[i].argument[0].u, c->launch[i].argument[1].f, F(c, 0));
}
