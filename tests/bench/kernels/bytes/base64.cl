static uchar letter(uint v)
{
    return (uchar)(v < 26 ? 'A' + v : v < 52 ? 'a' + v - 26 : v < 62 ? '0' + v - 52 : v == 62 ? '+' : '/');
}
__kernel void base64(uint n, __global const uchar *restrict in, __global uchar4 *restrict out)
{
    uint i = get_global_id(0);
    if (i >= n) return;
    uint v = in[3 * i] << 16 | in[3 * i + 1] << 8 | in[3 * i + 2];
    out[i] = (uchar4)(letter(v >> 18), letter(v >> 12 & 63), letter(v >> 6 & 63), letter(v & 63));
}
