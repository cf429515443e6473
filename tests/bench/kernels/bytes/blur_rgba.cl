static int at(int x, int most) { return min(max(x, 0), most); }
__kernel void blur_rgba(int w, int h, __global const uchar4 *restrict in, __global uchar4 *restrict out)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h) return;
    uint r = 128, g = 128, b = 128, a = 128;
    const int weight[5] = {1, 4, 6, 4, 1};
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++) {
            uchar4 p = in[at(y + dy, h - 1) * w + at(x + dx, w - 1)];
            int k = weight[dy + 2] * weight[dx + 2];
            r += k * p.x, g += k * p.y, b += k * p.z, a += k * p.w;
        }
    out[y * w + x] = (uchar4)(r >> 8, g >> 8, b >> 8, a >> 8);
}
