// Memory of graphs: nodes that allocate and free, made by hand and by capture; memory that outlives a launch, and what a graph holds of the device's. nvcc graph_memory.cu
#include "check.h"
#include <vector>

const int n = 1 << 16, threads = 256;

__global__ void square(const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * in[i];
}

__global__ void add(const int *a, const int *b, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = a[i] + b[i];
}

static cudaGraphNode_t add_kernel(cudaGraph_t graph, std::vector<cudaGraphNode_t> before, void *kernel,
                                  void **arguments)
{
    cudaGraphNode_t node;
    cudaKernelNodeParams p = {};
    p.func = kernel;
    p.gridDim = dim3(n / threads);
    p.blockDim = dim3(threads);
    p.kernelParams = arguments;
    CUDA(cudaGraphAddKernelNode(&node, graph, before.data(), before.size(), &p));
    return node;
}

static cudaGraphNode_t add_memory(cudaGraph_t graph, std::vector<cudaGraphNode_t> before, int **memory)
{
    cudaGraphNode_t node;
    cudaMemAllocNodeParams p = {};
    p.poolProps.allocType = cudaMemAllocationTypePinned;
    p.poolProps.location.type = cudaMemLocationTypeDevice;
    p.bytesize = n * sizeof(int);
    CUDA(cudaGraphAddMemAllocNode(&node, graph, before.data(), before.size(), &p));
    *memory = (int *)p.dptr;
    return node;
}

static unsigned long long amount(cudaGraphMemAttributeType which)
{
    unsigned long long bytes = 0;
    CUDA(cudaDeviceGetGraphMemAttribute(0, which, &bytes));
    return bytes;
}

static void check(const int *out, int times)
{
    std::vector<int> host(n);
    CUDA(cudaMemcpy(host.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        EXPECT(host[i] == times * (i % 100) * (i % 100));
}

// Two squares in memory of the graph, whose sum is behind them; both are freed in it.
static void by_hand(int *in, int *out, cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t done[2];
    int *squares[2];
    CUDA(cudaGraphCreate(&graph, 0));
    for (int k = 0; k < 2; k++) {
        cudaGraphNode_t memory = add_memory(graph, {}, &squares[k]);
        void *arguments[] = {&in, &squares[k]};
        done[k] = add_kernel(graph, {memory}, (void *)square, arguments);
    }
    void *arguments[] = {&squares[0], &squares[1], &out};
    cudaGraphNode_t sum = add_kernel(graph, {done[0], done[1]}, (void *)add, arguments), freed;
    for (int k = 0; k < 2; k++)
        CUDA(cudaGraphAddMemFreeNode(&freed, graph, &sum, 1, squares[k]));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    EXPECT(amount(cudaGraphMemAttrReservedMemCurrent) == 0);
    for (int launch = 0; launch < 3; launch++)
        CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    check(out, 2);
    EXPECT(amount(cudaGraphMemAttrReservedMemCurrent) >= 2 * n * sizeof(int));
    CUDA(cudaDeviceGraphMemTrim(0));
    EXPECT(amount(cudaGraphMemAttrReservedMemCurrent) == 0);
    EXPECT(amount(cudaGraphMemAttrReservedMemHigh) >= 2 * n * sizeof(int));
    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    check(out, 2);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
}

// A stream's allocations become the graph's. What it does not free the program does, in or out of order,
// or the next launch where the executable was made so.
static void by_capture(int *in, cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec, frees_first;
    int *scratch, *kept;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CUDA(cudaMallocAsync(&scratch, n * sizeof(int), stream));
    CUDA(cudaMallocAsync(&kept, n * sizeof(int), stream));
    square<<<n / threads, threads, 0, stream>>>(in, scratch);
    add<<<n / threads, threads, 0, stream>>>(scratch, scratch, kept);
    CUDA(cudaFreeAsync(scratch, stream));
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    for (int round = 0; round < 2; round++) {
        CUDA(cudaGraphLaunch(exec, stream));
        EXPECT(cudaGraphLaunch(exec, stream) == cudaErrorInvalidValue); // it is still allocated
        cudaGetLastError();
        CUDA(cudaStreamSynchronize(stream));
        check(kept, 2);
        if (round == 0)
            CUDA(cudaFreeAsync(kept, stream));
        else
            CUDA(cudaFree(kept));
    }
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphInstantiate(&frees_first, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    for (int launch = 0; launch < 3; launch++)
        CUDA(cudaGraphLaunch(frees_first, stream));
    CUDA(cudaStreamSynchronize(stream));
    check(kept, 2);
    CUDA(cudaFree(kept));
    CUDA(cudaGraphExecDestroy(frees_first));
    CUDA(cudaGraphDestroy(graph));
}

int main()
{
    int *in, *out;
    cudaStream_t stream;
    std::vector<int> host(n);
    for (int i = 0; i < n; i++)
        host[i] = i % 100;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaMalloc(&in, n * sizeof(int)));
    CUDA(cudaMalloc(&out, n * sizeof(int)));
    CUDA(cudaMemcpy(in, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    by_hand(in, out, stream);
    by_capture(in, stream);
    CUDA(cudaFree(in));
    CUDA(cudaFree(out));
    CUDA(cudaStreamDestroy(stream));
    return passed();
}
