/* The second set: half precision, convolutions, networks. */
#include "tests/bench/sets.h"

#include "tests/bench/add.h"
#include "tests/bench/random.h"

static uint16_t narrow(enum bench_type type, float f) /* toward zero; 0 for what is small */
{
    union {
        float f;
        uint32_t u;
    } v = {.f = f};
    uint32_t sign = v.u >> 16 & 0x8000, magnitude = v.u & 0x7fffffff;
    if (type == BENCH_BF16)
        return (uint16_t)(v.u >> 16);
    return (uint16_t)(sign | (magnitude < 0x38800000 ? 0 : (magnitude - 0x38000000) >> 13));
}

static int add_halves(struct bench_case *c, enum bench_type type, size_t n, unsigned flags,
                      uint32_t salt, float low, float high)
{
    int b = add_buffer(c, type, n, flags);
    for (size_t i = 0; i < n; i++)
        AS(uint16_t, c, b)[i] = narrow(type, low + (high - low) * unit_of((uint32_t)i, salt));
    return b;
}

static void make_halffma(struct bench_case *c, unsigned n) /* of pairs */
{
    struct bench_launch *l = add_launch(c, "halffma", divide_up(n, 256), 256);
    int x = add_halves(c, BENCH_F16, 2 * (size_t)n, 0, 101, -1, 1);
    add_u32(l, n);
    add_f32(l, 0.75f);
    add_buffer_argument(l, x);
    add_buffer_argument(
        l, add_halves(c, BENCH_F16, 2 * (size_t)n, BENCH_OUT | BENCH_RESET, 102, -1, 1));
    c->work = 12.0 * n;
}

static void make_halfgelu(struct bench_case *c, unsigned n) /* of pairs, 512 a row */
{
    struct bench_launch *l = add_launch(c, "halfgelu", divide_up(n, 256), 256);
    add_u32(l, n);
    add_u32(l, 512);
    add_buffer_argument(l, add_halves(c, BENCH_F16, 2 * (size_t)n, 0, 103, -4, 4));
    add_buffer_argument(l, add_halves(c, BENCH_F16, 1024, 0, 104, -1, 1));
    add_buffer_argument(l, add_buffer(c, BENCH_F16, 2 * (size_t)n, BENCH_OUT));
}

static void make_bfrelu(struct bench_case *c, unsigned n) /* of pairs */
{
    struct bench_launch *l = add_launch(c, "bfrelu", divide_up(n, 256), 256);
    add_u32(l, n);
    add_f32(l, 1.5f);
    add_f32(l, -0.25f);
    add_buffer_argument(l, add_halves(c, BENCH_BF16, 2 * (size_t)n, 0, 105, -1, 1));
    add_buffer_argument(l, add_buffer(c, BENCH_BF16, 2 * (size_t)n, BENCH_OUT));
    c->work = 8.0 * n;
}

static void make_dp4a(struct bench_case *c, unsigned side)
{
    size_t n = (size_t)side * side;
    struct bench_launch *l = add_launch(c, "dp4a", side / 16, 16);
    add_shape(l, side / 16, 1, 16);
    add_u32(l, side);
    add_buffer_argument(l, add_bits(c, BENCH_I8, n, 0, 106));
    add_buffer_argument(l, add_bits(c, BENCH_I8, n, 0, 107));
    add_buffer_argument(l, add_buffer(c, BENCH_U32, n, BENCH_OUT));
}

static void make_conv3x3(struct bench_case *c, unsigned side)
{
    enum { CHANNELS = 32 };
    size_t padded = (size_t)(side + 2) * (side + 2);
    struct bench_launch *l = add_launch(c, "conv3x3", side / 32, 32);
    add_shape(l, side / 8, CHANNELS / 4, 8);
    add_u32(l, side);
    add_u32(l, CHANNELS);
    add_buffer_argument(l, add_floats(c, padded * CHANNELS, 0, 108, -1, 1));
    add_buffer_argument(l, add_floats(c, CHANNELS * CHANNELS * 9, 0, 109, -0.1f, 0.1f));
    add_buffer_argument(l, add_buffer(c, BENCH_F32, (size_t)side * side * CHANNELS, BENCH_OUT));
}

static void make_dwconv(struct bench_case *c, unsigned side)
{
    enum { CHANNELS = 128 };
    size_t n = (size_t)side * side * CHANNELS;
    struct bench_launch *l = add_launch(c, "dwconv", divide_up(side, 32), 32);
    add_shape(l, divide_up(side, 8), CHANNELS, 8);
    add_u32(l, side);
    add_buffer_argument(l, add_floats(c, n, 0, 110, -1, 1));
    add_buffer_argument(l, add_floats(c, CHANNELS * 9, 0, 111, -1, 1));
    add_buffer_argument(l, add_floats(c, CHANNELS, 0, 112, -1, 2));
    add_buffer_argument(l, add_buffer(c, BENCH_F32, n, BENCH_OUT));
}

