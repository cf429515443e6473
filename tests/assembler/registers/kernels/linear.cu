/* Linear algebra with wide loads, double buffers and unrolled loops; sparse formats; solvers. */
#include <cuda_fp16.h>
#include <stdint.h>
template <class T, int N> struct alignas(sizeof(T) * N) Pack { T v[N]; };

template <class T, int BM, int BN, int BK, int TM, int TN> __global__ void gemm_double(const T *__restrict__ a, const T *__restrict__ b, T *__restrict__ c, int m, int n, int k)
{
    constexpr int THREADS = BM / TM * (BN / TN), LA = BM * BK / THREADS, LB = BN * BK / THREADS;
    __shared__ T sa[2][BK][BM], sb[2][BK][BN];
    int t = threadIdx.x, tx = t % (BN / TN) * TN, ty = t / (BN / TN) * TM;
    T acc[TM][TN] = {}, na[LA], nb[LB];
    a += (size_t)blockIdx.y * BM * k;
    b += blockIdx.x * BN;
    auto fetch = [&](int k0) {
#pragma unroll
        for (int i = 0; i < LA; i++) { int e = t + i * THREADS; na[i] = a[(size_t)(e / BK) * k + k0 + e % BK]; }
#pragma unroll
        for (int i = 0; i < LB; i++) { int e = t + i * THREADS; nb[i] = b[(size_t)(k0 + e / BN) * n + e % BN]; }
    };
    auto keep = [&](int s) {
#pragma unroll
        for (int i = 0; i < LA; i++) { int e = t + i * THREADS; sa[s][e % BK][e / BK] = na[i]; }
#pragma unroll
        for (int i = 0; i < LB; i++) { int e = t + i * THREADS; sb[s][e / BN][e % BN] = nb[i]; }
    };
    fetch(0);
    keep(0);
    __syncthreads();
    for (int k0 = 0, s = 0; k0 < k; k0 += BK, s ^= 1) {
        if (k0 + BK < k) fetch(k0 + BK);
#pragma unroll
        for (int kk = 0; kk < BK; kk++) {
            T ra[TM], rb[TN];
#pragma unroll
            for (int i = 0; i < TM; i++) ra[i] = sa[s][kk][ty + i];
#pragma unroll
            for (int j = 0; j < TN; j++) rb[j] = sb[s][kk][tx + j];
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < TN; j++) acc[i][j] += ra[i] * rb[j];
        }
        if (k0 + BK < k) keep(s ^ 1);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++) c[(size_t)(blockIdx.y * BM + ty + i) * n + blockIdx.x * BN + tx + j] = acc[i][j];
}

template <class T, int V, int ROWS> __global__ void gemv(const T *__restrict__ a, const T *__restrict__ x, T *__restrict__ y, int n)
{
    float acc[ROWS] = {};
    int row = (blockIdx.x * blockDim.y + threadIdx.y) * ROWS;
    for (int i = threadIdx.x * V; i < n; i += 32 * V) {
        Pack<T, V> p = *(const Pack<T, V> *)(x + i);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            Pack<T, V> q = *(const Pack<T, V> *)(a + (size_t)(row + r) * n + i);
#pragma unroll
            for (int v = 0; v < V; v++) acc[r] += (float)p.v[v] * (float)q.v[v];
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
#pragma unroll
        for (int o = 16; o; o /= 2) acc[r] += __shfl_xor_sync(~0u, acc[r], o);
        if (!threadIdx.x) y[row + r] = (T)acc[r];
    }
}

template <class T, int TILE, int ROWS> __global__ void transpose(const T *in, T *out, int w, int h)
{
    __shared__ T s[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
#pragma unroll
    for (int j = 0; j < TILE; j += ROWS) if (x < w && y + j < h) s[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * w + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x; y = blockIdx.x * TILE + threadIdx.y;
#pragma unroll
    for (int j = 0; j < TILE; j += ROWS) if (x < h && y + j < w) out[(size_t)(y + j) * h + x] = s[threadIdx.x][threadIdx.y + j];
}

template <class T, int N> __global__ void cholesky(T *m, int batch)
{
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= batch) return;
    T a[N][N];
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int j = 0; j <= i; j++) a[i][j] = m[(i * N + j) * (size_t)batch + b];
#pragma unroll
    for (int j = 0; j < N; j++) {
#pragma unroll
        for (int k = 0; k < j; k++) a[j][j] -= a[j][k] * a[j][k];
        T inv = rsqrt(a[j][j]);
        a[j][j] = a[j][j] * inv;
#pragma unroll
        for (int i = j + 1; i < N; i++) {
#pragma unroll
            for (int k = 0; k < j; k++) a[i][j] -= a[i][k] * a[j][k];
            a[i][j] *= inv;
        }
    }
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int j = 0; j <= i; j++) m[(i * N + j) * (size_t)batch + b] = a[i][j];
}

