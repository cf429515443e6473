/* Matrix products tiled through shared memory, TM x TN results a thread. */
#include <cuda_fp16.h>
#include <stdint.h>

template <class T, class A, int BM, int BN, int BK, int TM, int TN>
__device__ void gemm_tile(const T *__restrict__ a, const T *__restrict__ b, T *__restrict__ c, int m, int n, int k, float alpha, float beta)
{
    __shared__ T sa[BK][BM], sb[BK][BN];
    constexpr int THREADS = BM / TM * (BN / TN);
    int t = threadIdx.x, tx = t % (BN / TN), ty = t / (BN / TN);
    A acc[TM][TN] = {};
    a += (size_t)blockIdx.y * BM * k;
    b += blockIdx.x * BN;
    for (int k0 = 0; k0 < k; k0 += BK) {
        for (int i = t; i < BM * BK; i += THREADS)
            sa[i % BK][i / BK] = a[(size_t)(i / BK) * k + i % BK];
        for (int i = t; i < BN * BK; i += THREADS)
            sb[i / BN][i % BN] = b[(size_t)(i / BN) * n + i % BN];
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < BK; kk++) {
            A ra[TM], rb[TN];
#pragma unroll
            for (int i = 0; i < TM; i++) ra[i] = (A)sa[kk][ty * TM + i];
#pragma unroll
            for (int i = 0; i < TN; i++) rb[i] = (A)sb[kk][tx * TN + i];
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < TN; j++) acc[i][j] += ra[i] * rb[j];
        }
        __syncthreads();
        a += BK;
        b += (size_t)BK * n;
    }
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++) {
            size_t at = (size_t)(blockIdx.y * BM + ty * TM + i) * n + blockIdx.x * BN + tx * TN + j;
            c[at] = (T)((A)alpha * acc[i][j] + (A)beta * (A)c[at]);
        }
}

template <class T, class A, int BM, int BN, int BK, int TM, int TN>
__global__ void gemm(const T *a, const T *b, T *c, int m, int n, int k, float alpha, float beta)
{ gemm_tile<T, A, BM, BN, BK, TM, TN>(a, b, c, m, n, k, alpha, beta); }

template <class T, class A, int BM, int BN, int BK, int TM, int TN, int BLOCKS>
__global__ void __launch_bounds__(BM / TM *(BN / TN), BLOCKS) gemm_bounded(const T *a, const T *b, T *c, int m, int n, int k, float alpha, float beta)
{ gemm_tile<T, A, BM, BN, BK, TM, TN>(a, b, c, m, n, k, alpha, beta); }

/* One result a thread; the whole row of a batch of small matrices. */
template <class T, int N> __global__ void batched(const T *a, const T *b, T *c, int batch)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch) return;
    T x[N][N], y[N];
#pragma unroll
    for (int r = 0; r < N; r++)
#pragma unroll
        for (int s = 0; s < N; s++) x[r][s] = a[(r * N + s) * (size_t)batch + i];
#pragma unroll
    for (int s = 0; s < N; s++) {
#pragma unroll
        for (int r = 0; r < N; r++) y[r] = b[(r * N + s) * (size_t)batch + i];
#pragma unroll
        for (int r = 0; r < N; r++) {
            T sum = 0;
#pragma unroll
            for (int q = 0; q < N; q++) sum += x[r][q] * y[q];
            c[(r * N + s) * (size_t)batch + i] = sum;
        }
    }
}

/* Solves with Gauss elimination in registers. */
template <class T, int N> __global__ void solve(const T *a, T *b, int batch)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch) return;
    T x[N][N], y[N];
#pragma unroll
    for (int r = 0; r < N; r++) {
        y[r] = b[r * batch + i];
#pragma unroll
        for (int s = 0; s < N; s++) x[r][s] = a[(r * N + s) * batch + i];
    }
#pragma unroll
    for (int p = 0; p < N; p++) {
        T inv = T(1) / x[p][p];
#pragma unroll
        for (int r = p + 1; r < N; r++) {
            T f = x[r][p] * inv;
#pragma unroll
            for (int s = p + 1; s < N; s++) x[r][s] -= f * x[p][s];
            y[r] -= f * y[p];
        }
    }
#pragma unroll
    for (int p = N - 1; p >= 0; p--) {
#pragma unroll
        for (int s = p + 1; s < N; s++) y[p] -= x[p][s] * y[s];
        y[p] /= x[p][p];
        b[p * batch + i] = y[p];
    }
}

#define G(T, A, BM, BN, BK, TM, TN) \
    template __global__ void gemm<T, A, BM, BN, BK, TM, TN>(const T *, const T *, T *, int, int, int, float, float);
#define B(T, A, BM, BN, BK, TM, TN, BLOCKS) \
    template __global__ void gemm_bounded<T, A, BM, BN, BK, TM, TN, BLOCKS>(const T *, const T *, T *, int, int, int, float, float);
#define SIZES(T, A) G(T, A, 16, 16, 16, 1, 1) G(T, A, 32, 32, 8, 2, 2) G(T, A, 32, 64, 8, 2, 4) G(T, A, 64, 64, 8, 4, 4) \
    G(T, A, 64, 64, 16, 4, 4) G(T, A, 128, 64, 8, 8, 4) G(T, A, 128, 128, 8, 8, 8) G(T, A, 64, 128, 4, 4, 8) G(T, A, 64, 32, 32, 4, 2) G(T, A, 32, 32, 32, 1, 4)
SIZES(float, float) SIZES(double, double) SIZES(__half, float) SIZES(int, int) SIZES(int8_t, int)
SIZES(int64_t, int64_t)
#define BB(T, A, N) B(T, A, 128, 128, 8, 8, 8, N) B(T, A, 64, 64, 8, 4, 4, N) B(T, A, 128, 64, 8, 8, 4, N) B(T, A, 32, 32, 8, 2, 2, N) B(T, A, 64, 64, 16, 8, 4, N)
BB(float, float, 1) BB(float, float, 2) BB(float, float, 4) BB(double, double, 1) BB(double, double, 2) BB(__half, float, 2) BB(__half, float, 3) BB(int, int, 2)
#define T1(T, N) template __global__ void batched<T, N>(const T *, const T *, T *, int);
#define T2(T, N) template __global__ void solve<T, N>(const T *, T *, int);
#define TT(T) T1(T, 2) T1(T, 3) T1(T, 4) T1(T, 5) T1(T, 6) T1(T, 8) T2(T, 2) T2(T, 3) T2(T, 4) T2(T, 5) T2(T, 6) T2(T, 7)
TT(float) TT(double)
