/* Launches each kernel of kernels.cu once, for profilers: of a GPU, or Ptera.
 *
 *     launch KERNELS.ptx CASES
 *
 * CASES has a line NAME BLOCKS THREADS for each. Link with libcuda. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef PTERA_PROFILED
#include "runtime/cuda/abi.h"
#else
#include <cuda.h>
#endif

enum { FLOATS = 1 << 22, PLACES = 1 << 20 };

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

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    char name[64];
    unsigned blocks, threads;
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
    void *parameters[] = {&in, &out, &at, &zero};
    while (fscanf(cases, "%63s %u %u", name, &blocks, &threads) == 3) {
        CUfunction f;
        must(cuModuleGetFunction(&f, module, name), name);
        must(cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, 0, NULL, parameters, NULL), name);
        must(cuCtxSynchronize(), name);
    }
    fclose(cases);
    return 0;
}
