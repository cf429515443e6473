/* Digests of results. */
#include "tests/bench/digest.h"

#include <math.h>
#include <string.h>

static void add_words(struct digest *d, const uint32_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        d->hash = (d->hash ^ words[i]) * 1099511628211u;
}

static void add_floats(struct digest *d, const float *elements, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t part = i * DIGEST_PARTS / n;
        double v = elements[i] * (double)(1 + ((uint32_t)i * 2654435761u >> 28));
        d->sum[part] += v;
        d->magnitude[part] += fabs(v);
    }
}

void digest_make(struct digest *d, const struct bench_case *c)
{
    memset(d, 0, sizeof *d);
    d->hash = 14695981039346656037u;
    for (int i = 0; i < c->n_buffers; i++) {
        const struct bench_buffer *b = &c->buffer[i];
        if (!(b->flags & BENCH_OUT))
            continue;
        if (b->type == BENCH_U32)
            add_words(d, b->host, b->n);
        else
            add_floats(d, b->host, b->n);
    }
}

bool digest_is_equal(const struct digest *a, const struct digest *b)
{
    if (a->hash != b->hash)
        return false;
    for (int i = 0; i < DIGEST_PARTS; i++) {
        double allowed = DIGEST_TOLERANCE * a->magnitude[i];
        /* Written so that a NaN differs from everything. */
        if (!(fabs(a->sum[i] - b->sum[i]) <= allowed &&
              fabs(a->magnitude[i] - b->magnitude[i]) <= allowed))
            return false;
    }
    return true;
}