template <class T, int N> __global__ void jacobi(const T *in, T *out, int batch)
{
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    T a[N][N];
#pragma unroll
    for (int i = 0; i < N * N; i++) a[i / N][i % N] = in[(size_t)i * batch + b];
    for (int sweep = 0; sweep < 8; sweep++)
#pragma unroll
        for (int p = 0; p < N - 1; p++)
#pragma unroll
            for (int q = p + 1; q < N; q++) {
                T th = (a[q][q] - a[p][p]) / (2 * a[p][q] + T(1e-20)), t = 1 / (fabs(th) + sqrt(th * th + 1)), c = rsqrt(t * t + 1), s = th < 0 ? -t * c : t * c;
#pragma unroll
                for (int k = 0; k < N; k++) { T u = a[k][p], v = a[k][q]; a[k][p] = c * u - s * v; a[k][q] = s * u + c * v; }
#pragma unroll
                for (int k = 0; k < N; k++) { T u = a[p][k], v = a[q][k]; a[p][k] = c * u - s * v; a[q][k] = s * u + c * v; }
            }
#pragma unroll
    for (int i = 0; i < N; i++) out[(size_t)i * batch + b] = a[i][i];
}

template <class T> __global__ void ell(const int *cols, const T *vals, const T *x, T *y, int n, int width)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n) return;
    T s = 0;
    for (int k = 0; k < width; k++) { int c = cols[(size_t)k * n + r]; if (c >= 0) s += vals[(size_t)k * n + r] * x[c]; }
    y[r] = s;
}

template <class T, int B> __global__ void block_sparse(const int *rows, const int *cols, const T *vals, const T *x, T *y, int n)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n) return;
    T s[B] = {};
    for (int i = rows[r]; i < rows[r + 1]; i++)
#pragma unroll
        for (int j = 0; j < B; j++) {
            T v = x[cols[i] * B + j];
#pragma unroll
            for (int k = 0; k < B; k++) s[k] += vals[(i * B + j) * B + k] * v;
        }
#pragma unroll
    for (int k = 0; k < B; k++) y[r * B + k] = s[k];
}

template <class T> __global__ void thomas(const T *a, const T *b, const T *c, T *d, T *w, int n, int systems)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= systems) return;
    T cp = c[s] / b[s], dp = d[s] / b[s];
    w[s] = cp; d[s] = dp;
    for (int i = 1; i < n; i++) {
        T m = 1 / (b[i * systems + s] - a[i * systems + s] * cp);
        w[i * systems + s] = cp = c[i * systems + s] * m;
        d[i * systems + s] = dp = (d[i * systems + s] - a[i * systems + s] * dp) * m;
    }
    for (int i = n - 2; i >= 0; i--) d[i * systems + s] = dp = d[i * systems + s] - w[i * systems + s] * dp;
}

template <class T, int N> __global__ void axpby_many(const T *const *x, T *y, T a, T b, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        T s = b * y[i];
#pragma unroll
        for (int k = 0; k < N; k++) s += a * x[k][i];
        y[i] = s;
    }
}

#define GD(T, BM, BN, BK, TM, TN) template __global__ void gemm_double<T, BM, BN, BK, TM, TN>(const T *, const T *, T *, int, int, int);
#define GG(T) GD(T, 32, 32, 16, 2, 2) GD(T, 64, 64, 8, 4, 4) GD(T, 64, 64, 16, 4, 4) GD(T, 128, 64, 8, 8, 4) GD(T, 128, 128, 8, 8, 8) GD(T, 64, 32, 16, 4, 4) GD(T, 64, 64, 8, 8, 2)
GG(float) GG(double) GG(int)
#define GV(T, V, R) template __global__ void gemv<T, V, R>(const T *, const T *, T *, int);
GV(float, 1, 1) GV(float, 4, 1) GV(float, 4, 2) GV(float, 4, 4) GV(float, 2, 8) GV(half, 2, 1) GV(half, 8, 1) GV(half, 8, 2) GV(half, 8, 4) GV(half, 4, 8) GV(double, 2, 1) GV(double, 2, 4) GV(int8_t, 16, 1) GV(int8_t, 16, 2)
#define TR(T, S, R) template __global__ void transpose<T, S, R>(const T *, T *, int, int);
TR(float, 32, 8) TR(float, 32, 4) TR(double, 32, 8) TR(uint8_t, 64, 16) TR(half, 64, 8) TR(float, 16, 16)
#define CH(T, N) template __global__ void cholesky<T, N>(T *, int);
CH(float, 3) CH(float, 4) CH(float, 6) CH(float, 8) CH(float, 10) CH(double, 3) CH(double, 4) CH(double, 6) CH(double, 8)
#define JA(T, N) template __global__ void jacobi<T, N>(const T *, T *, int);
JA(float, 2) JA(float, 3) JA(float, 4) JA(double, 2) JA(double, 3)
template __global__ void ell<float>(const int *, const float *, const float *, float *, int, int);
template __global__ void ell<double>(const int *, const double *, const double *, double *, int, int);
#define BS(T, B) template __global__ void block_sparse<T, B>(const int *, const int *, const T *, const T *, T *, int);
BS(float, 2) BS(float, 3) BS(float, 4) BS(float, 6) BS(double, 2) BS(double, 3) BS(double, 4)
template __global__ void thomas<float>(const float *, const float *, const float *, float *, float *, int, int);
template __global__ void thomas<double>(const double *, const double *, const double *, double *, double *, int, int);
#define AX(T, N) template __global__ void axpby_many<T, N>(const T *const *, T *, T, T, int);
AX(float, 2) AX(float, 4) AX(float, 8) AX(double, 4) AX(double, 8) AX(half, 4)
