/* A hundred thousand of everything leave nothing behind: neither memory (sanitizers look at that,
 * too) nor mappings. */
#include <unistd.h>

#include "tests/cuda/support.h"

enum { MANY = 100000 };

static long resident_pages(void)
{
    long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &size, &resident) != 2)
        resident = -1;
    if (file)
        fclose(file);
    return resident;
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
    long before = resident_pages();
    for (int i = 0; i < MANY; i++)
        wrong += once() != CUDA_SUCCESS;
    long grown = (resident_pages() - before) * sysconf(_SC_PAGESIZE);
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
