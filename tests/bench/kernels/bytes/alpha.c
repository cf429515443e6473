#include "tests/bench/case.h"
static inline uint8_t mix(unsigned s, unsigned d, unsigned a)
{
    unsigned t = s * a + d * (255 - a) + 128;
    return (uint8_t)((t + (t >> 8)) >> 8);
}
void omp_alpha(struct bench_case *c)
{
    size_t n = c->launch[0].argument[0].u;
    const uint8_t *restrict s = AS(uint8_t, c, 0);
    uint8_t *restrict d = AS(uint8_t, c, 1);
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++) {
        unsigned a = s[4 * i + 3];
        d[4 * i] = mix(s[4 * i], d[4 * i], a);
        d[4 * i + 1] = mix(s[4 * i + 1], d[4 * i + 1], a);
        d[4 * i + 2] = mix(s[4 * i + 2], d[4 * i + 2], a);
        d[4 * i + 3] = mix(255, d[4 * i + 3], a);
    }
}
