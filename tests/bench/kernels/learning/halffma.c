#include "tests/bench/case.h"
void omp_halffma(struct bench_case *c)
{
    size_t n = 2 * (size_t)c->size;
    float a = (float)(_Float16)c->launch[0].argument[1].f;
    const _Float16 *restrict x = c->buffer[0].host;
    _Float16 *restrict y = c->buffer[1].host;
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++)
        y[i] = (_Float16)(a * (float)x[i] + (float)y[i]);
}
