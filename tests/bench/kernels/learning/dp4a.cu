// C = A B of bytes with sign: rows of A and columns of B are contiguous, 16 x 16 tiles of 64 bytes in shared memory.
extern "C" __global__ void dp4a(unsigned n, const int *a, const int *b, int *c)
{
    __shared__ int s[16][17], t[16][17];
    unsigned x = threadIdx.x, y = threadIdx.y, words = n / 4;
    unsigned row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    int sum = 0;
    for (unsigned k = 0; k < words; k += 16) {
        s[y][x] = a[row * words + k + x];
        t[x][y] = b[(blockIdx.x * 16 + y) * words + k + x];
        __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < 16; i++)
            sum = __dp4a(s[y][i], t[i][x], sum);
        __syncthreads();
    }
    c[row * n + column] = sum;
}
