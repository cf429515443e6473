/* What the machine can do: cases that only twins have, beside which others are put. */
#include "tests/bench/sets.h"

#include "tests/bench/add.h"

/* Three arrays that fit no cache; what is done with them, kernels/limits.c says. */
static void make_bandwidth(struct bench_case *c, unsigned n)
{
    add_floats(c, n, 0, 21, -1, 1);
    add_buffer(c, BENCH_F32, n, 0);
    static const double words[LIMITS] = {[LIMIT_READ] = 1, [LIMIT_SCALE] = 2, [LIMIT_UPDATE] = 3};
    c->work = 4.0 * words[c->kind->limit] * n;
}

/* Loops of multiply-adds in every thread; the twin sets the work, which depends on the vectors it
 * has. */
static void make_fma(struct bench_case *c, unsigned loops)
{
    (void)loops;
    add_buffer(c, BENCH_F32, 1, 0);
}

static const struct bench_kind kinds[] = {
    {"read", "limits", make_bandwidth, 1 << 25, 1 << 25, .limit = LIMIT_READ, .is_limit = true},
    {"scale", "limits", make_bandwidth, 1 << 25, 1 << 25, .limit = LIMIT_SCALE, .is_limit = true},
    {"update", "limits", make_bandwidth, 1 << 25, 1 << 25, .limit = LIMIT_UPDATE, .is_limit = true},
    {"fma", "limits", make_fma, 2000000, 1000000, .limit = LIMIT_FMA, .is_limit = true},
    {0},
};

BENCH_TABLE(limits, "limits", "limits");
