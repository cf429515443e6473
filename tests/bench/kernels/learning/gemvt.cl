// y = A^T x for rows of `columns`: a thread a column.
__kernel void gemvt(uint rows, uint columns, __global const float *a, __global const float *x, __global float *y)
{
    uint j = get_group_id(0) * 128 + get_local_id(0);
    float sum = 0;
    for (uint i = 0; i < rows; i++)
        sum += a[(size_t)i * columns + j] * x[i];
    y[j] = sum;
}
