/* The first set: sixteen kernels of f32 and u32, one kind of work each, and launches of nothing. */
#include "tests/bench/sets.h"

#include "tests/bench/add.h"
#include "tests/bench/random.h"

static void make_saxpy(struct bench_case *c, unsigned n)
{
    int x = add_floats(c, n, 0, 1, -1, 1), y = add_floats(c, n, BENCH_OUT | BENCH_RESET, 2, -1, 1);
    struct bench_launch *l = add_launch(c, "saxpy", divide_up(n, 256), 256);
    add_u32(l, n);
    add_f32(l, 2.5f);
    add_buffer_argument(l, x);
    add_buffer_argument(l, y);
    c->work = 12.0 * n;
}

static void make_stencil1d(struct bench_case *c, unsigned n)
{
    int in = add_floats(c, n + 8, 0, 3, -1, 1), out = add_buffer(c, BENCH_F32, n, BENCH_OUT);
    struct bench_launch *l = add_launch(c, "stencil1d", divide_up(n, 256), 256);
    add_u32(l, n);
    add_buffer_argument(l, in);
    add_buffer_argument(l, out);
    c->work = 8.0 * n;
}

static void make_stencil3d(struct bench_case *c, unsigned side) /* side^3, two steps */
{
    size_t n = (size_t)side * side * side;
    int in = add_floats(c, n, 0, 4, 0, 1), between = add_buffer(c, BENCH_F32, n, 0);
    int out = add_buffer(c, BENCH_F32, n, BENCH_OUT);
    for (int step = 0; step < 2; step++) {
        struct bench_launch *l = add_launch(c, "stencil3d", divide_up(side, 32), 32);
        add_shape(l, divide_up(side, 8), side, 8);
        for (int axis = 0; axis < 3; axis++)
            add_u32(l, side);
        add_f32(l, 0.4f);
        add_f32(l, 0.1f);
        add_buffer_argument(l, step ? between : in);
        add_buffer_argument(l, step ? out : between);
    }
    c->work = 2 * 8.0 * (double)n;
}

static void make_transpose(struct bench_case *c, unsigned side)
{
    size_t n = (size_t)side * side;
    int in = add_floats(c, n, 0, 5, -1, 1), out = add_buffer(c, BENCH_F32, n, BENCH_OUT);
    struct bench_launch *l = add_launch(c, "transpose", divide_up(side, 32), 32);
    add_shape(l, divide_up(side, 32), 1, 8);
    add_u32(l, side);
    add_buffer_argument(l, in);
    add_buffer_argument(l, out);
    c->work = 8.0 * (double)n;
}

static void make_sgemm(struct bench_case *c, unsigned side, const char *kernel, unsigned tile)
{
    size_t n = (size_t)side * side;
    int a = add_floats(c, n, 0, 6, -1, 1), b = add_floats(c, n, 0, 7, -1, 1);
    int out = add_buffer(c, BENCH_F32, n, BENCH_OUT);
    struct bench_launch *l = add_launch(c, kernel, side / tile, 16);
    add_shape(l, side / tile, 1, 16);
    add_u32(l, side);
    add_buffer_argument(l, a);
    add_buffer_argument(l, b);
    add_buffer_argument(l, out);
    c->work = 2.0 * (double)n * side;
}

static void make_sgemm16(struct bench_case *c, unsigned side)
{
    make_sgemm(c, side, "sgemm16", 16);
}

static void make_sgemm64(struct bench_case *c, unsigned side)
{
    make_sgemm(c, side, "sgemm64", 64);
}

static void make_reduce(struct bench_case *c, unsigned n)
{
    int in = add_floats(c, n, 0, 8, 0, 1), part = add_buffer(c, BENCH_F32, 1024, 0);
    int out = add_buffer(c, BENCH_F32, 1, BENCH_OUT);
    struct bench_launch *l = add_launch(c, "reduce", 1024, 256);
    add_u32(l, n);
    add_buffer_argument(l, in);
    add_buffer_argument(l, part);
    l = add_launch(c, "reduce", 1, 256);
    add_u32(l, 1024);
    add_buffer_argument(l, part);
    add_buffer_argument(l, out);
    c->work = 4.0 * n;
}

enum { SCAN_CTA = 1024, SCAN_LEVELS = 5 };

/* Exclusive: each CTA scans SCAN_CTA elements and gives their sum to the next level; then the way
 * back adds. */
