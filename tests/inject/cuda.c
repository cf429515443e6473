/* The driver library and the runtime library over it: contexts, modules from text and from a
 * fatbinary, memory, copies, streams, events, graphs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/cuda/abi.h"
#include "runtime/cudart/abi.h"
#include "tests/cuda/kernels.h"
#include "tests/inject/fail.h"
#include "tests/inject/scenario.h"

cudaError_t cudaMalloc(void **p, size_t bytes);
cudaError_t cudaFree(void *p);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemset(void *p, int value, size_t bytes);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
const char *cudaGetErrorName(cudaError_t error);
cudaError_t cudaGetLastError(void);

enum { N = 256 };

static const char text[] = ".version 8.0\n.target sm_70\n.address_size 64\n"
                           ".visible .global .align 4 .u32 counter = 5;\n" PTX_ADD_AND_WAIT;

static unsigned char image[4096]; /* a fatbinary */
static CUcontext ctx;
static CUmodule module, other;
static CUfunction add;
static CUdeviceptr memory;
static CUstream stream;
static CUevent event;
static CUgraph graph, changed;
static CUgraphExec exec, changed_exec;
static CUmemoryPool pool, imported;
static unsigned words[N], calls;

static enum outcome said(const char *what, CUresult r)
{
    const char *name = "?";
    if (r == CUDA_SUCCESS)
        return GOOD;
    if (r == CUDA_ERROR_OUT_OF_MEMORY || r == CUDA_ERROR_FILE_NOT_FOUND ||
        r == CUDA_ERROR_MAP_FAILED || r == CUDA_ERROR_UNKNOWN) /* a pool's block, a pool's name */
        return REFUSED;
    cuGetErrorName(r, &name);
    return wrong("%s: %s", what, name);
}

