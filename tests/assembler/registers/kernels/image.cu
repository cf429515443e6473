/* Images, volumes, video, geometry. */
#include <cuda_fp16.h>
#include <stdint.h>
template <class T> __device__ T mix(T a, T b, T t) { return a + (b - a) * t; }

template <int C, class T> __global__ void resize_bilinear(const T *in, T *out, int w, int h, int ow, int oh)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= ow || y >= oh) return;
    float fx = (x + 0.5f) * w / ow - 0.5f, fy = (y + 0.5f) * h / oh - 0.5f;
    int x0 = max((int)floorf(fx), 0), y0 = max((int)floorf(fy), 0), x1 = min(x0 + 1, w - 1), y1 = min(y0 + 1, h - 1);
    fx -= x0; fy -= y0;
#pragma unroll
    for (int c = 0; c < C; c++) {
        float a = in[(y0 * w + x0) * C + c], b = in[(y0 * w + x1) * C + c], d = in[(y1 * w + x0) * C + c], e = in[(y1 * w + x1) * C + c];
        out[(y * ow + x) * C + c] = (T)mix(mix(a, b, fx), mix(d, e, fx), fy);
    }
}

template <class T> __device__ float cubic(T x) { x = fabsf(x); return x < 1 ? (1.5f * x - 2.5f) * x * x + 1 : x < 2 ? ((-0.5f * x + 2.5f) * x - 4) * x + 2 : 0; }
template <int C, int R> __global__ void resample(const float *__restrict__ in, float *__restrict__ out, int w, int h, float scale, int ow)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    float sx = x * scale, sy = y * scale, acc[C] = {}, sum = 0;
#pragma unroll
    for (int j = 1 - R; j <= R; j++)
#pragma unroll
        for (int i = 1 - R; i <= R; i++) {
            float f = cubic(sx - floorf(sx) - i) * cubic(sy - floorf(sy) - j);
            int at = (min(max((int)sy + j, 0), h - 1) * w + min(max((int)sx + i, 0), w - 1)) * C;
            sum += f;
#pragma unroll
            for (int c = 0; c < C; c++) acc[c] += f * in[at + c];
        }
#pragma unroll
    for (int c = 0; c < C; c++) out[(y * ow + x) * C + c] = acc[c] / sum;
}

template <int N> __global__ void median(const uint8_t *in, uint8_t *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < N / 2 || y < N / 2 || x >= w - N / 2 || y >= h - N / 2) return;
    int v[N * N];
#pragma unroll
    for (int i = 0; i < N * N; i++) v[i] = in[(y + i / N - N / 2) * w + x + i % N - N / 2];
#pragma unroll
    for (int i = 0; i < N * N / 2 + 1; i++)
#pragma unroll
        for (int j = i + 1; j < N * N; j++) { int a = min(v[i], v[j]); v[j] = max(v[i], v[j]); v[i] = a; }
    out[y * w + x] = v[N * N / 2];
}

template <int B> __global__ void match_blocks(const uint8_t *a, const uint8_t *b, short2 *mv, int w, int h, int range)
{
    int bx = (blockIdx.x * blockDim.x + threadIdx.x) * B, by = blockIdx.y * B, best = 1 << 30;
    short2 m = {0, 0};
    uint32_t p[B * B / 4];
#pragma unroll
    for (int i = 0; i < B * B / 4; i++) p[i] = *(const uint32_t *)(a + (by + i / (B / 4)) * w + bx + i % (B / 4) * 4);
    for (int dy = -range; dy <= range; dy++)
        for (int dx = -range; dx <= range; dx += 4) {
            uint32_t s = 0;
#pragma unroll
            for (int i = 0; i < B * B / 4; i++) s += __vabsdiffu4(p[i], *(const uint32_t *)(b + (by + dy + i / (B / 4)) * w + bx + dx + i % (B / 4) * 4)) & 0xff00ff;
            int cost = (s >> 16) + (s & 0xffff);
            if (cost < best) { best = cost; m = make_short2(dx, dy); }
        }
    mv[blockIdx.y * gridDim.x * blockDim.x + blockIdx.x * blockDim.x + threadIdx.x] = m;
}

template <int STEPS> __global__ void march(const float *volume, float4 *image, int n, int w, int h, float3 eye, float density)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float3 d = {(x - w * 0.5f) / w, (y - h * 0.5f) / h, 1};
    float inv = rsqrtf(d.x * d.x + d.y * d.y + d.z * d.z), a = 0;
    float4 c = {0, 0, 0, 0};
    for (float t = 0; t < 4 && a < 0.99f; t += 4.0f / 256)
