/* Attention, matrix units, quantised products, rotary embeddings, convolutions of networks. */
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <mma.h>
#include <cuda_pipeline.h>
#include <stdint.h>
using namespace nvcuda;

template <class T, int D, int BK> __global__ void attention(const T *q, const T *k, const T *v, T *o, int n, float scale)
{
    __shared__ T sk[BK][D], sv[BK][D];
    float query[D], acc[D] = {}, m = -1e30f, l = 0;
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    size_t head = (size_t)blockIdx.y * n * D;
#pragma unroll
    for (int d = 0; d < D; d++) query[d] = (float)q[head + (size_t)row * D + d] * scale;
    for (int j0 = 0; j0 < n; j0 += BK) {
        for (int i = threadIdx.x; i < BK * D; i += blockDim.x) { sk[i / D][i % D] = k[head + (size_t)j0 * D + i]; sv[i / D][i % D] = v[head + (size_t)j0 * D + i]; }
        __syncthreads();
        for (int j = 0; j < BK; j++) {
            float s = 0;
#pragma unroll
            for (int d = 0; d < D; d++) s += query[d] * (float)sk[j][d];
            float mm = fmaxf(m, s), c = __expf(m - mm), p = __expf(s - mm);
            l = l * c + p;
            m = mm;
#pragma unroll
            for (int d = 0; d < D; d++) acc[d] = acc[d] * c + p * (float)sv[j][d];
        }
        __syncthreads();
    }
#pragma unroll
    for (int d = 0; d < D; d++) o[head + (size_t)row * D + d] = (T)(acc[d] / l);
}

template <class T, int WM, int WN> __global__ void wmma_gemm(const T *a, const T *b, float *c, int m, int n, int k)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> fa[WM];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::col_major> fb[WN];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[WM][WN];
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, row = warp / (n / 16 / WN) * WM * 16, col = warp % (n / 16 / WN) * WN * 16;
#pragma unroll
    for (int i = 0; i < WM; i++)
#pragma unroll
        for (int j = 0; j < WN; j++) wmma::fill_fragment(acc[i][j], 0);
    for (int kk = 0; kk < k; kk += 16) {
#pragma unroll
        for (int i = 0; i < WM; i++) wmma::load_matrix_sync(fa[i], a + (size_t)(row + i * 16) * k + kk, k);
#pragma unroll
        for (int j = 0; j < WN; j++) wmma::load_matrix_sync(fb[j], b + (size_t)(col + j * 16) * k + kk, k);
#pragma unroll
        for (int i = 0; i < WM; i++)
#pragma unroll
            for (int j = 0; j < WN; j++) wmma::mma_sync(acc[i][j], fa[i], fb[j], acc[i][j]);
    }
#pragma unroll
    for (int i = 0; i < WM; i++)
#pragma unroll
        for (int j = 0; j < WN; j++) wmma::store_matrix_sync(c + (size_t)(row + i * 16) * n + col + j * 16, acc[i][j], n, wmma::mem_row_major);
}

template <int BM, int BN, int BK, int STAGES> __global__ void __launch_bounds__(128) mma_pipelined(const half *a, const half *b, half *c, int m, int n, int k)
{
    extern __shared__ __align__(16) half s[];
    half *sa = s, *sb = s + STAGES * BM * BK;
    float acc[BM / 32][BN / 16][4] = {};
    int t = threadIdx.x, lane = t % 32, warp = t / 32, wm = warp % 2, wn = warp / 2;
    a += (size_t)blockIdx.y * BM * k;
    b += (size_t)blockIdx.x * BN * k;
    auto fetch = [&](int stage, int k0) {
        for (int i = t; i < BM * BK / 8; i += 128) __pipeline_memcpy_async(&sa[stage * BM * BK + i * 8], &a[(size_t)(i / (BK / 8)) * k + k0 + i % (BK / 8) * 8], 16);
        for (int i = t; i < BN * BK / 8; i += 128) __pipeline_memcpy_async(&sb[stage * BN * BK + i * 8], &b[(size_t)(i / (BK / 8)) * k + k0 + i % (BK / 8) * 8], 16);
        __pipeline_commit();
    };
    for (int p = 0; p < STAGES - 1; p++) fetch(p, p * BK);
    for (int k0 = 0, stage = 0; k0 < k; k0 += BK, stage = (stage + 1) % STAGES) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();
        fetch((stage + STAGES - 1) % STAGES, k0 + (STAGES - 1) * BK);
#pragma unroll
        for (int kk = 0; kk < BK; kk += 16) {
            uint32_t fa[BM / 32][4], fb[BN / 16][2];
#pragma unroll
            for (int i = 0; i < BM / 32; i++) {
                uint32_t at = (uint32_t)__cvta_generic_to_shared(&sa[stage * BM * BK + (wm * BM / 2 + i * 16 + lane % 16) * BK + kk + lane / 16 * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(fa[i][0]), "=r"(fa[i][1]), "=r"(fa[i][2]), "=r"(fa[i][3]) : "r"(at));
            }
#pragma unroll
            for (int j = 0; j < BN / 16; j++) {
                uint32_t at = (uint32_t)__cvta_generic_to_shared(&sb[stage * BN * BK + (wn * BN / 2 + j * 8 + lane % 8) * BK + kk + lane / 8 % 2 * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(fb[j][0]), "=r"(fb[j][1]) : "r"(at));
            }
#pragma unroll
            for (int i = 0; i < BM / 32; i++)
#pragma unroll
                for (int j = 0; j < BN / 16; j++)
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                        : "+f"(acc[i][j][0]), "+f"(acc[i][j][1]), "+f"(acc[i][j][2]), "+f"(acc[i][j][3])
                        : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]), "r"(fb[j][0]), "r"(fb[j][1]));
        }
    }
