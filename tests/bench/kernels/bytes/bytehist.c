#include <string.h>
#include "tests/bench/case.h"
void omp_bytehist(struct bench_case *c)
{
    size_t n = c->launch[0].argument[0].u;
    const uint8_t *restrict in = AS(uint8_t, c, 0);
    uint32_t *restrict bins = U(c, 1);
#pragma omp parallel
    {
        uint32_t mine[4][256];
        memset(mine, 0, sizeof mine);
#pragma omp for schedule(static)
        for (size_t i = 0; i < n / 4; i++)
            for (int k = 0; k < 4; k++)
                mine[k][in[4 * i + (size_t)k]]++;
#pragma omp critical
        for (int i = 0; i < 256; i++)
            bins[i] += mine[0][i] + mine[1][i] + mine[2][i] + mine[3][i];
    }
}
