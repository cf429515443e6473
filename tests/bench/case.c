/* The table of cases and the data they work on. */
#include "tests/bench/case.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- buffers and arguments ------------------------------------------------------------------- */

static uint32_t hash(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

static float unit(uint32_t i, uint32_t salt) /* from [0, 1) */
{
    return (float)(hash(i * 0x9E3779B9u + salt) >> 8) * (1.0f / 16777216.0f);
}

/* Zeroed, in huge pages where the system has them on demand, so that page size is the same for
 * everyone. Buffers begin at different places of a page: where all begin at the same, a load seems
 * to some CPUs to depend on a store to another buffer. */
static void *alloc(size_t n)
{
    static size_t stagger;
    size_t huge = 2u << 20, bytes = (n * 4 + 4096 + huge - 1) / huge * huge;
    char *p = aligned_alloc(huge, bytes);
    if (!p)
        abort();
    madvise(p, bytes, MADV_HUGEPAGE);
    memset(p, 0, bytes);
    stagger = (stagger + 1280) % 4096;
    return p + stagger;
}

static int add_buffer(struct bench_case *c, enum bench_type type, size_t n, unsigned flags)
{
    c->buffer[c->n_buffers] =
        (struct bench_buffer){.type = type, .flags = flags, .n = n, .host = alloc(n)};
    return c->n_buffers++;
}

static int add_floats(struct bench_case *c, size_t n, unsigned flags, uint32_t salt, float low,
                      float high)
{
    int b = add_buffer(c, BENCH_F32, n, flags);
    for (size_t i = 0; i < n; i++)
        F(c, b)[i] = low + (high - low) * unit((uint32_t)i, salt);
    return b;
}

static struct bench_launch *add_launch(struct bench_case *c, const char *kernel, unsigned grid,
                                       unsigned block)
{
    c->launch = realloc(c->launch, sizeof *c->launch * (size_t)(c->n_launches + 1));
    if (!c->launch)
        abort();
    struct bench_launch *l = &c->launch[c->n_launches++];
    *l = (struct bench_launch){.kernel = kernel, .grid = {grid, 1, 1}, .block = {block, 1, 1}};
    return l;
}

static void set_shape(struct bench_launch *l, unsigned gy, unsigned gz, unsigned by)
{
    l->grid[1] = gy;
    l->grid[2] = gz;
    l->block[1] = by;
}

static void add_buffer_argument(struct bench_launch *l, int buffer)
{
    l->argument[l->n_arguments++] = (struct bench_argument){.is_buffer = true, .buffer = buffer};
}

static void add_u32(struct bench_launch *l, uint32_t u)
{
    l->argument[l->n_arguments++] = (struct bench_argument){.u = u};
}

static void add_f32(struct bench_launch *l, float f)
{
    l->argument[l->n_arguments++] = (struct bench_argument){.f = f};
}

static unsigned divide_up(unsigned a, unsigned b)
{
    return (a + b - 1) / b;
}

/* ---- cases ----------------------------------------------------------------------------------- */

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
        set_shape(l, divide_up(side, 8), side, 8);
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
    set_shape(l, divide_up(side, 32), 1, 8);
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
    set_shape(l, side / tile, 1, 16);
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
        U(c, sums[0])[i] = hash(i + 9) & 255;
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
        uint64_t a = hash(i + 10), b = hash(i ^ 0x55aa1234u);
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
        F(c, position)[4 * i + 3] = 0.5f + 0.5f * unit(i, 12);
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
    set_shape(l, divide_up(side, 8), 1, 8);
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
        uint32_t h = hash(r + 16);
        U(c, row)[r] = n;
        n += (h & 255) == 0 ? 256 : 1 + (h >> 8) % 24;
    }
    U(c, row)[rows] = n;
    int column = add_buffer(c, BENCH_U32, n, 0);
    for (unsigned r = 0, k = 0; r < rows; r++)
        for (; k < U(c, row)[r + 1]; k++) {
            uint32_t h = hash(k + 17);
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
        U(c, keys)[i] = hash(i + 20);
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
    {"saxpy", "saxpy", make_saxpy, 1 << 25, 1 << 22, .limit = LIMIT_UPDATE},
    {"stencil1d", "stencil1d", make_stencil1d, 1 << 25, 1 << 21, .limit = LIMIT_SCALE},
    {"stencil3d", "stencil3d", make_stencil3d, 256, 96, .limit = LIMIT_SCALE},
    {"transpose", "transpose", make_transpose, 4096, 1024, .limit = LIMIT_SCALE},
    {"sgemm16", "sgemm16", make_sgemm16, 1024, 256, .limit = LIMIT_FMA},
    {"sgemm64", "sgemm64", make_sgemm64, 1024, 256, .limit = LIMIT_FMA},
    {"reduce", "reduce", make_reduce, 1 << 26, 1 << 22, .limit = LIMIT_READ},
    {"scan", "scan", make_scan, 1 << 24, 1 << 20, .limit = LIMIT_SCALE},
    {"histogram", "histogram", make_histogram, 1 << 24, 1 << 20, .limit = LIMIT_READ},
    {"nbody", "nbody", make_nbody, 16384, 2048, .limit = LIMIT_NONE},
    {"blackscholes", "blackscholes", make_blackscholes, 1 << 22, 1 << 17, .limit = LIMIT_NONE},
    {"mandelbrot", "mandelbrot", make_mandelbrot, 1024, 256, .limit = LIMIT_NONE},
    {"spmv", "spmv", make_spmv, 1 << 20, 1 << 16, .limit = LIMIT_READ},
    {"sha256", "sha256", make_sha256, 1 << 20, 1 << 14, .limit = LIMIT_NONE},
    {"bitonic", "bitonic", make_bitonic, 1 << 20, 1 << 15, .limit = LIMIT_NONE},
    {"empty", "empty", make_empty, 1000, 200, .is_launch = true},
    {"empty-1k", "empty", make_empty_1k, 100, 20, .is_launch = true},
    {"empty-64k", "empty", make_empty_64k, 4, 1, .is_launch = true},
};

