/* What programs take from their start to their end, compilation and all: a few lengths of some
 * kernels, and of many.
 *
 *     bench_start [ROUNDS [NAME]]
 *
 * Each program runs in a process of its own, its cases of the sets at their quick sizes in turn,
 * again and again. Its length is that of the interpreter alone, for which the number of turns is
 * found first. In a round (3) each program runs interpreted, by the engine `auto` with an empty
 * cache, and once more with the cache that this left; printed are the first's time, and medians of
 * the rounds' ratios: of empty to interpreted, and of empty to second. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ptera.h"
#include "tests/bench/case.h"
#include "tests/bench/scratch.h"
#include "tests/bench/timing.h"

enum { CASES = 32, ROUNDS_MOST = 15 };

struct program {
    const char *name;
    double seconds; /* interpreted */
    const char *cases[CASES];
};

#define MANY                                                                               \
    {"heat3d",    "stencil9", "dgemm",     "nbody64",   "lbm",       "fft",    "philox",   \
     "pagerank",  "kmeans",   "merge",     "halffma",   "halfgelu",  "bfrelu", "dp4a",     \
     "conv3x3",   "dwconv",   "layernorm", "softmax",   "attention", "gru",    "median25", \
     "localhist", "gemvt",    "topk8",     "blur_rgba", "sobel"}

static const struct program programs[] = {
    {"one-0.05", 0.05, {"nbody"}},
    {"one-0.2", 0.2, {"nbody"}},
    {"one-1", 1, {"nbody"}},
    {"one-3", 3, {"nbody"}},
    {"three-0.2", 0.2, {"blackscholes", "sgemm16", "histogram"}},
    {"three-1", 1, {"blackscholes", "sgemm16", "histogram"}},
    {"three-3", 3, {"blackscholes", "sgemm16", "histogram"}},
    {"many-1", 1, MANY},
    {"many-3", 3, MANY},
    {"many-10", 10, MANY},
};

/* ---- a program, in its process --------------------------------------------------------------- */

struct part {
    struct bench_case c;
    ptera_module *module;
    ptera_kernel **kernels;
    ptera_launch *launches;
};

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "bench_start: %s: %s\n", what, why);
    exit(1);
}

static void make(struct part *p, const char *name)
{
    int i = 0;
    while (bench_kind(i) && strcmp(bench_kind(i)->name, name))
        i++;
    const char *why =
        bench_kind(i) ? bench_case_make(&p->c, bench_kind(i), bench_kind(i)->quick) : "no case";
    if (why)
        fail(name, why);
}

static void set_launch(struct part *p, int i, ptera_backend backend)
{
    struct bench_launch *l = &p->c.launch[i];
    ptera_launch *launch = &p->launches[i];
    const void **value = calloc(l->n_arguments, sizeof *value);
    for (unsigned a = 0; a < l->n_arguments && value; a++)
        value[a] = bench_case_value(&p->c, &l->argument[a]);
    ptera_launch_init(launch);
    memcpy(launch->grid, l->grid, sizeof l->grid);
    memcpy(launch->block, l->block, sizeof l->block);
    launch->backend = backend;
    launch->parameters = value;
    launch->n_parameters = l->n_arguments;
    ptera_result r = ptera_module_kernel(p->module, l->kernel, 0, &p->kernels[i]);
    if (r != PTERA_OK)
        fail(l->kernel, ptera_result_text(r));
}

static void load(struct part *p, ptera_engine *engine, ptera_backend backend)
{
    char path[4096];
    snprintf(path, sizeof path, KERNELS "/%s.ptx", p->c.kind->file);
    ptera_result r = ptera_module_load_file(engine, path, &p->module);
    if (r != PTERA_OK)
        fail(path, ptera_result_text(r));
    p->kernels = calloc((size_t)p->c.n_launches, sizeof *p->kernels);
    p->launches = calloc((size_t)p->c.n_launches, sizeof *p->launches);
    for (int i = 0; i < p->c.n_launches; i++)
        set_launch(p, i, backend);
}

