static __device__ unsigned char letter(unsigned v)
{
    return (unsigned char)(v < 26 ? 'A' + v : v < 52 ? 'a' + v - 26 : v < 62 ? '0' + v - 52 : v == 62 ? '+' : '/');
}
extern "C" __global__ void base64(unsigned n, const unsigned char *__restrict__ in, uchar4 *__restrict__ out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = in[3 * i] << 16 | in[3 * i + 1] << 8 | in[3 * i + 2];
    out[i] = make_uchar4(letter(v >> 18), letter(v >> 12 & 63), letter(v >> 6 & 63), letter(v & 63));
}
