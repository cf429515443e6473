/* The second set: double precision. */
#include "tests/bench/sets.h"

#include "tests/bench/add.h"

static void make_burgers(struct bench_case *c, unsigned side) /* two steps */
{
    size_t n = (size_t)side * side;
    int field[4];
    for (int i = 0; i < 4; i++)
        field[i] = i < 2 ? add_doubles(c, n, BENCH_OUT | BENCH_RESET, 31 + (unsigned)i, 0.5, 2)
                         : add_buffer(c, BENCH_F64, n, BENCH_OUT);
    for (int step = 0; step < 2; step++) {
        struct bench_launch *l = add_launch(c, "burgers", divide_up(side, 16), 16);
        add_shape(l, divide_up(side, 16), 1, 16);
        add_u32(l, side);
        add_u32(l, side);
        add_f64(l, 0.05);
        add_f64(l, 0.06);
        add_f64(l, 0.02);
        add_f64(l, 0.03);
        for (int i = 0; i < 4; i++)
            add_buffer_argument(l, field[step ? i ^ 2 : i]);
    }
    c->work = 2 * 32.0 * (double)n;
}

static const struct bench_kind kinds[] = {
    {"burgers", "f64/burgers", make_burgers, 2000, 256, .limit = LIMIT_SCALE},
    {0},
};

BENCH_TABLE(f64, "second", "f64");
