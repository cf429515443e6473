/* Twiddles from a table; each pass between two arrays of real and imaginary parts in the cache, its
 * inner loop over neighbours where they are many enough for a vector. */
#include "tests/bench/case.h"
#include <math.h>
enum { N = 1024, Q = N / 4 };
struct points {
    float re[N], im[N];
};
static float cosine[3][N], sine[3][N]; /* of pass n: from n on */
static void fill_table(void)
{
    for (int n = 1; n < N; n *= 4)
        for (int k = 0; k < n; k++)
            for (int r = 0; r < 3; r++) {
                double angle = -6.283185307179586 * (r + 1) * k / (4 * n);
                cosine[r][n + k] = (float)cos(angle);
                sine[r][n + k] = (float)sin(angle);
            }
}
static inline __attribute__((always_inline)) void
butterfly(const struct points *restrict p, struct points *restrict q, int n, int t, int k)
{
    float x0 = p->re[t], y0 = p->im[t], x[3], y[3];
    for (int r = 0; r < 3; r++) {
        float c = cosine[r][n + k], s = sine[r][n + k], re = p->re[t + Q * (r + 1)],
              im = p->im[t + Q * (r + 1)];
        x[r] = re * c - im * s;
        y[r] = re * s + im * c;
    }
    float ax = x0 + x[1], ay = y0 + y[1], bx = x0 - x[1], by = y0 - y[1];
    float cx = x[0] + x[2], cy = y[0] + y[2], dx = y[0] - y[2], dy = x[2] - x[0];
    int to = (t - k) * 4 + k;
    q->re[to] = ax + cx;
    q->im[to] = ay + cy;
    q->re[to + n] = bx + dx;
    q->im[to + n] = by + dy;
    q->re[to + 2 * n] = ax - cx;
    q->im[to + 2 * n] = ay - cy;
    q->re[to + 3 * n] = bx - dx;
    q->im[to + 3 * n] = by - dy;
}
static inline __attribute__((always_inline)) void pass(const struct points *restrict p,
                                                       struct points *restrict q, int n)
{
    for (int t = 0; t < Q; t += n)
#pragma omp simd
        for (int k = 0; k < n; k++)
            butterfly(p, q, n, t + k, k);
}
static void pass_first(const struct points *restrict p, struct points *restrict q)
{
#pragma omp simd
    for (int t = 0; t < Q; t++) {
        float ax = p->re[t] + p->re[t + 512], ay = p->im[t] + p->im[t + 512];
        float bx = p->re[t] - p->re[t + 512], by = p->im[t] - p->im[t + 512];
        float cx = p->re[t + 256] + p->re[t + 768], cy = p->im[t + 256] + p->im[t + 768];
        float dx = p->im[t + 256] - p->im[t + 768], dy = p->re[t + 768] - p->re[t + 256];
        q->re[4 * t] = ax + cx;
        q->im[4 * t] = ay + cy;
        q->re[4 * t + 1] = bx + dx;
        q->im[4 * t + 1] = by + dy;
        q->re[4 * t + 2] = ax - cx;
        q->im[4 * t + 2] = ay - cy;
        q->re[4 * t + 3] = bx - dx;
        q->im[4 * t + 3] = by - dy;
    }
}
void omp_fft(struct bench_case *c)
{
    const float *in = F(c, 0);
    float *out = F(c, 1);
    fill_table();
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < c->size; i++) {
        struct points a, b;
        const float *x = in + 2 * N * i;
        float *y = out + 2 * N * i;
#pragma omp simd
        for (int t = 0; t < N; t++) {
            a.re[t] = x[2 * t];
            a.im[t] = x[2 * t + 1];
        }
        pass_first(&a, &b);
        pass(&b, &a, 4);
        pass(&a, &b, 16);
        pass(&b, &a, 64);
        pass(&a, &b, 256);
#pragma omp simd
        for (int t = 0; t < N; t++) {
            y[2 * t] = b.re[t];
            y[2 * t + 1] = b.im[t];
        }
    }
}
