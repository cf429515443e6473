extern "C" __global__ void planes(unsigned n, const uchar4 *__restrict__ rgba, unsigned char *__restrict__ r,
                                       unsigned char *__restrict__ g, unsigned char *__restrict__ b)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uchar4 p = rgba[i];
    r[i] = p.x, g[i] = p.y, b[i] = p.z;
}
