/* Launches each kernel of kernels.cu, or copies.cu, once, for profilers: of a GPU, or Ptera.
 *
 *     launch KERNELS.ptx CASES
 *
 * CASES has a line NAME BLOCKS THREADS for each, and bytes of dynamic shared memory if it has any.
 * Link with libcuda. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef PTERA_PROFILED
#include "runtime/cuda/abi.h"
#else
#include <cuda.h>
#endif

enum { FLOATS = 1 << 22, PLACES = 1 << 20, SIDE = 1 << 10, SIDE_BYTES = SIDE * sizeof(float) };

static void must(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "launch: %s: error %u\n", what, (unsigned)result);
    exit(1);
}

static CUmodule load(const char *path)
{
    CUmodule module;
    char *text = calloc(1, 1 << 20);
    FILE *in = fopen(path, "r");
    if (!in || !text || !fread(text, 1, (1 << 20) - 1, in))
        must(CUDA_ERROR_FILE_NOT_FOUND, path);
    fclose(in);
    must(cuModuleLoadData(&module, text), path);
    free(text);
    return module;
}

static CUdeviceptr make(const void *from, size_t bytes)
{
    CUdeviceptr p;
    must(cuMemAlloc_v2(&p, bytes), "cuMemAlloc");
    must(cuMemcpyHtoD_v2(p, from, bytes), "cuMemcpyHtoD");
    return p;
}

static CUdeviceptr make_floats(void)
{
    float *v = malloc(FLOATS * sizeof *v);
    for (int i = 0; v && i < FLOATS; i++)
        v[i] = (float)(i % 1001) * 0.125f;
    CUdeviceptr p = make(v, FLOATS * sizeof *v);
    free(v);
    return p;
}

static CUdeviceptr make_places(void)
{
    int *v = malloc(PLACES * sizeof *v);
    uint32_t state = 1;
    for (int i = 0; v && i < PLACES; i++) { /* each once, by Fisher and Yates */
        state = state * 1664525 + 1013904223;
        int k = (int)(state >> 8) % (i + 1);
        v[i] = v[k];
        v[k] = i;
    }
    CUdeviceptr p = make(v, PLACES * sizeof *v);
    free(v);
    return p;
}

/* ---- textures and maps, for copies.cu -------------------------------------------------------- */

static CUtexObject make_texture(const CUDA_RESOURCE_DESC *resource)
{
    CUDA_TEXTURE_DESC how = {.filterMode = CU_TR_FILTER_MODE_POINT};
    CUtexObject texture;
    for (int i = 0; i < 3; i++)
        how.addressMode[i] = CU_TR_ADDRESS_MODE_CLAMP;
    must(cuTexObjectCreate(&texture, resource, &how, NULL), "cuTexObjectCreate");
    return texture;
}

static CUtexObject make_linear(CUdeviceptr memory, unsigned channels)
{
    CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_LINEAR};
    r.res.linear.devPtr = memory;
    r.res.linear.format = CU_AD_FORMAT_FLOAT;
    r.res.linear.numChannels = channels;
    r.res.linear.sizeInBytes = channels * sizeof(float) << 20;
    return make_texture(&r);
}

static CUtexObject make_pitch(CUdeviceptr memory)
{
    CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_PITCH2D};
    r.res.pitch2D.devPtr = memory;
    r.res.pitch2D.format = CU_AD_FORMAT_FLOAT;
    r.res.pitch2D.numChannels = 1;
    r.res.pitch2D.width = r.res.pitch2D.height = SIDE;
    r.res.pitch2D.pitchInBytes = SIDE_BYTES;
    return make_texture(&r);
}

static CUtexObject make_image(CUdeviceptr memory)
{
    CUDA_ARRAY_DESCRIPTOR shape = {
        .Width = SIDE, .Height = SIDE, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_ARRAY};
    must(cuArrayCreate_v2(&r.res.array.hArray, &shape), "cuArrayCreate");
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = memory,
                          .srcPitch = SIDE_BYTES,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = r.res.array.hArray,
                          .WidthInBytes = SIDE_BYTES,
                          .Height = SIDE};
    must(cuMemcpy2D_v2(&copy), "cuMemcpy2D");
    return make_texture(&r);
}

static CUtensorMap make_map(CUdeviceptr memory, CUtensorMapSwizzle swizzle)
{
    CUtensorMap map;
    cuuint64_t sides[] = {SIDE, SIDE}, pitch[] = {SIDE_BYTES};
    cuuint32_t box[] = {32, 8}, step[] = {1, 1};
    must(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, (void *)memory, sides,
                                pitch, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
         "cuTensorMapEncodeTiled");
    return map;
}

/* ---------------------------------------------------------------------------------------------- */

static void launch(CUmodule module, const char *line, void **parameters)
{
    char name[64];
    unsigned blocks, threads, shared = 0;
    CUfunction f;
    if (sscanf(line, "%63s %u %u %u", name, &blocks, &threads, &shared) < 3)
        return;
    must(cuModuleGetFunction(&f, module, name), name);
    must(cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, shared, NULL, parameters, NULL), name);
    must(cuCtxSynchronize(), name);
}

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    char line[128];
    int zero = 0;
    FILE *cases = argc == 3 ? fopen(argv[2], "r") : NULL;
    if (!cases)
        return 2;
    must(cuInit(0), "cuInit");
    must(cuDeviceGet(&device, 0), "cuDeviceGet");
    must(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    CUmodule module = load(argv[1]);
    CUdeviceptr in = make_floats(), out = make_floats(), at = make_places();
    CUtexObject linear = make_linear(in, 1), wide = make_linear(in, 4), pitch = make_pitch(in),
                image = make_image(in);
    CUtensorMap map = make_map(in, CU_TENSOR_MAP_SWIZZLE_NONE),
                swizzled = make_map(in, CU_TENSOR_MAP_SWIZZLE_128B);
    void *parameters[] = {&in, &out, &at, &zero, &linear, &wide, &pitch, &image, &map, &swizzled};
    while (fgets(line, sizeof line, cases))
        launch(module, line, parameters);
    fclose(cases);
    return 0;
}
