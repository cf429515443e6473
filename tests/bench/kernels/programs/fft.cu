/* 1,024 points a CTA: five passes of radix 4 through shared memory, twiddles by sincosf */
struct complex { float x, y; };
__device__ static inline complex times(complex a, float c, float s)
{
    return { a.x * c - a.y * s, a.x * s + a.y * c };
}
extern "C" __global__ void __launch_bounds__(256)
fft(const float2 *__restrict__ in, float2 *__restrict__ out)
{
    __shared__ float re[1024], im[1024];
    unsigned t = threadIdx.x, base = blockIdx.x * 1024;
    complex v[4];
#pragma unroll
    for (int r = 0; r < 4; r++) {
        float2 z = in[base + t + 256 * r];
        v[r] = { z.x, z.y };
    }
#pragma unroll
    for (unsigned n = 1; n < 1024; n *= 4) {
        unsigned k = t & (n - 1);
        if (n > 1) {
            float s1, c1;
            sincosf(-6.283185307f / (4 * n) * k, &s1, &c1);
            float c2 = c1 * c1 - s1 * s1, s2 = 2 * c1 * s1;
            v[1] = times(v[1], c1, s1);
            v[2] = times(v[2], c2, s2);
            v[3] = times(v[3], c1 * c2 - s1 * s2, c1 * s2 + s1 * c2);
        }
        complex a = { v[0].x + v[2].x, v[0].y + v[2].y }, b = { v[0].x - v[2].x, v[0].y - v[2].y };
        complex c = { v[1].x + v[3].x, v[1].y + v[3].y }, d = { v[1].y - v[3].y, v[3].x - v[1].x };
        v[0] = { a.x + c.x, a.y + c.y };
        v[1] = { b.x + d.x, b.y + d.y };
        v[2] = { a.x - c.x, a.y - c.y };
        v[3] = { b.x - d.x, b.y - d.y };
        if (n == 256)
            break;
        unsigned to = (t - k) * 4 + k;
        __syncthreads();
#pragma unroll
        for (int r = 0; r < 4; r++) {
            re[to + r * n] = v[r].x;
            im[to + r * n] = v[r].y;
        }
        __syncthreads();
#pragma unroll
        for (int r = 0; r < 4; r++)
            v[r] = { re[t + 256 * r], im[t + 256 * r] };
    }
#pragma unroll
    for (int r = 0; r < 4; r++)
        out[base + t + 256 * r] = make_float2(v[r].x, v[r].y);
}
