/* the straight version: four rows at a time, the compiler vectorises along a row */
#include "tests/bench/case.h"
void omp_sgemm16(struct bench_case *c)
{
    size_t n = c->size;
    const float *restrict A = F(c, 0), *restrict B = F(c, 1);
    float *restrict C = F(c, 2);
    enum { JB = 512 };
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i += 4)
        for (size_t j0 = 0; j0 < n; j0 += JB) {
            size_t w = n - j0 < JB ? n - j0 : JB;
            float t[4][JB] = {{0}};
            for (size_t k = 0; k < n; k++) {
                float a0 = A[i * n + k], a1 = A[(i + 1) * n + k], a2 = A[(i + 2) * n + k],
                      a3 = A[(i + 3) * n + k];
                const float *b = B + k * n + j0;
#pragma omp simd
                for (size_t j = 0; j < w; j++) {
                    t[0][j] += a0 * b[j];
                    t[1][j] += a1 * b[j];
                    t[2][j] += a2 * b[j];
                    t[3][j] += a3 * b[j];
                }
            }
            for (size_t r = 0; r < 4; r++)
                for (size_t j = 0; j < w; j++)
                    C[(i + r) * n + j0 + j] = t[r][j];
        }
}
