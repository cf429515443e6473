/* sixteen pixels side by side, until all of them are out */
#include "tests/bench/case.h"
#include <math.h>
enum { L = 16 };
void omp_mandelbrot(struct bench_case *c)
{
    unsigned n = c->size;
    const struct bench_launch *a = &c->launch[0];
    unsigned maxit = a->argument[2].u;
    float x0 = a->argument[3].f, y0 = a->argument[4].f, d = a->argument[5].f;
    uint32_t *restrict out = U(c, 0);
#pragma omp parallel for schedule(dynamic, 4)
    for (unsigned py = 0; py < n; py++)
        for (unsigned p = 0; p < n; p += L) {
            float cx[L], x[L], y[L], cy = fmaf((float)py, d, y0);
            int it[L], live[L];
#pragma omp simd
            for (int l = 0; l < L; l++) {
                cx[l] = x[l] = fmaf((float)(int)(p + (unsigned)l), d, x0);
                y[l] = cy;
                it[l] = 0;
                live[l] = -1;
            }
            for (unsigned k = 0; k < maxit; k++) {
                int any = 0;
#pragma omp simd reduction(| : any)
                for (int l = 0; l < L; l++) {
                    float x2 = x[l] * x[l];
                    live[l] &= -(fmaf(y[l], y[l], x2) <= 4.0f);
                    it[l] -= live[l];
                    float xn = fmaf(-y[l], y[l], x2) + cx[l];
                    y[l] = fmaf(x[l] + x[l], y[l], cy);
                    x[l] = xn;
                    any |= live[l];
                }
                if (!any)
                    break;
            }
            for (unsigned l = 0; l < L && p + l < n; l++)
                out[(size_t)py * n + p + l] = (uint32_t)it[l];
        }
}
