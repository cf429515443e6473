__kernel void gray(uint n, __global const uchar *restrict rgb, __global uchar *restrict gray)
{
    uint i = get_global_id(0);
    if (i >= n) return;
    uint r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
    gray[i] = (uchar)((77 * r + 151 * g + 28 * b) >> 8);
}