#pragma unroll
    for (int i = 0; i < BM / 32; i++)
#pragma unroll
        for (int j = 0; j < BN / 16; j++)
#pragma unroll
            for (int h = 0; h < 2; h++)
                *(half2 *)&c[(size_t)(blockIdx.y * BM + wm * BM / 2 + i * 16 + lane / 4 + h * 8) * n + blockIdx.x * BN + wn * BN / 2 + j * 8 + lane % 4 * 2] = __floats2half2_rn(acc[i][j][2 * h], acc[i][j][2 * h + 1]);
}

/* Matrix of 4-bit weights with a scale for 32 times a vector. */
template <class T, int ROWS, int PER> __global__ void q4_gemv(const uint4 *w, const T *scales, const T *x, T *y, int k)
{
    float acc[ROWS] = {};
    int row = (blockIdx.x * blockDim.y + threadIdx.y) * ROWS;
    for (int b = threadIdx.x; b < k / 32; b += 32) {
        float v[32];
#pragma unroll
        for (int i = 0; i < 32; i++) v[i] = (float)x[b * 32 + i];
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            uint4 q = w[(size_t)(row + r) * (k / 32) + b];
            uint32_t u[4] = {q.x, q.y, q.z, q.w};
            float s = 0;
#pragma unroll
            for (int i = 0; i < 32; i++) s += (float)((int)(u[i / 8] >> i % 8 * 4 & 15) - 8) * v[i];
            acc[r] += s * (float)scales[(size_t)(row + r) * (k / 32) + b];
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        for (int o = 16; o; o /= 2) acc[r] += __shfl_xor_sync(~0u, acc[r], o);
        if (threadIdx.x == 0) y[row + r] = (T)acc[r];
    }
}

template <int PER> __global__ void dp4a_gemv(const int4 *w, const int4 *x, float *y, int k, float s)
{
    int acc[PER] = {};
    for (int i = threadIdx.x; i < k / 16; i += blockDim.x) {
        int4 v = x[i];
#pragma unroll
        for (int r = 0; r < PER; r++) {
            int4 u = w[(size_t)(blockIdx.x * PER + r) * (k / 16) + i];
            acc[r] = __dp4a(u.x, v.x, __dp4a(u.y, v.y, __dp4a(u.z, v.z, __dp4a(u.w, v.w, acc[r]))));
        }
    }
#pragma unroll
    for (int r = 0; r < PER; r++) atomicAdd(&y[blockIdx.x * PER + r], acc[r] * s);
}

template <class T> __global__ void rotary(T *x, const float *cosines, const float *sines, int heads, int dim)
{
    int pos = blockIdx.x, h = blockIdx.y;
    for (int d = threadIdx.x; d < dim / 2; d += blockDim.x) {
        T *at = x + ((size_t)pos * heads + h) * dim + d;
        float a = (float)at[0], b = (float)at[dim / 2], c = cosines[pos * dim / 2 + d], s = sines[pos * dim / 2 + d];
        at[0] = (T)(a * c - b * s);
        at[dim / 2] = (T)(a * s + b * c);
    }
}

