__kernel void sobel(int w, int h, __global const uchar *restrict in, __global uchar *restrict out)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
    __global const uchar *p = in + y * w + x;
    int gx = p[-w + 1] + 2 * p[1] + p[w + 1] - p[-w - 1] - 2 * p[-1] - p[w - 1];
    int gy = p[w - 1] + 2 * p[w] + p[w + 1] - p[-w - 1] - 2 * p[-w] - p[-w + 1];
    float m = sqrt((float)(gx * gx + gy * gy));
    out[y * w + x] = (uchar)fmin(m, 255.0f);
}
