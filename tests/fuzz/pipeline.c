/* libFuzzer target: PTX through everything. It is loaded, verified and shown; each kernel is
 * launched interpreted and isolated, under limits, and where that tells that all its accesses are
 * its own, as native code, which must leave the same bytes. One thread: nothing races. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ptera.h"

enum {
    INPUTS = 500 /* of an engine */,
    KERNELS = 3,
    BUFFERS = 4,
    WORDS = 1024,
    BLOCK_MAX = 4096,
    VALUE = 37
};

static ptera_engine *engine;
static unsigned inputs;
static uint32_t *buffers[BUFFERS];

static void drop_text(void *ud, const char *text, size_t bytes)
{
    (void)ud, (void)text, (void)bytes;
}

static void renew_engine(void)
{
    ptera_options o;
    if (engine && ++inputs % INPUTS)
        return;
    ptera_engine_destroy(engine);
    ptera_options_init(&o);
    o.threads = 1;
    o.memory_bytes = 64 << 20;
    o.heap_bytes = 1 << 20;
    o.print = drop_text;
    o.compile_inside = 1; /* where its coverage is seen */
    if (ptera_engine_create(&o, &engine) != PTERA_OK)
        abort();
    for (unsigned i = 0; i < BUFFERS; i++)
        if (ptera_buffer_alloc(engine, WORDS * sizeof **buffers, (void **)&buffers[i]) != PTERA_OK)
            abort();
}

static void fill_buffers(void)
{
    for (uint32_t i = 0; i < BUFFERS; i++)
        for (uint32_t k = 0; k < WORDS; k++)
            buffers[i][k] = k % 3 ? k * 2654435761u : k;
}

static ptera_module *load(const char *text, size_t size)
{
    ptera_module *module = NULL;
    ptera_diagnostic d = {.size = sizeof d};
    ptera_result r = ptera_module_load(engine, "f.ptx", text, size, &module);
    if (r == PTERA_OK)
        return module;
    if (r == PTERA_ERROR_INVALID_PTX && ptera_module_diagnostic(module, 0, &d) != PTERA_OK)
        abort();
    if (r == PTERA_ERROR_INVALID_PTX)
        ptera_module_unload(module);
    return NULL;
}

/* Addresses in turn where 8 bytes are wanted. */
static void fill_parameters(const ptera_kernel *kernel, unsigned n, uint8_t *block)
{
    unsigned next = 0;
    const uint32_t value = VALUE;
    for (unsigned i = 0; i < n; i++) {
        ptera_parameter p = {.size = sizeof p};
        if (ptera_kernel_parameter(kernel, i, &p) != PTERA_OK)
            abort();
        if (p.bytes == 8)
            memcpy(block + p.offset, &buffers[next++ % BUFFERS], 8);
        else if (p.bytes <= sizeof value)
            memcpy(block + p.offset, &value, p.bytes);
    }
}

/* False: the kernel demands what is not tried here. */
static bool set_up(ptera_kernel *kernel, ptera_launch *launch, uint8_t *block)
{
    ptera_kernel_properties p = {.size = sizeof p};
    if (ptera_kernel_properties_get(kernel, &p) != PTERA_OK || p.parameter_bytes > BLOCK_MAX ||
        p.required_cluster[0] > 1 || p.required_block[0] * p.required_block[1] > 1)
        return false;
    memset(block, 0, BLOCK_MAX);
    fill_parameters(kernel, p.parameters, block);
    ptera_launch_init(launch);
    launch->parameter_block = block;
    launch->parameter_block_bytes = p.parameter_bytes;
    return true;
}

static ptera_result interpret(ptera_module *module, unsigned index)
{
    uint8_t block[BLOCK_MAX];
    ptera_kernel *kernel;
    ptera_launch launch;
    if (ptera_module_kernel(module, NULL, index, &kernel) != PTERA_OK ||
        !set_up(kernel, &launch, block))
        return PTERA_ERROR_NOT_FOUND;
    launch.backend = PTERA_BACKEND_INTERP;
    launch.isolate = 1;
    launch.timeout_seconds = 0.05;
    fill_buffers();
    return ptera_kernel_launch(kernel, &launch);
}

static void run_native(ptera_module *module, unsigned index)
{
    uint8_t block[BLOCK_MAX];
    ptera_kernel *kernel;
    ptera_launch launch;
    if (ptera_module_kernel(module, NULL, index, &kernel) != PTERA_OK ||
        !set_up(kernel, &launch, block))
        abort();
    launch.backend = PTERA_BACKEND_JIT;
    launch.timeout_seconds = 100; /* an endless loop is a difference */
    fill_buffers();
    if (ptera_kernel_launch(kernel, &launch) != PTERA_OK)
        abort();
}

static bool holds(const char *text, size_t size, const char *word)
{
    return memmem(text, size, word, strlen(word)) != NULL;
}

/* Results may depend on when, or where in memory, it runs, or on lanes that are not there. */
static bool may_differ(const char *text, size_t size)
{
    static const char *const words[] = {"%clock", "%globaltimer", "%gridid", "%pm",
                                        "%smid",  "%warpid",      "cvta",    "alloca",
                                        "stack",  "malloc",       "mma",     "matrix"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (holds(text, size, words[i]))
            return true;
    return false;
}

/* Variables are fresh in each load, and at other addresses: what shows those differs between two
 * interpreted launches. */
static void compare(const char *text, size_t size, unsigned index)
{
    static uint32_t want[BUFFERS][WORDS];
    ptera_module *one = load(text, size), *other = load(text, size), *third = load(text, size);
    bool is_good = one && other && third && interpret(one, index) == PTERA_OK;
    for (unsigned i = 0; is_good && i < BUFFERS; i++)
        memcpy(want[i], buffers[i], sizeof want[i]);
    is_good = is_good && interpret(other, index) == PTERA_OK;
    for (unsigned i = 0; is_good && i < BUFFERS; i++)
        is_good = !memcmp(want[i], buffers[i], sizeof want[i]);
    if (is_good)
        run_native(third, index);
    for (unsigned i = 0; is_good && i < BUFFERS; i++)
        if (memcmp(want[i], buffers[i], sizeof want[i]))
            abort();
    ptera_module_unload(third);
    ptera_module_unload(other);
    ptera_module_unload(one);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *shown;
    /* A copy of the exact size, so that a read past the end is seen. */
    char *text = malloc(size ? size : 1);
    if (size)
        memcpy(text, data, size);
    renew_engine();
    ptera_module *module = load(text, size);
    if (module) {
        ptera_info info = {.size = sizeof info};
        bool compares =
            ptera_engine_info(engine, &info) == PTERA_OK && info.has_jit && !may_differ(text, size);
        ptera_module_verify(module);
        ptera_module_emit(module, NULL, PTERA_EMIT_IR, &shown);
        for (unsigned i = 0; i < KERNELS; i++)
            if (interpret(module, i) == PTERA_OK && compares)
                compare(text, size, i);
    }
    ptera_module_unload(module);
    free(text);
    return 0;
}
