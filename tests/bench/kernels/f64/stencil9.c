#include "tests/bench/case.h"
#include <stdlib.h>
static void step(size_t n, double centre, double side, double corner, const double *restrict in,
                 double *restrict out)
{
#pragma omp parallel
    {
        double *zero = calloc(n, sizeof *zero);
#pragma omp for schedule(static)
        for (size_t y = 0; y < n; y++) {
            const double *m = in + y * n, *u = y ? m - n : zero, *d = y + 1 < n ? m + n : zero;
            double *o = out + y * n;
            o[0] = centre * m[0] + side * (m[1] + u[0] + d[0]) + corner * (u[1] + d[1]);
#pragma omp simd
            for (size_t x = 1; x < n - 1; x++)
                o[x] = centre * m[x] + side * (m[x - 1] + m[x + 1] + u[x] + d[x]) +
                       corner * (u[x - 1] + u[x + 1] + d[x - 1] + d[x + 1]);
            size_t x = n - 1;
            o[x] = centre * m[x] + side * (m[x - 1] + u[x] + d[x]) + corner * (u[x - 1] + d[x - 1]);
        }
        free(zero);
    }
}
void omp_stencil9(struct bench_case *c)
{
    for (int i = 0; i < c->n_launches; i++) {
        const struct bench_argument *a = c->launch[i].argument;
        step(c->size, a[1].d, a[2].d, a[3].d, D(c, a[4].buffer), D(c, a[5].buffer));
    }
}
