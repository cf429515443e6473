/* Runs a case of the texture group through the driver API. The includer has the driver's header, or
 * Ptera's statement of it. */
#ifndef PTERA_TESTS_GOLDEN_TEXTURE_DEVICE_H
#define PTERA_TESTS_GOLDEN_TEXTURE_DEVICE_H

#include <stdlib.h>

#include "read_file.h"
#include "tools/conform/texture_resource.h"

static CUdeviceptr in, out;
static struct texture_memory memory;

static const struct texture_calls calls = {
    cuArray3DCreate,         cuArrayDestroy, cuMipmappedArrayCreate, cuMipmappedArrayGetLevel,
    cuMipmappedArrayDestroy, cuMemcpy3D,     cuMemcpyHtoD,           cuTexObjectCreate,
    cuTexObjectDestroy};

static CUresult launch(CUmodule module, const struct texture_case *c, CUtexObject texture,
                       uint32_t *words)
{
    CUfunction kernel;
    for (unsigned i = 0; i < c->lanes; i++)
        fill_lane(c, i, words + i * LANE_WORDS);
    CUresult e = cuMemcpyHtoD(in, words, c->lanes * LANE_WORDS * 4);
    e = e ? e : cuMemsetD8(out, 0xcd, c->lanes * 16);
    e = e ? e : cuModuleGetFunction(&kernel, module, c->kernel);
    e = e ? e
          : cuLaunchKernel(kernel, c->lanes / 32, 1, 1, 32, 1, 1, 0, NULL,
                           (void *[]){&texture, &in, &out}, NULL);
    return e ? e : cuMemcpyDtoH(words, out, c->lanes * 16);
}

/* The words of the lanes, four each, and what came of the steps. */
static struct texture_result run_case(CUmodule module, const struct texture_case *c,
                                      uint32_t *words)
{
    struct texture_result result = {.lanes = c->lanes};
    struct texture_resource r = {0};
    memset(words, 0, c->lanes * LANE_WORDS * sizeof *words);
    result.created = texture_resource_create(&calls, c, &memory, &r);
    if (!result.created)
        result.object = texture_resource_sample(&calls, c, &r);
    if (!result.created && !result.object)
        result.launched = launch(module, c, r.texture, words);
    texture_resource_destroy(&calls, &r);
    return result;
}

static uint64_t hash_words(const struct texture_case *c, const uint32_t *words)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (unsigned i = 0; i < c->lanes * 4; i++)
        hash = (hash ^ words[i]) * 0x100000001b3u;
    return hash;
}

/* The kernels, and memory for cases. False: it failed. */
static int prepare(const char *folder, CUmodule *module)
{
    CUcontext context;
    size_t bytes;
    char *ptx = read_file(folder, "texture.ptx", &bytes);
    memory.texels = malloc(TEXEL_BYTES);
    int is_ready = memory.texels && !cuInit(0) && !cuDevicePrimaryCtxRetain(&context, 0) &&
                   !cuCtxSetCurrent(context) && !cuModuleLoadData(module, ptx) &&
                   !cuMemAlloc(&in, MAX_LANES * LANE_WORDS * 4) &&
                   !cuMemAlloc(&out, MAX_LANES * 16) && !cuMemAlloc(&memory.linear, TEXEL_BYTES);
    free(ptx);
    return is_ready;
}

#endif
