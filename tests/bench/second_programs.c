/* The second set: what whole programs do: many launches, searches, sorts, tables. */
#include "tests/bench/sets.h"

#include "tests/bench/add.h"

/* `times` launches of 32 CTAs, one after the other. */
static void make_tiny(struct bench_case *c, unsigned times)
{
    int x = add_floats(c, 8192, BENCH_OUT | BENCH_RESET, 51, -1, 1);
    for (unsigned i = 0; i < times; i++) {
        struct bench_launch *l = add_launch(c, "tiny", 32, 256);
        add_u32(l, 8192);
        add_f32(l, 0.001f * (float)(i % 7));
        add_buffer_argument(l, x);
    }
}

static const struct bench_kind kinds[] = {
    {"tiny", "programs/tiny", make_tiny, 10000, 500, .limit = LIMIT_NONE},
    {0},
};

BENCH_TABLE(programs, "second", "programs");
