#include "tests/bench/case.h"
void omp_reduce(struct bench_case *c)
{
    size_t n = c->size;
    const float *x = F(c, 0);
    float s = 0;
    /* blocks keep the float sums short, 64 sums side by side hide the adder's latency */
#pragma omp parallel for schedule(static) reduction(+ : s)
    for (size_t b = 0; b < n; b += 65536) {
        size_t e = b + 65536 < n ? b + 65536 : n, i = b;
        float t[64] = {0};
        for (; i + 64 <= e; i += 64)
#pragma omp simd
            for (int l = 0; l < 64; l++)
                t[l] += x[i + (size_t)l];
        for (; i < e; i++)
            t[0] += x[i];
        for (int l = 0; l < 64; l++)
            s += t[l];
    }
    F(c, 2)[0] = s;
}
