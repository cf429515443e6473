#include "backend/semantics/texture_probe.h"

#include <math.h>

enum { WEIGHT_BITS = 8, FRACTION = 1 << WEIGHT_BITS, STEP = 64 };

/* Limits of the ratio, and their logarithms in 1/256. */
static int32_t limit_log(unsigned limit)
{
    static const struct {
        uint16_t limit, log;
    } limits[] = {{16, 1024}, {12, 912}, {10, 848}, {8, 768}, {6, 656}, {4, 512}, {2, 256}};
    unsigned i = 0;
    while (limits[i].limit > limit)
        i++;
    return limits[i].log;
}

/* The vector of length STEP along an axis. */
static void find_step(const double *axis, int32_t *step)
{
    int exponent = ilogb(fmax(fabs(axis[0]), fabs(axis[1])));
    double part[2];
    for (unsigned i = 0; i < 2; i++) {
        double units = ldexp(fabs(axis[i]), 3 - exponent);
        part[i] = units < 0.25 ? 0 : floor(units) + 0.5;
    }
    double length = sqrt(part[0] * part[0] + part[1] * part[1]);
    for (unsigned i = 0; i < 2; i++)
        step[i] = (int32_t)copysign(floor(part[i] * STEP / length + 0.5), axis[i]);
}

int32_t pt_texture_probe_set(unsigned limit, const struct pt_texture_axis *major, double area,
                             struct pt_sample *s)
{
    int32_t log = pt_texture_length_find_log(major->length),
            level = pt_texture_length_find_log(area) - log, least = log - limit_log(limit);
    if (!major->length)
        return log;
    level = level > least ? level : least;
    level = level < log ? level : log;
    s->has_probes = true;
    s->ratio = log - (level > 0 ? level : 0);
    find_step(major->at, s->step);
    return level;
}

/* 2^(8 - r / 256) */
static uint32_t power(uint32_t r)
{
    return (uint32_t)floor(exp2(8 - r / 256.0) + 0.5);
}

/* The weights of one side, from the middle outwards, half of 2^bits together. Returns how many. */
static unsigned find_weights(uint32_t ratio, unsigned bits, uint32_t *weight)
{
    uint32_t left = 1u << (bits - 1), e = ratio / FRACTION,
             each = e ? power(ratio % FRACTION) << (bits - WEIGHT_BITS) >> e : left;
    unsigned n = 0;
    for (; left; left -= weight[n++])
        weight[n] = left < each ? left : each;
    return n;
}

/* From one probe to the next. */
static int32_t step_between(int32_t step, uint32_t ratio, uint32_t upper, bool is_upper)
{
    if (ratio < FRACTION)
        step = (step * (FRACTION - (int32_t)power(ratio)) + 64) >> 7;
    return upper && !is_upper ? step * (int32_t)(power(FRACTION - upper) / 2) >> 6 : step;
}

/* From the left to the right, of `n` weights on a side. */
static void place_all(const uint32_t *weight, unsigned n, uint32_t whole, const int32_t *step,
                      struct pt_texture_probes *probes)
{
    uint32_t sum = 0, before = 0;
    probes->n = 2 * n;
    for (unsigned k = 0; k < 2 * n; k++) {
        unsigned pair = k < n ? n - 1 - k : k - n;
        int32_t halves = (int32_t)(2 * pair + 1) * (k < n ? -1 : 1);
        sum += weight[pair];
        uint32_t until = (sum * whole + FRACTION / 2) / FRACTION;
        probes->weight[k] = until - before;
        before = until;
        for (unsigned i = 0; i < 2; i++)
            probes->at[k][i] = 2 * halves * step[i];
    }
}

void pt_texture_probe_place(const struct pt_sample *s, uint32_t upper, bool is_upper,
                            struct pt_texture_probes *probes)
{
    int32_t ratio = s->ratio - (is_upper ? FRACTION - (int32_t)upper : 0), step[2];
    uint32_t whole = is_upper ? upper : FRACTION - upper, weight[PT_TEXTURE_PROBES / 2];
    ratio += (ratio & (FRACTION - 1)) == FRACTION - 1;
    if (ratio <= 0) {
        *probes = (struct pt_texture_probes){
            .n = 1, .lost_bits = PT_TEXTURE_PROBE_WEIGHT_BITS - WEIGHT_BITS, .weight = {whole}};
        return;
    }
    unsigned bits = WEIGHT_BITS + (ratio < 2 * FRACTION ? 1 : 2);
    probes->lost_bits = PT_TEXTURE_PROBE_WEIGHT_BITS - bits;
    for (unsigned i = 0; i < 2; i++)
        step[i] = step_between(s->step[i], (uint32_t)ratio, upper, is_upper);
    place_all(weight, find_weights((uint32_t)ratio, bits, weight), whole, step, probes);
}
