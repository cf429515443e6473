/* Level by level as well; what a thread finds it keeps to itself, up to some hundreds. */
#include "tests/bench/case.h"
#include <stdbool.h>
#include <string.h>
enum { KEPT = 512 };
static void flush(uint32_t *next, uint32_t *count, const uint32_t *kept, uint32_t n)
{
    uint32_t at = __atomic_fetch_add(count, n, __ATOMIC_RELAXED);
    memcpy(next + at, kept, n * sizeof *kept);
}
static bool take(uint32_t *depth, uint32_t level)
{
    uint32_t none = ~0u;
    return __atomic_load_n(depth, __ATOMIC_RELAXED) == none &&
           __atomic_compare_exchange_n(depth, &none, level, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
}
static void expand(const struct bench_case *c, uint32_t level, const uint32_t *frontier,
                   uint32_t *next)
{
    const uint32_t *row = U(c, 0), *column = U(c, 1);
    uint32_t *depth = U(c, 2), *count = U(c, 5);
#pragma omp parallel
    {
        uint32_t kept[KEPT], n = 0;
#pragma omp for schedule(dynamic, 1024)
        for (uint32_t i = 0; i < count[level]; i++)
            for (uint32_t v = frontier[i], e = row[v]; e < row[v + 1]; e++) {
                if (!take(&depth[column[e]], level + 1))
                    continue;
                kept[n++] = column[e];
                if (n == KEPT) {
                    flush(next, &count[level + 1], kept, n);
                    n = 0;
                }
            }
        flush(next, &count[level + 1], kept, n);
    }
}
void omp_bfs(struct bench_case *c)
{
    for (uint32_t level = 0; U(c, 5)[level]; level++)
        expand(c, level, U(c, 3 + level % 2), U(c, 3 + (level + 1) % 2));
}
