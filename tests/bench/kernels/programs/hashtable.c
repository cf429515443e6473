#include "tests/bench/case.h"
static inline uint32_t slot_of(uint32_t key)
{
    key ^= key >> 16;
    key *= 0x85ebca6bu;
    key ^= key >> 13;
    key *= 0xc2b2ae35u;
    return key ^ key >> 16;
}
static void insert(uint32_t key, uint32_t value, uint32_t mask, uint32_t *table, uint32_t *values)
{
    uint32_t slot = slot_of(key) & mask;
    for (;; slot = (slot + 1) & mask) {
        uint32_t none = ~0u;
        if (__atomic_compare_exchange_n(&table[slot], &none, key, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED) ||
            none == key)
            break;
    }
    values[slot] = value;
}
static uint32_t find(uint32_t key, uint32_t mask, const uint32_t *table, const uint32_t *values)
{
    for (uint32_t slot = slot_of(key) & mask;; slot = (slot + 1) & mask) {
        if (table[slot] == key)
            return values[slot];
        if (table[slot] == ~0u)
            return ~0u;
    }
}
void omp_hashtable(struct bench_case *c)
{
    uint32_t n = c->launch[0].argument[0].u, m = c->launch[1].argument[0].u,
             mask = c->launch[0].argument[1].u;
    const uint32_t *keys = U(c, 0);
    uint32_t *table = U(c, 1), *values = U(c, 2), *found = U(c, 3);
#pragma omp parallel for schedule(static)
    for (uint32_t i = 0; i < n; i++)
        insert(keys[i], i, mask, table, values);
#pragma omp parallel for schedule(static)
    for (uint32_t i = 0; i < m; i++)
        found[i] = find(keys[i], mask, table, values);
}
