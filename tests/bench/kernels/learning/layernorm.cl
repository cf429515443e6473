// Layer normalisation of rows: a work-group of 256 a row, sums in local memory.
float sum_of_group(float v, __local float *part)
{
    uint t = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    part[t] = v;
    for (uint d = 128; d; d >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (t < d)
            part[t] += part[t + d];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return part[0];
}
__kernel void layernorm(uint columns, __global const float *x, __global const float *gamma, __global const float *beta, __global float *y)
{
    __local float part[256];
    __global const float *row = x + (size_t)get_group_id(0) * columns;
    __global float *out = y + (size_t)get_group_id(0) * columns;
    float sum = 0, squares = 0;
    for (uint i = get_local_id(0); i < columns; i += 256)
        sum += row[i];
    float mean = sum_of_group(sum, part) / columns;
    for (uint i = get_local_id(0); i < columns; i += 256) {
        float d = row[i] - mean;
        squares += d * d;
    }
    float scale = 1.0f / sqrt(sum_of_group(squares, part) / columns + 1e-5f);
    for (uint i = get_local_id(0); i < columns; i += 256)
        out[i] = (row[i] - mean) * scale * gamma[i] + beta[i];
}
