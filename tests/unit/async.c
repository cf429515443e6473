/* Kernels that overlap copies with work, compared with a CPU: asynchronous copies at once and as
 * late as may be, on one worker and on several. tests/ptx/async/kernels.cu has the kernels. */
#include <math.h>
#include <stdlib.h>

#include "backend/semantics/half.h"
#include "backend/semantics/tensormap_encode.h"
#include "tests/api/support.h"

static ptera_engine *engine;
static ptera_module *module;
static int is_late;

#define PARAMETERS(...) \
    (const void *const[]){__VA_ARGS__}, sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *)

static void run(const char *kernel, ptera_launch l, const void *const *parameters, unsigned n)
{
    l.parameters = parameters;
    l.n_parameters = n;
    l.async_late = is_late;
    l.timeout_seconds = 60;
    ptera_result r = ptera_kernel_launch(kernel_of(module, kernel), &l);
    CHECK_INT(r, PTERA_OK);
    if (r != PTERA_OK)
        fprintf(stderr, "%s\n", ptera_engine_error(engine));
}

static ptera_launch shape(unsigned x, unsigned y, unsigned block, unsigned cluster)
{
    ptera_launch l;
    ptera_launch_init(&l);
    l.grid[0] = x;
    l.grid[1] = y;
    l.block[0] = block;
    l.cluster[0] = cluster;
    return l;
}

/* Columns of `a` beyond the last tile of 16 are not there: the kernel's copies stop short. */
static void check_gemm(int k)
{
    enum { M = 32, N = 48 };
    int n = N;
    unsigned wrong = 0;
    float *a = new_buffer(engine, M * k * 4), *b = new_buffer(engine, k * N * 4),
          *c = new_buffer(engine, M * N * 4);
    for (int i = 0; i < M * k; i++)
        a[i] = (float)(i % 37 - 18) / 7;
    for (int i = 0; i < k * N; i++)
        b[i] = (float)(i % 41 - 20) / 11;
    run("gemm", shape(N / 16, M / 16, 256, 0), PARAMETERS(&a, &b, &c, &n, &k));
    for (int i = 0; i < M * N; i++) {
        float sum = 0;
        for (int j = 0; j < k; j++)
            sum = fmaf(a[i / N * k + j], b[j * N + i % N], sum);
        wrong += c[i] != sum;
    }
    CHECK_INT(wrong, 0);
    ptera_buffer_free(engine, a);
    ptera_buffer_free(engine, b);
    ptera_buffer_free(engine, c);
}

static void check_pipeline(int pieces)
{
    enum { WORDS = 64, CTAS = 5 };
    unsigned wrong = 0, n = CTAS * (unsigned)pieces * WORDS;
    uint32_t *in = new_buffer(engine, n * 4), *out = new_buffer(engine, CTAS * WORDS * 4);
    for (unsigned i = 0; i < n; i++)
        in[i] = i * 2654435761u;
    run("pipeline", shape(CTAS, 1, WORDS + 32, 0), PARAMETERS(&in, &out, &pieces));
    for (unsigned i = 0; i < CTAS * WORDS; i++) {
        uint32_t sum = 0;
        for (int p = 0; p < pieces; p++)
            sum = sum * 31 + in[(i / WORDS * (unsigned)pieces + (unsigned)p) * WORDS + i % WORDS];
        wrong += out[i] != sum;
    }
    CHECK_INT(wrong, 0);
    ptera_buffer_free(engine, in);
    ptera_buffer_free(engine, out);
}

static void check_ring(unsigned cluster, int steps)
{
    enum { LANES = 32, CLUSTERS = 3 };
    unsigned wrong = 0, ctas = CLUSTERS * cluster;
    uint32_t *out = new_buffer(engine, ctas * LANES * 4);
    run("ring", shape(ctas, 1, LANES, cluster), PARAMETERS(&out, &steps));
    for (unsigned i = 0; i < ctas * LANES; i++) {
        unsigned cta = i / LANES, first = cta / cluster * cluster, rank = cta % cluster;
        /* Where the value began that came here after so many steps, and what it met on its way. */
        unsigned at = (rank + cluster * (unsigned)steps - (unsigned)steps) % cluster;
        uint32_t value = (first + at) * 1000 + i % LANES;
        for (int s = 0; s < steps; s++) {
            at = (at + 1) % cluster;
            value = value * 3 + at;
        }
        wrong += out[i] != value;
    }
    CHECK_INT(wrong, 0);
    ptera_buffer_free(engine, out);
}

enum { WIDTH = 44, HEIGHT = 21 };
enum { UINT32 = 2, FLOAT16 = 6 }; /* CUtensorMapDataType */

/* The map of a tensor of two dimensions, without padding. */
static void encode(uint64_t *map, uint32_t type, const void *tensor, const uint64_t *size,
                   const uint32_t *box, int swizzle)
{
    const uint64_t stride[] = {size[0] * (type == UINT32 ? 4 : 2)};
    const uint32_t step[] = {1, 1};
    const struct pt_tensormap_arguments a = {.type = type,
                                             .rank = 2,
                                             .address = (uint64_t)(uintptr_t)tensor,
                                             .size = size,
                                             .stride = stride,
                                             .step = step,
                                             .swizzle = (uint32_t)swizzle};
    CHECK_INT(pt_tensormap_encode_tiled(map, &a, box), 1);
}

