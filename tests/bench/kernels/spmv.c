#include "tests/bench/case.h"
void omp_spmv(struct bench_case *c)
{
    uint32_t rows = c->size;
    const uint32_t *restrict rp = U(c, 0), *restrict col = U(c, 1);
    const float *restrict val = F(c, 2), *restrict x = F(c, 3);
    float *restrict y = F(c, 4);
#pragma omp parallel for schedule(dynamic, 4096)
    for (uint32_t r = 0; r < rows; r++) {
        float s = 0;
        for (uint32_t k = rp[r], e = rp[r + 1]; k < e; k++)
            s += val[k] * x[col[k]];
        y[r] = s;
    }
}
