// A bias in half precision and GELU (by the sigmoid) in single: two halves a thread.
__kernel void halfgelu(uint n, uint columns, __global const half *x, __global const half *bias, __global half *y)
{
    uint i = get_global_id(0);
    if (i < n) {
        float2 v = vload_half2(i, x) + vload_half2(i % columns, bias);
        vstore_half2_rte(v / (1.0f + exp(-1.702f * v)), i, y);
    }
}
