#include <string.h>
#include "tests/bench/case.h"
void omp_search(struct bench_case *c)
{
    size_t n = c->launch[0].argument[0].u, length = c->launch[0].argument[1].u;
    const uint8_t *restrict text = AS(uint8_t, c, 0), *restrict pattern = AS(uint8_t, c, 1);
    uint8_t *restrict found = AS(uint8_t, c, 2);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++)
        found[i] = text[i] == pattern[0] && !memcmp(text + i, pattern, length);
}
