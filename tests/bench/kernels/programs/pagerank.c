#include "tests/bench/case.h"
void omp_pagerank(struct bench_case *c)
{
    size_t n = c->size;
    const uint32_t *restrict row = U(c, 0), *restrict from = U(c, 1);
    const float *restrict share = F(c, 2);
    float *restrict rank = F(c, 3), *restrict gives = F(c, 4);
    float base = c->launch[1].argument[1].f, damping = c->launch[1].argument[2].f;
    for (int step = 0; step < c->n_launches / 2; step++) {
#pragma omp parallel for simd schedule(static)
        for (size_t i = 0; i < n; i++)
            gives[i] = rank[i] * share[i];
#pragma omp parallel for schedule(dynamic, 1024)
        for (size_t i = 0; i < n; i++) {
            float sum = 0;
            for (uint32_t e = row[i]; e < row[i + 1]; e++)
                sum += gives[from[e]];
            rank[i] = base + damping * sum;
        }
    }
}
