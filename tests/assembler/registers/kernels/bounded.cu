/* Kernels that bound their registers. */
#include <stdint.h>
template <int T, int B, int N> __global__ void __launch_bounds__(T, B) blend(const float4 *__restrict__ a, const float4 *__restrict__ b, float4 *__restrict__ c, int n)
{
    float4 x[N], y[N];
    int at = blockIdx.x * T * N + threadIdx.x;
#pragma unroll
    for (int k = 0; k < N; k++) { x[k] = a[at + k * T]; y[k] = b[at + k * T]; }
#pragma unroll
    for (int k = 0; k < N; k++)
        c[at + k * T] = make_float4(x[k].x * y[k].w + y[k].x, x[k].y * y[k].w + y[k].y, x[k].z * y[k].w + y[k].z, sqrtf(x[k].w * x[k].w + y[k].w));
}
template <int R, int N> __global__ void __maxnreg__(R) horner(const double *in, double *out, int n)
{
    double x[N], s[N];
    int at = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
    for (int k = 0; k < N; k++) { x[k] = in[at + k * n]; s[k] = 1; }
    for (int i = 1; i < n; i++)
#pragma unroll
        for (int k = 0; k < N; k++) s[k] = s[k] * x[k] + 1.0 / i;
#pragma unroll
    for (int k = 0; k < N; k++) out[at + k * n] = s[k];
}
template <int T, int B, int N> __global__ void __launch_bounds__(T, B) running(const int *in, int *out, int n)
{
    __shared__ int part[T];
    int v[N], s = 0;
#pragma unroll
    for (int k = 0; k < N; k++) v[k] = s += in[(blockIdx.x * T + threadIdx.x) * N + k];
    part[threadIdx.x] = s;
    for (int o = 1; o < T; o *= 2) {
        __syncthreads();
        int u = threadIdx.x >= o ? part[threadIdx.x - o] : 0;
        __syncthreads();
        part[threadIdx.x] += u;
    }
    __syncthreads();
    s = threadIdx.x ? part[threadIdx.x - 1] : 0;
#pragma unroll
    for (int k = 0; k < N; k++) out[(blockIdx.x * T + threadIdx.x) * N + k] = v[k] + s;
}
#define BL(T, B, N) template __global__ void blend<T, B, N>(const float4 *, const float4 *, float4 *, int); template __global__ void running<T, B, N * 2>(const int *, int *, int);
BL(128, 1, 1) BL(128, 1, 4) BL(128, 8, 4) BL(128, 16, 4) BL(256, 1, 8) BL(256, 2, 8) BL(256, 4, 8) BL(256, 8, 8) BL(512, 1, 4) BL(512, 2, 8) BL(512, 4, 8) BL(1024, 1, 2) BL(1024, 1, 8) BL(1024, 2, 4) BL(192, 3, 8) BL(96, 7, 8)
#define HO(R, N) template __global__ void horner<R, N>(const double *, double *, int);
HO(24, 4) HO(32, 4) HO(32, 8) HO(40, 8) HO(50, 8) HO(64, 16) HO(64, 8) HO(96, 16) HO(128, 32) HO(255, 32) HO(80, 24)
