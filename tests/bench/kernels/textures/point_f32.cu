extern "C" __global__ void point_f32(int width, int a, int b, int u0, int v0, cudaTextureObject_t image,
                                     float *__restrict__ out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int u = a * x - b * y + u0, v = b * x + a * y + v0;
    out[y * width + x] = tex2D<float>(image, (float)u * (1 / 256.0f), (float)v * (1 / 256.0f));
}
