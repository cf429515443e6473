// Conditional nodes of graphs: Newton's square roots until they are good (WHILE, captured into its body), IF with ELSE, SWITCH. nvcc -rdc=true conditional.cu -lcudadevrt
#include "check.h"
#include <cmath>

// One step for each value; the loop goes on while any has moved.
__global__ void step(const double *a, double *x, int *moved, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double better = (x[i] + a[i] / x[i]) / 2;
    if (fabs(better - x[i]) > 1e-12 * better)
        atomicExch(moved, 1);
    x[i] = better;
}

__global__ void decide(int *moved, int *rounds, cudaGraphConditionalHandle again)
{
    cudaGraphSetConditional(again, *moved);
    *moved = 0;
    ++*rounds;
}

__global__ void choose(const int *rounds, cudaGraphConditionalHandle is_odd, cudaGraphConditionalHandle digit)
{
    cudaGraphSetConditional(is_odd, *rounds % 2);
    cudaGraphSetConditional(digit, *rounds % 3);
}

__global__ void add(int *p, int v)
{
    *p += v;
}

static cudaGraph_t *branches(cudaGraphNode_t *node, cudaGraph_t graph, cudaGraphNode_t *after, cudaGraphConditionalHandle handle,
                             cudaGraphConditionalNodeType type, unsigned n)
{
    cudaGraphNodeParams p = {};
    p.type = cudaGraphNodeTypeConditional;
    p.conditional.handle = handle;
    p.conditional.type = type;
    p.conditional.size = n;
    CUDA(cudaGraphAddNode(node, graph, after, NULL, after ? 1 : 0, &p));
    return p.conditional.phGraph_out;
}

static cudaGraphNode_t kernel(cudaGraph_t graph, cudaGraphNode_t *after, void *function, void **args)
{
    cudaGraphNode_t node;
    cudaKernelNodeParams p = {};
    p.func = function;
    p.gridDim = 1;
    p.blockDim = 1;
    p.kernelParams = args;
    CUDA(cudaGraphAddKernelNode(&node, graph, after, after ? 1 : 0, &p));
    return node;
}

int main()
{
    const int n = 1000;
    double a[n], x[n], *da, *dx;
    int *counts, have[3]; // whether a value moved, rounds, what the branches add
    for (int i = 0; i < n; i++)
        x[i] = a[i] = i + 1;
    CUDA(cudaMalloc(&da, sizeof a));
    CUDA(cudaMalloc(&dx, sizeof x));
    CUDA(cudaMalloc(&counts, sizeof have));
    CUDA(cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(dx, x, sizeof x, cudaMemcpyHostToDevice));
    CUDA(cudaMemset(counts, 0, sizeof have));

    cudaGraph_t graph, captured;
    cudaGraphNode_t loop, choice, either, one;
    cudaGraphConditionalHandle again, is_odd, digit;
    CUDA(cudaGraphCreate(&graph, 0));
    CUDA(cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault));
    CUDA(cudaGraphConditionalHandleCreate(&is_odd, graph, 0, 0));
    CUDA(cudaGraphConditionalHandleCreate(&digit, graph, 0, 0));

    cudaGraph_t body = branches(&loop, graph, NULL, again, cudaGraphCondTypeWhile, 1)[0];
    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaStreamBeginCaptureToGraph(stream, body, NULL, NULL, 0, cudaStreamCaptureModeGlobal));
    step<<<(n + 127) / 128, 128, 0, stream>>>(da, dx, counts, n);
    decide<<<1, 1, 0, stream>>>(counts, counts + 1, again);
    CUDA(cudaStreamEndCapture(stream, &captured));

    int *rounds = counts + 1, *sum = counts + 2;
    void *chosen[] = {&rounds, &is_odd, &digit};
    choice = kernel(graph, &loop, (void *)choose, chosen);
    cudaGraph_t *two = branches(&either, graph, &choice, is_odd, cudaGraphCondTypeIf, 2);
    cudaGraph_t *three = branches(&one, graph, &either, digit, cudaGraphCondTypeSwitch, 3);
    for (int i = 0; i < 5; i++) {
        int v = i < 2 ? (i ? 1000 : 2000) : 1 << (i - 2);
        void *args[] = {&sum, &v};
        kernel(i < 2 ? two[i] : three[i - 2], NULL, (void *)add, args);
    }

    cudaGraphExec_t exec;
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaMemcpy(x, dx, sizeof x, cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(have, counts, sizeof have, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        EXPECT(fabs(x[i] - sqrt(a[i])) < 1e-9);
    EXPECT(have[1] > 5 && have[1] < 20); // Newton's method
    EXPECT(have[2] == (have[1] % 2 ? 2000 : 1000) + (1 << have[1] % 3));

    // Once more: the roots stand already, so that one round is enough.
    CUDA(cudaMemset(counts, 0, sizeof have));
    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaGraphExecDestroy(exec)); // while it runs, which is allowed
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaMemcpy(have, counts, sizeof have, cudaMemcpyDeviceToHost));
    EXPECT(have[1] == 1 && have[2] == 2000 + 2);
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFree(counts));
    CUDA(cudaFree(dx));
    CUDA(cudaFree(da));
    return passed();
}
