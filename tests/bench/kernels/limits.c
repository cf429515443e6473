/* What the machine can do: memory bandwidth and fused multiply-adds, plain code by all threads */
#include "tests/bench/case.h"
#include "tests/bench/kernels/vector.h"
#include <omp.h>
typedef float vector __attribute__((vector_size(VECTOR_BYTES)));
enum { SUMS = 8, CHAINS = 12, BLOCK = 4096 };

static float total(const vector *t, int n)
{
    float s = 0;
    for (int i = 0; i < n; i++)
        for (int l = 0; l < LANES; l++)
            s += t[i][l];
    return s;
}
static float sum_block(const float *p)
{
    vector t[SUMS] = {{0}};
    const vector *v = (const vector *)p;
    for (int k = 0; k < BLOCK / LANES; k += SUMS)
#pragma GCC unroll 8
        for (int i = 0; i < SUMS; i++)
            t[i] += v[k + i];
    return total(t, SUMS);
}
static void read_all(struct bench_case *c)
{
    const float *a = F(c, 0);
    float s = 0;
    size_t n = c->size;
#pragma omp parallel for schedule(static) reduction(+ : s)
    for (size_t i = 0; i < n; i += BLOCK)
        s += sum_block(a + i);
    F(c, 1)[0] = s;
}
static void scale(struct bench_case *c)
{
    const float *restrict a = F(c, 0);
    float *restrict b = F(c, 1);
    size_t n = c->size;
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++)
        b[i] = 1.5f * a[i];
}
static void update(struct bench_case *c)
{
    const float *restrict a = F(c, 0);
    float *restrict b = F(c, 1);
    size_t n = c->size;
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++)
        b[i] += 1.5f * a[i];
}
static float chains(size_t n)
{
    vector t[CHAINS], x, y;
    for (int l = 0; l < LANES; l++) {
        x[l] = 0.999f;
        y[l] = 0.001f;
    }
    for (int i = 0; i < CHAINS; i++)
        t[i] = y * (float)i;
    for (size_t k = 0; k < n; k++)
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            t[i] = t[i] * x + y;
    return total(t, CHAINS);
}
static void multiply_add(struct bench_case *c)
{
    float s = 0;
#pragma omp parallel reduction(+ : s)
    s += chains(c->size);
    F(c, 0)[0] = s;
    c->work = 2.0 * LANES * CHAINS * c->size * omp_get_max_threads();
}
void omp_limits(struct bench_case *c)
{
    switch (c->kind->limit) {
    case LIMIT_READ:
        read_all(c);
        break;
    case LIMIT_SCALE:
        scale(c);
        break;
    case LIMIT_UPDATE:
        update(c);
        break;
    default:
        multiply_add(c);
    }
}