/* Tiles inside, and such as leave the tensor to the right and below. */
static void check_tile(int x, int y, int words, int rows, int swizzle)
{
    unsigned wrong = 0;
    uint64_t maps[2][16];
    const uint64_t size[] = {WIDTH, HEIGHT};
    const uint32_t box[] = {(uint32_t)words, (uint32_t)rows};
    uint32_t *from = new_buffer(engine, WIDTH * HEIGHT * 4),
             *to = new_buffer(engine, WIDTH * HEIGHT * 4);
    for (unsigned i = 0; i < WIDTH * HEIGHT; i++) {
        from[i] = i * 2654435761u;
        to[i] = i;
    }
    encode(maps[0], UINT32, from, size, box, swizzle);
    encode(maps[1], UINT32, to, size, box, swizzle);
    ptera_launch l = shape(1, 1, 64, 0);
    l.shared_bytes = 16 << 10;
    run("tile", l, PARAMETERS(maps[0], maps[1], &x, &y, &words, &rows, &swizzle));
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        int column = i % WIDTH - x, row = i / WIDTH - y;
        bool is_inside = column >= 0 && column < words && row >= 0 && row < rows;
        wrong +=
            to[i] != (is_inside ? from[i] + (uint32_t)(row * words + column + 1) : (uint32_t)i);
    }
    CHECK_INT(wrong, 0);
    ptera_buffer_free(engine, from);
    ptera_buffer_free(engine, to);
}

static void check_tiles(void)
{
    static const int words[] = {24, 8, 16,
                                32}; /* as wide as each swizzle; without one, some width */
    for (int swizzle = 0; swizzle < 4; swizzle++) {
        check_tile(4, 2, words[swizzle], 7, swizzle);
        check_tile(4, 2, 4, 9, swizzle);
        check_tile(36, 1, words[swizzle], 8, swizzle);
        check_tile(0, 17, words[swizzle], 8, swizzle);
        check_tile(40, 20, words[swizzle], 8, swizzle);
        check_tile(WIDTH, 0, words[swizzle], 8, swizzle);
    }
}

enum { LINES_A = 64, LINES_B = 128, DEPTH = 232, SIDE = 64 };

static int element(int line, int depth)
{
    return (line * 7 + depth * 3 + line * depth % 11) % 17 - 8;
}

/* A row of A or a column of B is a line: they follow each other, or (`is_across`) their first
 * elements do. */
static uint16_t *new_operand(uint64_t *map, int lines, bool is_across, int swizzle)
{
    uint16_t *p = new_buffer(engine, (size_t)(lines * DEPTH) * sizeof *p);
    const uint64_t along[] = {DEPTH, (uint64_t)lines}, across[] = {(uint64_t)lines, DEPTH};
    const uint32_t box[] = {8u << swizzle, SIDE};
    for (int i = 0; i < lines * DEPTH; i++) {
        int v = is_across ? element(i % lines, i / lines) : element(i / DEPTH, i % DEPTH);
        p[i] = (uint16_t)pt_half_from_f32(pt_lane_u32((float)v), PT_F16, PT_RN);
    }
    encode(map, FLOAT16, p, is_across ? across : along, box, swizzle);
    return p;
}

static void check_warpgroup_gemm(int kind, int swizzle, const int *want)
{
    unsigned wrong = 0;
    int n = LINES_B, k = DEPTH;
    uint64_t maps[2][16];
    uint16_t *a = new_operand(maps[0], LINES_A, kind & 1, swizzle),
             *b = new_operand(maps[1], LINES_B, kind & 2, swizzle);
    float *c = new_buffer(engine, LINES_A * LINES_B * sizeof *c);
    ptera_launch l = shape(LINES_B / SIDE, LINES_A / SIDE, 128, 0);
    l.shared_bytes = 33 << 10;
    run("warpgroup_gemm", l, PARAMETERS(maps[0], maps[1], &a, &c, &n, &k, &swizzle, &kind));
    for (int i = 0; i < LINES_A * LINES_B; i++)
        wrong += c[i] != (float)want[i];
    CHECK_INT(wrong, 0);
    ptera_buffer_free(engine, a);
    ptera_buffer_free(engine, b);
    ptera_buffer_free(engine, c);
}

/* Every major-ness of A and B, and A from registers, with tiles of every swizzle. All sums are
 * small integers: in whatever order they are made, they are exact. */
static void check_warpgroup_gemms(void)
{
    static const int kinds[] = {0, 1, 2, 3, 4, 6};
    static int want[LINES_A * LINES_B];
    for (int i = 0; i < LINES_A * LINES_B; i++) {
        want[i] = 0;
        for (int j = 0; j < DEPTH; j++)
            want[i] += element(i / LINES_B, j) * element(i % LINES_B, j);
    }
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int swizzle = 0; swizzle < 4; swizzle++)
            check_warpgroup_gemm(kinds[i], swizzle, want);
}

static void check_all(unsigned threads)
{
    engine = new_engine(threads);
    CHECK_INT(ptera_module_load_file(engine, SOURCE_DIR "/tests/ptx/async/kernels.ptx", &module),
              PTERA_OK);
    for (is_late = 0; is_late < 2; is_late++) {
        check_gemm(64);
        check_gemm(20);
        check_pipeline(1);
        check_pipeline(10);
        check_ring(1, 3);
        check_ring(2, 5);
        check_ring(4, 6);
        check_tiles();
        check_warpgroup_gemms();
    }
    ptera_engine_destroy(engine);
}

int main(void)
{
    check_all(1);
    check_all(3);
    return CHECK_DONE("unit_async");
}
