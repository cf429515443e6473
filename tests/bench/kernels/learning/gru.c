#include "tests/bench/case.h"
#ifdef __clang__
#include <math.h>
#else
#pragma omp declare simd notinbranch
float expf(float);
#pragma omp declare simd notinbranch
float tanhf(float);
#endif
/* 64 units of a batch at once: their sums stay in registers. */
enum { UNITS = 64 };
void omp_gru(struct bench_case *c)
{
    size_t units = c->launch[0].argument[0].u, batch = c->launch[0].grid[1], gate = units * units;
    const float *restrict x = F(c, 0), *restrict h = F(c, 1), *restrict w = F(c, 2),
                          *restrict u = F(c, 3), *restrict bias = F(c, 4);
    float *restrict out = F(c, 5);
#pragma omp parallel for collapse(2) schedule(static)
    for (size_t b = 0; b < batch; b++)
        for (size_t j = 0; j < units; j += UNITS) {
            float r[UNITS], z[UNITS], n[UNITS], m[UNITS];
            for (size_t i = 0; i < UNITS; i++) {
                r[i] = bias[j + i];
                z[i] = bias[units + j + i];
                n[i] = bias[2 * units + j + i];
                m[i] = bias[3 * units + j + i];
            }
            for (size_t k = 0; k < units; k++) {
                float a = x[b * units + k], s = h[b * units + k];
                const float *p = w + k * units + j, *q = u + k * units + j;
#pragma omp simd
                for (size_t i = 0; i < UNITS; i++) {
                    r[i] += a * p[i] + s * q[i];
                    z[i] += a * p[gate + i] + s * q[gate + i];
                    n[i] += a * p[2 * gate + i];
                    m[i] += s * q[2 * gate + i];
                }
            }
#pragma omp simd
            for (size_t i = 0; i < UNITS; i++) {
                float reset = 1.0f / (1.0f + expf(-r[i])), update = 1.0f / (1.0f + expf(-z[i]));
                float fresh = tanhf(n[i] + reset * m[i]);
                out[b * units + j + i] = (1 - update) * fresh + update * h[b * units + j + i];
            }
        }
}
