#include "tests/bench/case.h"
void omp_dp4a(struct bench_case *c)
{
    size_t n = c->size;
    const int8_t *restrict a = c->buffer[0].host, *restrict b = c->buffer[1].host;
    int32_t *restrict d = c->buffer[2].host;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i += 2)
        for (size_t j = 0; j < n;
             j += 2) { /* two rows by two columns: each byte is loaded for two products */
            int s0 = 0, s1 = 0, s2 = 0, s3 = 0;
            for (size_t k = 0; k < n; k++) {
                s0 += a[i * n + k] * b[j * n + k];
                s1 += a[i * n + k] * b[(j + 1) * n + k];
                s2 += a[(i + 1) * n + k] * b[j * n + k];
                s3 += a[(i + 1) * n + k] * b[(j + 1) * n + k];
            }
            d[i * n + j] = s0;
            d[i * n + j + 1] = s1;
            d[(i + 1) * n + j] = s2;
            d[(i + 1) * n + j + 1] = s3;
        }
}
