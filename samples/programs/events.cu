// Events: order, queries, time.
#include "check.h"

__global__ void spin(unsigned rounds, unsigned *out)
{
    unsigned v = threadIdx.x;
    for (unsigned i = 0; i < rounds; i++)
        v = v * 1664525u + 1013904223u;
    out[threadIdx.x] = v;
}

int main()
{
    unsigned *out;
    cudaEvent_t begin, middle, end;
    float first, second, both;
    CUDA(cudaMalloc(&out, 32 * sizeof *out));
    CUDA(cudaEventCreate(&begin));
    CUDA(cudaEventCreate(&middle));
    CUDA(cudaEventCreate(&end));
    CUDA(cudaEventRecord(begin));
    spin<<<1, 32>>>(1000, out);
    CUDA(cudaEventRecord(middle));
    spin<<<1, 32>>>(200000, out);
    CUDA(cudaEventRecord(end));
    cudaError_t status = cudaEventQuery(end);
    EXPECT(status == cudaSuccess || status == cudaErrorNotReady);
    (void)cudaGetLastError();
    CUDA(cudaEventSynchronize(end));
    CUDA(cudaEventQuery(begin));
    CUDA(cudaEventElapsedTime(&first, begin, middle));
    CUDA(cudaEventElapsedTime(&second, middle, end));
    CUDA(cudaEventElapsedTime(&both, begin, end));
    EXPECT(first >= 0 && second > 0 && both >= second);
    CUDA(cudaFree(out));
    CUDA(cudaEventDestroy(begin));
    CUDA(cudaEventDestroy(middle));
    CUDA(cudaEventDestroy(end));
    return passed();
}
