#include "tests/bench/case.h"
static inline int at(int x, int most)
{
    return x < 0 ? 0 : x > most ? most : x;
}
static inline void sum(const uint8_t *restrict in, uint8_t *restrict out, int w, int h, int x,
                       int y)
{
    static const int weight[5] = {1, 4, 6, 4, 1};
    unsigned s[4] = {128, 128, 128, 128};
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++)
            for (int k = 0; k < 4; k++)
                s[k] += (unsigned)(weight[dy + 2] * weight[dx + 2]) *
                        in[4 * ((size_t)at(y + dy, h - 1) * (size_t)w + (size_t)at(x + dx, w - 1)) +
                           (size_t)k];
    for (int k = 0; k < 4; k++)
        out[4 * ((size_t)y * (size_t)w + (size_t)x) + (size_t)k] = (uint8_t)(s[k] >> 8);
}
/* Bytes of a row are alike, whatever their channel. */
void omp_blur_rgba(struct bench_case *c)
{
    int w = (int)c->launch[0].argument[0].u, h = (int)c->launch[0].argument[1].u;
    const uint8_t *restrict in = AS(uint8_t, c, 0);
    uint8_t *restrict out = AS(uint8_t, c, 1);
#pragma omp parallel for schedule(static)
    for (int y = 0; y < h; y++) {
        const uint8_t *row[5];
        for (int d = 0; d < 5; d++)
            row[d] = in + 4 * (size_t)at(y + d - 2, h - 1) * (size_t)w;
        const uint8_t *restrict a = row[0], *restrict b = row[1], *restrict m = row[2],
                                *restrict d = row[3], *restrict e = row[4];
        uint8_t *restrict o = out + 4 * (size_t)y * (size_t)w;
        for (int x = 0; x < 2; x++)
            sum(in, out, w, h, x, y), sum(in, out, w, h, w - 1 - x, y);
#define COL(i) (a[i] + 4u * b[i] + 6u * m[i] + 4u * d[i] + e[i])
#pragma omp simd
        for (int i = 8; i < 4 * w - 8; i++)
            o[i] = (uint8_t)((COL(i - 8) + 4u * COL(i - 4) + 6u * COL(i) + 4u * COL(i + 4) +
                              COL(i + 8) + 128u) >>
                             8);
    }
}
