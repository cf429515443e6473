/* Stencils and convolutions. */
#include <cuda_fp16.h>
#include <stdint.h>
__constant__ float weights[1024];
__constant__ double weights_f64[1024];
template <class T> __device__ T weight(int i);
template <> __device__ float weight(int i) { return weights[i]; }
template <> __device__ double weight(int i) { return weights_f64[i]; }

template <class T, int R> __global__ void star3d(const T *__restrict__ in, T *__restrict__ out, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x + R, y = blockIdx.y * blockDim.y + threadIdx.y + R;
    if (x >= nx - R || y >= ny - R) return;
    size_t plane = (size_t)nx * ny, at = (size_t)y * nx + x;
    T z[2 * R + 1];
#pragma unroll
    for (int k = 0; k < 2 * R; k++) z[k + 1] = in[at + k * plane];
    for (int k = R; k < nz - R; k++) {
#pragma unroll
        for (int i = 0; i < 2 * R; i++) z[i] = z[i + 1];
        z[2 * R] = in[at + (k + R) * plane];
        T s = weight<T>(0) * z[R];
#pragma unroll
        for (int r = 1; r <= R; r++)
            s += weight<T>(r) * (z[R - r] + z[R + r] + in[at + k * plane - r] + in[at + k * plane + r] + in[at + k * plane - r * nx] + in[at + k * plane + r * nx]);
        out[at + k * plane] = s;
    }
}

template <class T, int R, int PER> __global__ void convolve(const T *in, T *out, int w, int h)
{
    int x = (blockIdx.x * blockDim.x + threadIdx.x) * PER, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x + PER + 2 * R > w || y + 2 * R >= h) return;
    T acc[PER] = {};
#pragma unroll
    for (int j = 0; j <= 2 * R; j++) {
        T row[PER + 2 * R];
#pragma unroll
        for (int i = 0; i < PER + 2 * R; i++) row[i] = in[(y + j) * w + x + i];
#pragma unroll
        for (int i = 0; i < PER; i++)
#pragma unroll
            for (int k = 0; k <= 2 * R; k++) acc[i] += row[i + k] * weight<T>(j * (2 * R + 1) + k);
    }
#pragma unroll
    for (int i = 0; i < PER; i++) out[(size_t)y * w + x + i] = acc[i];
}

template <class T, int BX, int BY, int R> __global__ void __launch_bounds__(BX *BY) tiled(const T *in, T *out, int w, int h, T c0, T c1)
{
    __shared__ T s[BY + 2 * R][BX + 2 * R];
    int x0 = blockIdx.x * BX - R, y0 = blockIdx.y * BY - R;
    for (int i = threadIdx.y * BX + threadIdx.x; i < (BX + 2 * R) * (BY + 2 * R); i += BX * BY) {
        int x = min(max(x0 + i % (BX + 2 * R), 0), w - 1), y = min(max(y0 + i / (BX + 2 * R), 0), h - 1);
        s[i / (BX + 2 * R)][i % (BX + 2 * R)] = in[(size_t)y * w + x];
    }
    __syncthreads();
    T sum = c0 * s[threadIdx.y + R][threadIdx.x + R];
#pragma unroll
    for (int j = -R; j <= R; j++)
#pragma unroll
        for (int i = -R; i <= R; i++) sum += c1 * s[threadIdx.y + R + j][threadIdx.x + R + i];
    out[(size_t)(y0 + R + threadIdx.y) * w + x0 + R + threadIdx.x] = sum;
}

template <int R> __global__ void bilateral(const uchar4 *in, uchar4 *out, int w, int h, float sigma, float range)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    uchar4 c = in[y * w + x];
    float r = 0, g = 0, b = 0, n = 0;
    for (int j = -R; j <= R; j++)
        for (int i = -R; i <= R; i++) {
            uchar4 p = in[min(max(y + j, 0), h - 1) * w + min(max(x + i, 0), w - 1)];
            float dr = p.x - c.x, dg = p.y - c.y, db = p.z - c.z;
            float f = __expf(-(i * i + j * j) * sigma - (dr * dr + dg * dg + db * db) * range);
            r += f * p.x; g += f * p.y; b += f * p.z; n += f;
        }
    out[y * w + x] = make_uchar4(r / n, g / n, b / n, c.w);
}

template <class T, int Q> __global__ void lattice(const T *in, T *out, int nx, int ny, T omega)
{
    const int ex[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, ey[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= nx) return;
    T f[9], rho = 0, u = 0, v = 0;
#pragma unroll
    for (int q = 0; q < Q; q++) {
        f[q] = in[(q * ny + (y - ey[q] + ny) % ny) * nx + (x - ex[q] + nx) % nx];
        rho += f[q]; u += f[q] * ex[q]; v += f[q] * ey[q];
    }
    u /= rho; v /= rho;
#pragma unroll
    for (int q = 0; q < Q; q++) {
        T e = ex[q] * u + ey[q] * v, w = q == 0 ? T(4) / 9 : q < 5 ? T(1) / 9 : T(1) / 36;
        out[(q * ny + y) * nx + x] = f[q] - omega * (f[q] - w * rho * (1 + 3 * e + T(4.5) * e * e - T(1.5) * (u * u + v * v)));
    }
}

#define ST(T, R) template __global__ void star3d<T, R>(const T *, T *, int, int, int);
#define CO(T, R, P) template __global__ void convolve<T, R, P>(const T *, T *, int, int);
#define TI(T, X, Y, R) template __global__ void tiled<T, X, Y, R>(const T *, T *, int, int, T, T);
#define A(T) ST(T, 1) ST(T, 2) ST(T, 3) ST(T, 4) ST(T, 6) ST(T, 8) CO(T, 1, 1) CO(T, 1, 2) CO(T, 1, 4) CO(T, 1, 8) CO(T, 2, 1) CO(T, 2, 2) CO(T, 2, 4) CO(T, 2, 8) CO(T, 3, 1) CO(T, 3, 4) CO(T, 3, 8) CO(T, 4, 1) CO(T, 4, 8) \
    TI(T, 32, 8, 1) TI(T, 32, 8, 2) TI(T, 32, 8, 3) TI(T, 16, 16, 1) TI(T, 16, 16, 4) TI(T, 32, 32, 1) TI(T, 32, 32, 2) \
    template __global__ void lattice<T, 9>(const T *, T *, int, int, T); template __global__ void lattice<T, 5>(const T *, T *, int, int, T);
A(float) A(double)
template __global__ void bilateral<1>(const uchar4 *, uchar4 *, int, int, float, float);
template __global__ void bilateral<2>(const uchar4 *, uchar4 *, int, int, float, float);
template __global__ void bilateral<3>(const uchar4 *, uchar4 *, int, int, float, float);
template __global__ void bilateral<5>(const uchar4 *, uchar4 *, int, int, float, float);
