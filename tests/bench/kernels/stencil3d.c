#include "tests/bench/case.h"
#include <string.h>
static void step(unsigned s, float c0, float c1, const float *restrict in, float *restrict out)
{
    size_t p = (size_t)s * s;
#pragma omp parallel for schedule(static)
    for (unsigned z = 0; z < s; z++)
        for (unsigned y = 0; y < s; y++) {
            const float *r = in + z * p + (size_t)y * s;
            float *o = out + z * p + (size_t)y * s;
            if (z == 0 || z == s - 1 || y == 0 || y == s - 1) {
                memcpy(o, r, s * sizeof *o);
                continue;
            }
            const float *ym = r - s, *yp = r + s, *zm = r - p, *zp = r + p;
            o[0] = r[0];
            o[s - 1] = r[s - 1];
#pragma omp simd
            for (unsigned x = 1; x < s - 1; x++)
                o[x] = c0 * r[x] + c1 * (r[x - 1] + r[x + 1] + ym[x] + yp[x] + zm[x] + zp[x]);
        }
}
void omp_stencil3d(struct bench_case *c)
{
    float c0 = c->launch[0].argument[3].f, c1 = c->launch[0].argument[4].f;
    step(c->size, c0, c1, F(c, 0), F(c, 1));
    step(c->size, c0, c1, F(c, 1), F(c, 2));
}
