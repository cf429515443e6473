typedef struct { uchar b, g, r, a; } pixel;
__kernel void gamma_rgba(uint n, __global pixel *image)
{
    uint i = get_global_id(0);
    if (i >= n) return;
    pixel p = image[i];
    float v = (0.3f * p.r + 0.59f * p.g + 0.11f * p.b) / 255.0f, res = 255.0f * v * v;
    uchar g = res > 255.0f ? 255 : (uchar)res;
    image[i].b = g, image[i].g = g, image[i].r = g, image[i].a = 255;
}
