/* Ptera itself, through its public API. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptera.h"
#include "tests/bench/runner.h"

/* "check-TOOL": interpreted, under that checker; "jit-check-mem": natively;
 * "profile": interpreted and counted; "coverage": native code that counts what runs. */
#define ALL (PTERA_CHECK_INIT | PTERA_CHECK_MEM | PTERA_CHECK_RACE | PTERA_CHECK_SYNC)
#define ENGINES(X)                                                   \
    X("interp", PTERA_BACKEND_INTERP, 0, 0, NULL)                    \
    X("jit", PTERA_BACKEND_JIT, 0, 0, NULL)                          \
    X("jit-fast", PTERA_BACKEND_JIT, 1, 0, NULL)                     \
    X("auto", PTERA_BACKEND_AUTO, 0, 0, NULL)                        \
    X("check-mem", PTERA_BACKEND_INTERP, 0, PTERA_CHECK_MEM, NULL)   \
    X("check-sync", PTERA_BACKEND_INTERP, 0, PTERA_CHECK_SYNC, NULL) \
    X("check-init", PTERA_BACKEND_INTERP, 0, PTERA_CHECK_INIT, NULL) \
    X("check-race", PTERA_BACKEND_INTERP, 0, PTERA_CHECK_RACE, NULL) \
    X("check-all", PTERA_BACKEND_INTERP, 0, ALL, NULL)               \
    X("jit-check-mem", PTERA_BACKEND_JIT, 0, PTERA_CHECK_MEM, NULL)  \
    X("profile", PTERA_BACKEND_INTERP, 0, 0, "count")                \
    X("coverage", PTERA_BACKEND_JIT, 0, 0, "coverage")

static const struct {
    ptera_backend backend;
    int math_fast;
    unsigned checks; /* ptera_check */
    const char *observe;
} engines[] = {
#define ROW(name, backend, math_fast, checks, observe) {backend, math_fast, checks, observe},
    ENGINES(ROW)
#undef ROW
};

const char *const ptera_engines[] = {
#define ROW(name, backend, math_fast, checks, observe) name,
    ENGINES(ROW)
#undef ROW
        NULL};

static int chosen; /* of engines */
static ptera_engine *engine;
static ptera_module *module;
static ptera_launch *launches;
static ptera_kernel **kernels;

static char text[300];

static const char *fail(const char *what, const char *why)
{
    snprintf(text, sizeof text, "%s: %s", what, why);
    return text;
}

static bool has(const struct bench_kind *kind)
{
    return !kind->is_limit;
}

static const char *find(const struct runner_setup *setup)
{
    ptera_options o;
    ptera_info info = {.size = sizeof info};
    ptera_options_init(&o);
    o.threads = setup->threads;
    while (strcmp(ptera_engines[chosen], setup->engine))
        chosen++;
    o.observe = engines[chosen].observe;
    ptera_result r = ptera_engine_create(&o, &engine);
    if (r != PTERA_OK)
        return fail("Ptera", ptera_result_text(r));
    if (engines[chosen].backend == PTERA_BACKEND_INTERP)
        return NULL;
    ptera_engine_info(engine, &info);
    return info.has_jit ? NULL : fail("no compiler", info.jit_error);
}

static const char *load(const struct bench_case *c, const char *folder)
{
    char path[4096];
    ptera_diagnostic d = {.size = sizeof d};
    snprintf(path, sizeof path, "%s/%s.ptx", folder, c->kind->file);
    ptera_result r = ptera_module_load_file(engine, path, &module);
    if (r == PTERA_OK)
        return NULL;
    if (r == PTERA_ERROR_INVALID_PTX && ptera_module_diagnostic(module, 0, &d) == PTERA_OK)
        return fail(c->kind->file, d.text);
    return fail(c->kind->file, ptera_result_text(r));
}

static const char *set_launch(struct bench_case *c, int i)
{
    struct bench_launch *l = &c->launch[i];
    const void **value = calloc(l->n_arguments, sizeof *value);
    if (!value)
        return "out of memory";
    for (unsigned a = 0; a < l->n_arguments; a++) {
        value[a] = bench_case_value(c, &l->argument[a]);
        if (!value[a])
            return "out of memory";
    }
    ptera_launch_init(&launches[i]);
    memcpy(launches[i].grid, l->grid, sizeof l->grid);
    memcpy(launches[i].block, l->block, sizeof l->block);
    launches[i].backend = engines[chosen].backend;
    launches[i].math_fast = engines[chosen].math_fast;
    launches[i].checks = engines[chosen].checks;
    launches[i].parameters = value;
    launches[i].n_parameters = l->n_arguments;
    ptera_result r = ptera_module_kernel(module, l->kernel, 0, &kernels[i]);
    return r == PTERA_OK ? NULL : fail(l->kernel, ptera_result_text(r));
}

/* The checker of memory asks whose it is. */
static const char *register_buffers(const struct bench_case *c)
{
    for (int i = 0; i < c->n_buffers; i++) {
        const struct bench_buffer *b = &c->buffer[i];
        ptera_result r = ptera_memory_register(engine, b->host, b->bytes);
        if (b->bytes && r != PTERA_OK)
            return fail("a buffer", ptera_result_text(r));
    }
    return NULL;
}

static const char *open_case(struct bench_case *c, const struct runner_setup *setup)
{
    const char *why = load(c, setup->kernels);
    if (!why && engines[chosen].checks)
        why = register_buffers(c);
    launches = calloc((size_t)c->n_launches, sizeof *launches);
    kernels = calloc((size_t)c->n_launches, sizeof *kernels);
    if (!launches || !kernels)
        return "out of memory";
    for (int i = 0; i < c->n_launches && !why; i++)
        why = set_launch(c, i);
    return why;
}

static const char *run(struct bench_case *c)
{
    for (int i = 0; i < c->times * c->n_launches; i++) {
        int at = i % c->n_launches;
        ptera_result r = ptera_kernel_launch(kernels[at], &launches[at]);
        if (r != PTERA_OK)
            return fail(ptera_result_text(r), ptera_engine_error(engine));
    }
    return NULL;
}

static const char *version(void)
{
    ptera_info info = {.size = sizeof info};
    static char line[96];
    ptera_engine_info(engine, &info);
    if (engines[chosen].backend == PTERA_BACKEND_INTERP)
        snprintf(line, sizeof line, "Ptera %s, CPU level %s", info.version, info.cpu_level);
    else
        snprintf(line, sizeof line, "Ptera %s, LLVM %s, %u lanes", info.version, info.llvm_version,
                 info.vector_lanes);
    return line;
}

static const char *remark(const struct bench_case *c)
{
    char steps[40];
    for (int i = 0; i < c->n_launches && engines[chosen].backend == PTERA_BACKEND_JIT; i++) {
        ptera_kernel_status status = {.size = sizeof status};
        ptera_kernel_info(kernels[i], &status);
        if (status.why)
            return fail("interpreted, not native", status.why);
        if (status.stepped) {
            snprintf(steps, sizeof steps, "%llu steps", (unsigned long long)status.stepped);
            return fail("native code runs instructions by the interpreter", steps);
        }
    }
    return NULL;
}

const struct runner ptera_runner = {
    .has = has, .find = find, .open = open_case, .version = version, .run = run, .remark = remark};
