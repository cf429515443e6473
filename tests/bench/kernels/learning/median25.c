#include "tests/bench/case.h"
void omp_median25(struct bench_case *c)
{
    size_t side = c->size, pitch = side + 4;
    const float *restrict in = F(c, 0);
    float *restrict out = F(c, 1);
#pragma omp parallel for schedule(static)
    for (size_t y = 0; y < side; y++)
        for (size_t x = 0; x < side; x++) {
            float v[25];
            int n = 0;
            for (size_t dy = 0; dy < 5; dy++)
                for (size_t dx = 0; dx < 5; dx++) {
                    float a = in[(y + dy) * pitch + x + dx];
                    int i = n++;
                    for (; i > 0 && v[i - 1] > a; i--)
                        v[i] = v[i - 1];
                    v[i] = a;
                }
            out[y * side + x] = v[12];
        }
}
