extern "C" __global__ void bilateral(int w, int h, float space, float range, const unsigned char *__restrict__ in,
                                          unsigned char *__restrict__ out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 2 || y < 2 || x >= w - 2 || y >= h - 2) return;
    float mid = in[y * w + x], sum = 0.0f, weights = 0.0f;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++) {
            float v = in[(y + dy) * w + x + dx], d = v - mid;
            float k = expf(-(dx * dx + dy * dy) * space - d * d * range);
            sum += k * v;
            weights += k;
        }
    out[y * w + x] = (unsigned char)(sum / weights + 0.5f);
}
