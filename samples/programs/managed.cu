// Managed memory: one pointer on both sides; __managed__ variables, touched before any call.
#include "check.h"

__managed__ int counter = 5;
__managed__ int table[8] = {1, 2, 3};

__global__ void count(int *p)
{
    atomicAdd(&counter, 1);
    p[threadIdx.x] += table[threadIdx.x % 8];
}

int main()
{
    int *p, device = 0;
    counter += 10;
    table[3] = 4;
    CUDA(cudaMallocManaged(&p, 64 * sizeof(int)));
    for (int i = 0; i < 64; i++)
        p[i] = i;
    count<<<1, 64>>>(p);
    CUDA(cudaGetLastError());
    CUDA(cudaDeviceSynchronize());
    EXPECT(counter == 79);
    for (int i = 0; i < 64; i++)
        EXPECT(p[i] == i + (i % 8 < 4 ? i % 8 + 1 : 0));
    cudaPointerAttributes a;
    CUDA(cudaPointerGetAttributes(&a, p));
    EXPECT(a.type == cudaMemoryTypeManaged && a.device == device);
    CUDA(cudaFree(p));
    return passed();
}
