/* Particles, quadrature, finance, rays, fractals, integration of equations. */
#include <stdint.h>
template <class T> struct V3 { T x, y, z; };
template <class T> __device__ V3<T> operator+(V3<T> a, V3<T> b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
template <class T> __device__ V3<T> operator-(V3<T> a, V3<T> b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
template <class T> __device__ V3<T> operator*(T s, V3<T> b) { return {s * b.x, s * b.y, s * b.z}; }
template <class T> __device__ T dot(V3<T> a, V3<T> b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

template <class T, int UNROLL> __global__ void nbody(const T *__restrict__ p, T *__restrict__ a, int n, T soft)
{
    extern __shared__ char memory[];
    T *s = (T *)memory;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    V3<T> me = {p[i], p[n + i], p[2 * n + i]}, acc = {0, 0, 0};
    for (int t = 0; t < n; t += blockDim.x) {
        for (int c = 0; c < 4; c++) s[c * blockDim.x + threadIdx.x] = p[c * n + t + threadIdx.x];
        __syncthreads();
#pragma unroll UNROLL
        for (int j = 0; j < blockDim.x; j++) {
            V3<T> d = V3<T>{s[j], s[blockDim.x + j], s[2 * blockDim.x + j]} - me;
            T inv = rsqrt(dot(d, d) + soft);
            acc = acc + s[3 * blockDim.x + j] * inv * inv * inv * d;
        }
        __syncthreads();
    }
    a[i] = acc.x; a[n + i] = acc.y; a[2 * n + i] = acc.z;
}

template <class T> __global__ void lennard_jones(const V3<T> *p, const int *list, const int *count, V3<T> *f, T *energy, int n, int pitch, T cut, T sigma, T epsilon, T box)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    V3<T> me = p[i], sum = {0, 0, 0};
    T e = 0;
    for (int k = 0; k < count[i]; k++) {
        V3<T> d = me - p[list[k * pitch + i]];
        d.x -= box * rint(d.x / box); d.y -= box * rint(d.y / box); d.z -= box * rint(d.z / box);
        T r2 = dot(d, d);
        if (r2 < cut * cut) {
            T q = sigma * sigma / r2, q6 = q * q * q;
            sum = sum + (48 * epsilon * q6 * (q6 - T(0.5)) / r2) * d;
            e += 4 * epsilon * q6 * (q6 - 1);
        }
    }
    f[i] = sum;
    energy[i] = e;
}

template <class T, int PER> __global__ void black_scholes(const T *s, const T *x, const T *t, T *call, T *put, T r, T v, int n)
{
    for (int k = 0; k < PER; k++) {
        int i = (blockIdx.x * PER + k) * blockDim.x + threadIdx.x;
        if (i >= n) return;
        T q = sqrt(t[i]), d1 = (log(s[i] / x[i]) + (r + T(0.5) * v * v) * t[i]) / (v * q), d2 = d1 - v * q;
        T c1 = T(0.5) * erfc(-d1 * T(0.70710678)), c2 = T(0.5) * erfc(-d2 * T(0.70710678)), e = exp(-r * t[i]);
        call[i] = s[i] * c1 - x[i] * e * c2;
        put[i] = x[i] * e * (1 - c2) - s[i] * (1 - c1);
    }
}

template <class T, int PATHS> __global__ void monte_carlo(T *out, uint64_t seed, T s0, T drift, T vol, int steps)
{
    uint64_t x = seed + blockIdx.x * blockDim.x + threadIdx.x;
    T s[PATHS], sum = 0;
#pragma unroll
    for (int p = 0; p < PATHS; p++) s[p] = s0;
    for (int t = 0; t < steps; t++)
#pragma unroll
        for (int p = 0; p < PATHS; p++) {
            x ^= x << 13; x ^= x >> 7; x ^= x << 17;
            T u = (T)(x >> 40) * T(5.9604645e-8) + T(1e-9), w = (T)(x & 0xffffff) * T(3.7450704e-7);
            s[p] *= exp(drift + vol * sqrt(-2 * log(u)) * cos(w));
        }
#pragma unroll
    for (int p = 0; p < PATHS; p++) sum += s[p] > s0 ? s[p] - s0 : 0;
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <class T, int N> __global__ void binomial(const T *s, const T *x, T *out, T u, T d, T p, T df)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    T v[N + 1], top = s[i];
#pragma unroll
    for (int k = 0; k < N; k++) top *= u;
#pragma unroll
    for (int k = 0; k <= N; k++, top *= d) v[k] = top > x[i] ? top - x[i] : 0;
#pragma unroll
    for (int t = N; t > 0; t--)
#pragma unroll
        for (int k = 0; k < t; k++) v[k] = df * (p * v[k] + (1 - p) * v[k + 1]);
    out[i] = v[0];
}

template <class T> __global__ void mandelbrot(int *out, int w, int h, T x0, T y0, T step, int most)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, n = 0;
    T cr = x0 + x * step, ci = y0 + y * step, a = 0, b = 0;
    while (n < most && a * a + b * b < 4) { T t = a * a - b * b + cr; b = 2 * a * b + ci; a = t; n++; }
    if (x < w && y < h) out[y * w + x] = n;
}

template <class T, int BOUNCES> __global__ void trace(const T *spheres, int n, T *image, int w, int h)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y;
    if (px >= w) return;
    V3<T> o = {0, 0, -3}, d = {(px - w / 2) / (T)w, (py - h / 2) / (T)w, 1};
    d = (1 / sqrt(dot(d, d))) * d;
    T light = 0, weight = 1;
    for (int b = 0; b < BOUNCES; b++) {
        T best = T(1e30);
        int hit = -1;
        for (int k = 0; k < n; k++) {
            V3<T> c = V3<T>{spheres[k * 4], spheres[k * 4 + 1], spheres[k * 4 + 2]} - o;
            T along = dot(c, d), disc = along * along - dot(c, c) + spheres[k * 4 + 3] * spheres[k * 4 + 3];
            if (disc > 0) { T t = along - sqrt(disc); if (t > T(1e-3) && t < best) { best = t; hit = k; } }
        }
        if (hit < 0) { light += weight * (d.y * T(0.5) + T(0.5)); break; }
        o = o + best * d;
        V3<T> nrm = (1 / spheres[hit * 4 + 3]) * (o - V3<T>{spheres[hit * 4], spheres[hit * 4 + 1], spheres[hit * 4 + 2]});
        d = d - 2 * dot(d, nrm) * nrm;
        weight *= T(0.8);
    }
    image[py * w + px] = light;
}

