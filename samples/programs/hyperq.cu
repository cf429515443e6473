// Kernels of many streams at once: each waits for the one of the stream behind it, which is launched later. They all end only if no
// stream waits for another that it does not depend on, as streams of one hardware queue would.
#include "check.h"

const int STREAMS = 8;

// Ends when its successor has begun; the last one has none.
__global__ void chain(volatile int *begun, int i)
{
    begun[i] = 1;
    __threadfence();
    while (i + 1 < STREAMS && !begun[i + 1])
        continue;
}

__global__ void sum(const int *begun, int *total)
{
    atomicAdd(total, begun[threadIdx.x]);
}

int main()
{
    cudaStream_t streams[STREAMS];
    cudaEvent_t done[STREAMS];
    int *begun, *total, host = 0, concurrent;
    CUDA(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentKernels, 0));
    EXPECT(concurrent);
    CUDA(cudaMalloc(&begun, STREAMS * sizeof *begun));
    CUDA(cudaMalloc(&total, sizeof *total));
    CUDA(cudaMemset(begun, 0, STREAMS * sizeof *begun));
    CUDA(cudaMemset(total, 0, sizeof *total));
    for (int i = 0; i < STREAMS; i++) {
        CUDA(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
        CUDA(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
    }
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < STREAMS; i++) {
        chain<<<1, 1, 0, streams[i]>>>(begun, i);
        CUDA(cudaEventRecord(done[i], streams[i]));
    }
    for (int i = 0; i < STREAMS; i++)
        CUDA(cudaStreamWaitEvent(streams[STREAMS - 1], done[i]));
    sum<<<1, STREAMS, 0, streams[STREAMS - 1]>>>(begun, total);
    CUDA(cudaMemcpyAsync(&host, total, sizeof host, cudaMemcpyDeviceToHost, streams[STREAMS - 1]));
    CUDA(cudaStreamSynchronize(streams[STREAMS - 1]));
    EXPECT(host == STREAMS);
    for (int i = 0; i < STREAMS; i++) {
        CUDA(cudaEventDestroy(done[i]));
        CUDA(cudaStreamDestroy(streams[i]));
    }
    CUDA(cudaFree(begun));
    CUDA(cudaFree(total));
    return passed();
}
