#include "tests/bench/case.h"
#ifdef __clang__
#include <math.h> /* with -fveclib=libmvec */
#else
#pragma omp declare simd notinbranch /* glibc's libmvec has these; without -ffast-math its header hides them */
float expf(float);
#pragma omp declare simd notinbranch
float logf(float);
float sqrtf(float), fabsf(float);
#endif
static inline float cnd(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float c =
        0.39894228040143267794f * expf(-0.5f * d * d) *
        (k * (0.31938153f +
              k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - c : c;
}
void omp_blackscholes(struct bench_case *c)
{
    size_t n = c->size;
    float r = c->launch[0].argument[1].f, v = c->launch[0].argument[2].f;
    const float *restrict S = F(c, 0), *restrict X = F(c, 1), *restrict T = F(c, 2);
    float *restrict call = F(c, 3), *restrict put = F(c, 4);
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++) {
        float s = S[i], x = X[i], t = T[i], q = sqrtf(t);
        float d1 = (logf(s / x) + (r + 0.5f * v * v) * t) / (v * q), d2 = d1 - v * q;
        float n1 = cnd(d1), n2 = cnd(d2), e = x * expf(-r * t);
        call[i] = s * n1 - e * n2;
        put[i] = e * (1.0f - n2) - s * (1.0f - n1);
    }
}
