#include "tests/bench/case.h"
#ifdef __clang__
#include <math.h> /* with -fveclib=libmvec */
#else
#pragma omp declare simd notinbranch
float expf(float);
#endif
void omp_halfgelu(struct bench_case *c)
{
    size_t columns = 2 * c->launch[0].argument[1].u, rows = 2 * (size_t)c->size / columns;
    const _Float16 *restrict x = c->buffer[0].host, *restrict bias = c->buffer[1].host;
    _Float16 *restrict y = c->buffer[2].host;
#pragma omp parallel for schedule(static)
    for (size_t r = 0; r < rows; r++)
#pragma omp simd
        for (size_t i = 0; i < columns; i++) {
            float v = (float)(_Float16)((float)x[r * columns + i] + (float)bias[i]);
            y[r * columns + i] = (_Float16)(v / (1.0f + expf(-1.702f * v)));
        }
}
