static __device__ unsigned char digit(unsigned v) { return (unsigned char)(v + (v < 10 ? '0' : 'a' - 10)); }
extern "C" __global__ void hex(unsigned n, const unsigned char *__restrict__ in, unsigned char *__restrict__ out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = in[i];
    out[2 * i] = digit(v >> 4);
    out[2 * i + 1] = digit(v & 15);
}
