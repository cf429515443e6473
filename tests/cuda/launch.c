/* Launches: parameters in both forms, shapes that do not fit, what a fault does to a context and to
 * others. */
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cuda/support.h"

static CUmodule module;

static void check_parameters(void)
{
    CUdeviceptr p = new_memory(400);
    unsigned n = 100, value = 7, out[100] = {0};
    OK(cuLaunchKernel(function_of(module, "add"), 4, 1, 1, 32, 1, 1, 0, NULL,
                      (void *[]){&p, &n, &value}, NULL));
    struct {
        CUdeviceptr p;
        unsigned n, value;
    } block = {p, 50, 3};
    size_t bytes = sizeof block;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    OK(cuLaunchKernel(function_of(module, "add"), 4, 1, 1, 32, 1, 1, 0, NULL, NULL, extra));
    OK(cuMemcpyDtoH_v2(out, p, sizeof out));
    CHECK_INT(out[0], 10);
    CHECK_INT(out[49], 10);
    CHECK_INT(out[50], 7);
    CHECK_INT(out[99], 7);
    bytes = 15;
    CHECK_CU(cuLaunchKernel(function_of(module, "add"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra),
             CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuLaunchKernel(function_of(module, "add"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
             CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuLaunchKernel(function_of(module, "add"), 1, 1, 1, 1, 1, 1, 0, NULL,
                            (void *[]){&p, &n, &value}, extra),
             CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree_v2(p));
}

static CUresult launch(const char *name, unsigned grid, unsigned block, unsigned shared)
{
    return cuLaunchKernel(function_of(module, name), grid, 1, 1, block, 1, 1, shared, NULL, NULL,
                          NULL);
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
    CHECK_CU(cuFuncSetAttribute(empty, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 228 << 10),
             CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(launch("bounded", 1, 65, 0), CUDA_ERROR_INVALID_VALUE);
    OK(launch("bounded", 1, 64, 0));
    OK(cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                          function_of(module, "bounded")));
    CHECK_INT(most, 64);
    CHECK_CU(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
             CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuLaunchKernel(WILD, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
             CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, WILD, NULL, NULL),
             CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuLaunchCooperativeKernel(empty, 10000, 1, 1, 1024, 1, 1, 0, NULL, NULL),
             CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    OK(cuLaunchCooperativeKernel(empty, 8, 1, 1, 64, 1, 1, 0, NULL, NULL));
}

/* Attributes of a launch: clusters. */
static CUresult launch_with(unsigned grid, CUlaunchAttribute *attributes, unsigned n)
{
    CUlaunchConfig config = {.gridDimX = grid,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 32,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .attrs = attributes,
                             .numAttrs = n};
    return cuLaunchKernelEx(&config, function_of(module, "empty"), NULL, NULL);
}

static CUresult launch_preferred(unsigned grid, unsigned size, unsigned preferred)
{
    CUlaunchAttribute attributes[2] = {{.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION},
                                       {.id = CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION}};
    attributes[0].value.clusterDim.x = size;
    attributes[1].value.preferredClusterDim.x = preferred;
    attributes[0].value.clusterDim.y = attributes[0].value.clusterDim.z = 1;
    attributes[1].value.preferredClusterDim.y = attributes[1].value.preferredClusterDim.z = 1;
    return launch_with(grid, attributes, preferred ? 2 : 1);
}

static CUresult launch_cluster(unsigned grid, unsigned size)
{
    return launch_preferred(grid, size, 0);
}

static void check_clusters(void)
{
    OK(launch_cluster(8, 2));
    CHECK_CU(launch_cluster(7, 2), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    CHECK_CU(launch_cluster(16, 16), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    OK(cuFuncSetAttribute(function_of(module, "empty"),
                          CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    OK(launch_cluster(16, 16));
    CHECK_CU(launch_cluster(32, 32), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    CHECK_CU(cuLaunchKernelEx(NULL, function_of(module, "empty"), NULL, NULL),
             CUDA_ERROR_INVALID_VALUE);
    OK(launch_preferred(12, 2, 4));
    CHECK_CU(launch_preferred(12, 2, 3), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    CHECK_CU(launch_preferred(6, 2, 4), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    CUlaunchAttribute window = {.id = CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW};
    OK(launch_with(1, &window, 1));
}

/* Launches as before CUDA 4: everything is set of the function first, and stays. */
static void check_legacy(void)
{
    CUfunction add = function_of(module, "add"), empty = function_of(module, "empty");
    CUdeviceptr p = new_memory(64);
    unsigned out[4], pair[2] = {4, 3};
    CHECK_CU(cuLaunch(empty), CUDA_ERROR_INVALID_VALUE); /* no block yet */
    CHECK_CU(cuFuncSetBlockShape(empty, 0, 1, 1), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuFuncSetBlockShape(empty, 32, 64, 1), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuFuncSetBlockShape(NULL, 1, 1, 1), CUDA_ERROR_INVALID_HANDLE);
    OK(cuFuncSetBlockShape(empty, 8, 2, 1));
    OK(cuLaunch(empty));
    CHECK_CU(cuLaunchGrid(empty, 0, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuFuncSetBlockShape(add, 4, 1, 1));
    OK(cuParamSetv(add, 0, &p, sizeof p));
    OK(cuParamSetv(add, 8, pair, sizeof pair));
    CHECK_CU(cuLaunch(add), CUDA_ERROR_INVALID_VALUE); /* no size yet */
    OK(cuParamSetSize(add, 16));
    OK(cuLaunch(add));
    OK(cuParamSeti(add, 12, 5));
    OK(cuLaunchGridAsync(add, 2, 1, NULL));
    OK(cuMemcpyDtoH_v2(out, p, sizeof out));
    CHECK(out[0] == 8 && out[3] == 8);
    OK(cuParamSetf(add, 12, 1.0f));
    OK(cuFuncSetSharedSize(add, 64));
    OK(cuLaunchGrid(add, 1, 1));
    OK(cuMemcpyDtoH_v2(out, p, sizeof out));
    CHECK_INT(out[0], 8 + 0x3f800000);
    CHECK_CU(cuParamSeti(add, -4, 1), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuParamSetv(add, 4090, &p, sizeof p), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuParamSetSize(NULL, 4), CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuLaunch(WILD), CUDA_ERROR_INVALID_HANDLE);
    OK(cuMemFree_v2(p));
}

/* Each block writes its own word: 1 for the first, and so on, by rows of two. */
static const char rows[] =
    PTX_HEADER ".visible .entry rows(.param .u64 p)\n{\n    .reg .b32 %r<4>; .reg .b64 %rd<3>;\n"
               "    ld.param.u64 %rd1, [p];\n    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y;\n"
               "    mad.lo.u32 %r1, %r2, 2, %r1; mul.wide.u32 %rd2, %r1, 4;\n"
               "    add.u64 %rd1, %rd1, %rd2; add.u32 %r1, %r1, 1;\n"
               "    st.global.u32 [%rd1], %r1; ret;\n}\n";

static void check_legacy_grid(void)
{
    CUmodule m;
    CUdeviceptr p = new_memory(16);
    unsigned out[4];
    OK(cuModuleLoadData(&m, rows));
    CUfunction f = function_of(m, "rows");
    OK(cuFuncSetBlockShape(f, 1, 1, 1));
    OK(cuParamSetv(f, 0, &p, sizeof p));
    OK(cuParamSetSize(f, sizeof p));
    OK(cuLaunchGridAsync(f, 2, 2, NULL));
    OK(cuMemcpyDtoH_v2(out, p, sizeof out));
    CHECK(out[0] == 1 && out[1] == 2 && out[2] == 3 && out[3] == 4);
    OK(cuMemFree_v2(p));
    OK(cuModuleUnload(m));
}

/* Calls itself until there is no stack left. */
static const char deep[] = PTX_HEADER ".func f()\n{\n    .reg .b32 %r<2>; .local .b8 room[64];\n"
                                      "    st.local.u32 [room], 1;\n"
                                      "    call f;\n    ld.local.u32 %r1, [room];\n    ret;\n}\n"
                                      ".visible .entry deep(.param .u64 p) { call f; ret; }\n";

/* A kernel that fails at a place in 64 bytes, or elsewhere. */
struct fault {
    const char *kernel;
    bool is_inside;
    uint64_t at;
    CUresult want;
};

static void check_broken(CUresult want)
{
    CUdeviceptr p;
    CHECK_CU(cuMemAlloc_v2(&p, 16), want);
    CHECK_CU(cuCtxSynchronize(), want);
}

/* A fault is the error of all contexts that there are, on whichever device; one that is made when
 * they are gone works. */
static int run_fault(const struct fault *fault)
{
    CUcontext broken, beside, before = begin();
    CUmodule mine;
    OK(cuCtxCreate_v2(&beside, 0, 1));
    OK(cuCtxCreate_v2(&broken, 0, 1));
    OK(cuModuleLoadData(&mine, strcmp(fault->kernel, "deep") == 0 ? deep : kernels));
    CUdeviceptr p = new_memory(64);
    uint64_t address = fault->is_inside ? p + fault->at : fault->at;
    OK(LAUNCH(function_of(mine, fault->kernel), 1, NULL, &address));
    CHECK_CU(cuCtxSynchronize(), fault->want);
    check_broken(fault->want);
    CHECK_CU(cuMemsetD8_v2(p, 0, 16), fault->want);
    OK(cuCtxDestroy_v2(broken));
    OK(cuCtxSetCurrent(beside));
    check_broken(fault->want);
    OK(cuCtxDestroy_v2(beside));
    OK(cuCtxSetCurrent(before));
    check_broken(fault->want);
    OK(cuCtxDestroy_v2(before));
    OK(cuCtxCreate_v2(&before, 0, 0));
    module = load_kernels();
    OK(launch("empty", 1, 1, 0));
    OK(cuCtxSynchronize());
    OK(cuCtxDestroy_v2(before));
    return check_failed != 0;
}

static void check_faults(void)
{
    static const struct fault faults[] = {
        {"store", false, 16, CUDA_ERROR_ILLEGAL_ADDRESS},
        {"store", true, 2, CUDA_ERROR_MISALIGNED_ADDRESS},
        {"stop", false, 0, CUDA_ERROR_LAUNCH_FAILED},
        {"deep", false, 0, CUDA_ERROR_ILLEGAL_ADDRESS},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0)
            _exit(run_fault(&faults[i]));
        waitpid(child, &status, 0);
        CHECK_INT(status, 0);
    }
}

/* With CUDA_LAUNCH_BLOCKING=1 a launch comes back when the kernel is done: here one of many
 * blocks. */
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
    setenv("PTERA_DEVICES", "2", 1);
    check_blocking(); /* before there is a driver that a child would inherit */
    check_faults();
    CUcontext ctx = begin();
    sprintf(text, "%s%s", kernels, bounded);
    OK(cuModuleLoadData(&module, text));
    free(text);
    check_parameters();
    check_shapes();
    check_clusters();
    check_legacy();
    check_legacy_grid();
    OK(cuModuleUnload(module));
    OK(cuCtxDestroy_v2(ctx));
    return CHECK_DONE("cuda_launch");
}