template <class T, int K, int CO> __global__ void conv2d(const T *__restrict__ in, const T *__restrict__ w, T *__restrict__ out, int c, int h, int width, int stride, int pad)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, o = blockIdx.z * CO;
    float acc[CO] = {};
    for (int ci = 0; ci < c; ci++)
#pragma unroll
        for (int j = 0; j < K; j++)
#pragma unroll
            for (int i = 0; i < K; i++) {
                int yy = y * stride + j - pad, xx = x * stride + i - pad;
                float v = yy >= 0 && yy < h && xx >= 0 && xx < width ? (float)in[(ci * h + yy) * width + xx] : 0;
#pragma unroll
                for (int k = 0; k < CO; k++) acc[k] += v * (float)w[(((o + k) * c + ci) * K + j) * K + i];
            }
#pragma unroll
    for (int k = 0; k < CO; k++) out[((o + k) * gridDim.y + y) * (gridDim.x * blockDim.x) + x] = (T)fmaxf(acc[k], 0);
}

template <class T, int N> __global__ void adam(T *p, const T *g, float *m, float *v, float lr, float b1, float b2, float eps, float decay, float c1, float c2, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * N;
    if (i + N > n) return;
#pragma unroll
    for (int k = 0; k < N; k++) {
        float gr = (float)g[i + k], mm = m[i + k] = b1 * m[i + k] + (1 - b1) * gr, vv = v[i + k] = b2 * v[i + k] + (1 - b2) * gr * gr, w = (float)p[i + k];
        p[i + k] = (T)(w - lr * (mm / c1 / (sqrtf(vv / c2) + eps) + decay * w));
    }
}

#define AT(T, D, B) template __global__ void attention<T, D, B>(const T *, const T *, const T *, T *, int, float);
AT(float, 8, 32) AT(float, 16, 32) AT(float, 32, 32) AT(float, 64, 16) AT(half, 8, 32) AT(half, 16, 32) AT(half, 32, 32) AT(half, 64, 32) AT(__nv_bfloat16, 16, 32) AT(__nv_bfloat16, 32, 64)
#define WG(T, M, N) template __global__ void wmma_gemm<T, M, N>(const T *, const T *, float *, int, int, int);
WG(half, 1, 1) WG(half, 2, 2) WG(half, 1, 4) WG(half, 4, 2) WG(half, 4, 4) WG(__nv_bfloat16, 1, 1) WG(__nv_bfloat16, 2, 2) WG(__nv_bfloat16, 2, 4)
#define MP(M, N, K, S) template __global__ void mma_pipelined<M, N, K, S>(const half *, const half *, half *, int, int, int);
MP(32, 32, 32, 2) MP(64, 32, 32, 2) MP(64, 64, 32, 2) MP(64, 64, 32, 3) MP(64, 64, 64, 3) MP(128, 64, 32, 3) MP(128, 64, 16, 4) MP(128, 128, 32, 3) MP(128, 128, 32, 2) MP(64, 128, 64, 2) MP(32, 64, 16, 4) MP(32, 128, 32, 3)
#define Q4(T, R, P) template __global__ void q4_gemv<T, R, P>(const uint4 *, const T *, const T *, T *, int);
Q4(float, 1, 1) Q4(float, 2, 1) Q4(float, 4, 1) Q4(half, 1, 1) Q4(half, 2, 1) Q4(half, 4, 1) Q4(half, 8, 1)
#define DP(N) template __global__ void dp4a_gemv<N>(const int4 *, const int4 *, float *, int, float);
DP(1) DP(2) DP(4) DP(8) DP(16)
template __global__ void rotary<float>(float *, const float *, const float *, int, int);
template __global__ void rotary<half>(half *, const float *, const float *, int, int);
#define CV(T, K, C) template __global__ void conv2d<T, K, C>(const T *, const T *, T *, int, int, int, int, int);
CV(float, 1, 1) CV(float, 1, 8) CV(float, 3, 1) CV(float, 3, 2) CV(float, 3, 4) CV(float, 3, 8) CV(float, 5, 1) CV(float, 5, 4) CV(float, 7, 1) CV(half, 3, 1) CV(half, 3, 4) CV(half, 3, 8) CV(half, 5, 2)
#define AD(T, N) template __global__ void adam<T, N>(T *, const T *, float *, float *, float, float, float, float, float, float, float, int);
AD(float, 1) AD(float, 2) AD(float, 4) AD(float, 8) AD(half, 1) AD(half, 4) AD(half, 8)
