/* Runs a case of the surface group through the driver API. The includer has the driver's header, or
 * Ptera's statement of it. */
#ifndef PTERA_TESTS_GOLDEN_SURFACE_DEVICE_H
#define PTERA_TESTS_GOLDEN_SURFACE_DEVICE_H

#include <stdlib.h>

#include "read_file.h"
#include "tools/conform/surface_resource.h"

static CUdeviceptr in, out, linear;

static const struct surface_calls calls = {
    cuArray3DCreate,         cuArrayDestroy,     cuMipmappedArrayCreate, cuMipmappedArrayGetLevel,
    cuMipmappedArrayDestroy, cuMemcpy3D,         cuTexObjectCreate,      cuTexObjectDestroy,
    cuSurfObjectCreate,      cuSurfObjectDestroy};

static CUresult launch(CUmodule module, const struct surface_case *c,
                       const struct surface_resource *s, uint32_t *words)
{
    CUfunction kernel;
    for (unsigned i = 0; i < c->lanes; i++)
        surface_fill_lane(c, i, s->size[0], s->size[1], s->size[2], words + i * SURFACE_LANE_WORDS);
    CUresult e = cuMemcpyHtoD(in, words, c->lanes * SURFACE_LANE_WORDS * 4);
    e = e ? e : cuMemsetD8(out, 0xcd, c->lanes * 16);
    e = e ? e : cuModuleGetFunction(&kernel, module, c->kernel);
    e = e ? e
          : cuLaunchKernel(kernel, c->lanes / 32, 1, 1, 32, 1, 1, 0, NULL,
                           (void *[]){(void *)&s->handle, &in, &out}, NULL);
    return e ? e : cuMemcpyDtoH(words, out, c->lanes * 16);
}

/* The words of the lanes, four each, what the array holds then, and what came of the steps. */
static struct surface_result run_case(CUmodule module, const struct surface_case *c,
                                      uint32_t *words, unsigned char *bytes)
{
    struct surface_result result = {0};
    struct surface_resource s = {0};
    memset(words, 0, c->lanes * SURFACE_LANE_WORDS * sizeof *words);
    result.created = surface_resource_create(&calls, c, &s, bytes);
    if (!result.created)
        result.object = surface_resource_object(&calls, c, linear, &s);
    if (!result.created && !result.object)
        result.launched = launch(module, c, &s, words);
    if (!result.created && !result.launched && !surface_resource_copy(&calls, c, &s, bytes, 1))
        result.bytes = surface_resource_bytes(c, &s);
    surface_resource_destroy(&calls, c, &s);
    return result;
}

/* The kernels, and memory for cases. False: it failed. */
static int prepare(const char *folder, CUmodule *module)
{
    CUcontext context;
    size_t bytes;
    char *ptx = read_file(folder, "surface.ptx", &bytes);
    int is_ready = !cuInit(0) && !cuDevicePrimaryCtxRetain(&context, 0) &&
                   !cuCtxSetCurrent(context) && !cuModuleLoadData(module, ptx) &&
                   !cuMemAlloc(&in, SURFACE_LANES * SURFACE_LANE_WORDS * 4) &&
                   !cuMemAlloc(&out, SURFACE_LANES * 16) &&
                   !cuMemAlloc(&linear, SURFACE_LINEAR_BYTES);
    free(ptx);
    return is_ready;
}

#endif
