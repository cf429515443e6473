/* 64x64 tile, 16x16 threads, 4x4 results each, 16-deep slices */
extern "C" __global__ void __launch_bounds__(256)
dgemm(unsigned n, const double *__restrict__ A, const double *__restrict__ B, double *__restrict__ C)
{
    __shared__ double As[16][64], Bs[16][64];
    unsigned tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
    unsigned row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
    double acc[4][4] = { { 0.0 } };
    for (unsigned k0 = 0; k0 < n; k0 += 16) {
#pragma unroll
        for (unsigned i = 0; i < 4; i++) {
            unsigned e = t + i * 256;
            As[e % 16][e / 16] = A[(row0 + e / 16) * n + k0 + e % 16];
            Bs[e / 64][e % 64] = B[(k0 + e / 64) * n + col0 + e % 64];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++) {
            double a[4], b[4];
#pragma unroll
            for (int i = 0; i < 4; i++) { a[i] = As[k][ty * 4 + i]; b[i] = Bs[k][tx + 16 * i]; }
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) acc[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
            C[(row0 + ty * 4 + i) * n + col0 + tx + 16 * j] = acc[i][j];
}