const struct bench_kind *bench_kind(int index)
{
    return index >= 0 && index < (int)(sizeof kinds / sizeof *kinds) ? &kinds[index] : NULL;
}

/* ---- a case as a whole ----------------------------------------------------------------------- */

/* The kernels without a guard work on whole tiles only. */
static const char *refuse_size(const struct bench_kind *kind, unsigned n)
{
    if (n == 0 || n > 1u << 28)
        return "the size is out of range";
    if ((kind->make == make_sgemm16 || kind->make == make_sgemm64) && n % 64)
        return "sgemm takes multiples of 64";
    if (kind->make == make_nbody && n % 256)
        return "nbody takes multiples of 256";
    if (kind->make == make_bitonic && (n < 2048 || (n & (n - 1))))
        return "bitonic takes powers of two from 2048 on";
    return NULL;
}

const char *bench_case_make(struct bench_case *c, const struct bench_kind *kind, unsigned size)
{
    const char *why = refuse_size(kind, size);
    if (why)
        return why;
    *c = (struct bench_case){.kind = kind, .size = size};
    kind->make(c, size);
    for (int i = 0; i < c->n_buffers; i++) {
        struct bench_buffer *b = &c->buffer[i];
        if (b->flags & BENCH_RESET)
            b->start = memcpy(alloc(b->n), b->host, b->n * 4);
    }
    return NULL;
}

void bench_case_reset(struct bench_case *c)
{
    for (int i = 0; i < c->n_buffers; i++)
        if (c->buffer[i].flags & BENCH_RESET)
            memcpy(c->buffer[i].host, c->buffer[i].start, c->buffer[i].n * 4);
}
