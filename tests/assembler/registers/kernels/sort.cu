/* Sorts, histograms, searches, compaction, graphs. */
#include <stdint.h>
template <class T> __device__ void order(T &a, T &b, bool up) { if ((a > b) == up) { T c = a; a = b; b = c; } }

template <class T, int N> __global__ void network(T *data, int n)
{
    T v[N];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
    for (int k = 0; k < N; k++) v[k] = data[i + k * n];
#pragma unroll
    for (int size = 2; size <= N; size *= 2)
#pragma unroll
        for (int step = size / 2; step; step /= 2)
#pragma unroll
            for (int k = 0; k < N; k++)
                if (!(k & step)) order(v[k], v[k | step], !(k & size));
#pragma unroll
    for (int k = 0; k < N; k++) data[i + k * n] = v[k];
}

template <class T> __global__ void bitonic_shared(T *data)
{
    extern __shared__ char memory[];
    T *s = (T *)memory;
    unsigned t = threadIdx.x, n = blockDim.x * 2;
    s[t] = data[blockIdx.x * n + t];
    s[t + blockDim.x] = data[blockIdx.x * n + t + blockDim.x];
    for (unsigned size = 2; size <= n; size *= 2)
        for (unsigned step = size / 2; step; step /= 2) {
            __syncthreads();
            unsigned at = 2 * t - (t & (step - 1));
            order(s[at], s[at + step], !(t & size / 2));
        }
    __syncthreads();
    data[blockIdx.x * n + t] = s[t];
    data[blockIdx.x * n + t + blockDim.x] = s[t + blockDim.x];
}

template <class T, int BITS, int ITEMS> __global__ void radix_count(const T *in, unsigned *counts, int shift, int n)
{
    __shared__ unsigned bins[1 << BITS];
    for (int i = threadIdx.x; i < 1 << BITS; i += blockDim.x) bins[i] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        int i = (blockIdx.x * ITEMS + k) * blockDim.x + threadIdx.x;
        if (i < n) atomicAdd(&bins[in[i] >> shift & ((1 << BITS) - 1)], 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 1 << BITS; i += blockDim.x) counts[i * gridDim.x + blockIdx.x] = bins[i];
}

template <class T, int ITEMS> __global__ void radix_split(const T *in, T *out, int bit)
{
    __shared__ unsigned sums[33];
    T v[ITEMS];
    unsigned zeros = 0, lane = threadIdx.x & 31, warp = threadIdx.x / 32;
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        v[k] = in[(blockIdx.x * blockDim.x + threadIdx.x) * ITEMS + k];
        zeros += !(v[k] >> bit & 1);
    }
    unsigned before = zeros;
    for (int o = 1; o < 32; o *= 2) { unsigned u = __shfl_up_sync(~0u, before, o); if (lane >= o) before += u; }
    if (lane == 31) sums[warp] = before;
    __syncthreads();
    if (threadIdx.x == 0) { unsigned s = 0; for (unsigned w = 0; w < blockDim.x / 32; w++) { unsigned c = sums[w]; sums[w] = s; s += c; } sums[32] = s; }
    __syncthreads();
    unsigned at = sums[warp] + before - zeros, ones = sums[32] + threadIdx.x * ITEMS - at;
#pragma unroll
    for (int k = 0; k < ITEMS; k++) out[blockIdx.x * blockDim.x * ITEMS + (v[k] >> bit & 1 ? ones++ : at++)] = v[k];
}

template <class T, class I> __global__ void search(const T *sorted, I n, const T *keys, I *found, I m)
{
    for (I i = blockIdx.x * (I)blockDim.x + threadIdx.x; i < m; i += (I)gridDim.x * blockDim.x) {
        I lo = 0, hi = n;
        T k = keys[i];
        while (lo < hi) { I mid = lo + (hi - lo) / 2; if (sorted[mid] < k) lo = mid + 1; else hi = mid; }
        found[i] = lo;
    }
}

