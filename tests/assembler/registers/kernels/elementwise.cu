/* Elementwise operations, UNROLL elements a thread. */
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <stdint.h>

struct Gelu { template <class T> __device__ T operator()(T x, T y) const { float v = (float)x; return (T)(0.5f * v * (1 + erff(v * 0.70710678f)) + (float)y); } };
struct Silu { template <class T> __device__ T operator()(T x, T y) const { float v = (float)x; return (T)(v / (1 + __expf(-v)) * (float)y); } };
struct Add { template <class T> __device__ T operator()(T x, T y) const { return x + y; } };
struct Div { template <class T> __device__ T operator()(T x, T y) const { return x / y; } };
struct Tanh { template <class T> __device__ T operator()(T x, T y) const { return (T)(tanhf((float)x) + (float)y); } };
struct Poly { template <class T> __device__ T operator()(T x, T y) const { T s = x; for (int i = 0; i < 7; i++) s = s * x + y; return s; } };
struct Pow { template <class T> __device__ T operator()(T x, T y) const { return (T)pow((double)x, (double)y); } };
struct Sin { template <class T> __device__ T operator()(T x, T y) const { return (T)(sinf((float)x) * cosf((float)y)); } };

template <class T, int N> struct alignas(sizeof(T) * N) Pack { T v[N]; };

template <class T, class F, int UNROLL>
__global__ void strided(const T *__restrict__ a, const T *__restrict__ b, T *__restrict__ c, int n)
{
    F f;
    int i = blockIdx.x * blockDim.x * UNROLL + threadIdx.x;
#pragma unroll
    for (int k = 0; k < UNROLL; k++, i += blockDim.x)
        if (i < n)
            c[i] = f(a[i], b[i]);
}

template <class T, class F, int N>
__global__ void packed(const T *a, const T *b, T *c, size_t n)
{
    F f;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n / N; i += gridDim.x * (size_t)blockDim.x) {
        Pack<T, N> x = ((const Pack<T, N> *)a)[i], y = ((const Pack<T, N> *)b)[i], z;
#pragma unroll
        for (int k = 0; k < N; k++)
            z.v[k] = f(x.v[k], y.v[k]);
        ((Pack<T, N> *)c)[i] = z;
    }
}

#define S(T, F, N) template __global__ void strided<T, F, N>(const T *, const T *, T *, int);
#define P(T, F, N) template __global__ void packed<T, F, N>(const T *, const T *, T *, size_t);
#define SS(T, F) S(T, F, 1) S(T, F, 4) S(T, F, 8)
#define PP(T, F) P(T, F, 1) P(T, F, 2) P(T, F, 4)
#define BOTH(T, F) SS(T, F) PP(T, F)
BOTH(float, Gelu) BOTH(float, Add) BOTH(float, Div) BOTH(float, Poly) BOTH(float, Sin) BOTH(float, Silu)
BOTH(double, Add) BOTH(double, Div) BOTH(double, Poly) PP(double, Pow)
BOTH(__half, Silu) BOTH(__half, Poly) BOTH(__half, Tanh) P(__half, Silu, 8) P(__half, Add, 8) P(__half, Gelu, 8)
BOTH(__nv_bfloat16, Silu) P(__nv_bfloat16, Gelu, 8) P(__nv_bfloat16, Tanh, 8) BOTH(__nv_bfloat16, Add)
BOTH(int, Add) BOTH(int, Div) BOTH(int64_t, Add) BOTH(int64_t, Div) BOTH(uint8_t, Poly) P(uint8_t, Add, 16) P(uint8_t, Poly, 16) BOTH(int64_t, Poly)
