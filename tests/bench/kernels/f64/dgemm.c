/* register-blocked: a micro-kernel of 6 rows (fewer at the edge) by two vectors, over packed panels of A and B */
#include "tests/bench/case.h"
#include "tests/bench/kernels/vector.h"
#include <stdlib.h>
#include <string.h>
enum { DOUBLES = LANES / 2, PANEL = 2 * DOUBLES };
typedef double vec __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));

#define MICRO(R)                                                                                   \
    static void micro##R(size_t n, size_t kb, const double *restrict a, const double *restrict bp, \
                         double *restrict c)                                                       \
    {                                                                                              \
        vec t[R][2];                                                                               \
        for (int r = 0; r < R; r++) {                                                              \
            t[r][0] = *(vec *)(c + r * n);                                                         \
            t[r][1] = *(vec *)(c + r * n + DOUBLES);                                               \
        }                                                                                          \
        for (size_t k = 0; k < kb; k++) {                                                          \
            vec b0 = *(const vec *)(bp + k * PANEL),                                               \
                b1 = *(const vec *)(bp + k * PANEL + DOUBLES);                                     \
            _Pragma("GCC unroll 6") for (int r = 0; r < R; r++)                                    \
            {                                                                                      \
                double x = a[k * R + r];                                                           \
                t[r][0] += x * b0;                                                                 \
                t[r][1] += x * b1;                                                                 \
            }                                                                                      \
        }                                                                                          \
        for (int r = 0; r < R; r++) {                                                              \
            *(vec *)(c + r * n) = t[r][0];                                                         \
            *(vec *)(c + r * n + DOUBLES) = t[r][1];                                               \
        }                                                                                          \
    }
/* clang-format off */
MICRO(6) MICRO(4) MICRO(2) MICRO(1)
    /* clang-format on */

    void omp_dgemm(struct bench_case *c)
{
    size_t n = c->size, KB = 256, JB = 128;
    const double *A = D(c, 0), *B = D(c, 1);
    double *C = D(c, 2);
#pragma omp parallel
    {
        double *bp = aligned_alloc(64, KB * JB * sizeof(double)),
               *ap = aligned_alloc(64, 6 * KB * sizeof(double));
#pragma omp for schedule(static) collapse(2)
        for (size_t ih = 0; ih < 2; ih++)
            for (size_t j0 = 0; j0 < n; j0 += JB) {
                size_t i0 = ih * (n / 2), i1 = ih ? n : n / 2, w = n - j0 < JB ? n - j0 : JB;
                for (size_t i = i0; i < i1; i++)
                    memset(C + i * n + j0, 0, w * sizeof *C);
                for (size_t k0 = 0; k0 < n; k0 += KB) {
                    size_t kb = n - k0 < KB ? n - k0 : KB;
                    for (size_t j = 0; j < w; j += PANEL)
                        for (size_t k = 0; k < kb; k++)
                            memcpy(bp + j * kb + k * PANEL, B + (k0 + k) * n + j0 + j,
                                   PANEL * sizeof *bp);
                    for (size_t i = i0; i < i1;) {
                        size_t left = i1 - i, m = left >= 6 ? 6 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
                        for (size_t r = 0; r < m; r++)
                            for (size_t k = 0; k < kb; k++)
                                ap[k * m + r] = A[(i + r) * n + k0 + k];
                        for (size_t j = 0; j < w; j += PANEL) {
                            const double *b = bp + j * kb;
                            double *o = C + i * n + j0 + j;
                            if (m == 6)
                                micro6(n, kb, ap, b, o);
                            else if (m == 4)
                                micro4(n, kb, ap, b, o);
                            else if (m == 2)
                                micro2(n, kb, ap, b, o);
                            else
                                micro1(n, kb, ap, b, o);
                        }
                        i += m;
                    }
                }
            }
        free(bp);
        free(ap);
    }
}
