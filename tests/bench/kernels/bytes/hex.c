#include "tests/bench/case.h"
static inline uint8_t digit(unsigned v)
{
    return (uint8_t)(v + (v < 10 ? '0' : 'a' - 10));
}
void omp_hex(struct bench_case *c)
{
    size_t n = c->launch[0].argument[0].u;
    const uint8_t *restrict in = AS(uint8_t, c, 0);
    uint8_t *restrict out = AS(uint8_t, c, 1);
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++)
        out[2 * i] = digit(in[i] >> 4), out[2 * i + 1] = digit(in[i] & 15);
}
