#include "tests/bench/case.h"
float sqrtf(float);
void omp_layernorm(struct bench_case *c)
{
    size_t rows = c->size, columns = c->launch[0].argument[0].u;
    const float *restrict x = F(c, 0), *restrict gamma = F(c, 1), *restrict beta = F(c, 2);
    float *restrict y = F(c, 3);
#pragma omp parallel for schedule(static)
    for (size_t r = 0; r < rows; r++) {
        const float *in = x + r * columns;
        float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
        for (size_t i = 0; i < columns; i++)
            sum += in[i];
        float mean = sum / (float)columns;
#pragma omp simd reduction(+ : squares)
        for (size_t i = 0; i < columns; i++)
            squares += (in[i] - mean) * (in[i] - mean);
        float scale = 1.0f / sqrtf(squares / (float)columns + 1e-5f);
#pragma omp simd
        for (size_t i = 0; i < columns; i++)
            y[r * columns + i] = (in[i] - mean) * scale * gamma[i] + beta[i];
    }
}
