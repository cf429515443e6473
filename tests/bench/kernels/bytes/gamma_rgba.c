#include "tests/bench/case.h"
struct pixel {
    unsigned char b, g, r, a;
};
void omp_gamma_rgba(struct bench_case *c)
{
    size_t n = c->launch[0].argument[0].u;
    struct pixel *image = AS(struct pixel, c, 0);
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++) {
        struct pixel p = image[i];
        float v = (0.3f * p.r + 0.59f * p.g + 0.11f * p.b) / 255.0f, res = 255.0f * v * v;
        unsigned char g = res > 255.0f ? 255 : (unsigned char)res;
        image[i] = (struct pixel){g, g, g, 255};
    }
}
