#include "tests/bench/case.h"
float sqrtf(float);
struct particle {
    float x, y, z, vx, vy, vz, mass;
};
void omp_particles(struct bench_case *c)
{
    size_t n = c->launch[0].argument[0].u;
    float dt = c->launch[0].argument[1].f, g = c->launch[0].argument[2].f;
    struct particle *p = AS(struct particle, c, 0);
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++) {
        float x = p[i].x, y = p[i].y, z = p[i].z, vx = p[i].vx, vy = p[i].vy, vz = p[i].vz;
        float r2 = x * x + y * y + z * z + 0.01f, f = -g / (r2 * sqrtf(r2)) * p[i].mass;
        vx += dt * f * x, vy += dt * f * y, vz += dt * f * z;
        p[i].x = x + dt * vx, p[i].y = y + dt * vy, p[i].z = z + dt * vz;
        p[i].vx = vx, p[i].vy = vy, p[i].vz = vz;
    }
}
