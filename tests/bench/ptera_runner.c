/* Ptera itself, through its public API. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptera.h"
#include "tests/bench/runner.h"

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

static const char *create_engine(const struct runner_setup *setup)
{
    ptera_options o;
    ptera_options_init(&o);
    o.threads = setup->threads;
    if (strcmp(setup->engine, "interp"))
        return fail("this build of Ptera has no engine", setup->engine);
    ptera_result r = ptera_engine_create(&o, &engine);
    return r == PTERA_OK ? NULL : fail("Ptera", ptera_result_text(r));
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
        struct bench_argument *argument = &l->argument[a];
        value[a] =
            argument->is_buffer ? (void *)&c->buffer[argument->buffer].host : (void *)&argument->u;
    }
    ptera_launch_init(&launches[i]);
    memcpy(launches[i].grid, l->grid, sizeof l->grid);
    memcpy(launches[i].block, l->block, sizeof l->block);
    launches[i].parameters = value;
    launches[i].n_parameters = l->n_arguments;
    ptera_result r = ptera_module_kernel(module, l->kernel, 0, &kernels[i]);
    return r == PTERA_OK ? NULL : fail(l->kernel, ptera_result_text(r));
}

static const char *open_case(struct bench_case *c, const struct runner_setup *setup)
{
    const char *why = create_engine(setup);
    if (!why)
        why = load(c, setup->kernels);
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
    for (int i = 0; i < c->n_launches; i++) {
        ptera_result r = ptera_kernel_launch(kernels[i], &launches[i]);
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
    snprintf(line, sizeof line, "Ptera %s, CPU level %s", info.version, info.cpu_level);
    return line;
}

const struct runner ptera_runner = {has, open_case, version, run, NULL};
