#include "tests/bench/case.h"
static void step(size_t n, double a, double b, const double *restrict in, double *restrict out)
{
    size_t row = n, plane = n * n;
#pragma omp parallel for schedule(static)
    for (size_t z = 1; z < n - 1; z++)
        for (size_t y = 1; y < n - 1; y++)
#pragma omp simd
            for (size_t x = 1; x < n - 1; x++) {
                size_t i = z * plane + y * row + x;
                out[i] = a * in[i] + b * (in[i - 1] + in[i + 1] + in[i - row] + in[i + row] +
                                          in[i - plane] + in[i + plane]);
            }
}
void omp_heat3d(struct bench_case *c)
{
    for (int i = 0; i < c->n_launches; i++) {
        const struct bench_argument *a = c->launch[i].argument;
        step(c->size, a[3].d, a[4].d, D(c, a[5].buffer), D(c, a[6].buffer));
    }
}
