/* The programs of tests/ptx/named against references computed here, on one worker and on four. */
#include <stdbool.h>

#include "tests/api/support.h"

enum { ROWS = 96, ROW = 40, TILES = 200, TILE = 64, VOTERS = 160, VOTE_CTAS = 5 };

static ptera_engine *engine;
static ptera_module *module;

static void run(const char *kernel, unsigned grid, unsigned block, const void *const *parameters,
                unsigned n)
{
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.grid[0] = grid;
    launch.block[0] = block;
    launch.parameters = parameters;
    launch.n_parameters = n;
    launch.timeout_seconds = 120;
    CHECK_INT(ptera_kernel_launch(kernel_of(module, kernel), &launch), PTERA_OK);
}

#define RUN(kernel, grid, block, ...)                             \
    run((kernel), (grid), (block), (const void *[]){__VA_ARGS__}, \
        sizeof((const void *[]){__VA_ARGS__}) / sizeof(void *))

static uint32_t hash(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

static uint32_t *random_words(unsigned n, uint32_t mask)
{
    uint32_t *p = new_buffer(engine, n * sizeof *p);
    for (uint32_t i = 0; i < n; i++)
        p[i] = hash(i + 1) & mask;
    return p;
}

static void check_locks(void)
{
    uint32_t *lock = new_buffer(engine, 4), *count = new_buffer(engine, 4);
    RUN("spin_lock", 1, 32, &lock, &count);
    CHECK_INT(*lock, 0);
    CHECK_INT(*count, 33 * 32 / 2);
    *count = 0;
    RUN("spin_lock", 6, 96, &lock, &count);
    CHECK_INT(*count, 6 * 97 * 96 / 2);
    uint32_t *seen = new_buffer(engine, 4 * 288);
    RUN("lock_then_barrier", 3, 96, &seen);
    for (int i = 0; i < 288; i++)
        CHECK_INT(seen[i], 96);
    uint32_t *next = new_buffer(engine, 4), *serving = new_buffer(engine, 4);
    *count = 0;
    RUN("ticket_lock", 12, 96, &next, &serving, &count);
    CHECK_INT(*serving, 12 * 96);
    CHECK_INT(*count, 12 * 96 / 8 * 28);
}

static void check_look_back(void)
{
    uint32_t *in = random_words(TILES * TILE, 0xffff), *out = new_buffer(engine, TILES * TILE * 4);
    uint32_t *state = new_buffer(engine, TILES * 16), *started = new_buffer(engine, 4), sum = 0;
    RUN("look_back", TILES, TILE, &in, &out, &state, &started);
    for (unsigned i = 0; i < TILES * TILE; i++)
        CHECK_INT(out[i], sum += in[i]);
}

static void check_short_ifs(void)
{
    int32_t *values = new_buffer(engine, 64 * 4);
    for (int32_t t = 0; t < 64; t++)
        values[t] = t;
    RUN("short_ifs", 1, 64, &values);
    for (int32_t t = 0; t < 64; t++) {
        int32_t i = t ^ 1;
        CHECK_INT(values[t], i < 8 ? 4 * i + 48 : i < 16 ? 2 * i + 16 : i);
    }
}

static int compare(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void check_quicksort(void)
{
    int32_t *rows = (int32_t *)random_words(ROWS * ROW, 0xffff), n = ROW;
    static int32_t sorted[ROWS * ROW];
    memcpy(sorted, rows, sizeof sorted);
    for (int i = 0; i < ROWS; i++)
        qsort(sorted + i * ROW, ROW, sizeof *sorted, compare);
    RUN("sort_rows", 3, 32, &rows, &n);
    for (int i = 0; i < ROWS * ROW; i++)
        CHECK_INT(rows[i], sorted[i]);
}

/* What all 64 threads have, one round further. */
static void rotate_by(uint32_t *v, unsigned distance)
{
    uint32_t before[64];
    memcpy(before, v, sizeof before);
    for (unsigned i = 0; i < 64; i++)
        v[i] = before[(i + distance) % 64];
}

static void check_recursive_barrier(void)
{
    uint32_t *out = new_buffer(engine, 256), v[64], before[64];
    int32_t depth = 9;
    RUN("recursive_barrier", 1, 64, &out, &depth);
    for (uint32_t i = 0; i < 64; i++)
        v[i] = i;
    for (uint32_t d = 9; d > 0; d--) {
        memcpy(before, v, sizeof v);
        rotate_by(v, 1);
        for (uint32_t i = 0; i < 64; i++)
            v[i] += before[i ^ d];
    }
    for (unsigned i = 0; i < 64; i++)
        CHECK_INT(out[i], v[i] + 45);
}

static void check_indirect_barrier(void)
{
    uint32_t *out = new_buffer(engine, 256), v[64];
    int32_t rounds = 11;
    RUN("indirect_barrier", 1, 64, &out, &rounds);
    for (uint32_t i = 0; i < 64; i++)
        v[i] = i;
    for (int r = 0; r < rounds; r++) {
        uint32_t odd = 0;
        for (unsigned i = 0; i < 64; i++)
            odd += v[i] & 1;
        if (r % 3 == 0)
            rotate_by(v, 5);
        for (unsigned i = 0; i < 64 && r % 3 == 1; i++)
            v[i] += i % 32 + 3 < 32 ? v[i + 3] : v[i];
        for (unsigned i = 0; i < 64 && r % 3 == 2; i++)
            v[i] += odd;
    }
    for (unsigned i = 0; i < 64; i++)
        CHECK_INT(out[i], v[i]);
}

static void check_producers(void)
{
    int32_t rounds = 30;
    uint32_t *in = random_words(30 * 32, 0xffff), *out = new_buffer(engine, 256);
    RUN("producers", 1, 96, &in, &out, &rounds);
    for (unsigned i = 0; i < 64; i++) {
        uint32_t sum = 0;
        for (int r = 0; r < rounds; r++)
            sum = sum * 3 + in[r * 32 + (int)(i < 32 ? i : (i - 32) ^ 1)];
        CHECK_INT(out[i], sum);
    }
}

static void vote(uint32_t *v, uint32_t *out)
{
    uint32_t rounds = 0, sum = 0;
    bool any, all;
    do {
        uint32_t odd = 0;
        for (int i = 0; i < VOTERS; i++)
            odd += v[i] & 1;
        sum = sum * 5 + odd;
        rounds++;
        any = false;
        all = true;
        for (int i = 0; i < VOTERS; i++) {
            v[i] = v[i] & 1 ? 3 * v[i] + 1 : v[i] / 2;
            any |= v[i] > 1 && rounds < 50;
            all &= v[i] < 4;
        }
    } while (any && !all);
    for (int i = 0; i < VOTERS; i++)
        out[i] = sum + rounds;
}

static void check_votes(void)
{
    uint32_t *in = random_words(VOTERS * VOTE_CTAS, 0xff),
             *out = new_buffer(engine, VOTERS * VOTE_CTAS * 4);
    static uint32_t expected[VOTERS * VOTE_CTAS];
    for (int i = 0; i < VOTERS; i++)
        in[2 * VOTERS + i] &= 7; /* a CTA that ends early */
    RUN("votes", VOTE_CTAS, VOTERS, &in, &out);
    for (int c = 0; c < VOTE_CTAS; c++)
        vote(in + c * VOTERS, expected + c * VOTERS);
    for (int i = 0; i < VOTERS * VOTE_CTAS; i++)
        CHECK_INT(out[i], expected[i]);
}

int main(void)
{
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        engine = new_engine(threads);
        CHECK_INT(
            ptera_module_load_file(engine, SOURCE_DIR "/tests/ptx/named/programs.ptx", &module),
            PTERA_OK);
        check_locks();
        check_short_ifs();
        check_look_back();
        check_quicksort();
        check_recursive_barrier();
        check_indirect_barrier();
        check_producers();
        check_votes();
        ptera_engine_destroy(engine);
    }
    return CHECK_DONE("named");
}
