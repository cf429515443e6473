// The eight largest of 256 values a thread, kept in registers in order; value k of thread i is at [k][i].
__kernel void topk8(uint n, __global const float *in, __global float *out)
{
    uint i = get_global_id(0);
    if (i >= n)
        return;
    float best[8];
#pragma unroll
    for (int k = 0; k < 8; k++)
        best[k] = -1e30f;
    for (uint w = 0; w < 256; w++) {
        float v = in[(size_t)w * n + i];
        if (v > best[7]) {
#pragma unroll
            for (int k = 0; k < 8; k++) {
                float more = fmax(best[k], v);
                v = fmin(best[k], v);
                best[k] = more;
            }
        }
    }
#pragma unroll
    for (int k = 0; k < 8; k++)
        out[(size_t)k * n + i] = best[k];
}
