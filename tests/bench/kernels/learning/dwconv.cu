// Depthwise convolution, 3 x 3, of planes with a border of zeros, and ReLU6.
extern "C" __global__ void dwconv(unsigned side, const float *in, const float *w, const float *bias, float *out)
{
    unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, c = blockIdx.z;
    if (x >= side || y >= side)
        return;
    const float *p = in + (size_t)c * side * side, *k = w + c * 9;
    float sum = bias[c];
#pragma unroll
    for (int dy = -1; dy <= 1; dy++)
#pragma unroll
        for (int dx = -1; dx <= 1; dx++) {
            int u = (int)x + dx, v = (int)y + dy;
            if (u >= 0 && u < (int)side && v >= 0 && v < (int)side)
                sum += k[(dy + 1) * 3 + dx + 1] * p[v * side + u];
        }
    out[(size_t)c * side * side + y * side + x] = fminf(fmaxf(sum, 0.0f), 6.0f);
}