static void make_scan(struct bench_case *c, unsigned n)
{
    unsigned length[SCAN_LEVELS + 1] = {n};
    int sums[SCAN_LEVELS + 1], scanned[SCAN_LEVELS + 1], levels = 0;
    sums[0] = add_buffer(c, BENCH_U32, n, 0);
    scanned[0] = add_buffer(c, BENCH_U32, n, BENCH_OUT);
    for (unsigned i = 0; i < n; i++)
        U(c, sums[0])[i] = hash_of(i + 9) & 255;
    do {
        levels++;
        length[levels] = divide_up(length[levels - 1], SCAN_CTA);
        sums[levels] = add_buffer(c, BENCH_U32, length[levels], 0);
        scanned[levels] = add_buffer(c, BENCH_U32, length[levels], 0);
    } while (length[levels] > 1);
    for (int k = 0; k < levels; k++) {
        struct bench_launch *l = add_launch(c, "scan_block", length[k + 1], 256);
        add_u32(l, length[k]);
        add_buffer_argument(l, sums[k]);
        add_buffer_argument(l, scanned[k]);
        add_buffer_argument(l, sums[k + 1]);
    }
    for (int k = levels - 2; k >= 0; k--) {
        struct bench_launch *l = add_launch(c, "scan_add", length[k + 1], 256);
        add_u32(l, length[k]);
        add_buffer_argument(l, scanned[k]);
        add_buffer_argument(l, scanned[k + 1]);
    }
    c->work = 8.0 * n;
}

static void make_histogram(struct bench_case *c, unsigned n)
{
    int in = add_buffer(c, BENCH_U32, n, 0),
        bins = add_buffer(c, BENCH_U32, 256, BENCH_OUT | BENCH_RESET);
    for (unsigned i = 0; i < n; i++) { /* skewed: the product of two uniform numbers */
        uint64_t a = hash_of(i + 10), b = hash_of(i ^ 0x55aa1234u);
        U(c, in)[i] = (uint32_t)((a * b) >> 32);
    }
    struct bench_launch *l = add_launch(c, "histogram", 256, 256);
    add_u32(l, n);
    add_buffer_argument(l, in);
    add_buffer_argument(l, bins);
    c->work = 4.0 * n;
}

static void make_nbody(struct bench_case *c, unsigned n)
{
    int position = add_floats(c, 4 * (size_t)n, 0, 11, -1, 1);
    int acceleration = add_buffer(c, BENCH_F32, 4 * (size_t)n, BENCH_OUT);
    for (unsigned i = 0; i < n; i++)
        F(c, position)[4 * i + 3] = 0.5f + 0.5f * unit_of(i, 12);
    struct bench_launch *l = add_launch(c, "nbody", n / 256, 256);
    add_u32(l, n);
    add_f32(l, 0.01f);
    add_buffer_argument(l, position);
    add_buffer_argument(l, acceleration);
}

static void make_blackscholes(struct bench_case *c, unsigned n)
{
    struct bench_launch *l = add_launch(c, "blackscholes", divide_up(n, 256), 256);
    add_u32(l, n);
    add_f32(l, 0.02f);
    add_f32(l, 0.30f);
    add_buffer_argument(l, add_floats(c, n, 0, 13, 5, 30));
    add_buffer_argument(l, add_floats(c, n, 0, 14, 1, 100));
    add_buffer_argument(l, add_floats(c, n, 0, 15, 0.25f, 10));
    for (int out = 0; out < 2; out++)
        add_buffer_argument(l, add_buffer(c, BENCH_F32, n, BENCH_OUT));
}

static void make_mandelbrot(struct bench_case *c, unsigned side) /* at most 512 steps */
{
    struct bench_launch *l = add_launch(c, "mandelbrot", divide_up(side, 32), 32);
    add_shape(l, divide_up(side, 8), 1, 8);
    add_u32(l, side);
    add_u32(l, side);
    add_u32(l, 512);
    add_f32(l, -2.0f);
    add_f32(l, -1.25f);
    add_f32(l, 2.5f / (float)side);
    add_buffer_argument(l, add_buffer(c, BENCH_U32, (size_t)side * side, BENCH_OUT));
}

/* Compressed rows of 1 to 24 elements, one row in 256 of 256; half of the elements near the
 * diagonal, half anywhere. */
static void make_spmv(struct bench_case *c, unsigned rows)
{
    int row = add_buffer(c, BENCH_U32, rows + 1, 0);
    uint32_t n = 0;
    for (unsigned r = 0; r < rows; r++) {
        uint32_t h = hash_of(r + 16);
        U(c, row)[r] = n;
        n += (h & 255) == 0 ? 256 : 1 + (h >> 8) % 24;
    }
    U(c, row)[rows] = n;
    int column = add_buffer(c, BENCH_U32, n, 0);
    for (unsigned r = 0, k = 0; r < rows; r++)
        for (; k < U(c, row)[r + 1]; k++) {
            uint32_t h = hash_of(k + 17);
            U(c, column)[k] = (h & 1) ? (r + (h >> 20)) % rows : (h >> 1) % rows;
        }
    struct bench_launch *l = add_launch(c, "spmv", divide_up(rows, 256), 256);
    add_u32(l, rows);
    add_buffer_argument(l, row);
    add_buffer_argument(l, column);
    add_buffer_argument(l, add_floats(c, n, 0, 18, -1, 1));
    add_buffer_argument(l, add_floats(c, rows, 0, 19, -1, 1));
    add_buffer_argument(l, add_buffer(c, BENCH_F32, rows, BENCH_OUT));
    c->work = 8.0 * n + 12.0 * rows;
}

