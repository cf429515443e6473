// Work on many streams, in order each: pinned memory, asynchronous copies, events between streams, a legacy stream that waits.
#include "check.h"

const int N = 1000, STREAMS = 8, ROUNDS = 20;

__global__ void step(int *p, int factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        p[i] = p[i] * factor + 1;
}

int main()
{
    int *host, *device, least, greatest;
    cudaStream_t streams[STREAMS], late;
    cudaEvent_t done;
    CUDA(cudaMallocHost(&host, STREAMS * N * sizeof(int)));
    CUDA(cudaMalloc(&device, STREAMS * N * sizeof(int)));
    CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CUDA(cudaStreamCreateWithPriority(&late, cudaStreamNonBlocking, greatest));
    CUDA(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    for (int i = 0; i < STREAMS * N; i++)
        host[i] = i;
    for (int s = 0; s < STREAMS; s++) {
        int *p = device + s * N;
        CUDA(cudaStreamCreate(&streams[s]));
        CUDA(cudaMemcpyAsync(p, host + s * N, N * sizeof(int), cudaMemcpyHostToDevice, streams[s]));
        for (int r = 0; r < ROUNDS; r++)
            step<<<(N + 127) / 128, 128, 0, streams[s]>>>(p, s + 2);
    }
    CUDA(cudaEventRecord(done, streams[0]));
    CUDA(cudaStreamWaitEvent(late, done));
    step<<<(N + 127) / 128, 128, 0, late>>>(device, 3);
    CUDA(cudaStreamSynchronize(late));
    // The default stream comes after all blocking streams.
    CUDA(cudaMemcpy(host, device, STREAMS * N * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < STREAMS * N; i++) {
        unsigned v = i;
        for (int r = 0; r < ROUNDS; r++)
            v = v * (i / N + 2) + 1;
        if (i < N)
            v = v * 3 + 1;
        EXPECT(host[i] == (int)v);
    }
    for (int s = 0; s < STREAMS; s++) {
        CUDA(cudaStreamQuery(streams[s]));
        CUDA(cudaStreamDestroy(streams[s]));
    }
    CUDA(cudaStreamDestroy(late));
    CUDA(cudaEventDestroy(done));
    CUDA(cudaFreeHost(host));
    CUDA(cudaFree(device));
    return passed();
}
