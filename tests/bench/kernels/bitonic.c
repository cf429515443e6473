/* the same network; each 1024-key run stays in the first-level cache */
#include "tests/bench/case.h"
static inline void pass(uint32_t *restrict d, uint32_t j, int up) /* one run of 2j keys */
{
    uint32_t *restrict a = d, *restrict b = d + j;
#pragma omp simd
    for (uint32_t i = 0; i < j; i++) {
        uint32_t x = a[i], y = b[i], lo = x < y ? x : y, hi = x < y ? y : x;
        a[i] = up ? lo : hi;
        b[i] = up ? hi : lo;
    }
}
void omp_bitonic(struct bench_case *c)
{
    uint32_t n = c->size, *d = U(c, 0);
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (uint32_t b = 0; b < n; b += 1024)
            for (uint32_t k = 2; k <= 1024; k <<= 1)
                for (uint32_t j = k >> 1; j > 0; j >>= 1)
                    for (uint32_t i = 0; i < 1024; i += 2 * j)
                        pass(d + b + i, j, ((b + i) & k) == 0);
        for (uint32_t k = 2048; k && k <= n; k <<= 1) {
            for (uint32_t j = k / 2; j > 512; j >>= 1)
#pragma omp for schedule(static)
                for (uint32_t h = 0; h < n / 2; h += 512) { /* half a thousand pairs at a time */
                    uint32_t i = 2 * h - (h & (j - 1)), *restrict p = d + i,
                             *restrict q = d + i + j;
                    int up = (i & k) == 0;
#pragma omp simd
                    for (uint32_t t = 0; t < 512; t++) {
                        uint32_t x = p[t], y = q[t], lo = x < y ? x : y, hi = x < y ? y : x;
                        p[t] = up ? lo : hi;
                        q[t] = up ? hi : lo;
                    }
                }
#pragma omp for schedule(static)
            for (uint32_t b = 0; b < n; b += 1024)
                for (uint32_t j = 512; j > 0; j >>= 1)
                    for (uint32_t i = 0; i < 1024; i += 2 * j)
                        pass(d + b + i, j, (b & k) == 0);
        }
    }
}
