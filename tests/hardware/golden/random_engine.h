/* Random kernels on an engine. */
#ifndef PTERA_TESTS_GOLDEN_RANDOM_ENGINE_H
#define PTERA_TESTS_GOLDEN_RANDOM_ENGINE_H

#include "ptera.h"
#include "tests/hardware/golden/random_case.h"

/* Launches the kernel with new buffers, both NULL before, which the caller frees whatever is
 * returned. */
static inline ptera_result random_run_on(ptera_engine *engine, const struct random_case *c,
                                         void *buffer[2])
{
    ptera_module *module = NULL;
    ptera_kernel *kernel;
    ptera_launch launch;
    ptera_launch_init(&launch);
    memcpy(launch.grid, c->grid, sizeof launch.grid);
    memcpy(launch.block, c->block, sizeof launch.block);
    launch.parameters = (const void *[]){&buffer[0], &buffer[1], &c->s, &c->w};
    launch.n_parameters = 4;
    ptera_result r = ptera_module_load(engine, "random.ptx", c->text, strlen(c->text), &module);
    if (r == PTERA_OK)
        r = ptera_module_kernel(module, "k", 0, &kernel);
    for (int i = 0; i < 2 && r == PTERA_OK; i++)
        r = ptera_buffer_alloc(engine, c->bytes[i], &buffer[i]);
    if (r == PTERA_OK)
        r = ptera_kernel_launch(kernel, &launch);
    ptera_module_unload(module);
    return r;
}

#endif
