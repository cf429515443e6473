/* What calls of the driver cost: allocating, launching, copying, to the first result. Prints
 * medians of rounds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/abi.h"
#include "tests/bench/timing.h"

enum { ROUNDS = 9, CALLS = 20000 };

static const char text[] = ".version 8.0\n.target sm_70\n.address_size 64\n"
                           ".visible .entry empty() { ret; }\n";

static double now_us(void)
{
    return now_ms() * 1e3;
}

static void must(CUresult result, const char *what)
{
    const char *name = "?";
    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorName(result, &name);
    fprintf(stderr, "%s: %s\n", what, name);
    exit(1);
}

static double median_of(double (*round)(void))
{
    double us[ROUNDS];
    for (int i = 0; i < ROUNDS; i++)
        us[i] = round();
    return median(us, ROUNDS);
}

static CUfunction empty;

static double allocating(void)
{
    CUdeviceptr p;
    double start = now_us();
    for (int i = 0; i < CALLS; i++) {
        must(cuMemAlloc_v2(&p, 4096), "cuMemAlloc");
        must(cuMemFree_v2(p), "cuMemFree");
    }
    return (now_us() - start) / CALLS;
}

/* The calls alone; that they are done is waited for outside. */
static double launching(void)
{
    double start = now_us();
    for (int i = 0; i < CALLS; i++)
        must(cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), "cuLaunchKernel");
    double us = (now_us() - start) / CALLS;
    must(cuCtxSynchronize(), "cuCtxSynchronize");
    return us;
}

enum { COPIED = 64 << 20 };
static char *host;
static CUdeviceptr device;

static double copying(void)
{
    double start = now_us();
    must(cuMemcpyHtoD_v2(device, host, COPIED), "cuMemcpyHtoD");
    return now_us() - start;
}

static double copying_plainly(void)
{
    double start = now_us();
    memcpy((void *)(uintptr_t)device, host, COPIED);
    return now_us() - start;
}

int main(void)
{
    CUcontext ctx;
    CUmodule module;
    double start = now_us();
    must(cuInit(0), "cuInit");
    must(cuCtxCreate_v2(&ctx, 0, 0), "cuCtxCreate");
    must(cuModuleLoadData(&module, text), "cuModuleLoadData");
    must(cuModuleGetFunction(&empty, module, "empty"), "cuModuleGetFunction");
    must(cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), "cuLaunchKernel");
    must(cuCtxSynchronize(), "cuCtxSynchronize");
    printf("%-36s %10.2f us\n", "from cuInit to the first result", now_us() - start);
    printf("%-36s %10.2f us\n", "cuMemAlloc + cuMemFree of 4096 bytes", median_of(allocating));
    printf("%-36s %10.2f us\n", "cuLaunchKernel of an empty kernel", median_of(launching));
    host = malloc(COPIED);
    memset(host, 1, COPIED);
    must(cuMemAlloc_v2(&device, COPIED), "cuMemAlloc");
    copying();
    printf("%-36s %10.2f us\n", "cuMemcpyHtoD of 64 MiB", median_of(copying));
    printf("%-36s %10.2f us\n", "memcpy of the same", median_of(copying_plainly));
    free(host);
    must(cuCtxDestroy_v2(ctx), "cuCtxDestroy");
    return 0;
}
