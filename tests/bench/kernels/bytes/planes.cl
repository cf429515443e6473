__kernel void planes(uint n, __global const uchar4 *restrict rgba, __global uchar *restrict r, __global uchar *restrict g, __global uchar *restrict b)
{
    uint i = get_global_id(0);
    if (i >= n) return;
    uchar4 p = rgba[i];
    r[i] = p.x, g[i] = p.y, b[i] = p.z;
}
