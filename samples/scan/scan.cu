// Inclusive prefix sums of each CTA's part: warps scan by shuffles, warp sums are scanned in shared memory.
// blockDim.x is a multiple of 32.
// RUN: ptera run samples/scan/scan.ptx -g 2 -b 256 u32:500 fill:u32:500:1 zero:2000@u32:4
// EXPECT: 1 2 3 4
extern "C" __global__ void scan(unsigned n, const unsigned *in, unsigned *out)
{
    __shared__ unsigned sums[32];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    unsigned v = i < n ? in[i] : 0;
    for (unsigned d = 1; d < 32; d *= 2) {
        unsigned left = __shfl_up_sync(0xffffffff, v, d);
        if (lane >= d)
            v += left;
    }
    if (lane == 31)
        sums[warp] = v;
    __syncthreads();
    if (warp == 0) {
        unsigned s = lane < blockDim.x / 32 ? sums[lane] : 0;
        for (unsigned d = 1; d < 32; d *= 2) {
            unsigned left = __shfl_up_sync(0xffffffff, s, d);
            if (lane >= d)
                s += left;
        }
        sums[lane] = s;
    }
    __syncthreads();
    if (warp > 0)
        v += sums[warp - 1];
    if (i < n)
        out[i] = v;
}
