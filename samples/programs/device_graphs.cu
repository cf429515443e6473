// Graphs that kernels launch: a solver that launches itself until it is exact enough, and a dispatcher that lets graphs go as work comes, and one behind them. nvcc -rdc=true device_graphs.cu -lcudadevrt
#include "check.h"
#include <cmath>

// ---- a solver of x = cos x, at many places; its graph comes again behind itself

__device__ float x[256], change;
__device__ int n_rounds;

__global__ void begin()
{
    change = 0;
    n_rounds++;
}

__global__ void step()
{
    float before = x[threadIdx.x], after = cosf(before);
    x[threadIdx.x] = after;
    atomicMax((int *)&change, __float_as_int(fabsf(after - before))); // not negative: as integers
}

__global__ void decide(float enough)
{
    if (change > enough)
        cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
}

// ---- a dispatcher: each kind of work has its graph

enum { KINDS = 3 };

__device__ cudaGraphExec_t kinds[KINDS], last;
__device__ volatile int is_done[KINDS];
__device__ int sum;

__global__ void work(int kind)
{
    atomicAdd(&sum, 1 << (8 * kind));
    is_done[kind] = 1;
}

__global__ void dispatch(int *wrong)
{
    for (int kind = 0; kind < KINDS; kind++) {
        if (cudaGraphLaunch(kinds[kind], cudaStreamGraphFireAndForget) != cudaSuccess)
            ++*wrong;
        while (!is_done[kind]) // it runs beside this kernel
            ;
    }
    if (cudaGraphLaunch(last, cudaStreamGraphTailLaunch) != cudaSuccess)
        ++*wrong;
    if (cudaGraphLaunch(last, cudaStreamGraphTailLaunch) !=
        cudaErrorInvalidValue) // it is to run already
        ++*wrong;
}

__global__ void finish(int *have)
{
    *have = sum;
}

template <typename... T>
static cudaGraphNode_t add(cudaGraph_t graph, cudaGraphNode_t before, int threads,
                           void (*kernel)(T...), T... v)
{
    void *parameters[] = {&v..., NULL};
    cudaKernelNodeParams p = {};
    cudaGraphNode_t node;
    p.func = (void *)kernel;
    p.gridDim = 1;
    p.blockDim = threads;
    p.kernelParams = parameters;
    CUDA(cudaGraphAddKernelNode(&node, graph, &before, before ? 1 : 0, &p));
    return node;
}

// Kernels may launch it, once it is uploaded.
static cudaGraphExec_t make(cudaGraph_t graph, cudaStream_t stream)
{
    cudaGraphExec_t exec;
    CUDA(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagDeviceLaunch));
    CUDA(cudaGraphUpload(exec, stream));
    CUDA(cudaGraphDestroy(graph));
    return exec;
}

int main()
{
    cudaStream_t stream;
    cudaGraph_t graph;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t node = add(graph, NULL, 1, begin);
    node = add(graph, node, 256, step);
    add(graph, node, 1, decide, 1e-4f);
    cudaGraphExec_t solver = make(graph, stream);
    CUDA(cudaGraphLaunch(solver, stream));
    CUDA(cudaStreamSynchronize(stream));
    float have[256];
    int rounds;
    CUDA(cudaMemcpyFromSymbol(have, x, sizeof have));
    CUDA(cudaMemcpyFromSymbol(&rounds, n_rounds, sizeof rounds));
    EXPECT(rounds > 10 && rounds < 100);
    for (float v : have)
        EXPECT(std::fabs(std::cos(v) - v) < 2e-4);

    int *words;
    CUDA(cudaMallocManaged(&words, 2 * sizeof *words));
    words[0] = words[1] = 0;
    cudaGraphExec_t execs[KINDS + 2];
    for (int kind = 0; kind < KINDS; kind++) {
        CUDA(cudaGraphCreate(&graph, 0));
        add(graph, NULL, 1, work, kind);
        execs[kind] = make(graph, stream);
    }
    CUDA(cudaGraphCreate(&graph, 0));
    add(graph, NULL, 1, finish, words + 1);
    execs[KINDS] = make(graph, stream);
    CUDA(cudaMemcpyToSymbol(kinds, execs, KINDS * sizeof *execs));
    CUDA(cudaMemcpyToSymbol(last, &execs[KINDS], sizeof *execs));
    CUDA(cudaGraphCreate(&graph, 0));
    add(graph, NULL, 1, dispatch, words);
    execs[KINDS + 1] = make(graph, stream);
    CUDA(cudaGraphLaunch(execs[KINDS + 1], stream));
    CUDA(cudaStreamSynchronize(stream));
    EXPECT(words[0] == 0 && words[1] == 0x010101);

    for (cudaGraphExec_t exec : execs)
        CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphExecDestroy(solver));
    CUDA(cudaFree(words));
    CUDA(cudaStreamDestroy(stream));
    return passed();
}
