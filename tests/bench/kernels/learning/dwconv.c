#include "tests/bench/case.h"
static float pixel(const float *p, const float *k, size_t side, size_t x, size_t y, float sum)
{
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            size_t u = x + (size_t)dx, v = y + (size_t)dy;
            if (u < side && v < side)
                sum += k[(dy + 1) * 3 + dx + 1] * p[v * side + u];
        }
    return sum < 0 ? 0 : sum > 6 ? 6 : sum;
}
void omp_dwconv(struct bench_case *c)
{
    size_t side = c->size, channels = c->launch[0].grid[2];
    const float *restrict in = F(c, 0), *restrict w = F(c, 1), *restrict bias = F(c, 2);
    float *restrict out = F(c, 3);
#pragma omp parallel for schedule(static)
    for (size_t m = 0; m < channels; m++) {
        const float *p = in + m * side * side, *k = w + m * 9;
        float *o = out + m * side * side;
        for (size_t y = 0; y < side; y++) {
            if (y == 0 || y == side - 1) {
                for (size_t x = 0; x < side; x++)
                    o[y * side + x] = pixel(p, k, side, x, y, bias[m]);
                continue;
            }
            const float *a = p + (y - 1) * side, *b = a + side, *d = b + side;
            o[y * side] = pixel(p, k, side, 0, y, bias[m]);
            o[y * side + side - 1] = pixel(p, k, side, side - 1, y, bias[m]);
#pragma omp simd
            for (size_t x = 1; x < side - 1; x++) {
                float sum = bias[m] + k[0] * a[x - 1] + k[1] * a[x] + k[2] * a[x + 1] +
                            k[3] * b[x - 1] + k[4] * b[x] + k[5] * b[x + 1] + k[6] * d[x - 1] +
                            k[7] * d[x] + k[8] * d[x + 1];
                sum = sum < 0 ? 0 : sum;
                o[y * side + x] = sum > 6 ? 6 : sum;
            }
        }
    }
}
