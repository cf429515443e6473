uint inside(uint a, uint b)
{
    float x = (float)(a >> 8) * (1.0f / 16777216), y = (float)(b >> 8) * (1.0f / 16777216);
    return x * x + y * y < 1.0f;
}
uint draw(uint x, uint z, uint k0, uint k1)
{
    uint y = 0, w = 0;
    __attribute__((opencl_unroll_hint))
    for (int round = 0; round < 10; round++) {
        ulong a = 0xD2511F53ul * x, b = 0xCD9E8D57ul * z;
        x = (uint)(b >> 32) ^ y ^ k0;
        y = (uint)b;
        z = (uint)(a >> 32) ^ w ^ k1;
        w = (uint)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return inside(x, y) + inside(z, w);
}
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void philox_pi(uint times, uint k0, uint k1, __global uint *restrict hits)
{
    __local uint sum;
    uint i = get_global_id(0), n = 0;
    if (get_local_id(0) == 0)
        sum = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint t = 0; t < times; t++)
        n += draw(t, i, k0, k1);
    atomic_add(&sum, n);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        hits[get_group_id(0)] = sum;
}
