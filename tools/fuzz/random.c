/* Random numbers, and numbers at the corners of formats. */
#include "tools/fuzz/build.h"

uint64_t gen_random(struct gen *g)
{
    uint64_t z = g->random += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

unsigned gen_below(struct gen *g, unsigned n)
{
    return (unsigned)((gen_random(g) >> 32) * n >> 32);
}

bool gen_chance(struct gen *g, unsigned percent)
{
    return gen_below(g, 100) < percent;
}

/* Sign, exponent and fraction each from their corners. */
static uint64_t float_corner(struct gen *g, unsigned fraction_bits, unsigned exponent_bits)
{
    uint64_t most = (UINT64_C(1) << exponent_bits) - 1, one = most >> 1;
    uint64_t exponents[] = {0,        0,    1,   one - 1, one, one + 1, one + fraction_bits,
                            most - 1, most, most};
    uint64_t fraction_most = (UINT64_C(1) << fraction_bits) - 1,
             any = gen_random(g) & fraction_most;
    uint64_t fractions[] = {0, 0, 1, fraction_most, fraction_most / 2 + 1, any, any};
    uint64_t exponent = exponents[gen_below(g, 10)], fraction = fractions[gen_below(g, 7)],
             sign = gen_below(g, 2);
    return sign << (fraction_bits + exponent_bits) | exponent << fraction_bits | fraction;
}

static uint64_t float_of(struct gen *g, unsigned bits)
{
    if (bits == 64)
        return float_corner(g, 52, 11);
    if (bits == 32)
        return float_corner(g, 23, 8);
    return gen_chance(g, 70) ? float_corner(g, 10, 5) : float_corner(g, 7, 8);
}

uint64_t gen_special(struct gen *g, unsigned bits)
{
    uint64_t power = UINT64_C(1) << gen_below(g, bits), value;
    switch (gen_below(g, 8)) {
    case 0:
        value = gen_below(g, 70);
        break;
    case 1:
        value = 0 - (uint64_t)gen_below(g, 70);
        break;
    case 2:
        value = power - gen_below(g, 2);
        break;
    case 3:
        value = gen_random(g);
        break;
    case 4:
        value = bits > 16 ? gen_special(g, bits / 2) : gen_random(g);
        if (bits > 16)
            value = value << bits / 2 | gen_special(g, bits / 2);
        break;
    default:
        value = float_of(g, bits);
    }
    return bits == 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}
