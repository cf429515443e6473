// The sum of two matrices, one thread an element, in two-dimensional blocks: how the block's shape decides
// what a load moves. table.sh runs it in eight shapes and prints what `ptera profile` counts and estimates.
// RUN: ptera run samples/sum_matrix/sum_matrix.ptx -g 2,4 -b 32,16 iota:f32:4096 fill:f32:4096:1 zero:16384@f32:4 u32:64 u32:64
// EXPECT: 1 2 3 4
extern "C" __global__ void sum_matrix(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c,
                                      int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        c[y * width + x] = a[y * width + x] + b[y * width + x];
}
