struct rgb { unsigned char r, g, b; };
static __device__ float ramp(float h, float at)
{
    float d = fabsf(h - at);
    d = d > 3.0f ? 6.0f - d : d;
    return fminf(fmaxf(2.0f - d, 0.0f), 1.0f);
}
extern "C" __global__ void wheel(unsigned w, unsigned h, float scale, uchar4 *rgba, rgb *packed)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float fx = (x - 0.5f * w) * scale, fy = (y - 0.5f * h) * scale;
    float rad = sqrtf(fx * fx + fy * fy), angle = atan2f(-fy, -fx) * 0.954929659f + 3.0f;
    float r = ramp(angle, 0.0f), g = ramp(angle, 2.0f), b = ramp(angle, 4.0f);
    if (rad <= 1.0f)
        r = 1.0f - rad * (1.0f - r), g = 1.0f - rad * (1.0f - g), b = 1.0f - rad * (1.0f - b);
    else
        r *= 0.75f, g *= 0.75f, b *= 0.75f;
    rgb p = {(unsigned char)(int)(255.0f * r), (unsigned char)(int)(255.0f * g),
             (unsigned char)(int)(255.0f * b)};
    rgba[y * w + x] = make_uchar4(p.r, p.g, p.b, 255);
    packed[y * w + x] = p;
}