#define TRY(call)                                  \
    do {                                           \
        enum outcome outcome_ = said(#call, call); \
        if (outcome_ != GOOD)                      \
            return outcome_;                       \
    } while (0)

static enum outcome begin(void)
{
    CUdevice device;
    TRY(cuInit(0));
    TRY(cuDeviceGet(&device, 0));
    TRY(cuCtxCreate_v2(&ctx, 0, device));
    return GOOD;
}

static enum outcome load(void)
{
    TRY(cuModuleLoadData(&module, text));
    TRY(cuModuleGetFunction(&add, module, "add"));
    return GOOD;
}

static enum outcome load_image(void)
{
    TRY(cuModuleLoadData(&other, image));
    return GOOD;
}

static enum outcome get_memory(void)
{
    for (unsigned i = 0; i < N; i++)
        words[i] = i;
    TRY(cuMemAlloc_v2(&memory, sizeof words));
    TRY(cuMemcpyHtoD_v2(memory, words, sizeof words));
    return GOOD;
}

static enum outcome get_streams(void)
{
    TRY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    TRY(cuEventCreate(&event, 0));
    return GOOD;
}

static CUresult launch(unsigned value)
{
    unsigned n = N;
    void *parameters[] = {&memory, &n, &value};
    return cuLaunchKernel(add, N / 32, 1, 1, 32, 1, 1, 0, stream, parameters, NULL);
}

static void count_call(void *ud)
{
    calls += *(const unsigned *)ud;
}

static enum outcome check(unsigned added)
{
    unsigned back[N];
    TRY(cuMemcpyDtoH_v2(back, memory, sizeof back));
    for (unsigned i = 0; i < N; i++)
        if (back[i] != i + added)
            return wrong("word %u is %u, not %u", i, back[i], i + added);
    return GOOD;
}

static enum outcome launch_on_stream(void)
{
    static unsigned one = 1;
    calls = 0;
    TRY(launch(1));
    TRY(cuEventRecord(event, stream));
    TRY(cuStreamWaitEvent(stream, event, 0));
    TRY(launch(2));
    TRY(cuLaunchHostFunc(stream, count_call, &one));
    TRY(cuStreamSynchronize(stream));
    TRY(cuEventSynchronize(event));
    return calls == 1 ? check(3) : wrong("%u calls of the host", calls);
}

static enum outcome copy_on_stream(void)
{
    unsigned back[N] = {0};
    CUdeviceptr p = 0;
    TRY(cuMemAllocAsync(&p, sizeof back, stream));
    TRY(cuMemcpyDtoDAsync_v2(p, memory, sizeof back, stream));
    TRY(cuMemcpyDtoHAsync_v2(back, p, sizeof back, stream));
    TRY(cuMemFreeAsync(p, stream));
    TRY(cuStreamSynchronize(stream));
    return back[7] == 10 ? GOOD : wrong("a copy has %u", back[7]);
}

static enum outcome capture(void)
{
    TRY(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    TRY(launch(4));
    TRY(launch(5));
    TRY(cuStreamEndCapture(stream, &graph));
    TRY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    TRY(cuGraphLaunch(exec, stream));
    TRY(cuGraphLaunch(exec, stream));
    TRY(cuStreamSynchronize(stream));
    return check(3 + 18);
}

/* A node of values, and one that kernels may change, in a graph of their own. */
static enum outcome change_nodes(void)
{
    CUstreamBatchMemOpParams ops[2] = {
        {.writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, memory, {7}, 0, 0}},
        {.waitValue = {CU_STREAM_MEM_OP_WAIT_VALUE_32, memory, {7}, CU_STREAM_WAIT_VALUE_EQ, 0}}};
    CUDA_BATCH_MEM_OP_NODE_PARAMS values = {ctx, 2, ops, 0}, back;
    CUlaunchAttributeValue v = {.deviceUpdatableKernelNode = {.deviceUpdatable = 1}};
    unsigned n = N, zero = 0, word = 0;
    CUDA_KERNEL_NODE_PARAMS p = {.func = add,
                                 .gridDimX = N / 32,
                                 .gridDimY = 1,
                                 .gridDimZ = 1,
                                 .blockDimX = 32,
                                 .blockDimY = 1,
                                 .blockDimZ = 1,
                                 .kernelParams = (void *[]){&memory, &n, &zero}};
    CUgraphNode node, kernel;
    TRY(cuGraphCreate(&changed, 0));
    TRY(cuGraphAddBatchMemOpNode(&node, changed, NULL, 0, &values));
    TRY(cuGraphBatchMemOpNodeGetParams(node, &back));
    TRY(cuGraphAddKernelNode_v2(&kernel, changed, &node, 1, &p));
    TRY(cuGraphKernelNodeSetAttribute(kernel, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
                                      &v));
    TRY(cuGraphInstantiateWithFlags(&changed_exec, changed, 0));
    TRY(cuGraphLaunch(changed_exec, stream));
    TRY(cuStreamSynchronize(stream));
    TRY(cuMemcpyDtoH_v2(&word, memory, sizeof word));
    return back.count == 2 && word == 7 ? GOOD : wrong("a graph leaves %u", word);
}

/* A pool of this process, imported into it. */
static enum outcome share_pool(void)
{
    CUmemPoolProps p = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                        .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                        .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemPoolPtrExportData data;
    CUdeviceptr block = 0, there = 0;
    unsigned word = 0;
    int fd = -1;
    TRY(cuMemPoolCreate(&pool, &p));
    TRY(cuMemPoolExportToShareableHandle(&fd, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CUresult r = cuMemPoolImportFromShareableHandle(&imported, (void *)(intptr_t)fd,
                                                    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    close(fd);
    TRY(r);
    TRY(cuMemAllocFromPoolAsync(&block, 4096, pool, stream));
    TRY(cuMemsetD32Async(block, 11, 1, stream));
    TRY(cuMemPoolExportPointer(&data, block));
    TRY(cuMemPoolImportPointer(&there, imported, &data));
    TRY(cuMemcpyDtoH_v2(&word, there, sizeof word));
    TRY(cuMemFree_v2(there));
    TRY(cuMemFreeAsync(block, stream));
    TRY(cuStreamSynchronize(stream));
    return word == 11 ? GOOD : wrong("a block of another pool has %u", word);
}

static void end_graph(CUgraph *graph_of, CUgraphExec *exec_of)
{
    if (*exec_of)
        cuGraphExecDestroy(*exec_of);
    if (*graph_of)
        cuGraphDestroy(*graph_of);
    *exec_of = NULL;
    *graph_of = NULL;
}

/* All that is left of the context goes with it. */
static void end(void)
{
    end_graph(&graph, &exec);
    end_graph(&changed, &changed_exec);
    if (imported)
        cuMemPoolDestroy(imported);
    if (pool)
        cuMemPoolDestroy(pool);
    imported = pool = NULL;
    if (ctx)
        cuCtxDestroy_v2(ctx);
    ctx = NULL;
}

static enum outcome destroy(void)
{
    TRY(cuEventDestroy_v2(event));
    TRY(cuStreamDestroy_v2(stream));
    TRY(cuMemFree_v2(memory));
    TRY(cuModuleUnload(other));
    TRY(cuModuleUnload(module));
    return GOOD;
}

/* ---- the runtime library --------------------------------------------------------------------- */

static void *runtime_memory;
static cudaStream_t runtime_stream;

static enum outcome said_runtime(const char *what, cudaError_t e)
{
    cudaGetLastError();
    if (e == cudaSuccess)
        return GOOD;
    return e == cudaErrorMemoryAllocation ? REFUSED : wrong("%s: %s", what, cudaGetErrorName(e));
}

#define TRY_RUNTIME(call)                                  \
    do {                                                   \
        enum outcome outcome_ = said_runtime(#call, call); \
        if (outcome_ != GOOD)                              \
            return outcome_;                               \
    } while (0)

static enum outcome use_runtime(void)
{
    unsigned back[N] = {0};
    TRY_RUNTIME(cudaMalloc(&runtime_memory, sizeof back));
    TRY_RUNTIME(cudaMemset(runtime_memory, 7, sizeof back));
    TRY_RUNTIME(cudaStreamCreate(&runtime_stream));
    TRY_RUNTIME(cudaDeviceSynchronize());
    TRY_RUNTIME(cudaMemcpy(back, runtime_memory, sizeof back, cudaMemcpyDeviceToHost));
    if (back[N - 1] != 0x07070707)
        return wrong("a word is %x", back[N - 1]);
    TRY_RUNTIME(cudaStreamDestroy(runtime_stream));
    TRY_RUNTIME(cudaFree(runtime_memory));
    return GOOD;
}

static void end_runtime(void)
{
    cudaDeviceReset();
    cudaGetLastError();
}

static const struct scenario scenarios[] = {
    {"driver",
     {begin, load, load_image, get_memory, get_streams, launch_on_stream, copy_on_stream, capture,
      change_nodes, share_pool, destroy},
     end,
     NULL,
     true},
    {"runtime", {use_runtime}, end_runtime, NULL, true},
};

int main(int argc, char **argv)
{
    FILE *file = fopen(SOURCE_DIR "/tests/fatbin/zstd.fatbin", "rb");
    if (!file || !fread(image, 1, sizeof image, file) || fclose(file))
        return 2;
    setenv("PTERA_ENGINE", "interp", 1); /* inject_api compiles */
    return scenarios_main("inject_cuda", scenarios, sizeof scenarios / sizeof *scenarios, argc,
                          argv);
}
