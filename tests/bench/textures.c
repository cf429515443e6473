/* The set of textures: an image turned, as bytes or f32, filtered or not, and rays through a
 * volume. Coordinates are multiples of 1/256, so that weights of more bits come to the same. */
#include "tests/bench/sets.h"

#include "tests/bench/add.h"

enum { ROW = 32, COLUMN = 8, COS = 230, SIN = 80 /* in 256ths: 19 degrees, a little larger */ };

static struct bench_launch *add_pixels(struct bench_case *c, const char *kernel, unsigned side)
{
    struct bench_launch *l = add_launch(c, kernel, side / ROW, ROW);
    add_shape(l, side / COLUMN, 1, COLUMN);
    add_u32(l, side);
    return l;
}

static void make_turned(struct bench_case *c, unsigned side, struct bench_texture t)
{
    size_t n = (size_t)side * side;
    t.buffer = t.is_bytes ? add_bits(c, BENCH_U8, 4 * n, 0, 81) : add_floats(c, n, 0, 82, 0, 1);
    int out = add_buffer(c, BENCH_F32, n, BENCH_OUT);
    struct bench_launch *l = add_pixels(c, c->kind->name, side);
    t.axes = 2;
    t.size[0] = t.size[1] = side;
    t.size[2] = 1;
    add_u32(l, COS);
    add_u32(l, SIN);
    add_u32(l, (uint32_t)((256 - COS + SIN) * (int)side / 2)); /* about the middle */
    add_u32(l, (uint32_t)((256 - COS - SIN) * (int)side / 2));
    add_texture(l, &t);
    add_buffer_argument(l, out);
}

static void make_bilinear_rgba(struct bench_case *c, unsigned side)
{
    make_turned(c, side,
                (struct bench_texture){.channels = 4, .is_bytes = true, .is_linear = true});
}

static void make_bilinear_f32(struct bench_case *c, unsigned side)
{
    make_turned(c, side, (struct bench_texture){.channels = 1, .is_linear = true});
}

static void make_point_rgba(struct bench_case *c, unsigned side)
{
    make_turned(c, side, (struct bench_texture){.channels = 4, .is_bytes = true});
}

static void make_point_f32(struct bench_case *c, unsigned side)
{
    make_turned(c, side, (struct bench_texture){.channels = 1});
}

static void make_volume(struct bench_case *c, unsigned side) /* 64 samples a ray */
{
    size_t n = (size_t)side * side, more = 3; /* that is read, not used */
    struct bench_texture t = {.axes = 3,
                              .size = {side, side, side},
                              .channels = 1,
                              .is_bytes = true,
                              .is_linear = true,
                              .is_normalized = true};
    t.buffer = add_bits(c, BENCH_U8, n * side + more, 0, 83);
    int out = add_buffer(c, BENCH_F32, n, BENCH_OUT);
    struct bench_launch *l = add_pixels(c, "volume", side);
    add_f32(l, 1 / (256.0f * (float)side));
    add_texture(l, &t);
    add_buffer_argument(l, out);
}

static const struct bench_kind kinds[] = {
    {"bilinear_rgba", "textures/bilinear_rgba", make_bilinear_rgba, 2048, 256, .multiple = ROW},
    {"bilinear_f32", "textures/bilinear_f32", make_bilinear_f32, 2048, 256, .multiple = ROW},
    {"point_rgba", "textures/point_rgba", make_point_rgba, 2048, 256, .multiple = ROW},
    {"point_f32", "textures/point_f32", make_point_f32, 2048, 256, .multiple = ROW},
    {"volume", "textures/volume", make_volume, 256, 64, .multiple = ROW, .is_power = true},
    {0},
};

BENCH_TABLE(textures, "textures", "textures");
