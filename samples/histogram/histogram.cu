// A histogram of bytes: counted in shared memory, added to the result with atomics.
// RUN: ptera run samples/histogram/histogram.ptx -g 4 -b 256 u32:4096 iota:u8:4096 zero:1024@u32:4
// EXPECT: 16 16 16 16
#define BINS 256

extern "C" __global__ void histogram(unsigned n, const unsigned char *in, unsigned *bins)
{
    __shared__ unsigned local[BINS];
    for (unsigned i = threadIdx.x; i < BINS; i += blockDim.x)
        local[i] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[in[i]], 1u);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < BINS; i += blockDim.x)
        if (local[i])
            atomicAdd(&bins[i], local[i]);
}