static void run(struct part *p, ptera_engine *engine)
{
    for (int i = 0; i < p->c.times * p->c.n_launches; i++) {
        int at = i % p->c.n_launches;
        if (ptera_kernel_launch(p->kernels[at], &p->launches[at]) != PTERA_OK)
            fail(p->c.kind->name, ptera_engine_error(engine));
    }
}

/* Prints milliseconds from the engine's creation to its end, and those of its turns. */
static int run_program(const struct program *program, ptera_backend backend, unsigned turns)
{
    static struct part parts[CASES];
    ptera_engine *engine;
    ptera_options options;
    unsigned n = 0;
    for (; n < CASES && program->cases[n]; n++)
        make(&parts[n], program->cases[n]);
    double begun = now_ms();
    ptera_options_init(&options);
    if (ptera_engine_create(&options, &engine) != PTERA_OK)
        fail(program->name, "no engine");
    for (unsigned i = 0; i < n; i++)
        load(&parts[i], engine, backend);
    double loaded = now_ms();
    for (unsigned turn = 0; turn < turns; turn++)
        for (unsigned i = 0; i < n; i++)
            run(&parts[i], engine);
    double ran = now_ms();
    ptera_engine_destroy(engine);
    printf("%g %g\n", now_ms() - begun, ran - loaded);
    return 0;
}

/* ---- all of them ----------------------------------------------------------------------------- */

struct times {
    double all, turns; /* milliseconds */
};

static struct times measure(const struct program *p, const char *backend, unsigned turns,
                            const char *cache)
{
    struct times t = {0};
    char command[256];
    setenv("PTERA_CACHE", cache, 1);
    snprintf(command, sizeof command, "/proc/%ld/exe --run %td %s %u", (long)getpid(), p - programs,
             backend, turns);
    FILE *f = popen(command, "re");
    if (!f || fscanf(f, "%lf %lf", &t.all, &t.turns) != 2)
        fail(p->name, "it did not end well");
    pclose(f);
    return t;
}

static void compare(const struct program *p, int rounds)
{
    double alone[ROUNDS_MOST], slower[ROUNDS_MOST], longer[ROUNDS_MOST];
    double turn = measure(p, "interp", 1, "").turns;
    unsigned turns = (unsigned)(p->seconds * 1000 / turn + 0.5);
    turns += !turns;
    for (int i = 0; i < rounds; i++) {
        char *cache = scratch_make();
        alone[i] = measure(p, "interp", turns, "").all;
        double first = measure(p, "auto", turns, cache).all;
        double second = measure(p, "auto", turns, cache).all;
        slower[i] = first / alone[i];
        longer[i] = first / second;
        scratch_remove(cache);
        free(cache);
    }
    printf("%-10s %6u %9.0f ms %8.2f %8.2f\n", p->name, turns, median(alone, rounds),
           median(slower, rounds), median(longer, rounds));
    fflush(stdout);
}

/* Or one of those that the name is the beginning of: "many". */
static bool is_named(const struct program *p, const char *name)
{
    size_t n = strlen(name);
    return !strncmp(name, p->name, n) && (p->name[n] == 0 || p->name[n] == '-');
}

int main(int argc, char **argv)
{
    const int n = sizeof programs / sizeof *programs;
    if (argc == 5 && !strcmp(argv[1], "--run"))
        return run_program(&programs[atoi(argv[2])],
                           strcmp(argv[3], "auto") ? PTERA_BACKEND_INTERP : PTERA_BACKEND_AUTO,
                           (unsigned)atoi(argv[4]));
    int rounds = argc > 1 ? atoi(argv[1]) : 3;
    if (rounds < 1 || rounds > ROUNDS_MOST || argc > 3) {
        fprintf(stderr, "usage: bench_start [ROUNDS [NAME]], at most %d\n", ROUNDS_MOST);
        return 2;
    }
    printf("program     turns  interpreted    empty:    empty:\n"
           "                         alone   interp.    second\n");
    for (int i = 0; i < n; i++)
        if (argc < 3 || is_named(&programs[i], argv[2]))
            compare(&programs[i], rounds);
    return 0;
}