static void make_layernorm(struct bench_case *c, unsigned rows)
{
    enum { COLUMNS = 1024 };
    struct bench_launch *l = add_launch(c, "layernorm", rows, 256);
    add_u32(l, COLUMNS);
    add_buffer_argument(l, add_floats(c, (size_t)rows * COLUMNS, 0, 113, -1, 2));
    add_buffer_argument(l, add_floats(c, COLUMNS, 0, 114, 0.5f, 1.5f));
    add_buffer_argument(l, add_floats(c, COLUMNS, 0, 115, -1, 1));
    add_buffer_argument(l, add_buffer(c, BENCH_F32, (size_t)rows * COLUMNS, BENCH_OUT));
}

static void make_softmax(struct bench_case *c, unsigned rows)
{
    struct bench_launch *l = add_launch(c, "softmax", rows / 8, 256);
    add_u32(l, rows);
    add_buffer_argument(l, add_floats(c, (size_t)rows * 512, 0, 116, -4, 4));
    add_buffer_argument(l, add_buffer(c, BENCH_F32, (size_t)rows * 512, BENCH_OUT));
}

static void make_attention(struct bench_case *c, unsigned n)
{
    struct bench_launch *l = add_launch(c, "attention", n / 64, 64);
    add_u32(l, n);
    add_f32(l, 0.125f);
    for (unsigned i = 0; i < 3; i++)
        add_buffer_argument(l, add_floats(c, (size_t)n * 64, 0, 117 + i, -1, 1));
    add_buffer_argument(l, add_buffer(c, BENCH_F32, (size_t)n * 64, BENCH_OUT));
}

static void make_gru(struct bench_case *c, unsigned batch)
{
    enum { UNITS = 256 };
    struct bench_launch *l = add_launch(c, "gru", UNITS / 128, 128);
    add_shape(l, batch, 1, 1);
    add_u32(l, UNITS);
    for (unsigned i = 0; i < 2; i++)
        add_buffer_argument(l, add_floats(c, (size_t)batch * UNITS, 0, 120 + i, -1, 1));
    for (unsigned i = 0; i < 2; i++)
        add_buffer_argument(l, add_floats(c, 3 * UNITS * UNITS, 0, 122 + i, -0.1f, 0.1f));
    add_buffer_argument(l, add_floats(c, 4 * UNITS, 0, 124, -1, 1));
    add_buffer_argument(l, add_buffer(c, BENCH_F32, (size_t)batch * UNITS, BENCH_OUT));
}

static void make_median25(struct bench_case *c, unsigned side)
{
    struct bench_launch *l = add_launch(c, "median25", side / 32, 32);
    add_shape(l, side / 8, 1, 8);
    add_u32(l, side);
    add_buffer_argument(l, add_floats(c, (size_t)(side + 4) * (side + 4), 0, 125, 0, 1));
    add_buffer_argument(l, add_buffer(c, BENCH_F32, (size_t)side * side, BENCH_OUT));
}

/* Node k of a balanced tree over the unit square: its box is halved along x and y in turn. */
static void place_node(float *node, uint32_t k)
{
    float low[2] = {0, 0}, size[2] = {1, 1};
    unsigned depth = 0;
    while ((k + 1) >> (depth + 1))
        depth++;
    for (unsigned d = 0; d < depth; d++) {
        size[d % 2] /= 2;
        if ((k + 1) >> (depth - 1 - d) & 1)
            low[d % 2] += size[d % 2];
    }
    for (unsigned axis = 0; axis < 2; axis++)
        node[axis] = low[axis] + size[axis] * (axis == depth % 2 ? 0.5f : unit_of(k, 126 + axis));
    node[2] = (float)(depth % 2);
}

static void make_treewalk(struct bench_case *c, unsigned n)
{
    enum { NODES = 4095 };
    int tree = add_buffer(c, BENCH_F32, 4 * NODES, 0);
    int query = add_buffer(c, BENCH_F32, 2 * (size_t)n, 0);
    for (uint32_t k = 0; k < NODES; k++)
        place_node(&F(c, tree)[4 * k], k);
    for (uint32_t i = 0; i < n; i++) /* neighbours in the order of a curve */
        for (unsigned axis = 0; axis < 2; axis++) {
            uint32_t at = 0;
            for (unsigned b = 0; b < 9; b++)
                at |= (i >> (2 * b + axis) & 1) << b;
            F(c, query)[2 * i + axis] = ((float)at + unit_of(i, 128 + axis)) / 512.0f;
        }
    struct bench_launch *l = add_launch(c, "treewalk", divide_up(n, 128), 128);
    add_u32(l, n);
    add_u32(l, NODES);
    add_f32(l, 0.03f);
    add_buffer_argument(l, tree);
    add_buffer_argument(l, query);
    add_buffer_argument(l, add_buffer(c, BENCH_U32, n, BENCH_OUT));
}

