typedef struct { uchar r, g, b; } rgb;
static float ramp(float h, float at)
{
    float d = fabs(h - at);
    d = d > 3.0f ? 6.0f - d : d;
    return fmin(fmax(2.0f - d, 0.0f), 1.0f);
}
__kernel void wheel(uint w, uint h, float scale, __global uchar4 *rgba, __global rgb *packed)
{
    uint x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h) return;
    float fx = (x - 0.5f * w) * scale, fy = (y - 0.5f * h) * scale;
    float rad = sqrt(fx * fx + fy * fy), angle = atan2(-fy, -fx) * 0.954929659f + 3.0f;
    float r = ramp(angle, 0.0f), g = ramp(angle, 2.0f), b = ramp(angle, 4.0f);
    if (rad <= 1.0f)
        r = 1.0f - rad * (1.0f - r), g = 1.0f - rad * (1.0f - g), b = 1.0f - rad * (1.0f - b);
    else
        r *= 0.75f, g *= 0.75f, b *= 0.75f;
    rgb p = {(uchar)(int)(255.0f * r), (uchar)(int)(255.0f * g),
             (uchar)(int)(255.0f * b)};
    rgba[y * w + x] = (uchar4)(p.r, p.g, p.b, 255);
    packed[y * w + x] = p;
}
