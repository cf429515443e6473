/* Random numbers for generated modules and for the data of cases: the same from every seed on every
 * machine. */
#ifndef PTERA_TESTS_BENCH_RANDOM_H
#define PTERA_TESTS_BENCH_RANDOM_H

#include <stdint.h>

static inline unsigned next_random(uint32_t *state, unsigned below)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

static inline uint32_t hash_of(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

static inline float unit_of(uint32_t i, uint32_t salt) /* from [0, 1) */
{
    return (float)(hash_of(i * 0x9E3779B9u + salt) >> 8) * (1.0f / 16777216.0f);
}

#endif
