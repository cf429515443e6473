// Direct convolution, 3 x 3, `channels` planes in, 4 out a thread; the border is padded in the input.
__kernel void conv3x3(uint side, uint channels, __global const float *in, __global const float *w, __global float *out)
{
    uint x = get_group_id(0) * 32 + get_local_id(0), y = get_group_id(1) * 8 + get_local_id(1), o = get_group_id(2) * 4;
    uint pitch = side + 2;
    float sum[4] = {0, 0, 0, 0};
    for (uint c = 0; c < channels; c++) {
        __global const float *p = in + (size_t)c * pitch * pitch + y * pitch + x;
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
