/* Reductions, scans, norms, softmax. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <stdint.h>
namespace cg = cooperative_groups;

struct Sum { template <class T> __device__ T operator()(T a, T b) const { return a + b; } };
struct Max { template <class T> __device__ T operator()(T a, T b) const { return a > b ? a : b; } };

template <class T, class F> __device__ T across_block(T v, F f)
{
    __shared__ T part[32];
    for (int o = 16; o; o /= 2) v = f(v, __shfl_xor_sync(~0u, v, o));
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = part[threadIdx.x % 32 < (blockDim.x + 31) / 32 ? threadIdx.x % 32 : 0];
    for (int o = 16; o; o /= 2) v = f(v, __shfl_xor_sync(~0u, v, o));
    __syncthreads();
    return v;
}

template <class T, class F, int UNROLL> __global__ void reduce(const T *in, T *out, size_t n)
{
    F f;
    T acc[UNROLL];
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x, step = (size_t)gridDim.x * blockDim.x;
#pragma unroll
    for (int k = 0; k < UNROLL; k++) acc[k] = in[i + k * step];
    for (i += UNROLL * step; i + (UNROLL - 1) * step < n; i += UNROLL * step)
#pragma unroll
        for (int k = 0; k < UNROLL; k++) acc[k] = f(acc[k], in[i + k * step]);
#pragma unroll
    for (int k = 1; k < UNROLL; k++) acc[0] = f(acc[0], acc[k]);
    T v = across_block(acc[0], f);
    if (threadIdx.x == 0) out[blockIdx.x] = v;
}

template <class T, int ITEMS> __global__ void softmax(const T *in, T *out, int n)
{
    float v[ITEMS], m = -1e30f, s = 0;
    in += (size_t)blockIdx.x * n;
    out += (size_t)blockIdx.x * n;
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        int c = k * blockDim.x + threadIdx.x;
        v[k] = c < n ? (float)in[c] : -1e30f;
        m = fmaxf(m, v[k]);
    }
    m = across_block(m, Max());
#pragma unroll
    for (int k = 0; k < ITEMS; k++) s += v[k] = __expf(v[k] - m);
    s = 1 / across_block(s, Sum());
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        int c = k * blockDim.x + threadIdx.x;
        if (c < n) out[c] = (T)(v[k] * s);
    }
}

template <class T, int ITEMS> __global__ void layernorm(const T *in, const T *g, const T *b, T *out, int n, float eps)
{
    float v[ITEMS], s = 0, q = 0;
    in += (size_t)blockIdx.x * n;
    out += (size_t)blockIdx.x * n;
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        v[k] = (float)in[(threadIdx.x + k * blockDim.x)];
        s += v[k];
        q += v[k] * v[k];
    }
    s = across_block(s, Sum()) / n;
    q = rsqrtf(across_block(q, Sum()) / n - s * s + eps);
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        int c = threadIdx.x + k * blockDim.x;
        out[c] = (T)((v[k] - s) * q * (float)g[c] + (float)b[c]);
    }
}

template <class T, int ITEMS> __global__ void scan(const T *in, T *out, T *sums)
{
    __shared__ T part[32];
    T v[ITEMS];
    size_t base = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * ITEMS;
#pragma unroll
    for (int k = 0; k < ITEMS; k++) v[k] = in[base + k] + (k ? v[k - 1] : T(0));
    T t = v[ITEMS - 1];
    int lane = threadIdx.x % 32;
    for (int o = 1; o < 32; o *= 2) {
        T u = __shfl_up_sync(~0u, t, o);
        if (lane >= o) t += u;
    }
    if (lane == 31) part[threadIdx.x / 32] = t;
    __syncthreads();
    if (threadIdx.x < 32) {
        T w = part[lane];
        for (int o = 1; o < 32; o *= 2) {
            T u = __shfl_up_sync(~0u, w, o);
            if (lane >= o) w += u;
        }
        part[lane] = w;
    }
    __syncthreads();
    T before = t - v[ITEMS - 1] + (threadIdx.x >= 32 ? part[threadIdx.x / 32 - 1] : T(0));
#pragma unroll
    for (int k = 0; k < ITEMS; k++) out[base + k] = v[k] + before;
    if (threadIdx.x == blockDim.x - 1) sums[blockIdx.x] = v[ITEMS - 1] + before;
}

template <class T> __global__ void grid_sum(const T *in, T *out, int n)
{
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    T s = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) s += in[i];
    s = cg::reduce(tile, s, cg::plus<T>());
    if (tile.thread_rank() == 0) atomicAdd(out + blockIdx.x, s);
    grid.sync();
    if (grid.thread_rank() == 0)
        for (unsigned b = 1; b < gridDim.x; b++) out[0] += out[b];
}

#define R(T, F, N) template __global__ void reduce<T, F, N>(const T *, T *, size_t);
#define RR(T) R(T, Sum, 1) R(T, Sum, 2) R(T, Sum, 4) R(T, Sum, 8) R(T, Max, 1) R(T, Max, 4) R(T, Max, 16)
RR(float) RR(double) RR(int) RR(int64_t) RR(__half) RR(uint32_t)
#define SM(T, N) template __global__ void softmax<T, N>(const T *, T *, int);
#define LN(T, N) template __global__ void layernorm<T, N>(const T *, const T *, const T *, T *, int, float);
#define SC(T, N) template __global__ void scan<T, N>(const T *, T *, T *);
#define N5(M, T) M(T, 1) M(T, 2) M(T, 4) M(T, 8) M(T, 16)
N5(SM, float) N5(SM, __half) N5(SM, __nv_bfloat16) N5(LN, float) N5(LN, __half) N5(LN, __nv_bfloat16) N5(SC, int) N5(SC, float) N5(SC, double) N5(SC, int64_t)
template __global__ void grid_sum<float>(const float *, float *, int);
template __global__ void grid_sum<int>(const int *, int *, int);
template __global__ void grid_sum<double>(const double *, double *, int);
