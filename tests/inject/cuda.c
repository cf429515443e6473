/* The driver library and the runtime library over it: contexts, modules from text and from a
 * fatbinary, memory, copies, streams, events, graphs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
static CUgraph graph;
static CUgraphExec exec;
static unsigned words[N], calls;

static enum outcome said(const char *what, CUresult r)
{
    const char *name = "?";
    if (r == CUDA_SUCCESS)
        return GOOD;
    if (r == CUDA_ERROR_OUT_OF_MEMORY || r == CUDA_ERROR_FILE_NOT_FOUND)
        return REFUSED;
    cuGetErrorName(r, &name);
    return wrong("%s: %s", what, name);
}

#define TRY(call) \
    do { \
        enum outcome outcome_ = said(#call, call); \
        if (outcome_ != GOOD) \
            return outcome_; \
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

/* All that is left of the context goes with it. */
static void end(void)
{
    if (exec)
        cuGraphExecDestroy(exec);
    if (graph)
        cuGraphDestroy(graph);
    if (ctx)
        cuCtxDestroy_v2(ctx);
    exec = NULL;
    graph = NULL;
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

#define TRY_RUNTIME(call) \
    do { \
        enum outcome outcome_ = said_runtime(#call, call); \
        if (outcome_ != GOOD) \
            return outcome_; \
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
      destroy},
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
