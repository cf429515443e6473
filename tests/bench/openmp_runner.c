/* The twins in C with OpenMP, as one would write them for a CPU: built once by each compiler. */
#include <stdio.h>
#include <string.h>

#include "tests/bench/runner.h"

#define TWINS(X)                    \
    X(saxpy, "saxpy")               \
    X(stencil1d, "stencil1d")       \
    X(stencil3d, "stencil3d")       \
    X(transpose, "transpose")       \
    X(sgemm16, "sgemm16")           \
    X(sgemm64, "sgemm64")           \
    X(reduce, "reduce")             \
    X(scan, "scan")                 \
    X(histogram, "histogram")       \
    X(nbody, "nbody")               \
    X(blackscholes, "blackscholes") \
    X(mandelbrot, "mandelbrot")     \
    X(spmv, "spmv")                 \
    X(sha256, "sha256")             \
    X(bitonic, "bitonic")           \
    X(empty, "empty")               \
    X(limits, "limits")

#define DECLARE(function, file) void omp_##function(struct bench_case *);
TWINS(DECLARE)

static const struct {
    const char *file;
    void (*run)(struct bench_case *);
} twins[] = {
#define ROW(function, file) {file, omp_##function},
    TWINS(ROW)};

static void (*twin)(struct bench_case *);

static bool has(const struct bench_kind *kind)
{
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++)
        if (!strcmp(kind->file, twins[i].file))
            twin = twins[i].run;
    return twin != NULL;
}

static const char *find(const struct runner_setup *setup)
{
    (void)setup;
    return NULL;
}

static const char *open_case(struct bench_case *c, const struct runner_setup *setup)
{
    (void)setup;
    return has(c->kind) ? NULL : "no twin";
}

static const char *run(struct bench_case *c)
{
    twin(c);
    return NULL;
}

static const char *version(void)
{
#ifdef __clang__
    return "clang " __clang_version__;
#else
    return "gcc " __VERSION__;
#endif
}

__attribute__((visibility("default"))) const struct runner runner = {
    .has = has, .find = find, .open = open_case, .version = version, .run = run};
