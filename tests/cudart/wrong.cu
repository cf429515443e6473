// What goes wrong has CUDA's own codes, and the process goes on: launches that cannot be, kernels that fail, a device that is reset.
#include "../../samples/programs/check.h"

__global__ void store(int *p)
{
    *p = 1;
}

__global__ void trap()
{
    __trap();
}

static void expect_and_reset(cudaError_t want)
{
    EXPECT(cudaDeviceSynchronize() == want);
    EXPECT(cudaGetLastError() == want);
    int *p;
    EXPECT(cudaMalloc(&p, 4) == want); // it stays
    CUDA(cudaDeviceReset());
    (void)cudaGetLastError();
}

int main()
{
    int *p;
    EXPECT(cudaMalloc(&p, (size_t)1 << 60) == cudaErrorMemoryAllocation);
    EXPECT(cudaPeekAtLastError() == cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError() == cudaSuccess);
    CUDA(cudaMalloc(&p, 4));
    store<<<1, 1025>>>(p);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    store<<<0, 1>>>(p);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    store<<<1, 1, 1 << 20>>>(p);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    EXPECT(cudaSetDevice(99) == cudaErrorInvalidDevice);
    EXPECT(cudaMemcpy(p, p, 4, (cudaMemcpyKind)9) == cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaFree((void *)16) == cudaErrorInvalidValue);
    EXPECT(cudaMemcpyToSymbol((const void *)main, &p, 4) == cudaErrorInvalidSymbol);
    EXPECT(cudaLaunchKernel((const void *)main, 1, 1, NULL, 0, 0) == cudaErrorInvalidDeviceFunction);
    (void)cudaGetLastError();
    store<<<1, 1>>>((int *)8);
    expect_and_reset(cudaErrorIllegalAddress);
    trap<<<1, 1>>>();
    expect_and_reset(cudaErrorLaunchFailure);
    CUDA(cudaMalloc(&p, 4));
    store<<<1, 1>>>(p);
    int v = 0;
    CUDA(cudaMemcpy(&v, p, 4, cudaMemcpyDeviceToHost));
    EXPECT(v == 1);
    return passed();
}
