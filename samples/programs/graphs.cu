// Graphs: captured from a stream, and built node by node.
#include "check.h"

__global__ void add(int *p, int v)
{
    p[threadIdx.x] += v;
}

int main()
{
    const int n = 32;
    int *p, host[n];
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CUDA(cudaMalloc(&p, sizeof host));
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CUDA(cudaMemsetAsync(p, 0, sizeof host, stream));
    add<<<1, n, 0, stream>>>(p, 1);
    add<<<1, n, 0, stream>>>(p, 10);
    CUDA(cudaMemcpyAsync(host, p, sizeof host, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    for (int round = 0; round < 3; round++) {
        host[5] = 0;
        CUDA(cudaGraphLaunch(exec, stream));
        CUDA(cudaStreamSynchronize(stream));
        EXPECT(host[5] == 11);
    }
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));

    cudaGraphNode_t set, kernel, copy;
    int v = 7;
    void *args[] = {&p, &v};
    cudaMemsetParams zero = {};
    zero.dst = p;
    zero.elementSize = 4;
    zero.width = n;
    zero.height = 1;
    cudaKernelNodeParams launch = {};
    launch.func = (void *)add;
    launch.gridDim = 1;
    launch.blockDim = n;
    launch.kernelParams = args;
    CUDA(cudaGraphCreate(&graph, 0));
    CUDA(cudaGraphAddMemsetNode(&set, graph, NULL, 0, &zero));
    CUDA(cudaGraphAddKernelNode(&kernel, graph, &set, 1, &launch));
    CUDA(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, host, p, sizeof host, cudaMemcpyDeviceToHost));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    EXPECT(host[31] == 7);
    v = 9;
    CUDA(cudaGraphExecKernelNodeSetParams(exec, kernel, &launch));
    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    EXPECT(host[0] == 9);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFree(p));
    return passed();
}
