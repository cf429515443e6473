#include "tests/bench/case.h"
void omp_conv3x3(struct bench_case *c)
{
    size_t side = c->size, channels = c->launch[0].argument[1].u, pitch = side + 2;
    const float *restrict in = F(c, 0), *restrict w = F(c, 1);
    float *restrict out = F(c, 2);
#pragma omp parallel for collapse(2) schedule(static)
    for (size_t o = 0; o < channels; o += 4)
        for (size_t y = 0; y < side; y++)
            for (size_t x0 = 0; x0 < side; x0 += 32) {
                float sum[4][32] = {{0}};
                for (size_t k = 0; k < channels; k++)
                    for (size_t t = 0; t < 9; t++) {
                        const float *p = in + (k * pitch + y + t / 3) * pitch + x0 + t % 3;
                        for (size_t q = 0; q < 4; q++)
                            for (size_t x = 0; x < 32; x++)
                                sum[q][x] += w[((o + q) * channels + k) * 9 + t] * p[x];
                    }
                for (size_t q = 0; q < 4; q++)
                    for (size_t x = 0; x < 32; x++)
                        out[((o + q) * side + y) * side + x0 + x] = sum[q][x];
            }
}
