// Bitonic sort of each CTA's 2 * blockDim.x keys in shared memory (blockDim.x a power of two, at most 512).
// RUN: ptera run samples/bitonic/bitonic.ptx -g 2 -b 256 rand:u32:1024:3 zero:4096
extern "C" __global__ void bitonic(const unsigned *in, unsigned *out)
{
    __shared__ unsigned keys[1024];
    unsigned n = 2 * blockDim.x, base = blockIdx.x * n, t = threadIdx.x;
    keys[t] = in[base + t];
    keys[t + blockDim.x] = in[base + t + blockDim.x];
    for (unsigned k = 2; k <= n; k *= 2)
        for (unsigned j = k / 2; j > 0; j /= 2) {
            __syncthreads();
            unsigned i = 2 * t - (t & (j - 1));
            unsigned a = keys[i], b = keys[i + j];
            if ((a > b) == ((i & k) == 0)) {
                keys[i] = b;
                keys[i + j] = a;
            }
        }
    __syncthreads();
    out[base + t] = keys[t];
    out[base + t + blockDim.x] = keys[t + blockDim.x];
}