/* Runge and Kutta's fourth order for N coupled equations. */
template <class T, int N> __global__ void rk4(const T *in, T *out, T h, int steps, int count, T k0)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    T y[N], s[N], k[N], t[N];
#pragma unroll
    for (int j = 0; j < N; j++) y[j] = in[j * count + i];
    for (int n = 0; n < steps; n++) {
#pragma unroll
        for (int j = 0; j < N; j++) { t[j] = y[j]; s[j] = 0; }
#pragma unroll
        for (int stage = 0; stage < 4; stage++) {
#pragma unroll
            for (int j = 0; j < N; j++) k[j] = (t[(j + 1) % N] - t[(j + N - 2) % N]) * t[(j + N - 1) % N] - t[j] + k0;
#pragma unroll
            for (int j = 0; j < N; j++) { s[j] += (stage == 1 || stage == 2 ? 2 : 1) * k[j]; t[j] = y[j] + (stage == 2 ? h : h / 2) * k[j]; }
        }
#pragma unroll
        for (int j = 0; j < N; j++) y[j] += h / 6 * s[j];
    }
#pragma unroll
    for (int j = 0; j < N; j++) out[j * count + i] = y[j];
}

/* Eigenvalues of symmetric 3 x 3 matrices; strain of tetrahedra. */
template <class T> __global__ void eigen3(const T *m, T *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T a = m[i], b = m[n + i], c = m[2 * n + i], d = m[3 * n + i], e = m[4 * n + i], f = m[5 * n + i];
    T q = (a + d + f) / 3, p1 = b * b + c * c + e * e;
    T p = sqrt(((a - q) * (a - q) + (d - q) * (d - q) + (f - q) * (f - q) + 2 * p1) / 6);
    a = (a - q) / p; d = (d - q) / p; f = (f - q) / p; b /= p; c /= p; e /= p;
    T r = (a * (d * f - e * e) - b * (b * f - e * c) + c * (b * e - d * c)) / 2;
    T phi = acos(r < -1 ? -1 : r > 1 ? 1 : r) / 3;
    out[i] = q + 2 * p * cos(phi);
    out[2 * n + i] = q + 2 * p * cos(phi + T(2.0943951023931953));
    out[n + i] = 3 * q - out[i] - out[2 * n + i];
}

