extern "C" __global__ void box(int w, int h, const unsigned char *__restrict__ in, unsigned char *__restrict__ out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
    int sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            sum += in[(y + dy) * w + x + dx];
    out[y * w + x] = (unsigned char)(sum / 9);
}
