/* The second set: what whole programs do: many launches, searches, sorts, tables. */
#include "tests/bench/sets.h"

#include <stdlib.h>
#include <string.h>

#include "tests/bench/add.h"
#include "tests/bench/random.h"

/* `n` launches of 32 CTAs, ten that differ. */
static void make_tiny(struct bench_case *c, unsigned n)
{
    int x = add_floats(c, 8192, BENCH_OUT | BENCH_RESET, 51, -1, 1);
    c->times = (int)(n / 10);
    for (unsigned i = 0; i < 10; i++) {
        struct bench_launch *l = add_launch(c, "tiny", 32, 256);
        add_u32(l, 8192);
        add_f32(l, 0.001f * (float)i);
        add_buffer_argument(l, x);
    }
}

static void make_fft(struct bench_case *c, unsigned n) /* transforms of 1,024 points */
{
    int in = add_floats(c, 2048 * (size_t)n, 0, 52, -1, 1);
    struct bench_launch *l = add_launch(c, "fft", n, 256);
    add_buffer_argument(l, in);
    add_buffer_argument(l, add_buffer(c, BENCH_F32, 2048 * (size_t)n, BENCH_OUT));
}

static void make_philox(struct bench_case *c, unsigned n) /* threads, 128 points each */
{
    struct bench_launch *l = add_launch(c, "philox_pi", n / 256, 256);
    add_u32(l, 64);
    add_u32(l, 0x12345678u);
    add_u32(l, 0x9abcdef0u);
    add_buffer_argument(l, add_buffer(c, BENCH_U32, n / 256, BENCH_OUT));
}

/* Compressed rows of 1 to 15 edges, half of them to neighbours, half to anywhere: two buffers, rows
 * and columns. */
static void add_graph(struct bench_case *c, unsigned n)
{
    int row = add_buffer(c, BENCH_U32, (size_t)n + 1, 0);
    uint32_t edges = 0;
    for (unsigned v = 0; v < n; v++) {
        U(c, row)[v] = edges;
        edges += 1 + hash_of(v + 53) % 15;
    }
    U(c, row)[n] = edges;
    int column = add_buffer(c, BENCH_U32, edges, 0);
    for (unsigned v = 0, e = 0; v < n; v++)
        for (; e < U(c, row)[v + 1]; e++) {
            uint32_t h = hash_of(e + 54);
            U(c, column)[e] = (h & 1) ? (v + (h >> 24)) % n : (h >> 1) % n;
        }
}

enum { BFS_LEVELS = 64 };

/* How many vertices each level has from vertex 0 on; returns the number of levels. */
static unsigned count_levels(const struct bench_case *c, unsigned n, unsigned *count)
{
    const uint32_t *row = U(c, 0), *column = U(c, 1);
    uint32_t *queue = malloc(n * sizeof *queue);
    unsigned char *seen = calloc(n, 1);
    if (!queue || !seen)
        abort();
    unsigned level = 0, begin = 0, end = 1;
    seen[queue[0] = 0] = 1;
    while (begin < end) {
        unsigned next = end;
        for (unsigned i = begin; i < end; i++)
            for (unsigned e = row[queue[i]]; e < row[queue[i] + 1]; e++)
                if (!seen[column[e]])
                    seen[queue[next++] = column[e]] = 1;
        if (level == BFS_LEVELS)
            abort();
        count[level++] = end - begin;
        begin = end;
        end = next;
    }
    free(queue);
    free(seen);
    return level;
}

