// Variables of the device, by name.
#include "check.h"

__constant__ float weights[4] = {1, 2, 3, 4};
__device__ int result;
__device__ float *pointer;

__global__ void use(float *out)
{
    out[threadIdx.x] = weights[threadIdx.x];
    if (threadIdx.x == 0) {
        result = 42;
        pointer = out;
    }
}

int main()
{
    float *out, host[4], *p, news[2] = {7, 8};
    int r;
    size_t bytes;
    CUDA(cudaMalloc(&out, sizeof host));
    CUDA(cudaMemcpyToSymbol(weights, news, sizeof news, 2 * sizeof(float)));
    use<<<1, 4>>>(out);
    CUDA(cudaMemcpyFromSymbol(&r, result, sizeof r));
    CUDA(cudaMemcpyFromSymbol(&p, pointer, sizeof p));
    EXPECT(r == 42 && p == out);
    CUDA(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == 1 && host[1] == 2 && host[2] == 7 && host[3] == 8);
    CUDA(cudaGetSymbolSize(&bytes, weights));
    EXPECT(bytes == sizeof weights);
    void *address;
    CUDA(cudaGetSymbolAddress(&address, result));
    r = 7;
    CUDA(cudaMemcpy(address, &r, sizeof r, cudaMemcpyHostToDevice));
    r = 0;
    CUDA(cudaMemcpyFromSymbol(&r, result, sizeof r));
    EXPECT(r == 7);
    EXPECT(cudaMemcpyToSymbol(weights, host, 17) == cudaErrorInvalidValue);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    CUDA(cudaFree(out));
    return passed();
}
