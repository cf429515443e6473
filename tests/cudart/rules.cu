// Rules of the runtime that programs come to lean on, as an H100 answers (driver 580.159, CUDA 13.0): nvcc -arch=sm_90 rules.cu
#include "../../samples/programs/check.h"

__device__ int one;
__device__ char two;
__device__ double three;

__global__ void empty()
{
}

__global__ void __launch_bounds__(64) bounded()
{
}

__global__ void __cluster_dims__(2, 1, 1) pairs()
{
}

__global__ void wait_for(volatile int *gate)
{
    while (!*gate)
        ;
}

// A hundred values of each thread at once.
__device__ __forceinline__ void keep_many(const float *from, float *to)
{
    float kept[100];
#pragma unroll
    for (int i = 0; i < 100; i++)
        kept[i] = from[i * 33];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 100; k++)
        to[k * 77] = kept[k] * kept[(k + 50) % 100];
}

__global__ void unbound(const float *from, float *to)
{
    keep_many(from, to);
}

__global__ void __launch_bounds__(1024) bound_by_block(const float *from, float *to)
{
    keep_many(from, to);
}

__global__ void __maxnreg__(40) bound_by_number(const float *from, float *to)
{
    keep_many(from, to);
}

// ---- captures: what they forbid ends them -------------------------------------------------------------------

static cudaStream_t begin_capture()
{
    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    return stream;
}

static void expect_broken(cudaStream_t stream)
{
    cudaGraph_t graph;
    EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
    EXPECT(!graph);
    CUDA(cudaStreamDestroy(stream));
    (void)cudaGetLastError();
}

static void check_captures()
{
    void *p;
    cudaStream_t stream = begin_capture();
    EXPECT(cudaMalloc(&p, 4) == cudaErrorStreamCaptureUnsupported);
    EXPECT(cudaDeviceSynchronize() == cudaErrorStreamCaptureUnsupported);
    expect_broken(stream);

    CUDA(cudaMallocManaged(&p, 4096));
    stream = begin_capture();
    EXPECT(cudaStreamAttachMemAsync(stream, p, 0, cudaMemAttachSingle) == cudaErrorStreamCaptureUnsupported);
    expect_broken(stream);
    CUDA(cudaFree(p));

    cudaEvent_t event;
    CUDA(cudaEventCreate(&event));
    stream = begin_capture();
    CUDA(cudaEventRecord(event, stream));
    EXPECT(cudaEventQuery(event) == cudaErrorCapturedEvent);
    expect_broken(stream);
    CUDA(cudaEventDestroy(event));

    cudaGraph_t graph;
    size_t n = 0;
    stream = begin_capture();
    CUDA(cudaMallocAsync(&p, 64, stream)); // a node
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphGetNodes(graph, NULL, &n));
    EXPECT(n == 1);
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
}

// ---- graphs: what a node stays ------------------------------------------------------------------------------

static cudaGraph_t graph_of_set(void *to, size_t width, size_t height)
{
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaMemsetParams p = {};
    p.dst = to;
    p.elementSize = 4;
    p.pitch = 100;
    p.width = width;
    p.height = height;
    CUDA(cudaGraphCreate(&graph, 0));
    CUDA(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &p));
    return graph;
}

static void check_graphs()
{
    static int host[4];
    int *p;
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    cudaKernelNodeParams kernel = {};
    cudaKernelNodeAttrValue value = {};
    CUDA(cudaMalloc(&p, 400));
    CUDA(cudaGraphCreate(&graph, 0));
    CUDA(cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, p, host, sizeof host, cudaMemcpyHostToDevice));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    EXPECT(cudaGraphExecMemcpyNodeSetParams1D(exec, node, host, p, sizeof host, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    CUDA(cudaGraphInstantiate(&exec, graph_of_set(p, 5, 1), 0));
    EXPECT(cudaGraphExecUpdate(exec, graph_of_set(p, 22, 2), &info) == cudaErrorGraphExecUpdateFailure);
    EXPECT(info.result == cudaGraphExecUpdateErrorParametersChanged);

    kernel.func = (void *)empty;
    kernel.gridDim = kernel.blockDim = dim3(1);
    CUDA(cudaGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    CUDA(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeAccessPolicyWindow, &value));
    CUDA(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeMemSyncDomain, &value));
    EXPECT(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeSynchronizationPolicy, &value) == cudaErrorInvalidValue);
    (void)cudaGetLastError();
}

// ---- launches -----------------------------------------------------------------------------------------------

static cudaError_t launch(dim3 grid, dim3 block)
{
    empty<<<grid, block>>>();
    return cudaGetLastError();
}

static cudaError_t launch_with(unsigned grid, const cudaLaunchAttribute *attributes, unsigned n)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = 32;
    config.attrs = (cudaLaunchAttribute *)attributes;
    config.numAttrs = n;
    return cudaLaunchKernelEx(&config, empty);
}

