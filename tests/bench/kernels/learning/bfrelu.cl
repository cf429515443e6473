// Scale, shift and ReLU of bfloat16 in pairs.
uint narrow(float f)
{
    uint u = as_uint(f);
    return (u + 0x7fff + (u >> 16 & 1)) >> 16;
}
__kernel void bfrelu(uint n, float scale, float shift, __global const uint *x, __global uint *y)
{
    uint i = get_global_id(0);
    if (i < n) {
        float low = as_float(x[i] << 16) * scale + shift, high = as_float(x[i] & 0xffff0000) * scale + shift;
        y[i] = narrow(fmax(low, 0.0f)) | narrow(fmax(high, 0.0f)) << 16;
    }
}
