/* The second set: bytes, structures and integers. */
#include "tests/bench/sets.h"

#include <string.h>

#include "tests/bench/add.h"
#include "tests/bench/random.h"

enum { BLOCK = 256, ROW = 32, COLUMN = 8 };

/* A thread for each of n elements; the first argument. */
static struct bench_launch *add_elements(struct bench_case *c, const char *kernel, unsigned n)
{
    struct bench_launch *l = add_launch(c, kernel, divide_up(n, BLOCK), BLOCK);
    add_u32(l, n);
    return l;
}

/* A thread for each pixel of an image of 4 : 3; its width and height are the first arguments. */
static struct bench_launch *add_image(struct bench_case *c, const char *kernel, unsigned width)
{
    unsigned height = width / 4 * 3;
    struct bench_launch *l = add_launch(c, kernel, divide_up(width, ROW), ROW);
    add_shape(l, divide_up(height, COLUMN), 1, COLUMN);
    add_u32(l, width);
    add_u32(l, height);
    return l;
}

static size_t pixels(unsigned width)
{
    return (size_t)width * (width / 4 * 3);
}

static void add_in(struct bench_case *c, struct bench_launch *l, enum bench_type type, size_t n,
                   unsigned flags)
{
    add_buffer_argument(l, add_bits(c, type, n, flags, 71u + (unsigned)c->n_buffers));
}

static void add_out(struct bench_case *c, struct bench_launch *l, enum bench_type type, size_t n,
                    unsigned flags)
{
    add_buffer_argument(l, add_buffer(c, type, n, BENCH_OUT | flags));
}

/* ---- images ---------------------------------------------------------------------------------- */

static void make_gamma(struct bench_case *c, unsigned n)
{
    add_in(c, add_elements(c, "gamma_rgba", n), BENCH_U8, 4 * (size_t)n,
           BENCH_OUT | BENCH_RESET | BENCH_NEAR);
}

static void make_wheel(struct bench_case *c, unsigned width)
{
    struct bench_launch *l = add_image(c, "wheel", width);
    add_f32(l, 3.1f / (float)width);
    add_out(c, l, BENCH_U8, 4 * pixels(width), BENCH_NEAR);
    add_out(c, l, BENCH_U8, 3 * pixels(width), BENCH_NEAR);
}

static void make_gray(struct bench_case *c, unsigned n)
{
    struct bench_launch *l = add_elements(c, "gray", n);
    add_in(c, l, BENCH_U8, 3 * (size_t)n, 0);
    add_out(c, l, BENCH_U8, n, 0);
}

static void make_planes(struct bench_case *c, unsigned n)
{
    struct bench_launch *l = add_elements(c, "planes", n);
    add_in(c, l, BENCH_U8, 4 * (size_t)n, 0);
    for (int i = 0; i < 3; i++)
        add_out(c, l, BENCH_U8, n, 0);
}

static void make_blur(struct bench_case *c, unsigned width)
{
    struct bench_launch *l = add_image(c, "blur_rgba", width);
    add_in(c, l, BENCH_U8, 4 * pixels(width), 0);
    add_out(c, l, BENCH_U8, 4 * pixels(width), 0);
}

static void make_box(struct bench_case *c, unsigned width)
{
    struct bench_launch *l = add_image(c, "box", width);
    add_in(c, l, BENCH_U8, pixels(width), 0);
    add_out(c, l, BENCH_U8, pixels(width), 0);
}

static void make_sobel(struct bench_case *c, unsigned width)
{
    struct bench_launch *l = add_image(c, "sobel", width);
    add_in(c, l, BENCH_U8, pixels(width), 0);
    add_out(c, l, BENCH_U8, pixels(width), BENCH_NEAR);
}

static void make_bilateral(struct bench_case *c, unsigned width)
{
    struct bench_launch *l = add_image(c, "bilateral", width);
    add_f32(l, 0.08f);
    add_f32(l, 0.0008f);
    add_in(c, l, BENCH_U8, pixels(width), 0);
    add_out(c, l, BENCH_U8, pixels(width), BENCH_NEAR);
}

