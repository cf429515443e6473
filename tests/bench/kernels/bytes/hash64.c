#include "tests/bench/case.h"
void omp_hash64(struct bench_case *c)
{
    size_t n = c->launch[0].argument[0].u;
    uint64_t seed = c->launch[0].argument[1].ul;
    uint32_t slots = c->launch[0].argument[4].u;
    uint64_t *restrict out = AS(uint64_t, c, 0);
    uint32_t *restrict slot = U(c, 1);
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++) {
        uint64_t z = seed + i * 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        z ^= z >> 31;
        uint64_t hi = (uint64_t)((unsigned __int128)z * 0xd6e8feb86659fd93u >> 64);
        out[i] = z ^ hi;
        slot[i] = (uint32_t)(hi >> 32) % slots + (uint32_t)(z >> 40) / 1000u;
    }
}
