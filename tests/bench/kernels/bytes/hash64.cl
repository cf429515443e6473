__kernel void hash64(uint n, ulong seed, __global ulong *restrict out, __global uint *restrict slot, uint slots)
{
    uint i = get_global_id(0);
    if (i >= n) return;
    ulong z = seed + i * 0x9e3779b97f4a7c15ul;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ul;
    z = (z ^ z >> 27) * 0x94d049bb133111ebul;
    z ^= z >> 31;
    ulong hi = mul_hi(z, 0xd6e8feb86659fd93ul);
    out[i] = z ^ hi;
    slot[i] = (uint)(hi >> 32) % slots + (uint)(z >> 40) / 1000u;
}
