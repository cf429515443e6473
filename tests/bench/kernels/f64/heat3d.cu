/* one step of the heat equation: seven points */
extern "C" __global__ void
heat3d(int nx, int ny, int nz, double a, double b, const double *__restrict__ in,
       double *__restrict__ out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z, i = (z * ny + y) * nx + x;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1)
        return;
    out[i] = a * in[i] + b * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] +
                              in[i - nx * ny] + in[i + nx * ny]);
}
