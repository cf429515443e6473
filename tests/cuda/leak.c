/* A hundred thousand of everything leave nothing behind: neither memory (sanitizers look at that,
 * too) nor mappings. */
#include <stdbool.h>
#include <string.h>

#include "tests/cuda/support.h"

enum { MANY = 100000 };

/* Without the compiler's own, which a thread may open at any time: as soon as a kernel is loaded
 * that earlier runs found hot, which `empty` is, or much later where the machine is busy. */
static long resident_kib(void)
{
    long kib, sum = 0;
    bool counts = true;
    char line[4096];
    FILE *file = fopen("/proc/self/smaps", "r");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "Rss: %ld kB", &kib) == 1)
            sum += counts ? kib : 0;
        else if (*line < 'A' || *line >= 'a') /* the next mapping; its facts begin with capitals */
            counts = !strstr(line, "libptera-jit");
    }
    if (file)
        fclose(file);
    return sum;
}

static CUfunction empty;

static CUresult module_once(void)
{
    CUmodule module;
    CUfunction f;
    CUresult r = cuModuleLoadData(&module, PTX_HEADER ".visible .entry k() { ret; }\n");
    if (r == CUDA_SUCCESS)
        r = cuModuleGetFunction(&f, module, "k");
    return r == CUDA_SUCCESS ? cuModuleUnload(module) : r;
}

static CUresult stream_once(void)
{
    CUstream stream;
    CUresult r = cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    if (r == CUDA_SUCCESS)
        r = cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL);
    return r == CUDA_SUCCESS ? cuStreamDestroy_v2(stream) : r;
}

static CUresult event_once(void)
{
    CUevent event;
    CUresult r = cuEventCreate(&event, 0);
    if (r == CUDA_SUCCESS)
        r = cuEventRecord(event, NULL);
    return r == CUDA_SUCCESS ? cuEventDestroy_v2(event) : r;
}

static CUresult memory_once(void)
{
    CUdeviceptr p;
    CUresult r = cuMemAllocAsync(&p, 1000, NULL);
    if (r == CUDA_SUCCESS)
        r = cuMemFreeAsync(p, NULL);
    if (r == CUDA_SUCCESS)
        r = cuMemAlloc_v2(&p, 5000);
    return r == CUDA_SUCCESS ? cuMemFree_v2(p) : r;
}

/* The first thousand may fill what is kept. */
static void check(const char *what, CUresult (*once)(void))
{
    unsigned wrong = 0;
    for (int i = 0; i < 1000; i++)
        wrong += once() != CUDA_SUCCESS;
    long before = resident_kib();
    for (int i = 0; i < MANY; i++)
        wrong += once() != CUDA_SUCCESS;
    long grown = (resident_kib() - before) * 1024;
    CHECK_INT(wrong, 0);
    if (grown > 8 << 20)
        fprintf(stderr, "%s: %ld bytes more\n", what, grown);
#ifndef PT_SANITIZED
    CHECK(grown <= 8 << 20);
#endif
}

int main(void)
{
    CUcontext ctx = begin();
    CUmodule module = load_kernels();
    empty = function_of(module, "empty");
    check("modules", module_once);
    check("streams and launches", stream_once);
    check("events", event_once);
    check("memory", memory_once);
    OK(cuCtxSynchronize());
    OK(cuCtxDestroy_v2(ctx));
    return CHECK_DONE("cuda_leak");
}
