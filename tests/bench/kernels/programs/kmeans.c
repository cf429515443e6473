/* A block of points against one mean after the other, then added up one by one. */
#include "tests/bench/case.h"
enum { K = 16, D = 8, BLOCK = 256 };
static void assign(size_t n, const float *restrict points, const float *restrict means,
                   uint32_t *restrict best)
{
    float least[BLOCK];
    for (int i = 0; i < BLOCK; i++)
        least[i] = 3.4e38f;
    for (uint32_t k = 0; k < K; k++)
#pragma omp simd
        for (size_t i = 0; i < BLOCK; i++) {
            float far = 0;
            for (int d = 0; d < D; d++) {
                float x = points[d * n + i] - means[k * D + d];
                far += x * x;
            }
            best[i] = far < least[i] ? k : best[i];
            least[i] = far < least[i] ? far : least[i];
        }
}
static void step(size_t n, const float *restrict points, float *restrict means)
{
    float sums[K * D] = {0};
    uint32_t counts[K] = {0};
#pragma omp parallel for schedule(static) reduction(+ : sums[ : K * D], counts[ : K])
    for (size_t b = 0; b < n; b += BLOCK) {
        uint32_t best[BLOCK];
        assign(n, points + b, means, best);
        for (size_t i = 0; i < BLOCK; i++) {
            for (size_t d = 0; d < D; d++)
                sums[best[i] * D + d] += points[d * n + b + i];
            counts[best[i]]++;
        }
    }
    for (int i = 0; i < K * D; i++)
        means[i] = counts[i / D] ? sums[i] / (float)counts[i / D] : means[i];
}
void omp_kmeans(struct bench_case *c)
{
    for (int i = 0; i < c->n_launches / 2; i++)
        step(c->size, F(c, 0), F(c, 1));
}
