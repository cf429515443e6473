// Fused multiply-add of halves in pairs: y = a * x + y; arithmetic is in single precision.
__kernel void halffma(uint n, float a, __global const half *x, __global half *y)
{
    uint i = get_global_id(0);
    if (i < n)
        vstore_half2_rte(a * vload_half2(i, x) + vload_half2(i, y), i, y);
}
