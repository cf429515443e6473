#include "tests/bench/case.h"
static void step(size_t n, float a, float *x)
{
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++)
        x[i] = ((0.01f * x[i] - 0.02f) * x[i] + 0.9f) * x[i] + a;
}
void omp_tiny(struct bench_case *c)
{
    for (int i = 0; i < c->times * c->n_launches; i++) {
        const struct bench_argument *a = c->launch[i % c->n_launches].argument;
        step(a[0].u, a[1].f, F(c, 0));
    }
}
