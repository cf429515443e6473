/* Monte Carlo: points of a square by Philox 4x32-10, those within the circle are counted */
__device__ static inline uint4 philox(uint4 c, unsigned k0, unsigned k1)
{
#pragma unroll
    for (int round = 0; round < 10; round++) {
        unsigned long long a = 0xD2511F53ull * c.x, b = 0xCD9E8D57ull * c.z;
        c = make_uint4((unsigned)(b >> 32) ^ c.y ^ k0, (unsigned)b,
                       (unsigned)(a >> 32) ^ c.w ^ k1, (unsigned)a);
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return c;
}
__device__ static inline unsigned inside(unsigned a, unsigned b)
{
    float x = (float)(a >> 8) * (1.0f / 16777216), y = (float)(b >> 8) * (1.0f / 16777216);
    return x * x + y * y < 1.0f;
}
extern "C" __global__ void __launch_bounds__(256)
philox_pi(unsigned times, unsigned k0, unsigned k1, unsigned *__restrict__ hits)
{
    __shared__ unsigned sum;
    unsigned i = blockIdx.x * 256 + threadIdx.x, n = 0;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    for (unsigned t = 0; t < times; t++) {
        uint4 r = philox(make_uint4(t, 0, i, 0), k0, k1);
        n += inside(r.x, r.y) + inside(r.z, r.w);
    }
    atomicAdd(&sum, n);
    __syncthreads();
    if (threadIdx.x == 0)
        hits[blockIdx.x] = sum;
}
