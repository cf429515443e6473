extern "C" __global__ void gray(unsigned n, const unsigned char *__restrict__ rgb, unsigned char *__restrict__ gray)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
    gray[i] = (unsigned char)((77 * r + 151 * g + 28 * b) >> 8);
}
