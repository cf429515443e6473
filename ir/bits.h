/* Sizes: rounding, and words of bit sets. */
#ifndef PTERA_IR_BITS_H
#define PTERA_IR_BITS_H

#include <stdint.h>

/* The next multiple of `to`, which is not 0. */
static inline uint64_t pt_round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

/* Words of 64 bits that hold n bits. */
static inline uint32_t pt_bit_words(uint32_t n)
{
    return (uint32_t)(((uint64_t)n + 63) / 64);
}

#endif
