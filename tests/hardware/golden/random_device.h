/* Random kernels on an NVIDIA GPU, without cuda.h. */
#ifndef PTERA_TESTS_GOLDEN_RANDOM_DEVICE_H
#define PTERA_TESTS_GOLDEN_RANDOM_DEVICE_H

#include <dlfcn.h>

#include "tests/hardware/golden/random_case.h"

typedef int result;
typedef unsigned long long address;

static result (*init)(unsigned), (*device_get)(int *, int), (*retain)(void **, int),
    (*set_current)(void *);
static result (*load)(void **, const void *), (*unload)(void *),
    (*get_function)(void **, void *, const char *);
static result (*alloc)(address *, size_t), (*clear)(address, unsigned char, size_t),
    (*release)(address);
static result (*copy)(void *, address, size_t), (*synchronize)(void);
static result (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        unsigned, void *, void **, void **);

static void *driver;

static void *find(const char *name)
{
    void *p = dlsym(driver, name);
    if (!p) {
        fprintf(stderr, "libcuda.so.1 has no %s\n", name);
        exit(2);
    }
    return p;
}

static inline void random_open(void)
{
    int device;
    void *context;
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    *(void **)&init = find("cuInit");
    *(void **)&device_get = find("cuDeviceGet");
    *(void **)&retain = find("cuDevicePrimaryCtxRetain");
    *(void **)&set_current = find("cuCtxSetCurrent");
    *(void **)&load = find("cuModuleLoadData");
    *(void **)&unload = find("cuModuleUnload");
    *(void **)&get_function = find("cuModuleGetFunction");
    *(void **)&alloc = find("cuMemAlloc_v2");
    *(void **)&clear = find("cuMemsetD8_v2");
    *(void **)&release = find("cuMemFree_v2");
    *(void **)&copy = find("cuMemcpyDtoH_v2");
    *(void **)&synchronize = find("cuCtxSynchronize");
    *(void **)&launch = find("cuLaunchKernel");
    if (init(0) || device_get(&device, 0) || retain(&context, device) || set_current(context)) {
        fprintf(stderr, "no GPU\n");
        exit(2);
    }
}

/* Runs it and copies the buffers to `after`. */
static result random_launch(const struct random_case *c, void *kernel, char *after)
{
    address buffer[2];
    result r = alloc(&buffer[0], c->bytes[0]) | alloc(&buffer[1], c->bytes[1]);
    unsigned s = c->s;
    unsigned long long w = c->w;
    void *parameters[] = {&buffer[0], &buffer[1], &s, &w};
    for (int i = 0; i < 2 && !r; i++)
        r = clear(buffer[i], 0, c->bytes[i]);
    if (!r)
        r = launch(kernel, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1],
                   c->block[2], 0, NULL, parameters, NULL);
    if (!r)
        r = synchronize();
    for (int i = 0; i < 2 && !r; i++)
        r = copy(after + (i ? c->bytes[0] : 0), buffer[i], c->bytes[i]);
    if (!r)
        r = release(buffer[0]) | release(buffer[1]);
    return r;
}

/* Loads and runs a kernel. Returns 0 or the CUresult; after a launch that failed the process can do
 * no more. */
static inline result random_on_device(const struct random_case *c, char *after, bool *is_loaded)
{
    void *module, *kernel;
    result r = load(&module, c->text);
    *is_loaded = !r;
    r = r ? r : get_function(&kernel, module, "k");
    r = r ? r : random_launch(c, kernel, after);
    if (*is_loaded && !r)
        unload(module);
    return r;
}

#endif
