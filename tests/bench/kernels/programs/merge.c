/* Each thread begins on a diagonal of the merge path and merges without branches. */
#include "tests/bench/case.h"
#include <omp.h>
static size_t diagonal(size_t n, size_t d, const uint32_t *a, const uint32_t *b)
{
    size_t low = d > n ? d - n : 0, high = d < n ? d : n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (a[mid] <= b[d - 1 - mid])
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}
static void merge(const uint32_t *restrict a, const uint32_t *a_end, const uint32_t *restrict b,
                  const uint32_t *b_end, uint32_t *restrict out)
{
    while (a < a_end && b < b_end) {
        uint32_t x = *a, y = *b;
        int from_a = x <= y;
        *out++ = from_a ? x : y;
        a += from_a;
        b += !from_a;
    }
    while (a < a_end)
        *out++ = *a++;
    while (b < b_end)
        *out++ = *b++;
}
void omp_merge(struct bench_case *c)
{
    size_t n = c->size / 2;
    const uint32_t *a = U(c, 0), *b = U(c, 1);
    uint32_t *out = U(c, 2);
#pragma omp parallel
    {
        size_t threads = (size_t)omp_get_num_threads(), me = (size_t)omp_get_thread_num();
        size_t from = 2 * n * me / threads, to = 2 * n * (me + 1) / threads;
        size_t i = diagonal(n, from, a, b), j = diagonal(n, to, a, b);
        merge(a + i, a + j, b + from - i, b + to - j, out + from);
    }
}
