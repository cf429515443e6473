// Relocatable device code in two files (rdc_part.cu): a function and variables across them. nvcc -rdc=true rdc.cu rdc_part.cu
#include "check.h"

extern __device__ int scale(int v);
extern __device__ int offset;
extern __constant__ int factors[2];

template <typename T> __global__ void fill(T *out)
{
    out[threadIdx.x] = scale(threadIdx.x) + offset + factors[threadIdx.x % 2];
}

void run_other(int *out); // launches fill<int> of its own file

int main()
{
    int *out, host[32];
    CUDA(cudaMalloc(&out, sizeof host));
    fill<<<1, 32>>>(out);
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++)
        EXPECT(host[i] == 3 * i + 1000 + (i % 2 ? 20 : 10));
    run_other(out);
    CUDA(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++)
        EXPECT(host[i] == 3 * i + 2000);
    CUDA(cudaFree(out));
    return passed();
}
