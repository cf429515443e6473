// Softmax of rows of 512: 32 work-items a row, 16 values each, reductions in local memory.
__kernel void softmax(uint rows, __global const float *x, __global float *y)
{
    __local float part[8][32];
    uint r = get_local_id(0) / 32, row = get_group_id(0) * 8 + r, lane = get_local_id(0) % 32;
    __global const float *in = x + (size_t)row * 512;
    float v[16], most = -INFINITY, sum = 0;
    for (int i = 0; i < 16; i++) {
        v[i] = in[i * 32 + lane];
        most = fmax(most, v[i]);
    }
    part[r][lane] = most;
    for (uint d = 16; d; d >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < d)
            part[r][lane] = fmax(part[r][lane], part[r][lane + d]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    most = part[r][0];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 16; i++) {
        v[i] = exp(v[i] - most);
        sum += v[i];
    }
    part[r][lane] = sum;
    for (uint d = 16; d; d >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < d)
            part[r][lane] += part[r][lane + d];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float scale = 1.0f / part[r][0];
    for (int i = 0; i < 16; i++)
        y[(size_t)row * 512 + i * 32 + lane] = v[i] * scale;
}