static void make_sha256(struct bench_case *c, unsigned n)
{
    struct bench_launch *l = add_launch(c, "sha256", divide_up(n, 256), 256);
    add_u32(l, n);
    add_u32(l, 0x1234abcdu);
    add_buffer_argument(l, add_buffer(c, BENCH_U32, n, BENCH_OUT));
}

static void make_bitonic(struct bench_case *c, unsigned n)
{
    int keys = add_buffer(c, BENCH_U32, n, BENCH_OUT | BENCH_RESET);
    for (unsigned i = 0; i < n; i++)
        U(c, keys)[i] = hash_of(i + 20);
    add_buffer_argument(add_launch(c, "bitonic_local_sort", n / 1024, 512), keys);
    for (unsigned k = 2048; k && k <= n; k <<= 1) {
        struct bench_launch *l;
        for (unsigned j = k / 2; j > 512; j >>= 1) {
            l = add_launch(c, "bitonic_global", n / 512, 256);
            add_buffer_argument(l, keys);
            add_u32(l, k);
            add_u32(l, j);
        }
        l = add_launch(c, "bitonic_local_merge", n / 1024, 512);
        add_buffer_argument(l, keys);
        add_u32(l, k);
    }
}

/* `times` launches of `n` CTAs of 64 threads that do nothing. */
static void make_launches(struct bench_case *c, unsigned n, unsigned times)
{
    int nothing = add_buffer(c, BENCH_U32, 64, BENCH_OUT);
    for (unsigned i = 0; i < times; i++)
        add_buffer_argument(add_launch(c, "empty", n, 64), nothing);
}

static void make_empty(struct bench_case *c, unsigned times)
{
    make_launches(c, 1, times);
}

static void make_empty_1k(struct bench_case *c, unsigned times)
{
    make_launches(c, 1024, times);
}

static void make_empty_64k(struct bench_case *c, unsigned times)
{
    make_launches(c, 65536, times);
}

static const struct bench_kind kinds[] = {
    {"saxpy", "saxpy", make_saxpy, 1 << 25, 1 << 22, .limit = LIMIT_UPDATE},
    {"stencil1d", "stencil1d", make_stencil1d, 1 << 25, 1 << 21, .limit = LIMIT_SCALE},
    {"stencil3d", "stencil3d", make_stencil3d, 256, 96, .limit = LIMIT_SCALE},
    {"transpose", "transpose", make_transpose, 4096, 1024, .limit = LIMIT_SCALE},
    {"sgemm16", "sgemm16", make_sgemm16, 1024, 256, .limit = LIMIT_FMA, .multiple = 64},
    {"sgemm64", "sgemm64", make_sgemm64, 1024, 256, .limit = LIMIT_FMA, .multiple = 64},
    {"reduce", "reduce", make_reduce, 1 << 26, 1 << 22, .limit = LIMIT_READ},
    {"scan", "scan", make_scan, 1 << 24, 1 << 20, .limit = LIMIT_SCALE},
    {"histogram", "histogram", make_histogram, 1 << 24, 1 << 20, .limit = LIMIT_READ},
    {"nbody", "nbody", make_nbody, 16384, 2048, .limit = LIMIT_NONE, .multiple = 256},
    {"blackscholes", "blackscholes", make_blackscholes, 1 << 22, 1 << 17, .limit = LIMIT_NONE},
    {"mandelbrot", "mandelbrot", make_mandelbrot, 1024, 256, .limit = LIMIT_NONE},
    {"spmv", "spmv", make_spmv, 1 << 20, 1 << 16, .limit = LIMIT_READ},
    {"sha256", "sha256", make_sha256, 1 << 20, 1 << 14, .limit = LIMIT_NONE},
    {"bitonic", "bitonic", make_bitonic, 1 << 20, 1 << 15, .multiple = 2048, .is_power = true},
    {"empty", "empty", make_empty, 1000, 200, .is_launch = true},
    {"empty-1k", "empty", make_empty_1k, 100, 20, .is_launch = true},
    {"empty-64k", "empty", make_empty_64k, 4, 1, .is_launch = true},
    {0},
};

BENCH_TABLE(first, "first", "first");
