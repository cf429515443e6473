#include "tests/bench/case.h"
static inline unsigned inside(uint32_t a, uint32_t b)
{
    float x = (float)(int32_t)(a >> 8) * (1.0f / 16777216),
          y = (float)(int32_t)(b >> 8) * (1.0f / 16777216);
    return x * x + y * y < 1.0f;
}
static inline unsigned draw(uint32_t x, uint32_t z, uint32_t k0, uint32_t k1)
{
    uint32_t y = 0, w = 0;
    for (int round = 0; round < 10; round++) {
        uint64_t a = 0xD2511F53ull * x, b = 0xCD9E8D57ull * z;
        x = (uint32_t)(b >> 32) ^ y ^ k0;
        y = (uint32_t)b;
        z = (uint32_t)(a >> 32) ^ w ^ k1;
        w = (uint32_t)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return inside(x, y) + inside(z, w);
}
void omp_philox(struct bench_case *c)
{
    const struct bench_argument *a = c->launch[0].argument;
    uint32_t times = a[0].u, k0 = a[1].u, k1 = a[2].u, *hits = U(c, 0);
#pragma omp parallel for schedule(static)
    for (uint32_t block = 0; block < c->size / 256; block++) {
        uint32_t sum = 0;
        for (uint32_t t = 0; t < times; t++)
#pragma omp simd reduction(+ : sum)
            for (uint32_t i = 0; i < 256; i++)
                sum += draw(t, block * 256 + i, k0, k1);
        hits[block] = sum;
    }
}
