static __device__ unsigned char mix(unsigned s, unsigned d, unsigned a)
{
    unsigned t = s * a + d * (255 - a) + 128;
    return (unsigned char)((t + (t >> 8)) >> 8);
}
extern "C" __global__ void alpha(unsigned n, const uchar4 *__restrict__ over, uchar4 *__restrict__ image)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uchar4 s = over[i], d = image[i];
    image[i] = make_uchar4(mix(s.x, d.x, s.w), mix(s.y, d.y, s.w), mix(s.z, d.z, s.w), mix(255, d.w, s.w));
}
