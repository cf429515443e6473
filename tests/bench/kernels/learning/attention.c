#include "tests/bench/case.h"
#ifdef __clang__
#include <math.h>
#else
#pragma omp declare simd notinbranch
float expf(float);
#endif
/* 16 queries at once, 64 keys at a time: scores, their exponentials, the sums of values. */
enum { ROWS = 16, KEYS = 64, WIDTH = 64 };
void omp_attention(struct bench_case *c)
{
    size_t n = c->size;
    float scale = c->launch[0].argument[1].f;
    const float *restrict q = F(c, 0), *restrict k = F(c, 1), *restrict v = F(c, 2);
    float *restrict out = F(c, 3);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i += ROWS) {
        float query[WIDTH][ROWS], sum[WIDTH][ROWS] = {{0}}, score[KEYS][ROWS], most[ROWS],
                                  total[ROWS], keep[ROWS];
        for (size_t r = 0; r < ROWS; r++) {
            most[r] = -1e30f;
            total[r] = 0;
            for (size_t d = 0; d < WIDTH; d++)
                query[d][r] = q[(i + r) * WIDTH + d] * scale;
        }
        for (size_t j = 0; j < n; j += KEYS) {
            float top[ROWS];
            for (size_t r = 0; r < ROWS; r++)
                top[r] = most[r];
            for (size_t t = 0; t < KEYS; t += 4) {
                float s[4][ROWS] = {{0}};
                for (size_t d = 0; d < WIDTH; d++)
                    for (size_t p = 0; p < 4; p++)
#pragma omp simd
                        for (size_t r = 0; r < ROWS; r++)
                            s[p][r] += query[d][r] * k[(j + t + p) * WIDTH + d];
                for (size_t p = 0; p < 4; p++)
#pragma omp simd
                    for (size_t r = 0; r < ROWS; r++) {
                        score[t + p][r] = s[p][r];
                        top[r] = s[p][r] > top[r] ? s[p][r] : top[r];
                    }
            }
#pragma omp simd
            for (size_t r = 0; r < ROWS; r++) {
                keep[r] = expf(most[r] - top[r]);
                total[r] *= keep[r];
                most[r] = top[r];
            }
            for (size_t t = 0; t < KEYS; t++)
#pragma omp simd
                for (size_t r = 0; r < ROWS; r++) {
                    score[t][r] = expf(score[t][r] - top[r]);
                    total[r] += score[t][r];
                }
            for (size_t d = 0; d < WIDTH; d += 4) {
                float s[4][ROWS];
                for (size_t p = 0; p < 4; p++)
                    for (size_t r = 0; r < ROWS; r++)
                        s[p][r] = sum[d + p][r] * keep[r];
                for (size_t t = 0; t < KEYS; t++)
                    for (size_t p = 0; p < 4; p++)
#pragma omp simd
                        for (size_t r = 0; r < ROWS; r++)
                            s[p][r] += score[t][r] * v[(j + t) * WIDTH + d + p];
                for (size_t p = 0; p < 4; p++)
                    for (size_t r = 0; r < ROWS; r++)
                        sum[d + p][r] = s[p][r];
            }
        }
        for (size_t r = 0; r < ROWS; r++)
            for (size_t d = 0; d < WIDTH; d++)
                out[(i + r) * WIDTH + d] = sum[d][r] / total[r];
    }
}
