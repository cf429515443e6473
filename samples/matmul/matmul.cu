// C = A B for square row-major matrices: the plain kernel and the one with shared-memory tiles.
// RUN: ptera run samples/matmul/matmul.ptx -k matmul_plain -g 4,4 -b 16,16 u32:64 fill:f32:4096:2 fill:f32:4096:0.5 zero:16384@f32:4
// EXPECT: 64 64 64 64
// RUN: ptera run samples/matmul/matmul.ptx -k matmul_tiled -g 4,4 -b 16,16 u32:64 fill:f32:4096:2 fill:f32:4096:0.5 zero:16384@f32:4
// EXPECT: 64 64 64 64
#define TILE 16

extern "C" __global__ void matmul_plain(unsigned n, const float *a, const float *b, float *c)
{
    unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || col >= n)
        return;
    float sum = 0;
    for (unsigned k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}

extern "C" __global__ void matmul_tiled(unsigned n, const float *a, const float *b, float *c)
{
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    unsigned tx = threadIdx.x, ty = threadIdx.y;
    unsigned row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0;
    for (unsigned k0 = 0; k0 < n; k0 += TILE) {
        as[ty][tx] = row < n && k0 + tx < n ? a[row * n + k0 + tx] : 0;
        bs[ty][tx] = k0 + ty < n && col < n ? b[(k0 + ty) * n + col] : 0;
        __syncthreads();
        for (unsigned k = 0; k < TILE; k++)
            sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    if (row < n && col < n)
        c[row * n + col] = sum;
}
