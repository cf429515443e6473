extern "C" __global__ void unsharp(int w, int h, int amount, const unsigned short *__restrict__ in,
                                        unsigned short *__restrict__ out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
    const unsigned short *p = in + y * w + x;
    int blur = (p[-w - 1] + 2 * p[-w] + p[-w + 1] + 2 * p[-1] + 4 * p[0] + 2 * p[1] + p[w - 1] + 2 * p[w] + p[w + 1]) >> 4;
    int v = p[0] + ((p[0] - blur) * amount >> 8);
    out[y * w + x] = (unsigned short)min(max(v, 0), 65535);
}
