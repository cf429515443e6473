static uchar over_by(uint s, uint d, uint a)
{
    uint t = s * a + d * (255 - a) + 128;
    return (uchar)((t + (t >> 8)) >> 8);
}
__kernel void alpha(uint n, __global const uchar4 *restrict over, __global uchar4 *restrict image)
{
    uint i = get_global_id(0);
    if (i >= n) return;
    uchar4 s = over[i], d = image[i];
    image[i] = (uchar4)(over_by(s.x, d.x, s.w), over_by(s.y, d.y, s.w), over_by(s.z, d.z, s.w), over_by(255, d.w, s.w));
}
