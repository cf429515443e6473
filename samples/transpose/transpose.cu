// Matrix transpose through a padded shared-memory tile.
// RUN: ptera run samples/transpose/transpose.ptx -g 2,2 -b 32,8 u32:48 iota:u32:2304 zero:9216@u32:4
// EXPECT: 0 48 96 144
#define TILE 32
#define ROWS 8

extern "C" __global__ void transpose(unsigned n, const unsigned *in, unsigned *out)
{
    __shared__ unsigned tile[TILE][TILE + 1];
    unsigned x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (unsigned j = 0; j < TILE; j += ROWS)
        if (x < n && y + j < n)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (unsigned j = 0; j < TILE; j += ROWS)
        if (x < n && y + j < n)
            out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
