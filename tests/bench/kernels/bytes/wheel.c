#include "tests/bench/case.h"
#ifdef __clang__
#include <math.h>
#else
#pragma omp declare simd notinbranch
float atan2f(float, float);
float sqrtf(float), fabsf(float), fminf(float, float), fmaxf(float, float);
#endif
struct rgb {
    unsigned char r, g, b;
};
struct rgba {
    unsigned char r, g, b, a;
};
static inline float ramp(float h, float at)
{
    float d = fabsf(h - at);
    d = d > 3.0f ? 6.0f - d : d;
    d = 2.0f - d;
    d = d < 0.0f ? 0.0f : d;
    return d > 1.0f ? 1.0f : d;
}
void omp_wheel(struct bench_case *c)
{
    unsigned w = c->launch[0].argument[0].u, h = c->launch[0].argument[1].u;
    float scale = c->launch[0].argument[2].f;
    struct rgba *restrict rgba = AS(struct rgba, c, 0);
    struct rgb *restrict packed = AS(struct rgb, c, 1);
#pragma omp parallel for schedule(static)
    for (unsigned y = 0; y < h; y++) {
        float fy = ((float)y - 0.5f * (float)h) * scale;
#pragma omp simd
        for (unsigned x = 0; x < w; x++) {
            float fx = ((float)(int)x - 0.5f * (float)w) * scale;
            float rad = sqrtf(fx * fx + fy * fy), angle = atan2f(-fy, -fx) * 0.954929659f + 3.0f;
            float r = ramp(angle, 0.0f), g = ramp(angle, 2.0f), b = ramp(angle, 4.0f);
            r = rad <= 1.0f ? 1.0f - rad * (1.0f - r) : r * 0.75f;
            g = rad <= 1.0f ? 1.0f - rad * (1.0f - g) : g * 0.75f;
            b = rad <= 1.0f ? 1.0f - rad * (1.0f - b) : b * 0.75f;
            struct rgb p = {(unsigned char)(int)(255.0f * r), (unsigned char)(int)(255.0f * g),
                            (unsigned char)(int)(255.0f * b)};
            rgba[(size_t)y * w + x] = (struct rgba){p.r, p.g, p.b, 255};
            packed[(size_t)y * w + x] = p;
        }
    }
}
