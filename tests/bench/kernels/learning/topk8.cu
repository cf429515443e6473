// The eight largest of 256 values a thread, kept in registers in order; value k of thread i is at [k][i].
extern "C" __global__ void topk8(unsigned n, const float *in, float *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float best[8];
#pragma unroll
    for (int k = 0; k < 8; k++)
        best[k] = -1e30f;
    for (unsigned w = 0; w < 256; w++) {
        float v = in[(size_t)w * n + i];
        if (v > best[7]) {
#pragma unroll
            for (int k = 0; k < 8; k++) {
                float more = fmaxf(best[k], v);
                v = fminf(best[k], v);
                best[k] = more;
            }
        }
    }
#pragma unroll
    for (int k = 0; k < 8; k++)
        out[(size_t)k * n + i] = best[k];
}
