// Softmax of rows of 512: a warp a row, 16 values a lane, reductions by shuffles.
extern "C" __global__ void softmax(unsigned rows, const float *x, float *y)
{
    unsigned row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    const float *in = x + (size_t)row * 512;
    float v[16], most = -INFINITY, sum = 0;
#pragma unroll
    for (int i = 0; i < 16; i++) {
        v[i] = in[i * 32 + lane];
        most = fmaxf(most, v[i]);
    }
    for (int d = 16; d; d >>= 1)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
#pragma unroll
    for (int i = 0; i < 16; i++) {
        v[i] = expf(v[i] - most);
        sum += v[i];
    }
    for (int d = 16; d; d >>= 1)
        sum += __shfl_xor_sync(~0u, sum, d);
    float scale = 1.0f / sum;
#pragma unroll
    for (int i = 0; i < 16; i++)
        y[(size_t)row * 512 + i * 32 + lane] = v[i] * scale;
}
