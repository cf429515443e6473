/* Clusters, mbarriers and cooperative launches in many shapes, on one worker and on several;
 * kernels as nvcc makes them. */
#include "tests/api/support.h"

enum { BINS = 128, INPUTS = 5000 };

static ptera_engine *engine;
static ptera_module *module;

static ptera_launch shape(unsigned grid, unsigned block, unsigned cluster,
                          const void *const *parameters, unsigned n)
{
    ptera_launch l;
    ptera_launch_init(&l);
    l.grid[0] = grid;
    l.block[0] = block;
    l.cluster[0] = cluster;
    l.parameters = parameters;
    l.n_parameters = n;
    return l;
}

static void run(const char *kernel, const ptera_launch *l)
{
    ptera_result r = ptera_kernel_launch(kernel_of(module, kernel), l);
    CHECK_INT(r, PTERA_OK);
    if (r != PTERA_OK)
        fprintf(stderr, "%s\n", ptera_engine_error(engine));
}

#define PARAMETERS(...) \
    (const void *const[]){__VA_ARGS__}, sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *)

/* Launched twice, so every count is doubled. */
static void check_histogram(unsigned cluster)
{
    unsigned part = BINS / cluster, n = INPUTS, want[BINS] = {0}, wrong = 0;
    uint32_t *bins = new_buffer(engine, BINS * 4), *in = new_buffer(engine, INPUTS * 4);
    for (unsigned i = 0; i < n; i++) {
        in[i] = i * i % 149;
        want[in[i] < BINS ? in[i] : BINS - 1] += 2;
    }
    ptera_launch l = shape(8, 96, cluster, PARAMETERS(&bins, &part, &in, &n));
    l.shared_bytes = part * 4;
    run("histogram", &l);
    run("histogram", &l);
    for (unsigned i = 0; i < BINS; i++)
        wrong += bins[i] != want[i];
    CHECK_INT(wrong, 0);
    ptera_buffer_free(engine, bins);
    ptera_buffer_free(engine, in);
}

static void check_ring(unsigned cluster)
{
    unsigned steps = 7, grid = 3 * cluster, wrong = 0;
    uint32_t *out = new_buffer(engine, grid * 4);
    ptera_launch l = shape(grid, 32, cluster, PARAMETERS(&out, &steps));
    run("ring", &l);
    for (unsigned i = 0; i < grid; i++)
        wrong += out[i] != 11 * ((i % cluster + 2 + 7 * (cluster - 1)) % cluster);
    CHECK_INT(wrong, 0);
    ptera_buffer_free(engine, out);
}

static void check_all_to_all(unsigned cluster)
{
    unsigned grid = 4 * cluster, wrong = 0;
    uint32_t *out = new_buffer(engine, grid * cluster * 4);
    ptera_launch l = shape(grid, 64, cluster, PARAMETERS(&out));
    run("all_to_all", &l);
    for (unsigned cta = 0; cta < grid; cta++)
        for (unsigned t = 0; t < cluster; t++) {
            unsigned from = cta / cluster * cluster + t, sum = cluster * (cluster + 1) / 2;
            wrong += out[cta * cluster + t] != 100 * from + cta % cluster + 1000000 * sum;
        }
    CHECK_INT(wrong, 0);
    ptera_buffer_free(engine, out);
}

/* Threads of CTA r with a number that is r modulo 5 leave before the second barrier, all of CTA 1
 * too; of the others those that are 3 modulo 7 before the third. */
static void check_early(unsigned cluster)
{
    unsigned threads = 150, clusters = 3, count = 0, wrong = 0;
    uint32_t *out = new_buffer(engine, clusters * 4);
    ptera_launch l = shape(clusters * cluster, threads, cluster, PARAMETERS(&out));
    run("early", &l);
    for (unsigned r = 0; r < cluster; r++)
        for (unsigned t = 0; t < threads; t++)
            count += r == 1 || t % 5 == r ? 0 : t % 7 == 3 ? 1 : 1001;
    for (unsigned i = 0; i < clusters; i++)
        wrong += out[i] != count;
    CHECK_INT(wrong, 0);
    ptera_buffer_free(engine, out);
}