static void make_localhist(struct bench_case *c, unsigned n)
{
    struct bench_launch *l = add_launch(c, "localhist", divide_up(n, 256), 256);
    add_u32(l, n);
    add_buffer_argument(l, add_bits(c, BENCH_U32, 8 * (size_t)n, 0, 130));
    add_buffer_argument(l, add_buffer(c, BENCH_F32, n, BENCH_OUT));
}

static void make_debug(struct bench_case *c, unsigned n)
{
    struct bench_launch *l = add_launch(c, "debug", divide_up(n, 256), 256);
    add_u32(l, n);
    add_buffer_argument(l, add_floats(c, n, 0, 131, -1, 1));
    add_buffer_argument(l, add_buffer(c, BENCH_F32, n, BENCH_OUT));
}

static void make_warpscan(struct bench_case *c, unsigned n)
{
    struct bench_launch *l = add_launch(c, "warpscan", n / 256, 256);
    add_u32(l, n);
    add_buffer_argument(l, add_floats(c, n, 0, 132, 0.5f, 1));
    add_buffer_argument(l, add_buffer(c, BENCH_F32, n, BENCH_OUT));
}

static void make_gemvt(struct bench_case *c, unsigned side)
{
    struct bench_launch *l = add_launch(c, "gemvt", side / 128, 128);
    add_u32(l, side);
    add_u32(l, side);
    add_buffer_argument(l, add_floats(c, (size_t)side * side, 0, 133, -1, 1));
    add_buffer_argument(l, add_floats(c, side, 0, 134, -1, 1));
    add_buffer_argument(l, add_buffer(c, BENCH_F32, side, BENCH_OUT));
}

static void make_embed(struct bench_case *c, unsigned tokens)
{
    enum { WORDS = 30000, POSITIONS = 512, WIDTH = 256 };
    int token = add_buffer(c, BENCH_U32, tokens, 0);
    for (uint32_t i = 0; i < tokens; i++)
        U(c, token)[i] = hash_of(i + 135) % WORDS;
    struct bench_launch *l = add_launch(c, "embed", tokens, WIDTH / 4);
    add_u32(l, POSITIONS);
    add_f32(l, 16);
    add_buffer_argument(l, token);
    add_buffer_argument(l, add_floats(c, (size_t)WORDS * WIDTH, 0, 136, -1, 1));
    add_buffer_argument(l, add_floats(c, (size_t)POSITIONS * WIDTH, 0, 137, -1, 1));
    add_buffer_argument(l, add_buffer(c, BENCH_F32, (size_t)tokens * WIDTH, BENCH_OUT));
}

static void make_topk8(struct bench_case *c, unsigned n)
{
    struct bench_launch *l = add_launch(c, "topk8", divide_up(n, 128), 128);
    add_u32(l, n);
    add_buffer_argument(l, add_floats(c, 256 * (size_t)n, 0, 138, -1, 1));
    add_buffer_argument(l, add_buffer(c, BENCH_F32, 8 * (size_t)n, BENCH_OUT));
}

#define ROW(name, full, quick, least)                                                              \
    {                                                                                              \
#name, "learning/" #name, make_##name, full, quick, .limit = LIMIT_NONE, .multiple = least \
    }

static const struct bench_kind kinds[] = {
    ROW(halffma, 1 << 24, 1 << 19, 1),
    ROW(halfgelu, 1 << 22, 1 << 17, 512),
    ROW(bfrelu, 1 << 24, 1 << 19, 1),
    ROW(dp4a, 768, 256, 64),
    ROW(conv3x3, 256, 64, 32),
    ROW(dwconv, 224, 56, 1),
    ROW(layernorm, 1 << 14, 512, 1),
    ROW(softmax, 1 << 14, 512, 8),
    ROW(attention, 2048, 256, 64),
    ROW(gru, 512, 32, 1),
    ROW(median25, 512, 64, 32),
    ROW(treewalk, 1 << 17, 1 << 12, 1),
    ROW(localhist, 1 << 19, 1 << 14, 1),
    ROW(debug, 1 << 24, 1 << 19, 1),
    ROW(warpscan, 1 << 24, 1 << 18, 256),
    ROW(gemvt, 4096, 1024, 1024),
    ROW(embed, 1 << 15, 1 << 11, 1),
    ROW(topk8, 1 << 15, 1 << 11, 16),
    {0},
};

BENCH_TABLE(learning, "second", "learning");
