extern "C" __global__ void hash64(unsigned n, unsigned long long seed, unsigned long long *__restrict__ out,
                                      unsigned *__restrict__ slot, unsigned slots)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long z = seed + i * 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    unsigned long long hi = __umul64hi(z, 0xd6e8feb86659fd93ull);
    out[i] = z ^ hi;
    slot[i] = (unsigned)(hi >> 32) % slots + (unsigned)(z >> 40) / 1000u;
}
