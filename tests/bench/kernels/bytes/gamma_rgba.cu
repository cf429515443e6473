struct pixel { unsigned char b, g, r, a; };
extern "C" __global__ void gamma_rgba(unsigned n, pixel *image)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    pixel p = image[i];
    float v = (0.3f * p.r + 0.59f * p.g + 0.11f * p.b) / 255.0f, res = 255.0f * v * v;
    unsigned char g = res > 255.0f ? 255 : (unsigned char)res;
    image[i].b = g, image[i].g = g, image[i].r = g, image[i].a = 255;
}
