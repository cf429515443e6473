__kernel void unsharp(int w, int h, int amount, __global const ushort *restrict in, __global ushort *restrict out)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
    __global const ushort *p = in + y * w + x;
    int blur = (p[-w - 1] + 2 * p[-w] + p[-w + 1] + 2 * p[-1] + 4 * p[0] + 2 * p[1] + p[w - 1] + 2 * p[w] + p[w + 1]) >> 4;
    int v = p[0] + ((p[0] - blur) * amount >> 8);
    out[y * w + x] = (ushort)min(max(v, 0), 65535);
}
