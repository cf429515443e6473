/* right-looking LU without pivots, a step: the column below the diagonal, then the rest */
__kernel void lu_column(uint n, uint k, __global double *a)
{
    uint i = k + 1 + get_group_id(0) * get_local_size(0) + get_local_id(0);
    if (i < n)
        a[i * n + k] /= a[k * n + k];
}
__kernel void lu_update(uint n, uint k, __global double *a)
{
    uint j = k + 1 + get_group_id(0) * 16 + get_local_id(0), i = k + 1 + get_group_id(1) * 16 + get_local_id(1);
    if (i < n && j < n)
        a[i * n + j] -= a[i * n + k] * a[k * n + j];
}
