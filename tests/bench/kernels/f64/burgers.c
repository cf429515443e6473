#include "tests/bench/case.h"
static void step(size_t n, double cx, double cy, double dx, double dy, const double *restrict u,
                 const double *restrict v, double *restrict un, double *restrict vn)
{
#pragma omp parallel for schedule(static)
    for (size_t y = 1; y < n - 1; y++)
#pragma omp simd
        for (size_t x = 1; x < n - 1; x++) {
            size_t i = y * n + x;
            double a = u[i], b = v[i];
            un[i] = a + dx * (u[i + 1] - 2 * a + u[i - 1]) + dy * (u[i + n] - 2 * a + u[i - n]) -
                    cx * a * (a - u[i - 1]) - cy * b * (a - u[i - n]);
            vn[i] = b + dx * (v[i + 1] - 2 * b + v[i - 1]) + dy * (v[i + n] - 2 * b + v[i - n]) -
                    cx * a * (b - v[i - 1]) - cy * b * (b - v[i - n]);
        }
}
void omp_burgers(struct bench_case *c)
{
    for (int i = 0; i < c->n_launches; i++) {
        const struct bench_argument *a = c->launch[i].argument;
        step(c->size, a[2].d, a[3].d, a[4].d, a[5].d, D(c, a[6].buffer), D(c, a[7].buffer),
             D(c, a[8].buffer), D(c, a[9].buffer));
    }
}
