#include "tests/bench/case.h"
enum { B = 32 };
void omp_transpose(struct bench_case *c)
{
    size_t n = c->size;
    const float *restrict in = F(c, 0);
    float *restrict out = F(c, 1);
#pragma omp parallel for collapse(2) schedule(static)
    for (size_t i0 = 0; i0 < n; i0 += B)
        for (size_t j0 = 0; j0 < n; j0 += B) {
            float t[B][B];
            size_t h = n - i0 < B ? n - i0 : B, w = n - j0 < B ? n - j0 : B;
            if (h == B && w == B) {
                for (size_t i = 0; i < B; i++)
                    for (size_t j = 0; j < B; j++)
                        t[j][i] = in[(i0 + i) * n + j0 + j];
                for (size_t j = 0; j < B; j++)
#pragma omp simd
                    for (size_t i = 0; i < B; i++)
                        out[(j0 + j) * n + i0 + i] = t[j][i];
            } else {
                for (size_t i = 0; i < h; i++)
                    for (size_t j = 0; j < w; j++)
                        out[(j0 + j) * n + i0 + i] = in[(i0 + i) * n + j0 + j];
            }
        }
}
