// Direct convolution, 3 x 3, `channels` planes in, 4 out a thread; the border is padded in the input.
extern "C" __global__ void conv3x3(unsigned side, unsigned channels, const float *in, const float *w, float *out)
{
    unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, o = blockIdx.z * 4;
    unsigned pitch = side + 2;
    float sum[4] = {0, 0, 0, 0};
    for (unsigned c = 0; c < channels; c++) {
        const float *p = in + (size_t)c * pitch * pitch + y * pitch + x;
        float v[9];
#pragma unroll
        for (int k = 0; k < 9; k++)
            v[k] = p[k / 3 * pitch + k % 3];
#pragma unroll
        for (int q = 0; q < 4; q++)
#pragma unroll
            for (int k = 0; k < 9; k++)
                sum[q] += w[((o + q) * channels + c) * 9 + k] * v[k];
    }
#pragma unroll
    for (int q = 0; q < 4; q++)
        out[((size_t)(o + q) * side + y) * side + x] = sum[q];
}
