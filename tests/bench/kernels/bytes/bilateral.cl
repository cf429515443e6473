__kernel void bilateral(int w, int h, float space, float range, __global const uchar *restrict in, __global uchar *restrict out)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < 2 || y < 2 || x >= w - 2 || y >= h - 2) return;
    float mid = in[y * w + x], sum = 0.0f, weights = 0.0f;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++) {
            float v = in[(y + dy) * w + x + dx], d = v - mid;
            float k = exp(-(dx * dx + dy * dy) * space - d * d * range);
            sum += k * v;
            weights += k;
        }
    out[y * w + x] = (uchar)(sum / weights + 0.5f);
}
