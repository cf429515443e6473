// Streams of priorities: what range there is, what a stream has of what was asked for, and work that is right in any of them.
#include "check.h"

const int N = 1 << 12, BATCHES = 8;

__global__ void count(int *p, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        p[i]++;
}

int main()
{
    int least, greatest, has;
    CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    EXPECT(least == 0 && greatest < least); // lower numbers are higher priorities
    const int levels = least - greatest + 1;
    cudaStream_t *streams = new cudaStream_t[levels];
    int *device, *host = new int[levels * N];
    CUDA(cudaMalloc(&device, levels * N * sizeof(int)));
    CUDA(cudaMemset(device, 0, levels * N * sizeof(int)));
    for (int i = 0; i < levels; i++) {
        CUDA(cudaStreamCreateWithPriority(&streams[i], cudaStreamNonBlocking, least - i));
        CUDA(cudaStreamGetPriority(streams[i], &has));
        EXPECT(has == least - i);
    }
    // What is beyond the range is brought into it.
    cudaStream_t beyond;
    CUDA(cudaStreamCreateWithPriority(&beyond, cudaStreamDefault, greatest - 10));
    CUDA(cudaStreamGetPriority(beyond, &has));
    EXPECT(has == greatest);
    cudaStreamAttrValue value = {};
    value.priority = least;
    CUDA(cudaStreamSetAttribute(beyond, cudaLaunchAttributePriority, &value));
    CUDA(cudaStreamGetPriority(beyond, &has));
    EXPECT(has == least);
    CUDA(cudaDeviceSynchronize());
    // The least important work is given first.
    for (int b = 0; b < BATCHES; b++)
        for (int i = 0; i < levels; i++)
            count<<<4, 128, 0, streams[i]>>>(device + i * N, N);
    for (int i = levels - 1; i >= 0; i--)
        CUDA(cudaStreamSynchronize(streams[i]));
    CUDA(cudaMemcpy(host, device, levels * N * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < levels * N; i++)
        EXPECT(host[i] == BATCHES);
    for (int i = 0; i < levels; i++)
        CUDA(cudaStreamDestroy(streams[i]));
    CUDA(cudaStreamDestroy(beyond));
    CUDA(cudaFree(device));
    delete[] streams;
    delete[] host;
    return passed();
}
