/* Launches: parameters in both forms, shapes that do not fit, what a fault does to a context and to others. */
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cuda/support.h"

static CUmodule module;

static void check_parameters(void)
{
    CUdeviceptr p = new_memory(400);
    unsigned n = 100, value = 7, out[100] = {0};
    OK(cuLaunchKernel(function_of(module, "add"), 4, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&p, &n, &value}, NULL));
    struct {
        CUdeviceptr p;
        unsigned n, value;
    } block = {p, 50, 3};
    size_t bytes = sizeof block;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    OK(cuLaunchKernel(function_of(module, "add"), 4, 1, 1, 32, 1, 1, 0, NULL, NULL, extra));
    OK(cuMemcpyDtoH_v2(out, p, sizeof out));
    CHECK_INT(out[0], 10);
    CHECK_INT(out[49], 10);
    CHECK_INT(out[50], 7);
    CHECK_INT(out[99], 7);
    bytes = 15;
    CHECK_CU(cuLaunchKernel(function_of(module, "add"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuLaunchKernel(function_of(module, "add"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuLaunchKernel(function_of(module, "add"), 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&p, &n, &value}, extra),
             CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree_v2(p));
}

static CUresult launch(const char *name, unsigned grid, unsigned block, unsigned shared)
{
    return cuLaunchKernel(function_of(module, name), grid, 1, 1, block, 1, 1, shared, NULL, NULL, NULL);
}

static void check_shapes(void)
{
    int most;
    CUfunction empty = function_of(module, "empty");
    OK(launch("empty", 1, 1024, 48 << 10));
    CHECK_CU(launch("empty", 0, 1, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(launch("empty", 1, 0, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(launch("empty", 1, 1025, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(launch("empty", 1, 32, (48 << 10) + 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuFuncSetAttribute(empty, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 200 << 10));
    OK(launch("empty", 1, 32, 200 << 10));
    CHECK_CU(cuFuncSetAttribute(empty, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 228 << 10), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(launch("bounded", 1, 65, 0), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    OK(launch("bounded", 1, 64, 0));
    OK(cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function_of(module, "bounded")));
    CHECK_INT(most, 64);
    CHECK_CU(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuLaunchKernel(WILD, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, WILD, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuLaunchCooperativeKernel(empty, 10000, 1, 1, 1024, 1, 1, 0, NULL, NULL),
             CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    OK(cuLaunchCooperativeKernel(empty, 8, 1, 1, 64, 1, 1, 0, NULL, NULL));
}

/* Attributes of a launch: clusters. */
static CUresult launch_cluster(unsigned grid, unsigned size)
{
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
    attribute.value.clusterDim.x = size;
    attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
    CUlaunchConfig config = {.gridDimX = grid, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32, .blockDimY = 1, .blockDimZ = 1,
                             .attrs = &attribute, .numAttrs = 1};
    return cuLaunchKernelEx(&config, function_of(module, "empty"), NULL, NULL);
}

static void check_clusters(void)
{
    OK(launch_cluster(8, 2));
    CHECK_CU(launch_cluster(7, 2), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(launch_cluster(16, 16), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    OK(cuFuncSetAttribute(function_of(module, "empty"), CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    OK(launch_cluster(16, 16));
    CHECK_CU(launch_cluster(32, 32), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    CHECK_CU(cuLaunchKernelEx(NULL, function_of(module, "empty"), NULL, NULL), CUDA_ERROR_INVALID_VALUE);
}

/* A fault stays its context's error; another context goes on. */
static void check_fault(const char *name, CUdeviceptr address, CUresult want)
{
    CUcontext broken, before;
    CUmodule mine;
    CUdeviceptr p;
    OK(cuCtxGetCurrent(&before));
    OK(cuCtxCreate_v2(&broken, 0, 0));
    OK(cuModuleLoadData(&mine, kernels));
    OK(cuMemAlloc_v2(&p, 16));
    OK(LAUNCH(function_of(mine, name), 1, NULL, &address));
    CHECK_CU(cuCtxSynchronize(), want);
    CHECK_CU(cuMemAlloc_v2(&p, 16), want);
    CHECK_CU(cuMemsetD8_v2(p, 0, 16), want);
    OK(cuCtxDestroy_v2(broken));
    OK(cuCtxSetCurrent(before));
    OK(launch("empty", 1, 1, 0));
    OK(cuCtxSynchronize());
}

/* With CUDA_LAUNCH_BLOCKING=1 a launch comes back when the kernel is done: here one of many blocks. */
static int run_blocking(void)
{
    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
    begin();
    CUfunction add = function_of(load_kernels(), "add");
    unsigned n = 1 << 20, value = 1;
    CUdeviceptr p = new_memory(n * sizeof n);
    for (int i = 0; i < 4; i++) {
        OK(cuLaunchKernel(add, 1024, 1, 1, 1024, 1, 1, 0, NULL, (void *[]){&p, &n, &value}, NULL));
        OK(cuStreamQuery(NULL));
    }
    return check_failed != 0;
}

static void check_blocking(void)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(run_blocking());
    waitpid(child, &status, 0);
    CHECK_INT(status, 0);
}

int main(void)
{
    static const char bounded[] = ".visible .entry bounded() .maxntid 64, 1, 1 { ret; }\n";
    char *text = malloc(sizeof kernels + sizeof bounded);
    check_blocking(); /* before there is a driver that the child would inherit */
    CUcontext ctx = begin();
    sprintf(text, "%s%s", kernels, bounded);
    OK(cuModuleLoadData(&module, text));
    free(text);
    check_parameters();
    check_shapes();
    check_clusters();
    check_fault("store", 16, CUDA_ERROR_ILLEGAL_ADDRESS);
    CUdeviceptr p = new_memory(64);
    check_fault("store", p + 2, CUDA_ERROR_MISALIGNED_ADDRESS);
    check_fault("stop", 0, CUDA_ERROR_LAUNCH_FAILED);
    OK(cuModuleUnload(module));
    OK(cuCtxDestroy_v2(ctx));
    return CHECK_DONE("cuda_launch");
}