static void make_bfs(struct bench_case *c, unsigned n)
{
    unsigned count[BFS_LEVELS];
    add_graph(c, n);
    unsigned levels = count_levels(c, n, count);
    int depth = add_buffer(c, BENCH_U32, n, BENCH_OUT | BENCH_RESET);
    int frontier = add_buffer(c, BENCH_U32, n, BENCH_RESET);
    add_buffer(c, BENCH_U32, n, 0);
    int counts = add_buffer(c, BENCH_U32, BFS_LEVELS + 1, BENCH_RESET);
    memset(U(c, depth) + 1, 255, 4 * ((size_t)n - 1));
    U(c, counts)[0] = 1; /* the frontier: vertex 0 */
    for (unsigned i = 0; i < levels; i++) {
        struct bench_launch *l = add_launch(c, "bfs", divide_up(count[i], 256), 256);
        add_u32(l, i);
        add_buffer_argument(l, 0);
        add_buffer_argument(l, 1);
        add_buffer_argument(l, depth);
        add_buffer_argument(l, frontier + (int)(i % 2));
        add_buffer_argument(l, frontier + (int)((i + 1) % 2));
        add_buffer_argument(l, counts);
    }
}

static void make_pagerank(struct bench_case *c, unsigned n) /* four steps */
{
    add_graph(c, n);
    uint32_t edges = U(c, 0)[n];
    int share = add_buffer(c, BENCH_F32, n, 0);
    int rank = add_floats(c, n, BENCH_OUT | BENCH_RESET, 55, 0.5f, 1.5f);
    int gives = add_buffer(c, BENCH_F32, n, 0);
    for (unsigned e = 0; e < edges; e++)
        F(c, share)[U(c, 1)[e]] += 1;
    for (unsigned v = 0; v < n; v++)
        F(c, share)[v] = 1 / (F(c, share)[v] + 1);
    for (int step = 0; step < 4; step++) {
        struct bench_launch *l = add_launch(c, "pagerank_give", divide_up(n, 256), 256);
        add_u32(l, n);
        add_buffer_argument(l, rank);
        add_buffer_argument(l, share);
        add_buffer_argument(l, gives);
        l = add_launch(c, "pagerank_get", divide_up(n, 256), 256);
        add_u32(l, n);
        add_f32(l, 0.15f);
        add_f32(l, 0.85f);
        add_buffer_argument(l, 0);
        add_buffer_argument(l, 1);
        add_buffer_argument(l, gives);
        add_buffer_argument(l, rank);
    }
}

/* Points around 16 centres, so near that none is between two; four steps. */
static void make_kmeans(struct bench_case *c, unsigned n)
{
    int points = add_floats(c, 8 * (size_t)n, 0, 56, -0.1f, 0.1f);
    int means = add_floats(c, 128, BENCH_OUT | BENCH_RESET, 57, -0.2f, 0.2f);
    int sums = add_buffer(c, BENCH_F32, 128, 0), counts = add_buffer(c, BENCH_U32, 16, 0);
    for (unsigned d = 0; d < 8; d++) {
        for (unsigned i = 0; i < n; i++)
            F(c, points)[(size_t)d * n + i] += unit_of(hash_of(i) % 16 * 8 + d, 58) * 4;
        for (unsigned k = 0; k < 16; k++)
            F(c, means)[k * 8 + d] += unit_of(k * 8 + d, 58) * 4;
    }
    for (int step = 0; step < 4; step++) {
        struct bench_launch *l = add_launch(c, "kmeans_assign", n / 256, 256);
        add_u32(l, n);
        add_buffer_argument(l, points);
        add_buffer_argument(l, means);
        add_buffer_argument(l, sums);
        add_buffer_argument(l, counts);
        l = add_launch(c, "kmeans_update", 1, 128);
        add_buffer_argument(l, means);
        add_buffer_argument(l, sums);
        add_buffer_argument(l, counts);
    }
}

