/* The kernels of the benchmark sets at small sizes under checkers, which must find nothing, and
 * change nothing: the buffers are compared with those of an unchecked run. With --order it is
 * `order` alone, and sums of floats may differ as they do where they are added up in another order.
 *
 *     check_bench [--order] [--every N] [CASE ...] */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptera.h"
#include "tests/bench/case.h"
#include "tests/check/found.h"

enum { CHECKS = PTERA_CHECK_MEM | PTERA_CHECK_INIT | PTERA_CHECK_RACE | PTERA_CHECK_SYNC };

static const double tolerance = 1e-4; /* of `order`, relative */

static bool launch(ptera_module *module, struct bench_case *c, struct bench_launch *l,
                   unsigned checks)
{
    const void *value[BENCH_ARGUMENTS];
    ptera_kernel *kernel;
    ptera_launch launch;
    for (unsigned a = 0; a < l->n_arguments; a++) {
        value[a] = bench_case_value(c, &l->argument[a]);
    }
    ptera_launch_init(&launch);
    memcpy(launch.grid, l->grid, sizeof l->grid);
    memcpy(launch.block, l->block, sizeof l->block);
    launch.backend = PTERA_BACKEND_INTERP;
    launch.checks = checks;
    launch.parameters = value;
    launch.n_parameters = l->n_arguments;
    ptera_result r = ptera_module_kernel(module, l->kernel, 0, &kernel);
    r = r == PTERA_OK ? ptera_kernel_launch(kernel, &launch) : r;
    return r == PTERA_OK || r == PTERA_ERROR_FINDINGS;
}

static bool run(ptera_module *module, struct bench_case *c, unsigned checks)
{
    bool is_good = true;
    bench_case_reset(c);
    for (int i = 0; i < c->times * c->n_launches && is_good; i++)
        is_good = launch(module, c, &c->launch[i % c->n_launches], checks);
    return is_good;
}

/* Keeps the results, or (false) says whether the buffers hold them again. */
static bool keep(const struct bench_case *c, char **copies, bool is_first)
{
    bool is_same = true;
    for (int i = 0; i < c->n_buffers; i++) {
        const struct bench_buffer *b = &c->buffer[i];
        if (!is_first) {
            is_same &= !(b->flags & BENCH_OUT) || !memcmp(copies[i], b->host, b->bytes);
            continue;
        }
        copies[i] = malloc(b->bytes);
        if (!copies[i])
            exit(2);
        memcpy(copies[i], b->host, b->bytes);
    }
    return is_same;
}

/* NULL, or what is wrong. */
static const char *compare(ptera_engine *engine, struct bench_case *c, unsigned checks)
{
    char path[4096], *copies[BENCH_BUFFERS] = {NULL};
    ptera_module *module = NULL;
    snprintf(path, sizeof path, "%s/%s.ptx", KERNELS, c->kind->file);
    if (ptera_module_load_file(engine, path, &module) != PTERA_OK)
        return "it cannot be loaded";
    for (int i = 0; i < c->n_buffers; i++)
        if (ptera_memory_register(engine, c->buffer[i].host, c->buffer[i].bytes) != PTERA_OK)
            return "its memory cannot be registered";
    bool is_good = run(module, c, 0);
    keep(c, copies, true);
    is_good = is_good && run(module, c, checks);
    bool is_same = keep(c, copies, false);
    for (int i = 0; i < c->n_buffers; i++) {
        ptera_memory_unregister(engine, c->buffer[i].host);
        free(copies[i]);
    }
    ptera_module_unload(module);
    return !is_good ? ptera_engine_error(engine) : is_same ? NULL : "checked, it wrote other bytes";
}

static bool is_named(const struct bench_kind *kind, char **names)
{
    bool is_any = !*names;
    for (; *names && !is_any; names++)
        is_any = !strcmp(*names, kind->name);
    return is_any && !kind->is_limit;
}

int main(int argc, char **argv)
{
    unsigned passed = 0, failed = 0, n_found = 0, every = 1, checks = CHECKS;
    ptera_engine *engine;
    ptera_options options;
    ptera_options_init(&options);
    options.threads = 1; /* sums of floats by atomics are in one order then, checked or not */
    options.order_tolerance = tolerance;
    if (argc > 1 && !strcmp(argv[1], "--order")) {
        checks = PTERA_CHECK_ORDER;
        argc--;
        argv++;
    }
    if (argc > 2 && !strcmp(argv[1], "--every")) {
        every = (unsigned)strtoul(argv[2], NULL, 10);
        argv += 2;
    }
    if (!every || ptera_engine_create(&options, &engine) != PTERA_OK)
        return 2;
    for (int i = 0; bench_kind(i); i++) {
        struct bench_case c;
        if (i % every || !is_named(bench_kind(i), argv + 1))
            continue;
        const char *why = bench_case_make(&c, bench_kind(i), bench_kind(i)->quick);
        if (!why) {
            why = compare(engine, &c, checks);
            bench_case_free(&c);
        }
        unsigned n = found_print(engine, &n_found);
        if (why || n)
            printf("FAILED %s: %s\n", bench_kind(i)->name, why ? why : "there are findings");
        why || n ? failed++ : passed++;
        fflush(stdout);
    }
    ptera_engine_destroy(engine);
    printf("check_bench: %u passed, %u failed, 0 skipped\n", passed, failed);
    return failed || !passed;
}
