/* 1,024 points a group: five passes of radix 4 through local memory, twiddles by sincos */
float2 times(float2 a, float c, float s)
{
    return (float2)(a.x * c - a.y * s, a.x * s + a.y * c);
}
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void fft(__global const float2 *restrict in, __global float2 *restrict out)
{
    __local float re[1024], im[1024];
    uint t = get_local_id(0), base = get_group_id(0) * 1024;
    float2 v[4];
    __attribute__((opencl_unroll_hint))
    for (int r = 0; r < 4; r++)
        v[r] = in[base + t + 256 * r];
    __attribute__((opencl_unroll_hint))
    for (uint n = 1; n < 1024; n *= 4) {
        uint k = t & (n - 1);
        float c1, s1 = sincos(-6.283185307f / (4 * n) * k, &c1);
        float c2 = c1 * c1 - s1 * s1, s2 = 2 * c1 * s1;
        v[1] = times(v[1], c1, s1);
        v[2] = times(v[2], c2, s2);
        v[3] = times(v[3], c1 * c2 - s1 * s2, c1 * s2 + s1 * c2);
        float2 a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3];
        float2 d = (float2)(v[1].y - v[3].y, v[3].x - v[1].x);
        v[0] = a + c;
        v[1] = b + d;
        v[2] = a - c;
        v[3] = b - d;
        uint to = (t - k) * 4 + k;
        barrier(CLK_LOCAL_MEM_FENCE);
        __attribute__((opencl_unroll_hint))
        for (int r = 0; r < 4; r++) {
            re[to + r * n] = v[r].x;
            im[to + r * n] = v[r].y;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        __attribute__((opencl_unroll_hint))
        for (int r = 0; r < 4; r++)
            v[r] = (float2)(re[t + 256 * r], im[t + 256 * r]);
    }
    __attribute__((opencl_unroll_hint))
    for (int r = 0; r < 4; r++)
        out[base + t + 256 * r] = v[r];
}
