/* nine points, by a shared tile with halo */
extern "C" __global__ void __launch_bounds__(256)
stencil9(int n, double centre, double side, double corner, const double *__restrict__ in,
         double *__restrict__ out)
{
    __shared__ double s[10][34];
    int x0 = blockIdx.x * 32 - 1, y0 = blockIdx.y * 8 - 1;
    for (int i = threadIdx.y * 32 + threadIdx.x; i < 340; i += 256) {
        int x = x0 + i % 34, y = y0 + i / 34;
        s[i / 34][i % 34] = x >= 0 && y >= 0 && x < n && y < n ? in[y * n + x] : 0.0;
    }
    __syncthreads();
    int x = threadIdx.x + 1, y = threadIdx.y + 1, gx = x0 + x, gy = y0 + y;
    if (gx < n && gy < n)
        out[gy * n + gx] =
            centre * s[y][x] + side * (s[y][x - 1] + s[y][x + 1] + s[y - 1][x] + s[y + 1][x]) +
            corner * (s[y - 1][x - 1] + s[y - 1][x + 1] + s[y + 1][x - 1] + s[y + 1][x + 1]);
}