static void check_launches()
{
    EXPECT(launch(1, 1025) == cudaErrorInvalidValue);
    EXPECT(launch(1, dim3(1, 1, 65)) == cudaErrorInvalidValue);
    EXPECT(launch(1, dim3(1, 65536)) == cudaErrorInvalidValue);
    EXPECT(launch(1, 0) == cudaErrorInvalidValue);
    EXPECT(launch(0, 1) == cudaErrorInvalidValue);
    EXPECT(launch(1u << 31, 1) == cudaErrorInvalidValue);
    bounded<<<1, 65>>>();
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    pairs<<<3, 32>>>();
    EXPECT(cudaGetLastError() == cudaErrorInvalidClusterSize);
    cudaFuncAttributes a;
    CUDA(cudaFuncGetAttributes(&a, pairs));
    EXPECT(a.clusterDimMustBeSet == 1 && a.requiredClusterWidth == 2);
    cudaLaunchAttribute cluster[2] = {}, window = {};
    cluster[0].id = cudaLaunchAttributeClusterDimension;
    cluster[0].val.clusterDim = {2, 1, 1};
    cluster[1].id = cudaLaunchAttributePreferredClusterDimension;
    cluster[1].val.preferredClusterDim = {3, 1, 1};
    EXPECT(launch_with(12, cluster, 2) == cudaErrorInvalidClusterSize);
    window.id = cudaLaunchAttributeAccessPolicyWindow;
    CUDA(launch_with(1, &window, 1)); // a hint that says nothing
    (void)cudaGetLastError();
}

// ---- what can be set, what is remembered --------------------------------------------------------------------

static void check_hints()
{
    cudaDeviceProp device;
    cudaStream_t stream;
    cudaStreamAttrValue v = {};
    int *p;
    CUDA(cudaGetDeviceProperties(&device, 0));
    size_t much = (size_t)device.persistingL2CacheMaxSize * 2;
    EXPECT(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, much) == cudaErrorInvalidValue);
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaMalloc(&p, 4096));
    v.accessPolicyWindow.base_ptr = p;
    v.accessPolicyWindow.num_bytes = (size_t)device.accessPolicyMaxWindowSize * 2;
    v.accessPolicyWindow.hitRatio = 1;
    v.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    EXPECT(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &v) == cudaErrorInvalidValue);
    v.accessPolicyWindow.num_bytes = 4096;
    v.accessPolicyWindow.hitRatio = 1.5f;
    EXPECT(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &v) == cudaErrorInvalidValue);
    v = {};
    v.memSyncDomainMap.default_ = 9;
    EXPECT(cudaStreamSetAttribute(stream, cudaLaunchAttributeMemSyncDomainMap, &v) == cudaErrorInvalidValue);
    CUDA(cudaStreamDestroy(stream));
    (void)cudaGetLastError();
}

static void call_cuda(void *error)
{
    void *p;
    *(cudaError_t *)error = cudaMalloc(&p, 4);
}

static void check_errors()
{
    static cudaError_t inside;
    int *gate;
    CUDA(cudaLaunchHostFunc(0, call_cuda, &inside));
    CUDA(cudaDeviceSynchronize());
    EXPECT(inside == cudaErrorNotPermitted);
    CUDA(cudaMallocHost(&gate, sizeof *gate));
    *gate = 0;
    wait_for<<<1, 1>>>(gate);
    EXPECT(cudaStreamQuery(0) == cudaErrorNotReady);
    EXPECT(cudaPeekAtLastError() == cudaSuccess);
    *(volatile int *)gate = 1;
    CUDA(cudaDeviceSynchronize());
}

static void check_memory()
{
    void *p;
    const void *variables[] = {&one, &two, &three};
    for (const void *v : variables) {
        CUDA(cudaGetSymbolAddress(&p, v));
        EXPECT((size_t)p % 256 == 0);
    }
    CUDA(cudaMallocManaged(&p, 0));
    EXPECT(!p);
    cudaEvent_t event;
    cudaIpcEventHandle_t handle;
    CUDA(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
    CUDA(cudaIpcGetEventHandle(&handle, event));
}

// ---- registers ----------------------------------------------------------------------------------------------

template <class Kernel> static void check_bound(Kernel kernel, int most, float *values)
{
    cudaFuncAttributes a;
    int blocks;
    CUDA(cudaFuncGetAttributes(&a, kernel));
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 1024, 0));
    EXPECT(a.numRegs > 24 && a.numRegs <= most && a.maxThreadsPerBlock == 1024 && blocks == 1);
    kernel<<<1, 1024>>>(values, values + 4000);
    CUDA(cudaDeviceSynchronize());
}

static void check_registers()
{
    float *values;
    cudaFuncAttributes a;
    int blocks;
    CUDA(cudaMalloc(&values, 20000 * sizeof *values));
    unbound<<<1, 1024>>>(values, values + 4000); // nothing has been asked of it before
    EXPECT(cudaGetLastError() == cudaErrorLaunchOutOfResources);
    check_bound(bound_by_block, 64, values);
    check_bound(bound_by_number, 40, values);
    CUDA(cudaFuncGetAttributes(&a, unbound));
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, unbound, 1024, 0));
    EXPECT(a.numRegs > 64 && a.maxThreadsPerBlock < 1024 && blocks == 0);
    unbound<<<1, 256>>>(values, values + 4000);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaFree(values));
}

int main()
{
    check_captures();
    check_registers();
    check_graphs();
    check_launches();
    check_hints();
    check_errors();
    check_memory();
    int *never;
    CUDA(cudaMalloc(&never, sizeof *never));
    CUDA(cudaMemset(never, 0, sizeof *never));
    wait_for<<<1, 1>>>(never); // ends with the process
    CUDA(cudaGetLastError());
    return passed();
}