static void make_alpha(struct bench_case *c, unsigned n)
{
    struct bench_launch *l = add_elements(c, "alpha", n);
    add_in(c, l, BENCH_U8, 4 * (size_t)n, 0);
    add_in(c, l, BENCH_U8, 4 * (size_t)n, BENCH_OUT | BENCH_RESET);
}

static void make_unsharp(struct bench_case *c, unsigned width)
{
    struct bench_launch *l = add_image(c, "unsharp", width);
    add_u32(l, 300);
    add_in(c, l, BENCH_U16, pixels(width), 0);
    add_out(c, l, BENCH_U16, pixels(width), 0);
}

/* ---- structures ------------------------------------------------------------------------------ */

static void add_moved(struct bench_case *c, struct bench_launch *l, size_t n, float low)
{
    add_buffer_argument(l, add_floats(c, n, BENCH_OUT | BENCH_RESET, 72, low, 1));
}

static void make_particles(struct bench_case *c, unsigned n)
{
    struct bench_launch *l = add_elements(c, "particles", n);
    add_f32(l, 0.01f);
    add_f32(l, 0.1f);
    add_moved(c, l, 7 * (size_t)n, 0.25f);
}

static void make_move3(struct bench_case *c, unsigned n)
{
    struct bench_launch *l = add_elements(c, "move3", n);
    add_f32(l, 0.1f);
    add_buffer_argument(l, add_floats(c, 3 * (size_t)n, 0, 73, -1, 1));
    add_moved(c, l, 3 * (size_t)n, 0);
    add_moved(c, l, 4 * (size_t)n, 0.25f);
}

/* As kernels/bytes/records.cu has it. */
struct record {
    float price;
    int32_t count;
    uint16_t kind;
    uint8_t flags, pad;
    uint32_t hole;
    double total;
};

static void make_records(struct bench_case *c, unsigned n)
{
    struct bench_launch *l = add_elements(c, "records", n);
    add_f32(l, 1.125f);
    int b =
        add_buffer(c, BENCH_U32, sizeof(struct record) / 4 * (size_t)n, BENCH_OUT | BENCH_RESET);
    for (unsigned i = 0; i < n; i++)
        AS(struct record, c, b)
        [i] = (struct record){.price = (float)(hash_of(i) % 1000) / 8,
                              .count = (int32_t)(hash_of(i + 7) % 100),
                              .kind = (uint16_t)hash_of(i + 9),
                              .flags = (uint8_t)hash_of(i + 11)};
    add_buffer_argument(l, b);
}

/* ---- integers and text ----------------------------------------------------------------------- */

static void make_bytehist(struct bench_case *c, unsigned n)
{
    struct bench_launch *l = add_launch(c, "bytehist", 64, BLOCK);
    add_u32(l, n);
    add_in(c, l, BENCH_U8, n, 0);
    add_out(c, l, BENCH_U32, 256, BENCH_RESET);
}

static void make_chacha(struct bench_case *c, unsigned n)
{
    struct bench_launch *l = add_elements(c, "chacha", n);
    add_in(c, l, BENCH_U32, 8, 0);
    add_in(c, l, BENCH_U32, 16 * (size_t)n, BENCH_OUT | BENCH_RESET);
}

static void make_md5(struct bench_case *c, unsigned n)
{
    struct bench_launch *l = add_elements(c, "md5", n);
    add_in(c, l, BENCH_U32, 12 * (size_t)n, 0);
    add_out(c, l, BENCH_U32, 4 * (size_t)n, 0);
}

static void make_hash64(struct bench_case *c, unsigned n)
{
    struct bench_launch *l = add_elements(c, "hash64", n);
    add_u64(l, 1234567890123);
    add_out(c, l, BENCH_U64, n, 0);
    add_out(c, l, BENCH_U32, n, 0);
    add_u32(l, 10007);
}

