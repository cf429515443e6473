/* The columns at the edges by themselves: the others have their neighbours beside them. */
#include "tests/bench/case.h"
struct rows {
    const double *f[9];
    double *out[9];
};
static inline void cell(const struct rows *restrict r, double omega, size_t x, size_t w, size_t e)
{
    double f0 = r->f[0][x], f1 = r->f[1][w], f2 = r->f[2][x], f3 = r->f[3][e], f4 = r->f[4][x],
           f5 = r->f[5][w], f6 = r->f[6][e], f7 = r->f[7][e], f8 = r->f[8][w];
    double rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8;
    double ux = (f1 + f5 + f8 - f3 - f6 - f7) / rho, uy = (f2 + f5 + f6 - f4 - f7 - f8) / rho;
    double base = 1.0 - 1.5 * (ux * ux + uy * uy), a = ux + uy, b = uy - ux;
    double r0 = omega * rho * (4.0 / 9), r1 = omega * rho * (1.0 / 9),
           r5 = omega * rho * (1.0 / 36), keep = 1.0 - omega;
    r->out[0][x] = keep * f0 + r0 * base;
    r->out[1][x] = keep * f1 + r1 * (base + 3 * ux + 4.5 * ux * ux);
    r->out[2][x] = keep * f2 + r1 * (base + 3 * uy + 4.5 * uy * uy);
    r->out[3][x] = keep * f3 + r1 * (base - 3 * ux + 4.5 * ux * ux);
    r->out[4][x] = keep * f4 + r1 * (base - 3 * uy + 4.5 * uy * uy);
    r->out[5][x] = keep * f5 + r5 * (base + 3 * a + 4.5 * a * a);
    r->out[6][x] = keep * f6 + r5 * (base + 3 * b + 4.5 * b * b);
    r->out[7][x] = keep * f7 + r5 * (base - 3 * a + 4.5 * a * a);
    r->out[8][x] = keep * f8 + r5 * (base - 3 * b + 4.5 * b * b);
}
static void step(size_t n, double omega, const double *in, double *out)
{
    static const int dy[9] = {0, 0, -1, 0, 1, -1, -1, 1, 1};
#pragma omp parallel for schedule(static)
    for (size_t y = 0; y < n; y++) {
        struct rows r;
        for (size_t q = 0; q < 9; q++) {
            r.f[q] = in + (q * n + (y + n + (size_t)dy[q]) % n) * n;
            r.out[q] = out + (q * n + y) * n;
        }
        cell(&r, omega, 0, n - 1, 1);
#pragma omp simd
        for (size_t x = 1; x < n - 1; x++)
            cell(&r, omega, x, x - 1, x + 1);
        cell(&r, omega, n - 1, n - 2, 0);
    }
}
void omp_lbm(struct bench_case *c)
{
    for (int i = 0; i < c->n_launches; i++) {
        const struct bench_argument *a = c->launch[i].argument;
        step(c->size, a[1].d, D(c, a[2].buffer), D(c, a[3].buffer));
    }
}