template <class T> __global__ void tetra(const V3<T> *x, const int4 *el, const T *rest, V3<T> *force, T mu, T lambda, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int4 v = el[i];
    V3<T> o = x[v.w], c[3] = {x[v.x] - o, x[v.y] - o, x[v.z] - o};
    T inv[9], F[9], P[9];
#pragma unroll
    for (int k = 0; k < 9; k++) inv[k] = rest[k * n + i];
#pragma unroll
    for (int j = 0; j < 3; j++) {
        F[j] = c[0].x * inv[j] + c[1].x * inv[3 + j] + c[2].x * inv[6 + j];
        F[3 + j] = c[0].y * inv[j] + c[1].y * inv[3 + j] + c[2].y * inv[6 + j];
        F[6 + j] = c[0].z * inv[j] + c[1].z * inv[3 + j] + c[2].z * inv[6 + j];
    }
    T J = F[0] * (F[4] * F[8] - F[5] * F[7]) - F[1] * (F[3] * F[8] - F[5] * F[6]) + F[2] * (F[3] * F[7] - F[4] * F[6]);
    T l = lambda * log(J);
#pragma unroll
    for (int r = 0; r < 3; r++)
#pragma unroll
        for (int s = 0; s < 3; s++) {
            int r1 = (r + 1) % 3, r2 = (r + 2) % 3, s1 = (s + 1) % 3, s2 = (s + 2) % 3;
            T co = (F[r1 * 3 + s1] * F[r2 * 3 + s2] - F[r1 * 3 + s2] * F[r2 * 3 + s1]) / J;
            P[r * 3 + s] = mu * (F[r * 3 + s] - co) + l * co;
        }
#pragma unroll
    for (int j = 0; j < 3; j++) {
        V3<T> g = {0, 0, 0};
#pragma unroll
        for (int s = 0; s < 3; s++) g = g + inv[j * 3 + s] * V3<T>{P[s], P[3 + s], P[6 + s]};
        force[i * 4 + j] = g;
    }
}

#define A(T) template __global__ void nbody<T, 1>(const T *, T *, int, T); template __global__ void nbody<T, 4>(const T *, T *, int, T); template __global__ void nbody<T, 8>(const T *, T *, int, T); template __global__ void nbody<T, 32>(const T *, T *, int, T); \
    template __global__ void lennard_jones<T>(const V3<T> *, const int *, const int *, V3<T> *, T *, int, int, T, T, T, T); \
    template __global__ void black_scholes<T, 1>(const T *, const T *, const T *, T *, T *, T, T, int); template __global__ void black_scholes<T, 4>(const T *, const T *, const T *, T *, T *, T, T, int); \
    template __global__ void monte_carlo<T, 1>(T *, uint64_t, T, T, T, int); template __global__ void monte_carlo<T, 2>(T *, uint64_t, T, T, T, int); template __global__ void monte_carlo<T, 4>(T *, uint64_t, T, T, T, int); \
    template __global__ void binomial<T, 4>(const T *, const T *, T *, T, T, T, T); template __global__ void binomial<T, 16>(const T *, const T *, T *, T, T, T, T); template __global__ void binomial<T, 32>(const T *, const T *, T *, T, T, T, T); \
    template __global__ void mandelbrot<T>(int *, int, int, T, T, T, int); template __global__ void trace<T, 1>(const T *, int, T *, int, int); template __global__ void trace<T, 4>(const T *, int, T *, int, int); \
    template __global__ void rk4<T, 3>(const T *, T *, T, int, int, T); template __global__ void rk4<T, 5>(const T *, T *, T, int, int, T); template __global__ void rk4<T, 8>(const T *, T *, T, int, int, T); template __global__ void rk4<T, 12>(const T *, T *, T, int, int, T); template __global__ void rk4<T, 20>(const T *, T *, T, int, int, T); \
    template __global__ void eigen3<T>(const T *, T *, int); template __global__ void tetra<T>(const V3<T> *, const int4 *, const T *, V3<T> *, T, T, int);
A(float) A(double)
