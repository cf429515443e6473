// Attention of one head of 64: a thread a query, keys and values in tiles of 32, softmax as it goes.
__kernel void attention(uint n, float scale, __global const float *q, __global const float *k, __global const float *v, __global float *out)
{
    __local float ks[32][64], vs[32][64];
    uint i = get_group_id(0) * 64 + get_local_id(0);
    float query[64], sum[64], most = -INFINITY, total = 0;
#pragma unroll
    for (int d = 0; d < 64; d++) {
        query[d] = q[(size_t)i * 64 + d] * scale;
        sum[d] = 0;
    }
    for (uint j = 0; j < n; j += 32) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint r = 0; r < 32; r++) {
            ks[r][get_local_id(0)] = k[(size_t)(j + r) * 64 + get_local_id(0)];
            vs[r][get_local_id(0)] = v[(size_t)(j + r) * 64 + get_local_id(0)];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint r = 0; r < 32; r++) {
            float s = 0;
#pragma unroll
            for (int d = 0; d < 64; d++)
                s += query[d] * ks[r][d];
            float top = fmax(most, s), keep = exp(most - top), p = exp(s - top);
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
