/* What the API tests share: engines and kernels made from text in a line or two. */
#ifndef PTERA_TESTS_API_SUPPORT_H
#define PTERA_TESTS_API_SUPPORT_H

#include <stdarg.h>
#include <stdlib.h>

#include "ptera.h"
#include "tests/unit/check.h"

#define HEADER ".version 8.0\n.target sm_90\n.address_size 64\n"

static inline ptera_engine *new_engine(unsigned threads)
{
    ptera_options options;
    ptera_engine *engine = NULL;
    ptera_options_init(&options);
    options.threads = threads;
    CHECK_INT(ptera_engine_create(&options, &engine), PTERA_OK);
    return engine;
}

/* Native code where the library has its compiler, elsewhere the interpreter. */
static inline ptera_backend best_backend(const ptera_engine *engine)
{
    ptera_info info = {.size = sizeof info};
    CHECK_INT(ptera_engine_info(engine, &info), PTERA_OK);
    return info.has_jit ? PTERA_BACKEND_JIT : PTERA_BACKEND_INTERP;
}

/* Loads text under the name k.ptx; shows what is wrong with it. */
static inline ptera_module *load(ptera_engine *engine, const char *text)
{
    ptera_module *module = NULL;
    ptera_diagnostic d = {.size = sizeof d};
    CHECK_INT(ptera_module_load(engine, "k.ptx", text, strlen(text), &module), PTERA_OK);
    for (unsigned i = 0; module && ptera_module_diagnostic(module, i, &d) == PTERA_OK; i++)
        fprintf(stderr, "%s", d.text);
    return module;
}

static inline ptera_kernel *kernel_of(ptera_module *module, const char *name)
{
    ptera_kernel *kernel = NULL;
    CHECK_INT(ptera_module_kernel(module, name, 0, &kernel), PTERA_OK);
    return kernel;
}

static inline void *new_buffer(ptera_engine *engine, size_t bytes)
{
    void *p = NULL;
    CHECK_INT(ptera_buffer_alloc(engine, bytes, &p), PTERA_OK);
    return p;
}

/* Launches with a grid and a block of one dimension; the parameters are pointers to their
 * values. */
#define LAUNCH(kernel, grid, block, ...) \
    launch_with((kernel), (grid), (block), (const void *const[]){__VA_ARGS__}, \
                sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *))
static inline ptera_result launch_with(ptera_kernel *kernel, unsigned grid, unsigned block,
                                       const void *const *parameters, size_t n)
{
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.grid[0] = grid;
    launch.block[0] = block;
    launch.parameters = parameters;
    launch.n_parameters = (unsigned)n;
    return ptera_kernel_launch(kernel, &launch);
}

#endif
