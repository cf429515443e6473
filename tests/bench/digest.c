/* Digests of results. */
#include "tests/bench/digest.h"

#include <math.h>
#include <string.h>

/* Of an element's magnitude. The narrow types are rounded at each store: an ulp, of 2^-11 and 2^-8
 * to either side, here and there. */
static const double tolerance[BENCH_TYPES] = {
    [BENCH_F32] = 1e-5,  [BENCH_F64] = 1e-10, [BENCH_F16] = 5e-4,
    [BENCH_BF16] = 4e-3, [BENCH_U8] = 1e-3,   [BENCH_I8] = 1e-3,
    [BENCH_U16] = 1e-5,  [BENCH_U32] = 1e-5,  [BENCH_U64] = 1e-5}; /* integers: with BENCH_NEAR */

static uint64_t integer_at(const struct bench_buffer *b, size_t i)
{
    switch (b->type) {
    case BENCH_U64:
        return ((const uint64_t *)b->host)[i];
    case BENCH_U16:
        return ((const uint16_t *)b->host)[i];
    case BENCH_U8:
    case BENCH_I8:
        return ((const uint8_t *)b->host)[i];
    default:
        return ((const uint32_t *)b->host)[i];
    }
}

static float float_of_half(uint16_t h)
{
    unsigned exponent = h >> 10 & 31;
    float m = (float)(h & 1023) / 1024;
    float v = exponent == 31 ? (h & 1023 ? NAN : INFINITY)
              : exponent     ? ldexpf(1 + m, (int)exponent - 15)
                             : ldexpf(m, -14);
    return h & 0x8000 ? -v : v;
}

static float float_of_bf16(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static double number_at(const struct bench_buffer *b, size_t i)
{
    switch (b->type) {
    case BENCH_F32:
        return ((const float *)b->host)[i];
    case BENCH_F64:
        return ((const double *)b->host)[i];
    case BENCH_F16:
        return float_of_half(((const uint16_t *)b->host)[i]);
    case BENCH_BF16:
        return float_of_bf16(((const uint16_t *)b->host)[i]);
    case BENCH_I8:
        return ((const int8_t *)b->host)[i];
    default:
        return (double)integer_at(b, i);
    }
}

static void add_integers(struct digest *d, const struct bench_buffer *b)
{
    for (size_t i = 0; i < b->n; i++)
        d->hash = (d->hash ^ integer_at(b, i)) * 1099511628211u;
}

static void add_numbers(struct digest *d, const struct bench_buffer *b)
{
    for (size_t i = 0; i < b->n; i++) {
        size_t part = i * DIGEST_PARTS / b->n;
        double v = number_at(b, i) * (double)(1 + ((uint32_t)i * 2654435761u >> 28));
        d->sum[part] += v;
        d->magnitude[part] += fabs(v);
        d->allowed[part] += tolerance[b->type] * fabs(v);
    }
}

static bool is_float(enum bench_type type)
{
    return type <= BENCH_BF16;
}

void digest_make(struct digest *d, const struct bench_case *c)
{
    memset(d, 0, sizeof *d);
    d->hash = 14695981039346656037u;
    for (int i = 0; i < c->n_buffers; i++) {
        const struct bench_buffer *b = &c->buffer[i];
        if (!(b->flags & BENCH_OUT))
            continue;
        if (is_float(b->type) || b->flags & BENCH_NEAR)
            add_numbers(d, b);
        else
            add_integers(d, b);
    }
}

bool digest_is_equal(const struct digest *a, const struct digest *b)
{
    if (a->hash != b->hash)
        return false;
    for (int i = 0; i < DIGEST_PARTS; i++)
        /* Written so that a NaN differs from everything. */
        if (!(fabs(a->sum[i] - b->sum[i]) <= a->allowed[i] &&
              fabs(a->magnitude[i] - b->magnitude[i]) <= a->allowed[i]))
            return false;
    return true;
}