static void check_pipeline(unsigned threads)
{
    unsigned ctas = 5, n = 32 * 37, wrong = 0;
    uint32_t *in = new_buffer(engine, ctas * n * 4), *out = new_buffer(engine, ctas * 4),
             want[5] = {0};
    for (unsigned i = 0; i < ctas * n; i++)
        want[i / n] += in[i] = i * 2654435761u;
    ptera_launch l = shape(ctas, threads, 0, PARAMETERS(&in, &out, &n));
    run("pipeline", &l);
    for (unsigned i = 0; i < ctas; i++)
        wrong += out[i] != want[i];
    CHECK_INT(wrong, 0);
    ptera_buffer_free(engine, in);
    ptera_buffer_free(engine, out);
}

static void check_grid_sum(unsigned ctas, unsigned cluster)
{
    unsigned n = 3000, want = 0;
    uint32_t *in = new_buffer(engine, n * 4), *parts = new_buffer(engine, ctas * 4),
             *out = new_buffer(engine, 4);
    for (unsigned i = 0; i < n; i++)
        want += in[i] = i * 40503u;
    ptera_launch l = shape(ctas, 64, cluster, PARAMETERS(&in, &parts, &out, &n));
    l.cooperative = 1;
    run("grid_sum", &l);
    CHECK_INT(*out, want);
    ptera_buffer_free(engine, in);
    ptera_buffer_free(engine, parts);
    ptera_buffer_free(engine, out);
}

/* grid.sync() of a launch that is not cooperative traps. */
static void check_not_cooperative(void)
{
    unsigned n = 1;
    uint32_t *p = new_buffer(engine, 8);
    ptera_launch l = shape(2, 32, 0, PARAMETERS(&p, &p, &p, &n));
    CHECK_INT(ptera_kernel_launch(kernel_of(module, "grid_sum"), &l), PTERA_ERROR_TRAP);
    ptera_buffer_free(engine, p);
}

static const char text[] =
    ".version 9.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry ranked() .maxclusterrank 4\n{\n    ret;\n}\n"
    ".visible .entry explicit() .explicitcluster\n{\n    ret;\n}\n"
    ".visible .entry required() .reqnctapercluster 2, 1, 2\n{\n    ret;\n}\n"
    /* A grid of clusters: counts CTAs. */
    ".visible .entry clusters(.param .u64 count) .reqntid 32 .reqnctapercluster 2, 3 "
    ".blocksareclusters\n{\n"
    "    .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p;\n    ld.param.u64 %rd1, [count];\n"
    "    mov.u32 %r1, %tid.x;\n    setp.ne.u32 %p, %r1, 0;\n    @%p exit;\n    red.global.add.u32 "
    "[%rd1], 1;\n"
    "    mov.u32 %r2, %nctaid.x;\n    mov.u32 %r3, %nctaid.y;\n    st.global.u32 [%rd1+4], %r2;\n"
    "    st.global.u32 [%rd1+8], %r3;\n    exit;\n}\n"
    /* CTA 1 goes where nothing is while CTA 0 waits for it. */
    ".visible .entry astray()\n{\n"
    "    .reg .b32 %r<4>; .reg .pred %p; .shared .b32 word;\n    mov.u32 %r1, %cluster_ctarank;\n"
    "    setp.eq.u32 %p, %r1, 0;\n    @%p bra WAIT;\n    mapa.shared::cluster.u32 %r2, word, 7;\n"
    "    st.shared::cluster.u32 [%r2], 1;\n"
    "WAIT: barrier.cluster.arrive;\n    barrier.cluster.wait;\n    exit;\n}\n";

