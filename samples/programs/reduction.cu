// The sum of an array by warp shuffles and one atomic a CTA; the size of a CTA by occupancy.
#include "check.h"
#include <vector>

__global__ void sum(const int *in, int n, unsigned long long *out)
{
    __shared__ long long parts[32];
    long long v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        v += in[i];
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0;
        for (int d = 16; d > 0; d /= 2)
            v += __shfl_down_sync(~0u, v, d);
        if (threadIdx.x == 0)
            atomicAdd(out, (unsigned long long)v);
    }
}

int main()
{
    const int n = 100003;
    std::vector<int> in(n);
    long long want = 0;
    for (int i = 0; i < n; i++)
        want += in[i] = i * 7 % 1000 - 300;
    int *din, grid, block, per_sm;
    unsigned long long *dout;
    long long out;
    CUDA(cudaOccupancyMaxPotentialBlockSize(&grid, &block, sum));
    EXPECT(grid > 0 && block >= 32 && block % 32 == 0);
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, sum, block, 0));
    EXPECT(per_sm > 0);
    CUDA(cudaMalloc(&din, n * sizeof(int)));
    CUDA(cudaMalloc(&dout, sizeof *dout));
    CUDA(cudaMemcpy(din, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CUDA(cudaMemset(dout, 0, sizeof *dout));
    sum<<<8, 256>>>(din, n, dout);
    CUDA(cudaMemcpy(&out, dout, sizeof out, cudaMemcpyDeviceToHost));
    EXPECT(out == want);
    CUDA(cudaFree(din));
    CUDA(cudaFree(dout));
    return passed();
}
