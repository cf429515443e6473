// Six ways to add up an array: each CTA writes the sum of its part.
// The n elements are a multiple of the CTA's part (blockDim.x, or that times the unrolling).
// RUN: ptera run samples/reduce/reduce.ptx -k reduce_neighbored -g 8 -b 128 iota:s32:1024 zero:32@s32:2
// EXPECT: 8128 24512
// RUN: ptera run samples/reduce/reduce.ptx -k reduce_shuffle -g 8 -b 128 iota:s32:1024 zero:32@s32:2
// EXPECT: 8128 24512

// Neighbours are added pairwise; the lanes that work are spread thinner at each step.
extern "C" __global__ void reduce_neighbored(int *in, int *out)
{
    unsigned tid = threadIdx.x;
    int *part = in + blockIdx.x * blockDim.x;
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        if (tid % (2 * stride) == 0)
            part[tid] += part[tid + stride];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = part[0];
}

// The same with the working lanes packed together.
extern "C" __global__ void reduce_neighbored_packed(int *in, int *out)
{
    unsigned tid = threadIdx.x;
    int *part = in + blockIdx.x * blockDim.x;
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        unsigned index = 2 * stride * tid;
        if (index < blockDim.x)
            part[index] += part[index + stride];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = part[0];
}

// Elements half the length apart are added.
extern "C" __global__ void reduce_interleaved(int *in, int *out)
{
    unsigned tid = threadIdx.x;
    int *part = in + blockIdx.x * blockDim.x;
    for (unsigned stride = blockDim.x / 2; stride > 0; stride >>= 1) {
        if (tid < stride)
            part[tid] += part[tid + stride];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = part[0];
}

// Each CTA first adds a second part to its own.
extern "C" __global__ void reduce_unrolled2(int *in, int *out)
{
    unsigned tid = threadIdx.x;
    int *part = in + blockIdx.x * blockDim.x * 2;
    part[tid] += part[tid + blockDim.x];
    __syncthreads();
    for (unsigned stride = blockDim.x / 2; stride > 0; stride >>= 1) {
        if (tid < stride)
            part[tid] += part[tid + stride];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = part[0];
}

// Eight parts, and the last six steps by one warp in lockstep, without a barrier: volatile accesses of a
// converged warp happen together, loads before stores. blockDim.x is at least 64.
extern "C" __global__ void reduce_warp_unrolled8(int *in, int *out)
{
    unsigned tid = threadIdx.x;
    int *part = in + blockIdx.x * blockDim.x * 8;
    int sum = 0;
    for (unsigned i = 0; i < 8; i++)
        sum += part[tid + i * blockDim.x];
    part[tid] = sum;
    __syncthreads();
    for (unsigned stride = blockDim.x / 2; stride > 32; stride >>= 1) {
        if (tid < stride)
            part[tid] += part[tid + stride];
        __syncthreads();
    }
    if (tid < 32) {
        volatile int *v = part;
        v[tid] += v[tid + 32];
        v[tid] += v[tid + 16];
        v[tid] += v[tid + 8];
        v[tid] += v[tid + 4];
        v[tid] += v[tid + 2];
        v[tid] += v[tid + 1];
    }
    if (tid == 0)
        out[blockIdx.x] = part[0];
}

// Warps add by shuffles, their sums meet in shared memory. blockDim.x is a multiple of 32.
extern "C" __global__ void reduce_shuffle(const int *in, int *out)
{
    __shared__ int sums[32];
    unsigned tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
    int sum = in[blockIdx.x * blockDim.x + tid];
    for (int offset = 16; offset > 0; offset >>= 1)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (lane == 0)
        sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < blockDim.x / 32 ? sums[lane] : 0;
        for (int offset = 16; offset > 0; offset >>= 1)
            sum += __shfl_down_sync(0xffffffff, sum, offset);
        if (lane == 0)
            out[blockIdx.x] = sum;
    }
}
