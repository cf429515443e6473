// Rows of a table by index, scaled, plus a row of position: a CTA of 64 a token, four values a thread.
__kernel void embed(uint positions, float scale, __global const uint *token, __global const float4 *table, __global const float4 *position, __global float4 *out)
{
    uint t = get_group_id(0), d = get_local_id(0);
    float4 a = table[(size_t)token[t] * 64 + d], b = position[t % positions * 64 + d];
    out[(size_t)t * 64 + d] = (float4)(a.x * scale + b.x, a.y * scale + b.y, a.z * scale + b.z, a.w * scale + b.w);
}
