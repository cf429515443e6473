// Depthwise convolution, 3 x 3, of planes with a border of zeros, and ReLU6.
__kernel void dwconv(uint side, __global const float *in, __global const float *w, __global const float *bias, __global float *out)
{
    uint x = get_group_id(0) * 32 + get_local_id(0), y = get_group_id(1) * 8 + get_local_id(1), c = get_group_id(2);
    if (x >= side || y >= side)
        return;
    __global const float *p = in + (size_t)c * side * side, *k = w + c * 9;
    float sum = bias[c];
#pragma unroll
    for (int dy = -1; dy <= 1; dy++)
#pragma unroll
        for (int dx = -1; dx <= 1; dx++) {
            int u = (int)x + dx, v = (int)y + dy;
            if (u >= 0 && u < (int)side && v >= 0 && v < (int)side)
                sum += k[(dy + 1) * 3 + dx + 1] * p[v * side + u];
        }
    out[(size_t)c * side * side + y * side + x] = fmin(fmax(sum, 0.0f), 6.0f);
}
