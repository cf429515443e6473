#include "tests/bench/case.h"
void omp_move3(struct bench_case *c)
{
    size_t n = c->launch[0].argument[0].u;
    float dt = c->launch[0].argument[1].f;
    const float *restrict f = F(c, 0);
    float *restrict p = F(c, 1), *restrict v = F(c, 2);
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++) {
        float s = dt * v[4 * i + 3];
        float vx = v[4 * i] + s * f[3 * i], vy = v[4 * i + 1] + s * f[3 * i + 1],
              vz = v[4 * i + 2] + s * f[3 * i + 2];
        float x = p[3 * i] + dt * vx, y = p[3 * i + 1] + dt * vy, z = p[3 * i + 2] + dt * vz;
        p[3 * i] = x, p[3 * i + 1] = y, p[3 * i + 2] = z;
        v[4 * i] = x < 0.0f || x > 1.0f ? -vx : vx;
        v[4 * i + 1] = y < 0.0f || y > 1.0f ? -vy : vy;
        v[4 * i + 2] = z < 0.0f || z > 1.0f ? -vz : vz;
    }
}
