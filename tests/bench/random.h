/* Random numbers for generated modules: the same from every seed on every machine. */
#ifndef PTERA_TESTS_BENCH_RANDOM_H
#define PTERA_TESTS_BENCH_RANDOM_H

#include <stdint.h>

static inline unsigned next_random(uint32_t *state, unsigned below)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

#endif
