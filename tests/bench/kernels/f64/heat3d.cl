/* one step of the heat equation: seven points */
__kernel void
heat3d(int nx, int ny, int nz, double a, double b, __global const double *restrict in,
       __global double *restrict out)
{
    int x = get_group_id(0) * get_local_size(0) + get_local_id(0), y = get_group_id(1) * get_local_size(1) + get_local_id(1);
    int z = get_group_id(2), i = (z * ny + y) * nx + x;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1)
        return;
    out[i] = a * in[i] + b * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] +
                              in[i - nx * ny] + in[i + nx * ny]);
}
