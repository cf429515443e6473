/* The second set: double precision. */
#include "tests/bench/sets.h"

#include "tests/bench/add.h"
#include "tests/bench/random.h"

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

static void make_heat3d(struct bench_case *c, unsigned side) /* side^3, two steps */
{
    size_t n = (size_t)side * side * side;
    int a = add_doubles(c, n, BENCH_OUT | BENCH_RESET, 33, 0, 1);
    int b = add_buffer(c, BENCH_F64, n, 0);
    for (int step = 0; step < 2; step++) {
        struct bench_launch *l = add_launch(c, "heat3d", divide_up(side, 32), 32);
        add_shape(l, divide_up(side, 4), side, 4);
        for (int axis = 0; axis < 3; axis++)
            add_u32(l, side);
        add_f64(l, 0.4);
        add_f64(l, 0.1);
        add_buffer_argument(l, step ? b : a);
        add_buffer_argument(l, step ? a : b);
    }
    c->work = 2 * 16.0 * (double)n;
}

static void make_stencil9(struct bench_case *c, unsigned side) /* two steps */
{
    size_t n = (size_t)side * side;
    int a = add_doubles(c, n, BENCH_OUT | BENCH_RESET, 34, -1, 1);
    int b = add_buffer(c, BENCH_F64, n, 0);
    for (int step = 0; step < 2; step++) {
        struct bench_launch *l = add_launch(c, "stencil9", divide_up(side, 32), 32);
        add_shape(l, divide_up(side, 8), 1, 8);
        add_u32(l, side);
        add_f64(l, 0.4);
        add_f64(l, 0.1);
        add_f64(l, 0.05);
        add_buffer_argument(l, step ? b : a);
        add_buffer_argument(l, step ? a : b);
    }
    c->work = 2 * 16.0 * (double)n;
}

/* A symmetric matrix with a heavy diagonal, so that no pivots are needed. */
static int add_matrix(struct bench_case *c, unsigned side)
{
    int a = add_buffer(c, BENCH_F64, (size_t)side * side, BENCH_OUT | BENCH_RESET);
    for (unsigned i = 0; i < side; i++)
        for (unsigned j = 0; j <= i; j++) {
            double v = i == j ? side : unit_of(i * side + j, 35) - 0.5;
            D(c, a)[(size_t)i * side + j] = D(c, a)[(size_t)j * side + i] = v;
        }
    return a;
}

static void add_step(struct bench_case *c, int a, const char *kernel, unsigned k)
{
    unsigned rest = c->size - 1 - k;
    struct bench_launch *l = add_launch(c, kernel, divide_up(rest, 128), 128);
    add_u32(l, c->size);
    add_u32(l, k);
    add_buffer_argument(l, a);
}

/* The square behind row and column k, by blocks of 16 x 16. */
static void add_update(struct bench_case *c, int a, const char *kernel, unsigned k)
{
    add_step(c, a, kernel, k);
    struct bench_launch *l = &c->launch[c->n_launches - 1];
    l->grid[0] = l->grid[1] = divide_up(c->size - 1 - k, 16);
    l->block[0] = l->block[1] = 16;
}

static void make_lu(struct bench_case *c, unsigned side)
{
    int a = add_matrix(c, side);
    for (unsigned k = 0; k + 1 < side; k++) {
        add_step(c, a, "lu_column", k);
        add_update(c, a, "lu_update", k);
    }
}

static void make_cholesky(struct bench_case *c, unsigned side)
{
    int a = add_matrix(c, side);
    for (unsigned k = 0; k < side; k++) {
        struct bench_launch *l = add_launch(c, "chol_diagonal", 1, 1);
        add_u32(l, side);
        add_u32(l, k);
        add_buffer_argument(l, a);
        if (k + 1 < side) {
            add_step(c, a, "chol_column", k);
            add_update(c, a, "chol_update", k);
        }
    }
}

static void make_dgemm(struct bench_case *c, unsigned side)
{
    size_t n = (size_t)side * side;
    struct bench_launch *l = add_launch(c, "dgemm", side / 64, 16);
    add_shape(l, side / 64, 1, 16);
    add_u32(l, side);
    add_buffer_argument(l, add_doubles(c, n, 0, 36, -1, 1));
    add_buffer_argument(l, add_doubles(c, n, 0, 37, -1, 1));
    add_buffer_argument(l, add_buffer(c, BENCH_F64, n, BENCH_OUT));
}

static void make_nbody64(struct bench_case *c, unsigned n)
{
    int position = add_doubles(c, 4 * (size_t)n, 0, 38, -1, 1);
    for (unsigned i = 0; i < n; i++)
        D(c, position)[4 * i + 3] = 0.5 + 0.5 * unit_of(i, 39);
    struct bench_launch *l = add_launch(c, "nbody64", n / 256, 256);
    add_u32(l, n);
    add_f64(l, 0.01);
    add_buffer_argument(l, position);
    add_buffer_argument(l, add_buffer(c, BENCH_F64, 4 * (size_t)n, BENCH_OUT));
}

static void make_lbm(struct bench_case *c, unsigned side) /* two steps */
{
    size_t n = 9 * (size_t)side * side;
    int a = add_doubles(c, n, BENCH_OUT | BENCH_RESET, 40, 0.1, 0.12);
    int b = add_buffer(c, BENCH_F64, n, 0);
    for (int step = 0; step < 2; step++) {
        struct bench_launch *l = add_launch(c, "lbm", divide_up(side, 128), 128);
        add_shape(l, side, 1, 1);
        add_u32(l, side);
        add_f64(l, 1.2);
        add_buffer_argument(l, step ? b : a);
        add_buffer_argument(l, step ? a : b);
    }
    c->work = 2 * 16.0 * (double)n;
}

static const struct bench_kind kinds[] = {
    {"burgers", "f64/burgers", make_burgers, 2000, 256, .limit = LIMIT_SCALE},
    {"heat3d", "f64/heat3d", make_heat3d, 200, 48, .limit = LIMIT_SCALE},
    {"stencil9", "f64/stencil9", make_stencil9, 2048, 384, .limit = LIMIT_SCALE},
    {"lu", "f64/lu", make_lu, 640, 160, .limit = LIMIT_NONE},
    {"cholesky", "f64/cholesky", make_cholesky, 640, 160, .limit = LIMIT_NONE},
    {"dgemm", "f64/dgemm", make_dgemm, 768, 256, .limit = LIMIT_NONE, .multiple = 64},
    {"nbody64", "f64/nbody64", make_nbody64, 4096, 1024, .limit = LIMIT_NONE, .multiple = 256},
    {"lbm", "f64/lbm", make_lbm, 512, 96, .limit = LIMIT_SCALE},
    {0},
};

BENCH_TABLE(f64, "second", "f64");
