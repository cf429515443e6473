/* The twins in ISPC; OpenMP hands rows to threads. Mandelbrot has none: ISPC contracts as it likes,
 * so that steps differ. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/runner.h"

void blackscholes_range(int32_t, int32_t, float, float, const float *, const float *, const float *,
                        float *, float *);
void nbody_range(int32_t, int32_t, int32_t, float, const float *, const float *, const float *,
                 const float *, float *);
void sgemm16_rows(int32_t, int32_t, int32_t, const float *, const float *, float *);
void sgemm64_rows(int32_t, int32_t, int32_t, const float *, const float *, float *);
void stencil3d_slabs(int32_t, int32_t, int32_t, float, float, const float *, float *);

enum { OPTIONS = 65536, BODIES = 256, ROWS = 4 };

static void run_blackscholes(struct bench_case *c)
{
    const struct bench_argument *a = c->launch[0].argument;
    int n = (int)c->size;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i += OPTIONS)
        blackscholes_range(i, i + OPTIONS < n ? i + OPTIONS : n, a[1].f, a[2].f, F(c, 0), F(c, 1),
                           F(c, 2), F(c, 3), F(c, 4));
}

static void run_nbody(struct bench_case *c)
{
    int n = (int)c->size;
    const float *position = F(c, 0);
    float *x = aligned_alloc(64, 16 * (size_t)n), *y = x + n, *z = y + n, *m = z + n;
    for (int i = 0; i < n; i++) {
        x[i] = position[4 * i];
        y[i] = position[4 * i + 1];
        z[i] = position[4 * i + 2];
        m[i] = position[4 * i + 3];
    }
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i += BODIES)
        nbody_range(i, i + BODIES, n, c->launch[0].argument[1].f, x, y, z, m, F(c, 1));
    free(x);
}

static void run_sgemm16(struct bench_case *c)
{
    int n = (int)c->size;
#pragma omp parallel for schedule(static)
    for (int r = 0; r < n; r += ROWS)
        sgemm16_rows(r, r + ROWS, n, F(c, 0), F(c, 1), F(c, 2));
}

static void run_sgemm64(struct bench_case *c)
{
#pragma omp parallel
    {
        int threads = omp_get_num_threads(), me = omp_get_thread_num(), tiles = (int)c->size / ROWS;
        sgemm64_rows(tiles * me / threads * ROWS, tiles * (me + 1) / threads * ROWS, (int)c->size,
                     F(c, 0), F(c, 1), F(c, 2));
    }
}

static void run_stencil3d(struct bench_case *c)
{
    const struct bench_argument *a = c->launch[0].argument;
    int side = (int)c->size;
    for (int step = 0; step < 2; step++)
#pragma omp parallel for schedule(static)
        for (int z = 0; z < side; z++)
            stencil3d_slabs(z, z + 1, side, a[3].f, a[4].f, F(c, step), F(c, step + 1));
}

static const struct {
    const char *file;
    void (*run)(struct bench_case *);
} twins[] = {{"blackscholes", run_blackscholes},
             {"nbody", run_nbody},
             {"sgemm16", run_sgemm16},
             {"sgemm64", run_sgemm64},
             {"stencil3d", run_stencil3d}};

static void (*twin)(struct bench_case *);

static bool has(const struct bench_kind *kind)
{
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++)
        if (!strcmp(kind->file, twins[i].file))
            twin = twins[i].run;
    return twin != NULL;
}

static const char *find(const struct runner_setup *setup)
{
    (void)setup;
    return NULL;
}

static const char *open_case(struct bench_case *c, const struct runner_setup *setup)
{
    (void)setup;
    return has(c->kind) ? NULL : "no twin";
}

static const char *run(struct bench_case *c)
{
    twin(c);
    return NULL;
}

static const char *version(void)
{
    return ISPC_VERSION;
}

__attribute__((visibility("default"))) const struct runner runner = {
    .has = has, .find = find, .open = open_case, .version = version, .run = run};
