/* Fourier transforms in registers and through shared memory. */
#include <stdint.h>
template <class T> struct Complex { T x, y; };
template <class T> __device__ Complex<T> operator+(Complex<T> a, Complex<T> b) { return {a.x + b.x, a.y + b.y}; }
template <class T> __device__ Complex<T> operator-(Complex<T> a, Complex<T> b) { return {a.x - b.x, a.y - b.y}; }
template <class T> __device__ Complex<T> operator*(Complex<T> a, Complex<T> b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }
__device__ Complex<float> turn(float a) { Complex<float> w; __sincosf(a, &w.y, &w.x); return w; }
__device__ Complex<double> turn(double a) { Complex<double> w; sincospi(a * 0.318309886183790671538, &w.y, &w.x); return w; }

/* For constants: 0 <= a <= 2 pi n. */
constexpr double sine(double a)
{
    double x = a - 6.283185307179586 * (long)(a / 6.283185307179586 + 0.5), s = 0, t = x;
    for (int i = 1; i < 40; i += 2, t *= -x * x / ((i - 1) * i)) s += t;
    return s;
}
template <int K, int N> struct Turn {
    static constexpr double s = sine(6.283185307179586 * K / N), c = sine(6.283185307179586 * K / N + 1.5707963267948966);
};
template <class T, int N, int HALF, int I> struct Step {
    static __device__ void run(Complex<T> *v)
    {
        if constexpr (I < N) {
            if constexpr (!(I & HALF)) {
                Complex<T> a = v[I], b = v[I + HALF];
                v[I] = a + b;
                v[I + HALF] = (a - b) * Complex<T>{(T)Turn<I % HALF, 2 * HALF>::c, (T)-Turn<I % HALF, 2 * HALF>::s};
            }
            Step<T, N, HALF, I + 1>::run(v);
        } else if constexpr (HALF > 1) {
            Step<T, N, HALF / 2, 0>::run(v);
        }
    }
};

template <class T, int N> __device__ void butterflies(Complex<T> *v)
{ Step<T, N, N / 2, 0>::run(v); }

template <class T, int N> __global__ void fft_registers(const Complex<T> *in, Complex<T> *out, int stride)
{
    Complex<T> v[N];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
    for (int k = 0; k < N; k++) v[k] = in[i + k * stride];
    butterflies<T, N>(v);
#pragma unroll
    for (int k = 0; k < N; k++) out[i + k * stride] = v[k];
}

template <class T, int R, int N> __global__ void fft_shared(const Complex<T> *in, Complex<T> *out, T sign)
{
    __shared__ T s[N * R];
    Complex<T> v[R];
    int t = threadIdx.x;
    in += (size_t)blockIdx.x * N * R;
    out += (size_t)blockIdx.x * N * R;
#pragma unroll
    for (int k = 0; k < R; k++) v[k] = in[t + k * N];
    for (int m = 1; m < N * R; m *= R) {
        butterflies<T, R>(v);
#pragma unroll
        for (int k = 1; k < R; k++) v[k] = v[k] * turn(sign * k * (t % m) / m);
        int at = t / m * m * R + t % m;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < R; k++) s[at + k * m] = v[k].x;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < R; k++) v[k].x = s[t + k * N];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < R; k++) s[at + k * m] = v[k].y;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < R; k++) v[k].y = s[t + k * N];
    }
#pragma unroll
    for (int k = 0; k < R; k++) out[t + k * N] = v[k];
}

template <class T, int N> struct Cosines {
    T v[4 * N];
    constexpr Cosines() : v() { for (int i = 0; i < 4 * N; i++) v[i] = (T)sine(6.283185307179586 * i / (4 * N) + 1.5707963267948966); }
};

template <class T, int N> __global__ void dct(const T *in, T *out, int pitch)
{
    constexpr Cosines<T, N> table;
    T v[N], w[N];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
    for (int k = 0; k < N; k++) v[k] = in[k * pitch + i];
#pragma unroll
    for (int k = 0; k < N; k++) {
        w[k] = 0;
#pragma unroll
        for (int j = 0; j < N; j++) w[k] += v[j] * table.v[(2 * j + 1) * k % (4 * N)];
    }
#pragma unroll
    for (int k = 0; k < N; k++) out[k * pitch + i] = w[k];
}

template <int LOG> __global__ void ntt(const uint32_t *in, uint32_t *out, uint32_t root, int stride)
{
    constexpr uint32_t P = 998244353;
    uint32_t v[1 << LOG];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 1 << LOG; k++) v[k] = in[i + k * stride];
    uint32_t w = root;
#pragma unroll
    for (int half = 1 << LOG >> 1; half; half /= 2, w = (uint64_t)w * w % P) {
#pragma unroll
        for (int k = 0; k < 1 << LOG; k++)
            if (!(k & half)) {
                uint32_t a = v[k], b = v[k + half];
                v[k] = a + b < P ? a + b : a + b - P;
                v[k + half] = (uint32_t)((uint64_t)(a + P - b) * w % P);
            }
    }
#pragma unroll
    for (int k = 0; k < 1 << LOG; k++) out[i + k * stride] = v[k];
}

#define R(T, N) template __global__ void fft_registers<T, N>(const Complex<T> *, Complex<T> *, int);
#define S(T, R, N) template __global__ void fft_shared<T, R, N>(const Complex<T> *, Complex<T> *, T);
#define D(T, N) template __global__ void dct<T, N>(const T *, T *, int);
#define A(T) R(T, 2) R(T, 4) R(T, 8) R(T, 16) R(T, 32) S(T, 2, 64) S(T, 4, 64) S(T, 8, 64) S(T, 16, 16) S(T, 4, 256) S(T, 2, 512) \
    D(T, 4) D(T, 6) D(T, 8) D(T, 12) D(T, 16)
A(float) A(double)
template __global__ void ntt<1>(const uint32_t *, uint32_t *, uint32_t, int);
template __global__ void ntt<2>(const uint32_t *, uint32_t *, uint32_t, int);
template __global__ void ntt<3>(const uint32_t *, uint32_t *, uint32_t, int);
template __global__ void ntt<4>(const uint32_t *, uint32_t *, uint32_t, int);
