/* Sets of small numbers as bits. */
#ifndef PTERA_BACKEND_JIT_BITSET_H
#define PTERA_BACKEND_JIT_BITSET_H

#include <stdbool.h>
#include <stdint.h>

static inline bool jit_set_has(const uint64_t *set, uint32_t i)
{
    return set[i / 64] >> (i & 63) & 1;
}

static inline void jit_set_add(uint64_t *set, uint32_t i)
{
    set[i / 64] |= (uint64_t)1 << (i & 63);
}

#endif
