/* a step: what each page gives to those it links to, then what each gets */
__kernel void
pagerank_give(uint n, __global const float *restrict rank, __global const float *restrict share,
              __global float *restrict gives)
{
    uint i = get_group_id(0) * get_local_size(0) + get_local_id(0);
    if (i < n)
        gives[i] = rank[i] * share[i];
}
__kernel void
pagerank_get(uint n, float base, float damping, __global const uint *restrict row,
             __global const uint *restrict from, __global const float *restrict gives,
             __global float *restrict rank)
{
    uint i = get_group_id(0) * get_local_size(0) + get_local_id(0);
    if (i >= n)
        return;
    float sum = 0;
    for (uint e = row[i]; e < row[i + 1]; e++)
        sum += gives[from[e]];
    rank[i] = base + damping * sum;
}
