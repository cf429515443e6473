#include "tests/bench/case.h"
void omp_empty(struct bench_case *c) /* a fork and a join each */
{
    for (int i = 0; i < c->n_launches; i++) {
#pragma omp parallel for schedule(static)
        for (unsigned cta = 0; cta < c->launch[i].grid[0]; cta++)
            __asm__ volatile("" ::: "memory");
    }
}
