/* Loads a cubin, as a file or from memory, and runs its kernel `k` on {1 + 2^-12, -(1 + 2^-11)}:
 * load FILE [memory]. Prints the name of the error, or the first word that the kernel leaves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/abi.h"

static void check(CUresult r)
{
    const char *name = "?";
    if (r == CUDA_SUCCESS)
        return;
    cuGetErrorName(r, &name);
    puts(name);
    exit(1);
}

static CUmodule load(const char *path, int from_memory)
{
    CUmodule module;
    char *data = calloc(1, 1 << 20);
    FILE *in = fopen(path, "rb");
    if (!in || !data)
        exit(2);
    if (fread(data, 1, 1 << 20, in) == 0)
        exit(2);
    fclose(in);
    check(from_memory ? cuModuleLoadData(&module, data) : cuModuleLoad(&module, path));
    free(data);
    return module;
}

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    CUfunction kernel;
    CUdeviceptr p;
    const float in[2] = {1.000244140625f, -1.00048828125f};
    unsigned out;
    void *args[] = {&p};
    check(cuInit(0));
    check(cuDeviceGet(&device, 0));
    check(cuCtxCreate_v2(&context, 0, device));
    check(cuModuleGetFunction(&kernel, load(argv[1], argc > 2), "k"));
    check(cuMemAlloc_v2(&p, sizeof in));
    check(cuMemcpyHtoD_v2(p, in, sizeof in));
    check(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    check(cuMemcpyDtoH_v2(&out, p, sizeof out));
    printf("%08x\n", out);
    return 0;
}
