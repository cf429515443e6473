/* The twins in C with OpenMP, as one would write them for a CPU: built once by each compiler. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "tests/bench/runner.h"

static void (*twin)(struct bench_case *);

/* The twin of kernels/FOLDER/NAME.c is the function omp_NAME, which this shared object exports. */
static bool has(const struct bench_kind *kind)
{
    char name[64];
    Dl_info here;
    const char *base = strrchr(kind->file, '/');
    snprintf(name, sizeof name, "omp_%s", base ? base + 1 : kind->file);
    void *object = dladdr((void *)(uintptr_t)has, &here) ? dlopen(here.dli_fname, RTLD_LAZY) : NULL;
    twin = object ? (void (*)(struct bench_case *))(uintptr_t)dlsym(object, name) : NULL;
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
