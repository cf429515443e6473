#include "tests/bench/case.h"
static inline uint8_t letter(unsigned v)
{
    return (uint8_t)(v < 26    ? 'A' + v
                     : v < 52  ? 'a' + v - 26
                     : v < 62  ? '0' + v - 52
                     : v == 62 ? '+'
                               : '/');
}
void omp_base64(struct bench_case *c)
{
    size_t n = c->launch[0].argument[0].u;
    const uint8_t *restrict in = AS(uint8_t, c, 0);
    uint8_t *restrict out = AS(uint8_t, c, 1);
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++) {
        unsigned v = (unsigned)in[3 * i] << 16 | (unsigned)in[3 * i + 1] << 8 | in[3 * i + 2];
        out[4 * i] = letter(v >> 18), out[4 * i + 1] = letter(v >> 12 & 63);
        out[4 * i + 2] = letter(v >> 6 & 63), out[4 * i + 3] = letter(v & 63);
    }
}