/* n keys into 2n slots, then 2n keys looked up, half of which are there. */
static void make_hashtable(struct bench_case *c, unsigned n)
{
    int keys = add_buffer(c, BENCH_U32, 2 * (size_t)n, 0);
    int table = add_buffer(c, BENCH_U32, 2 * (size_t)n, BENCH_RESET);
    int values = add_buffer(c, BENCH_U32, 2 * (size_t)n, 0);
    int found = add_buffer(c, BENCH_U32, 2 * (size_t)n, BENCH_OUT);
    for (unsigned i = 0; i < 2 * n; i++)
        U(c, keys)[i] = hash_of(i + 59);
    memset(U(c, table), 255, 8 * (size_t)n);
    for (int find = 0; find < 2; find++) {
        unsigned m = find ? 2 * n : n;
        struct bench_launch *l =
            add_launch(c, find ? "hash_find" : "hash_insert", divide_up(m, 256), 256);
        add_u32(l, m);
        add_u32(l, 2 * n - 1);
        add_buffer_argument(l, keys);
        add_buffer_argument(l, table);
        add_buffer_argument(l, values);
        if (find)
            add_buffer_argument(l, found);
    }
}

static void make_radix(struct bench_case *c, unsigned n) /* four passes */
{
    int keys = add_bits(c, BENCH_U32, n, BENCH_OUT | BENCH_RESET, 60);
    int other = add_buffer(c, BENCH_U32, n, 0);
    int counts = add_buffer(c, BENCH_U32, 256 * (size_t)(n / 2048), 0);
    for (unsigned shift = 0; shift < 32; shift += 8) {
        int from = shift / 8 % 2 ? other : keys, to = shift / 8 % 2 ? keys : other;
        struct bench_launch *l = add_launch(c, "radix_count", n / 2048, 256);
        add_u32(l, shift);
        add_buffer_argument(l, from);
        add_buffer_argument(l, counts);
        l = add_launch(c, "radix_scan", 1, 256);
        add_u32(l, 256 * (n / 2048));
        add_buffer_argument(l, counts);
        l = add_launch(c, "radix_place", n / 2048, 256);
        add_u32(l, shift);
        add_buffer_argument(l, from);
        add_buffer_argument(l, counts);
        add_buffer_argument(l, to);
    }
}

static void make_merge(struct bench_case *c, unsigned n) /* of two sorted halves */
{
    int half[2];
    for (unsigned h = 0; h < 2; h++) {
        half[h] = add_buffer(c, BENCH_U32, n / 2, 0);
        for (uint32_t i = 0, key = 0; i < n / 2; i++)
            U(c, half[h])[i] = key += hash_of(i + 61 + h) % 15;
    }
    struct bench_launch *l = add_launch(c, "merge", n / 2048, 256);
    add_u32(l, n / 2);
    add_buffer_argument(l, half[0]);
    add_buffer_argument(l, half[1]);
    add_buffer_argument(l, add_buffer(c, BENCH_U32, n, BENCH_OUT));
}

static const struct bench_kind kinds[] = {
    {"tiny", "programs/tiny", make_tiny, 10000, 500, .limit = LIMIT_NONE, .multiple = 10},
    {"fft", "programs/fft", make_fft, 4096, 256, .limit = LIMIT_NONE},
    {"philox", "programs/philox", make_philox, 1 << 16, 1 << 12, .limit = LIMIT_NONE,
     .multiple = 256},
    {"bfs", "programs/bfs", make_bfs, 1 << 17, 1 << 15, .limit = LIMIT_NONE},
    {"pagerank", "programs/pagerank", make_pagerank, 1 << 18, 1 << 14, .limit = LIMIT_NONE},
    {"kmeans", "programs/kmeans", make_kmeans, 1 << 18, 1 << 14, .limit = LIMIT_NONE,
     .multiple = 256},
    {"hashtable", "programs/hashtable", make_hashtable, 1 << 18, 1 << 15, .limit = LIMIT_NONE,
     .is_power = true},
    {"radix", "programs/radix", make_radix, 1 << 21, 1 << 16, .limit = LIMIT_NONE,
     .multiple = 2048},
    {"merge", "programs/merge", make_merge, 1 << 23, 1 << 18, .limit = LIMIT_NONE,
     .multiple = 4096},
    {0},
};

BENCH_TABLE(programs, "second", "programs");
