// Rows of a table by index, scaled, plus a row of position: a CTA of 64 a token, four values a thread.
extern "C" __global__ void embed(unsigned positions, float scale, const unsigned *token, const float4 *table, const float4 *position, float4 *out)
{
    unsigned t = blockIdx.x, d = threadIdx.x;
    float4 a = table[(size_t)token[t] * 64 + d], b = position[t % positions * 64 + d];
    out[(size_t)t * 64 + d] = make_float4(a.x * scale + b.x, a.y * scale + b.y, a.z * scale + b.z, a.w * scale + b.w);
}
