/* Measures what this machine can do, with kernels: tools/html/roofs.ptx. */
#include "tools/machine.h"

#include <string.h>
#include <time.h>

#include "ptera.h"
#include "tools/pages.h"

enum {
    THREADS = 256, /* of a block */
    BLOCKS = 128,
    ROUNDS = 1 << 11,
    ROUND_FLOPS = 16, /* of `multiply` */
    FLOATS = 1 << 24, /* that `copy` copies: more than caches have */
    TIMES = 3
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of the fastest launch behind a first one, which compiles it; 0: it failed. */
static double time_kernel(ptera_module *module, const char *name, unsigned blocks,
                          const void **parameters)
{
    ptera_kernel *kernel;
    ptera_launch launch;
    double best = 0;
    ptera_launch_init(&launch);
    launch.grid[0] = blocks;
    launch.block[0] = THREADS;
    launch.parameters = parameters;
    launch.n_parameters = 2;
    launch.backend = PTERA_BACKEND_JIT;
    if (ptera_module_kernel(module, name, 0, &kernel) != PTERA_OK)
        return 0;
    for (int i = 0; i <= TIMES; i++) {
        double begun = now();
        if (ptera_kernel_launch(kernel, &launch) != PTERA_OK)
            return 0;
        double seconds = now() - begun;
        best = i == 1 || (i && seconds < best) ? seconds : best;
    }
    return best;
}

static bool measure(ptera_engine *engine, struct machine *machine)
{
    const char *text = page_find("tools/html", "roofs");
    ptera_module *module;
    void *from, *to;
    unsigned rounds = ROUNDS;
    if (ptera_module_load(engine, "roofs.ptx", text, strlen(text), &module) != PTERA_OK ||
        ptera_buffer_alloc(engine, FLOATS * sizeof(float), &from) != PTERA_OK ||
        ptera_buffer_alloc(engine, FLOATS * sizeof(float), &to) != PTERA_OK)
        return false;
    memset(from, 1, FLOATS * sizeof(float)); /* pages of zeros may all be one */
    double multiplies = time_kernel(module, "multiply", BLOCKS, (const void *[]){&to, &rounds});
    double copies = time_kernel(module, "copy", FLOATS / THREADS, (const void *[]){&to, &from});
    if (!(multiplies > 0) || !(copies > 0))
        return false;
    machine->gflops = 1e-9 * THREADS * BLOCKS * (double)ROUNDS * ROUND_FLOPS / multiplies;
    machine->gbytes = 1e-9 * 2 * FLOATS * sizeof(float) / copies;
    return true;
}

bool machine_measure(struct machine *machine)
{
    ptera_engine *engine;
    if (ptera_engine_create(NULL, &engine) != PTERA_OK)
        return false;
    bool is_good = measure(engine, machine);
    ptera_engine_destroy(engine);
    return is_good;
}
