#include "tests/bench/case.h"
#include <omp.h>
enum { DIGITS = 256, MOST = 1024 };
static uint32_t counts[MOST][DIGITS]; /* of each thread: how many, then where to */
static void sum_up(size_t threads)
{
    uint32_t at = 0;
    for (size_t d = 0; d < DIGITS; d++)
        for (size_t t = 0; t < threads; t++) {
            uint32_t n = counts[t][d];
            counts[t][d] = at;
            at += n;
        }
}
static void pass(size_t n, unsigned shift, const uint32_t *restrict keys, uint32_t *restrict out)
{
#pragma omp parallel
    {
        size_t threads = (size_t)omp_get_num_threads(), me = (size_t)omp_get_thread_num();
        size_t from = n * me / threads, to = n * (me + 1) / threads;
        uint32_t at[DIGITS] = {0};
        for (size_t i = from; i < to; i++)
            at[keys[i] >> shift & 255]++;
        for (size_t d = 0; d < DIGITS; d++)
            counts[me][d] = at[d];
#pragma omp barrier
#pragma omp single
        sum_up(threads);
        for (size_t d = 0; d < DIGITS; d++)
            at[d] = counts[me][d];
        for (size_t i = from; i < to; i++)
            out[at[keys[i] >> shift & 255]++] = keys[i];
    }
}
void omp_radix(struct bench_case *c)
{
    for (unsigned shift = 0; shift < 32; shift += 8)
        pass(c->size, shift, U(c, shift / 8 % 2), U(c, (shift / 8 + 1) % 2));
}
