#include "tests/bench/case.h"
#ifdef __clang__
#include <math.h>
#else
#pragma omp declare simd notinbranch
float expf(float);
#endif
void omp_softmax(struct bench_case *c)
{
    size_t rows = c->size;
    const float *restrict x = F(c, 0);
    float *restrict y = F(c, 1);
#pragma omp parallel for schedule(static)
    for (size_t r = 0; r < rows; r++) {
        const float *in = x + r * 512;
        float *out = y + r * 512, most = -1e30f, sum = 0;
#pragma omp simd reduction(max : most)
        for (size_t i = 0; i < 512; i++)
            most = in[i] > most ? in[i] : most;
#pragma omp simd reduction(+ : sum)
        for (size_t i = 0; i < 512; i++) {
            float e = expf(in[i] - most);
            out[i] = e;
            sum += e;
        }
        float scale = 1.0f / sum;
#pragma omp simd
        for (size_t i = 0; i < 512; i++)
            out[i] *= scale;
    }
}
