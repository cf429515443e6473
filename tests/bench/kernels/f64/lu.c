#include "tests/bench/case.h"
void omp_lu(struct bench_case *c)
{
    size_t n = c->size;
    double *a = D(c, 0);
#pragma omp parallel
    for (size_t k = 0; k < n; k++) {
        const double *pivot = a + k * n;
#pragma omp for schedule(static)
        for (size_t i = k + 1; i < n; i++) {
            double *row = a + i * n, l = row[k] / pivot[k];
            row[k] = l;
#pragma omp simd
            for (size_t j = k + 1; j < n; j++)
                row[j] -= l * pivot[j];
        }
    }
}