static void refuse(ptera_module *m, const char *kernel, unsigned x, unsigned y,
                   const unsigned cluster[3], const char *why)
{
    ptera_launch l = shape(x, 32, 0, NULL, 0);
    l.grid[1] = y;
    memcpy(l.cluster, cluster, sizeof l.cluster);
    CHECK_INT(ptera_kernel_launch(kernel_of(m, kernel), &l), PTERA_ERROR_INVALID_LAUNCH);
    CHECK_HAS(ptera_engine_error(engine), why);
}

static void check_limits(ptera_module *m)
{
    const unsigned none[3] = {0}, c8[3] = {8}, c421[3] = {4, 2, 1}, c442[3] = {4, 4, 2},
                   c212[3] = {2, 1, 2}, c2[3] = {2};
    refuse(m, "ranked", 8, 1, c8, "8 CTAs in a cluster, .maxclusterrank allows 4");
    refuse(m, "explicit", 8, 1, none, ".explicitcluster demands cluster dimensions");
    refuse(m, "explicit", 8, 4, c442, "a cluster has at most 16 CTAs");
    refuse(m, "explicit", 8, 3, c421, "grid 8x3x1 is not a multiple of the cluster 4x2x1");
    refuse(m, "required", 2, 1, c2, "cluster 2x0x0 is not what .reqnctapercluster demands");
    refuse(m, "required", 2, 1, none, "grid 2x1x1 is not a multiple of the cluster 2x1x2");
    refuse(m, "required", 2, 1, c212, "grid 2x1x1 is not a multiple of the cluster 2x1x2");
    ptera_launch l = shape(4, 32, 4, NULL, 0);
    CHECK_INT(ptera_kernel_launch(kernel_of(m, "ranked"), &l), PTERA_OK);
    CHECK_INT(ptera_kernel_launch(kernel_of(m, "explicit"), &l), PTERA_OK);
}

static void check_grid_of_clusters(ptera_module *m)
{
    uint32_t *count = new_buffer(engine, 12);
    ptera_launch l = shape(5, 32, 0, PARAMETERS(&count));
    l.grid[1] = 2;
    CHECK_INT(ptera_kernel_launch(kernel_of(m, "clusters"), &l), PTERA_OK);
    CHECK_INT(count[0], 60);
    CHECK_INT(count[1], 10);
    CHECK_INT(count[2], 6);
    ptera_buffer_free(engine, count);
}

/* A cluster that failed leaves nothing behind for the next. */
static void check_failure(ptera_module *m)
{
    for (unsigned i = 0; i < 3; i++) {
        ptera_launch l = shape(8, 64, 4, NULL, 0);
        CHECK_INT(ptera_kernel_launch(kernel_of(m, "astray"), &l), PTERA_ERROR_ILLEGAL_ADDRESS);
        CHECK_HAS(ptera_engine_error(engine), "the address is shared address 0x7000400");
        check_ring(4);
    }
}

static void check_on(unsigned threads)
{
    char path[512];
    snprintf(path, sizeof path, "%s/tests/ptx/cluster/kernels.ptx", SOURCE_DIR);
    engine = new_engine(threads);
    CHECK_INT(ptera_module_load_file(engine, path, &module), PTERA_OK);
    for (unsigned cluster = 1; cluster <= 8; cluster *= 2) {
        check_histogram(cluster);
        check_ring(cluster);
        check_all_to_all(cluster);
        check_early(cluster);
    }
    check_ring(3);
    check_ring(16);
    check_all_to_all(16);
    check_early(5);
    check_pipeline(64);
    check_pipeline(160);
    check_pipeline(1024);
    check_grid_sum(1, 0);
    check_grid_sum(8, 0);
    check_grid_sum(132, 0);
    check_grid_sum(12, 4);
    check_not_cooperative();
    ptera_module *m = load(engine, text);
    check_limits(m);
    check_grid_of_clusters(m);
    check_failure(m);
    ptera_engine_destroy(engine);
}

int main(void)
{
    check_on(1);
    check_on(4);
    return CHECK_DONE("cluster");
}