#pragma unroll
        for (int s = 0; s < STEPS; s++) {
            float px = (eye.x + d.x * inv * (t + s * 0.01f)) * n, py = (eye.y + d.y * inv * (t + s * 0.01f)) * n, pz = (eye.z + d.z * inv * (t + s * 0.01f)) * n;
            int i = (int)px, j = (int)py, k = (int)pz;
            if (i < 0 || j < 0 || k < 0 || i >= n - 1 || j >= n - 1 || k >= n - 1) continue;
            const float *q = volume + (k * n + j) * n + i;
            float fx = px - i, fy = py - j, fz = pz - k;
            float v = mix(mix(mix(q[0], q[1], fx), mix(q[n], q[n + 1], fx), fy), mix(mix(q[n * n], q[n * n + 1], fx), mix(q[n * n + n], q[n * n + n + 1], fx), fy), fz);
            float al = (1 - a) * v * density;
            c.x += al * v; c.y += al * v * v; c.z += al * (1 - v); a += al;
        }
    c.w = a;
    image[y * w + x] = c;
}

template <class T> __global__ void yuv_to_rgb(const uint8_t *yp, const uint8_t *uv, T *out, int w, int h, float scale)
{
    int x = (blockIdx.x * blockDim.x + threadIdx.x) * 2, y = (blockIdx.y * blockDim.y + threadIdx.y) * 2;
    if (x >= w || y >= h) return;
    float u = uv[y / 2 * w + x] - 128.0f, v = uv[y / 2 * w + x + 1] - 128.0f;
#pragma unroll
    for (int j = 0; j < 2; j++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
            float l = 1.164f * (yp[(y + j) * w + x + i] - 16.0f);
            T *o = out + ((y + j) * w + x + i) * 3;
            o[0] = (T)(fminf(fmaxf(l + 1.596f * v, 0), 255) * scale);
            o[1] = (T)(fminf(fmaxf(l - 0.391f * u - 0.813f * v, 0), 255) * scale);
            o[2] = (T)(fminf(fmaxf(l + 2.018f * u, 0), 255) * scale);
        }
}

template <class T, int K> __global__ void nearest(const T *points, const T *query, int *found, T *distance, int n, int m, int dim)
{
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= m) return;
    T best[K];
    int at[K];
#pragma unroll
    for (int k = 0; k < K; k++) { best[k] = T(1e30); at[k] = -1; }
    for (int i = 0; i < n; i++) {
        T d = 0;
        for (int c = 0; c < dim; c++) { T e = points[i * dim + c] - query[q * dim + c]; d += e * e; }
        int j = i;
#pragma unroll
        for (int k = 0; k < K; k++)
            if (d < best[k]) { T s = best[k]; best[k] = d; d = s; int u = at[k]; at[k] = j; j = u; }
    }
#pragma unroll
    for (int k = 0; k < K; k++) { found[q * K + k] = at[k]; distance[q * K + k] = best[k]; }
}

#define RZ(C, T) template __global__ void resize_bilinear<C, T>(const T *, T *, int, int, int, int);
RZ(1, uint8_t) RZ(3, uint8_t) RZ(4, uint8_t) RZ(1, float) RZ(3, float) RZ(4, float) RZ(8, float) RZ(3, half)
#define RS(C, R) template __global__ void resample<C, R>(const float *, float *, int, int, float, int);
RS(1, 1) RS(1, 2) RS(3, 1) RS(3, 2) RS(4, 2) RS(1, 3) RS(4, 3)
template __global__ void median<3>(const uint8_t *, uint8_t *, int, int);
template __global__ void median<5>(const uint8_t *, uint8_t *, int, int);
template __global__ void match_blocks<4>(const uint8_t *, const uint8_t *, short2 *, int, int, int);
template __global__ void match_blocks<8>(const uint8_t *, const uint8_t *, short2 *, int, int, int);
template __global__ void match_blocks<16>(const uint8_t *, const uint8_t *, short2 *, int, int, int);
template __global__ void march<1>(const float *, float4 *, int, int, int, float3, float);
template __global__ void march<2>(const float *, float4 *, int, int, int, float3, float);
template __global__ void march<4>(const float *, float4 *, int, int, int, float3, float);
template __global__ void yuv_to_rgb<uint8_t>(const uint8_t *, const uint8_t *, uint8_t *, int, int, float);
template __global__ void yuv_to_rgb<float>(const uint8_t *, const uint8_t *, float *, int, int, float);
template __global__ void yuv_to_rgb<half>(const uint8_t *, const uint8_t *, half *, int, int, float);
#define NN(T, K) template __global__ void nearest<T, K>(const T *, const T *, int *, T *, int, int, int);
NN(float, 1) NN(float, 4) NN(float, 8) NN(float, 16) NN(double, 1) NN(double, 4) NN(double, 8) NN(int, 4)
