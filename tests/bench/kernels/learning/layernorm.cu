// Layer normalisation of rows: a CTA of 256 a row, sums by shuffles and shared memory.
__device__ float sum_of_cta(float v, float *part)
{
    for (int d = 16; d; d >>= 1)
        v += __shfl_xor_sync(~0u, v, d);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = v;
    __syncthreads();
    v = part[threadIdx.x % 8];
    for (int d = 4; d; d >>= 1)
        v += __shfl_xor_sync(~0u, v, d);
    return v;
}
extern "C" __global__ void layernorm(unsigned columns, const float *x, const float *gamma, const float *beta, float *y)
{
    __shared__ float part[2][8];
    const float *row = x + (size_t)blockIdx.x * columns;
    float *out = y + (size_t)blockIdx.x * columns;
    float sum = 0, squares = 0;
    for (unsigned i = threadIdx.x; i < columns; i += 256)
        sum += row[i];
    float mean = sum_of_cta(sum, part[0]) / columns;
    for (unsigned i = threadIdx.x; i < columns; i += 256) {
        float d = row[i] - mean;
        squares += d * d;
    }
    float scale = 1.0f / sqrtf(sum_of_cta(squares, part[1]) / columns + 1e-5f);
    for (unsigned i = threadIdx.x; i < columns; i += 256)
        out[i] = (row[i] - mean) * scale * gamma[i] + beta[i];
}
