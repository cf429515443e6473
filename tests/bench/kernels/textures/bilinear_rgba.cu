extern "C" __global__ void bilinear_rgba(int width, int a, int b, int u0, int v0, cudaTextureObject_t image,
                                         float *__restrict__ out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int u = a * x - b * y + u0, v = b * x + a * y + v0;
    float4 t = tex2D<float4>(image, (float)u * (1 / 256.0f), (float)v * (1 / 256.0f));
    out[y * width + x] = (t.x + t.y) + (t.z + t.w);
}
