/* Clusters, mbarriers and cooperative launches in many shapes, on one worker and on several; kernels as nvcc makes them. */
#include "tests/api/support.h"

enum { BINS = 128, INPUTS = 5000 };

static ptera_engine *engine;
static ptera_module *module;

static ptera_launch shape(unsigned grid, unsigned block, unsigned cluster, const void *const *parameters, unsigned n)
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

/* Threads of CTA r with a number that is r modulo 5 leave before the second barrier, all of CTA 1 too; of the others those
 * that are 3 modulo 7 before the third. */
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
    uint32_t *in = new_buffer(engine, ctas * n * 4), *out = new_buffer(engine, ctas * 4), want[5] = {0};
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
    uint32_t *in = new_buffer(engine, n * 4), *parts = new_buffer(engine, ctas * 4), *out = new_buffer(engine, 4);
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
    ptera_engine_destroy(engine);
}

int main(void)
{
    check_on(1);
    check_on(4);
    return CHECK_DONE("cluster");
}