template <class T, int ITEMS> __global__ void merge(const T *a, int na, const T *b, int nb, T *out)
{
    int diagonal = (blockIdx.x * blockDim.x + threadIdx.x) * ITEMS;
    int lo = max(0, diagonal - nb), hi = min(diagonal, na);
    while (lo < hi) { int mid = (lo + hi) / 2; if (a[mid] < b[diagonal - 1 - mid]) lo = mid + 1; else hi = mid; }
    int i = lo, j = diagonal - lo;
    T r[ITEMS];
#pragma unroll
    for (int k = 0; k < ITEMS; k++) r[k] = j >= nb || (i < na && a[i] < b[j]) ? a[i++] : b[j++];
#pragma unroll
    for (int k = 0; k < ITEMS; k++) out[diagonal + k] = r[k];
}

template <class T, int LANES> __global__ void spmv(const int *rows, const int *cols, const T *vals, const T *x, T *y, int n)
{
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    if (r >= n) return;
    T s = 0;
    for (int i = rows[r] + lane; i < rows[r + 1]; i += LANES) s += vals[i] * x[cols[i]];
#pragma unroll
    for (int o = LANES / 2; o; o /= 2) s += __shfl_down_sync(~0u, s, o, LANES);
    if (!lane) y[r] = s;
}

template <class W> __global__ void relax(const int *rows, const int *cols, const W *w, const W *from, W *to, int n, int *changed)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    W best = from[v];
    for (int e = rows[v]; e < rows[v + 1]; e++) { W d = from[cols[e]] + w[e]; if (d < best) best = d; }
    if (best < from[v]) *changed = 1;
    to[v] = best;
}

__global__ void bfs(const int *rows, const int *cols, int *level, const int *queue, int *next, int *tail, int n, int depth)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = queue[i];
    for (int e = rows[v]; e < rows[v + 1]; e++)
        if (atomicCAS(&level[cols[e]], -1, depth) == -1) next[atomicAdd(tail, 1)] = cols[e];
}

template <class K, class V> __global__ void insert(K *keys, V *values, unsigned mask, const K *k, const V *v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    K key = k[i];
    for (unsigned at = (unsigned)(key * 2654435769u) & mask;; at = (at + 1) & mask) {
        K old = atomicCAS(&keys[at], (K)0, key);
        if (old == 0 || old == key) { values[at] = v[i]; return; }
    }
}

#define NET(T) template __global__ void network<T, 2>(T *, int); template __global__ void network<T, 4>(T *, int); template __global__ void network<T, 8>(T *, int); \
    template __global__ void network<T, 16>(T *, int); template __global__ void bitonic_shared<T>(T *);
NET(int) NET(float) NET(double) NET(int64_t) NET(uint16_t)
template __global__ void network<int, 32>(int *, int); template __global__ void network<float, 32>(float *, int);
#define RC(T, B, N) template __global__ void radix_count<T, B, N>(const T *, unsigned *, int, int);
RC(uint32_t, 4, 1) RC(uint32_t, 8, 4) RC(uint32_t, 8, 8) RC(uint64_t, 8, 4) RC(uint64_t, 6, 8) RC(uint8_t, 8, 16)
#define RS(T, N) template __global__ void radix_split<T, N>(const T *, T *, int); template __global__ void merge<T, N>(const T *, int, const T *, int, T *);
RS(uint32_t, 1) RS(uint32_t, 2) RS(uint32_t, 4) RS(uint32_t, 8) RS(uint32_t, 16) RS(uint64_t, 1) RS(uint64_t, 2) RS(uint64_t, 4) RS(uint64_t, 8)
#define SE(T, I) template __global__ void search<T, I>(const T *, I, const T *, I *, I);
SE(float, int) SE(double, int) SE(int64_t, int64_t) SE(uint8_t, unsigned) SE(float, int64_t)
#define SP(T, L) template __global__ void spmv<T, L>(const int *, const int *, const T *, const T *, T *, int);
SP(float, 1) SP(float, 2) SP(float, 8) SP(float, 32) SP(double, 1) SP(double, 4) SP(double, 32)
template __global__ void relax<int>(const int *, const int *, const int *, const int *, int *, int, int *);
template __global__ void relax<float>(const int *, const int *, const float *, const float *, float *, int, int *);
template __global__ void relax<double>(const int *, const int *, const double *, const double *, double *, int, int *);
template __global__ void insert<unsigned, int>(unsigned *, int *, unsigned, const unsigned *, const int *, int);
template __global__ void insert<unsigned long long, double>(unsigned long long *, double *, unsigned, const unsigned long long *, const double *, int);
