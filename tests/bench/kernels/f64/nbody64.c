/* structure of arrays first, then simd over the bodies that pull */
#include "tests/bench/case.h"
#include <math.h>
#include <stdlib.h>
void omp_nbody64(struct bench_case *c)
{
    size_t n = c->size;
    double eps2 = c->launch[0].argument[1].d;
    const double *pos = D(c, 0);
    double *acc = D(c, 1);
    double *x = aligned_alloc(64, 4 * n * sizeof *x), *y = x + n, *z = y + n, *m = z + n;
    for (size_t i = 0; i < n; i++) {
        x[i] = pos[4 * i];
        y[i] = pos[4 * i + 1];
        z[i] = pos[4 * i + 2];
        m[i] = pos[4 * i + 3];
    }
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++) {
        double px = x[i], py = y[i], pz = z[i], ax = 0, ay = 0, az = 0;
#pragma omp simd reduction(+ : ax, ay, az)
        for (size_t j = 0; j < n; j++) {
            double dx = x[j] - px, dy = y[j] - py, dz = z[j] - pz;
            double inv = 1.0 / sqrt(dx * dx + dy * dy + dz * dz + eps2);
            double f = m[j] * inv * inv * inv;
            ax += dx * f;
            ay += dy * f;
            az += dz * f;
        }
        acc[4 * i] = ax;
        acc[4 * i + 1] = ay;
        acc[4 * i + 2] = az;
        acc[4 * i + 3] = 0;
    }
    free(x);
}
