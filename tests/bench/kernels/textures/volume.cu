extern "C" __global__ void volume(int width, float scale, cudaTextureObject_t image, float *__restrict__ out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int i = 0; i < 64; i++) {
        int u = 200 * x + 40 * i, v = 210 * y + 30 * i, w = 5 * (x - y) + 250 * i;
        sum += tex3D<float>(image, (float)u * scale, (float)v * scale, (float)w * scale);
    }
    out[y * width + x] = sum;
}
