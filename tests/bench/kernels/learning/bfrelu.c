#include "tests/bench/case.h"
static inline float widen(uint16_t h)
{
    union {
        uint32_t u;
        float f;
    } v = {.u = (uint32_t)h << 16};
    return v.f;
}
static inline uint16_t narrow(float f) /* of numbers */
{
    union {
        float f;
        uint32_t u;
    } v = {.f = f};
    return (uint16_t)((v.u + 0x7fff + (v.u >> 16 & 1)) >> 16);
}
void omp_bfrelu(struct bench_case *c)
{
    size_t n = 2 * (size_t)c->size;
    float scale = widen(narrow(c->launch[0].argument[1].f)),
          shift = widen(narrow(c->launch[0].argument[2].f));
    const uint16_t *restrict x = c->buffer[0].host;
    uint16_t *restrict y = c->buffer[1].host;
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++) {
        float v = widen(x[i]) * scale + shift;
        y[i] = narrow(v > 0 ? v : 0);
    }
}
