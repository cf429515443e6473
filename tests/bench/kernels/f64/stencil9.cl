/* nine points, by a shared tile with halo */
__kernel void
stencil9(int n, double centre, double side, double corner, __global const double *restrict in,
         __global double *restrict out)
{
    __local double s[10][34];
    int x0 = get_group_id(0) * 32 - 1, y0 = get_group_id(1) * 8 - 1;
    for (int i = get_local_id(1) * 32 + get_local_id(0); i < 340; i += 256) {
        int x = x0 + i % 34, y = y0 + i / 34;
        s[i / 34][i % 34] = x >= 0 && y >= 0 && x < n && y < n ? in[y * n + x] : 0.0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int x = get_local_id(0) + 1, y = get_local_id(1) + 1, gx = x0 + x, gy = y0 + y;
    if (gx < n && gy < n)
        out[gy * n + gx] =
            centre * s[y][x] + side * (s[y][x - 1] + s[y][x + 1] + s[y - 1][x] + s[y + 1][x]) +
            corner * (s[y - 1][x - 1] + s[y - 1][x + 1] + s[y + 1][x - 1] + s[y + 1][x + 1]);
}
