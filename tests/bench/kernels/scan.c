#include "tests/bench/case.h"
#include <omp.h>
void omp_scan(struct bench_case *c)
{
    size_t n = c->size;
    const uint32_t *restrict in = U(c, 0);
    uint32_t *restrict out = U(c, 1);
    uint32_t tot[256] = {0};
#pragma omp parallel
    {
        size_t T = (size_t)omp_get_num_threads(), me = (size_t)omp_get_thread_num();
        size_t b = n * me / T, e = n * (me + 1) / T;
        uint32_t s = 0;
        if (me + 1 < T) {
#pragma omp simd reduction(+ : s)
            for (size_t i = b; i < e; i++)
                s += in[i];
            tot[me] = s;
        }
#pragma omp barrier
        s = 0;
        for (size_t t = 0; t < me; t++)
            s += tot[t];
        for (size_t i = b; i < e; i++) {
            out[i] = s;
            s += in[i];
        }
    }
}
