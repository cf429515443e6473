/* The column is kept beside the matrix, so that the update's inner loop is over neighbours. */
#include "tests/bench/case.h"
#include <math.h>
#include <stdlib.h>
void omp_cholesky(struct bench_case *c)
{
    size_t n = c->size;
    double *a = D(c, 0), *column = malloc(n * sizeof *column);
#pragma omp parallel
    for (size_t k = 0; k < n; k++) {
#pragma omp single
        {
            double d = sqrt(a[k * n + k]);
            a[k * n + k] = d;
            for (size_t i = k + 1; i < n; i++)
                column[i] = a[i * n + k] /= d;
        }
#pragma omp for schedule(static, 8)
        for (size_t i = k + 1; i < n; i++) {
            double *row = a + i * n, l = column[i];
#pragma omp simd
            for (size_t j = k + 1; j <= i; j++)
                row[j] -= l * column[j];
        }
    }
    free(column);
}
