// Attention of one head of 64: a thread a query, keys and values in tiles of 32, softmax as it goes.
extern "C" __global__ void attention(unsigned n, float scale, const float *q, const float *k, const float *v, float *out)
{
    __shared__ float ks[32][64], vs[32][64];
    unsigned i = blockIdx.x * 64 + threadIdx.x;
    float query[64], sum[64], most = -INFINITY, total = 0;
#pragma unroll
    for (int d = 0; d < 64; d++) {
        query[d] = q[(size_t)i * 64 + d] * scale;
        sum[d] = 0;
    }
    for (unsigned j = 0; j < n; j += 32) {
        __syncthreads();
        for (unsigned r = 0; r < 32; r++) {
            ks[r][threadIdx.x] = k[(size_t)(j + r) * 64 + threadIdx.x];
            vs[r][threadIdx.x] = v[(size_t)(j + r) * 64 + threadIdx.x];
        }
        __syncthreads();
        for (unsigned r = 0; r < 32; r++) {
            float s = 0;
#pragma unroll
            for (int d = 0; d < 64; d++)
                s += query[d] * ks[r][d];
            float top = fmaxf(most, s), keep = __expf(most - top), p = __expf(s - top);
            total = total * keep + p;
            most = top;
#pragma unroll
            for (int d = 0; d < 64; d++)
                sum[d] = sum[d] * keep + p * vs[r][d];
        }
    }
#pragma unroll
    for (int d = 0; d < 64; d++)
        out[(size_t)i * 64 + d] = sum[d] / total;
}
