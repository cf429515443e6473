#include "tests/bench/case.h"
void omp_localhist(struct bench_case *c)
{
    size_t n = c->size;
    const uint32_t *restrict in = U(c, 0);
    float *restrict out = F(c, 1);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++) {
        uint32_t count[16] = {0}, squares = 0, most = 0;
        for (size_t w = 0; w < 8; w++) {
            uint32_t v = in[w * n + i];
            for (int k = 0; k < 8; k++)
                count[v >> 4 * k & 15]++;
        }
        for (int k = 0; k < 16; k++) {
            squares += count[k] * count[k];
            most = count[k] > most ? count[k] : most;
        }
        out[i] = (float)squares / 4096.0f + (float)most;
    }
}