static void make_search(struct bench_case *c, unsigned n)
{
    static const char pattern[] = "abcabd";
    unsigned length = sizeof pattern - 1;
    struct bench_launch *l = add_elements(c, "search", n);
    int text = add_buffer(c, BENCH_U8, n + length, 0);
    int what = add_buffer(c, BENCH_U8, length, 0);
    for (unsigned i = 0; i < n + length; i++)
        AS(uint8_t, c, text)[i] = (uint8_t)('a' + hash_of(i) % 20);
    memcpy(AS(uint8_t, c, what), pattern, length);
    for (unsigned i = 100; i + length < n; i += 1 + hash_of(i) % 5000)
        memcpy(AS(uint8_t, c, text) + i, pattern, length);
    add_u32(l, length);
    add_buffer_argument(l, text);
    add_buffer_argument(l, what);
    add_out(c, l, BENCH_U8, n, 0);
}

static void make_hex(struct bench_case *c, unsigned n)
{
    struct bench_launch *l = add_elements(c, "hex", n);
    add_in(c, l, BENCH_U8, n, 0);
    add_out(c, l, BENCH_U8, 2 * (size_t)n, 0);
}

static void make_base64(struct bench_case *c, unsigned n)
{
    struct bench_launch *l = add_elements(c, "base64", n);
    add_in(c, l, BENCH_U8, 3 * (size_t)n, 0);
    add_out(c, l, BENCH_U8, 4 * (size_t)n, 0);
}

static const struct bench_kind kinds[] = {
    {"gamma_rgba", "bytes/gamma_rgba", make_gamma, 16000003, 100003, .limit = LIMIT_NONE},
    {"wheel", "bytes/wheel", make_wheel, 3000, 300, .limit = LIMIT_NONE},
    {"gray", "bytes/gray", make_gray, 32000003, 200003, .limit = LIMIT_NONE},
    {"planes", "bytes/planes", make_planes, 32000003, 200003, .limit = LIMIT_NONE},
    {"blur_rgba", "bytes/blur_rgba", make_blur, 4000, 300, .limit = LIMIT_NONE},
    {"box", "bytes/box", make_box, 8000, 500, .limit = LIMIT_NONE},
    {"sobel", "bytes/sobel", make_sobel, 8000, 500, .limit = LIMIT_NONE},
    {"bilateral", "bytes/bilateral", make_bilateral, 2000, 200, .limit = LIMIT_NONE},
    {"alpha", "bytes/alpha", make_alpha, 16000003, 100003, .limit = LIMIT_NONE},
    {"unsharp", "bytes/unsharp", make_unsharp, 6000, 500, .limit = LIMIT_NONE},
    {"particles", "bytes/particles", make_particles, 4000003, 30003, .limit = LIMIT_NONE},
    {"move3", "bytes/move3", make_move3, 4000003, 30003, .limit = LIMIT_NONE},
    {"records", "bytes/records", make_records, 4000003, 30003, .limit = LIMIT_NONE},
    {"bytehist", "bytes/bytehist", make_bytehist, 64000000, 400000, .limit = LIMIT_NONE,
     .multiple = 4},
    {"chacha", "bytes/chacha", make_chacha, 1000003, 10003, .limit = LIMIT_NONE},
    {"md5", "bytes/md5", make_md5, 2000003, 20003, .limit = LIMIT_NONE},
    {"hash64", "bytes/hash64", make_hash64, 8000003, 50003, .limit = LIMIT_NONE},
    {"search", "bytes/search", make_search, 16000003, 100003, .limit = LIMIT_NONE},
    {"hex", "bytes/hex", make_hex, 32000003, 200003, .limit = LIMIT_NONE},
    {"base64", "bytes/base64", make_base64, 16000003, 100003, .limit = LIMIT_NONE},
    {0},
};

BENCH_TABLE(bytes, "second", "bytes");
