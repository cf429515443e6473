static uchar digit(uint v) { return (uchar)(v + (v < 10 ? '0' : 'a' - 10)); }
__kernel void hex(uint n, __global const uchar *restrict in, __global uchar *restrict out)
{
    uint i = get_global_id(0);
    if (i >= n) return;
    uint v = in[i];
    out[2 * i] = digit(v >> 4);
    out[2 * i + 1] = digit(v & 15);
}
