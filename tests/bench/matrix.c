/* Measures the matrix units in native code: matrix REAL_FOLDER
 *
 * Nanoseconds a warp-level mma, on one worker; then Triton's f16 matmuls of tests/hardware/real at
 * 512 x 512 x 512, one worker a core, against OpenBLAS's sgemm of that size with as many threads,
 * where libopenblas.so.0 is installed. OpenBLAS chooses its kernel by the name of the CPU: where it
 * knows it not, OPENBLAS_CORETYPE (SkylakeX, Haswell) names a fitting one. Exact and with
 * math_fast; medians of several runs after one that compiles.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ptera.h"
#include "tests/bench/timing.h"

enum { RUNS = 15, SIZE = 512 };

static const char *const names[] = {"exact", "fast"};

static void die(const char *what)
{
    fprintf(stderr, "matrix: %s\n", what);
    exit(1);
}

static ptera_engine *create(unsigned threads)
{
    ptera_options o;
    ptera_engine *e;
    ptera_options_init(&o);
    o.threads = threads;
    if (ptera_engine_create(&o, &e) != PTERA_OK)
        die("no engine");
    return e;
}

static double measure(ptera_engine *e, ptera_kernel *k, const ptera_launch *launch)
{
    double ms[RUNS];
    for (int i = -1; i < RUNS; i++) {
        double start = now_ms();
        if (ptera_kernel_launch(k, launch) != PTERA_OK)
            die(ptera_engine_error(e));
        if (i >= 0)
            ms[i] = now_ms() - start;
    }
    return median(ms, RUNS);
}

/* ---- one instruction ------------------------------------------------------------------------- */

static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u32 n)\n{\n"
    "    .reg .pred %p;\n    .reg .b32 %a<4>, %b<2>, %n;\n    .reg .f32 %c<4>;\n"
    "    ld.param.u32 %n, [n];\n    mov.u32 %a0, %tid.x;\n    add.u32 %a0, %a0, 0x30003c00;\n"
    "    mov.b32 %a1, %a0;\n    mov.b32 %a2, %a0;\n    mov.b32 %a3, %a0;\n    mov.b32 %b0, %a0;\n  "
    "  mov.b32 %b1, %a0;\n"
    "    mov.f32 %c0, 0f3F800000;\n    mov.f32 %c1, %c0;\n    mov.f32 %c2, %c0;\n    mov.f32 %c3, "
    "%c0;\n"
    "L:\n"
    "    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%c0,%c1,%c2,%c3}, {%a0,%a1,%a2,%a3}, "
    "{%b0,%b1}, "
    "{%c0,%c1,%c2,%c3};\n"
    "    sub.u32 %n, %n, 1;\n    setp.ne.u32 %p, %n, 0;\n    @%p bra L;\n    ret;\n}\n";

static void instruction(void)
{
    ptera_engine *e = create(1);
    ptera_module *m;
    ptera_kernel *k;
    ptera_launch launch;
    uint32_t n = 100000;
    if (ptera_module_load(e, "mma.ptx", text, sizeof text - 1, &m) != PTERA_OK ||
        ptera_module_kernel(m, "k", 0, &k) != PTERA_OK)
        die("mma.ptx");
    ptera_launch_init(&launch);
    launch.block[0] = 32;
    launch.backend = PTERA_BACKEND_JIT;
    launch.parameters = (const void *[]){&n};
    launch.n_parameters = 1;
    for (launch.math_fast = 0; launch.math_fast < 2; launch.math_fast++)
        printf("mma.m16n8k16.f32.f16 %-6s %8.0f ns a warp\n", names[launch.math_fast],
               measure(e, k, &launch) * 1e6 / n);
    ptera_engine_destroy(e);
}

/* ---- whole products -------------------------------------------------------------------------- */

typedef void sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                   const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);

/* Milliseconds; 0 if OpenBLAS is not installed. */
static double openblas(int threads)
{
    enum { ROWS = 101, AS_IT_IS = 111 };
    double ms[RUNS];
    void *library = dlopen("libopenblas.so.0", RTLD_NOW);
    if (!library)
        return 0;
    sgemm *multiply = (sgemm *)dlsym(library, "cblas_sgemm");
    void (*set_threads)(int) = (void (*)(int))dlsym(library, "openblas_set_num_threads");
    float *v = calloc(3 * SIZE * SIZE, sizeof *v);
    if (!multiply || !set_threads || !v)
        die("OpenBLAS");
    set_threads(threads);
    for (int i = -1; i < RUNS; i++) {
        double start = now_ms();
        multiply(ROWS, AS_IT_IS, AS_IT_IS, SIZE, SIZE, SIZE, 1, v, SIZE, v + SIZE * SIZE, SIZE, 0,
                 v + 2 * SIZE * SIZE, SIZE);
        if (i >= 0)
            ms[i] = now_ms() - start;
    }
    free(v);
    return median(ms, RUNS);
}

/* A kernel of Triton's: tiles of tile x tile, by `threads` threads. */
struct matmul {
    const char *name;
    unsigned tile, threads, shared;
};

static void matmul(const char *folder, const struct matmul *x, double peer)
{
    char path[4096];
    ptera_engine *e = create(0);
    ptera_module *m;
    ptera_kernel *k;
    ptera_launch launch;
    uint16_t *buffers[4];
    int size = SIZE;
    snprintf(path, sizeof path, "%s/%s/kernel.ptx", folder, x->name);
    if (ptera_module_load_file(e, path, &m) != PTERA_OK ||
        ptera_module_kernel(m, "matmul", 0, &k) != PTERA_OK)
        die(path);
    for (int i = 0; i < 4; i++)
        if (ptera_buffer_alloc(e, SIZE * SIZE * sizeof(float), (void **)&buffers[i]) != PTERA_OK)
            die("out of memory");
    for (unsigned i = 0; i < SIZE * SIZE; i++) {
        buffers[0][i] = (uint16_t)(0x2c00 + i * 31 % 0x1000);
        buffers[1][i] = (uint16_t)(0xac00 + i * 37 % 0x1000);
    }
    ptera_launch_init(&launch);
    launch.grid[0] = launch.grid[1] = SIZE / x->tile;
    launch.block[0] = x->threads;
    launch.shared_bytes = x->shared;
    launch.backend = PTERA_BACKEND_JIT;
    launch.parameters = (const void *[]){&buffers[0], &buffers[1], &buffers[2], &size,
                                         &size,       &size,       &buffers[3], &buffers[3]};
    launch.n_parameters = 8;
    for (launch.math_fast = 0; launch.math_fast < 2; launch.math_fast++) {
        double ms = measure(e, k, &launch);
        printf("%-20s %-6s %8.2f ms", x->name, names[launch.math_fast], ms);
        if (peer > 0)
            printf("  %5.1f of OpenBLAS's %.2f ms", ms / peer, peer);
        printf("\n");
    }
    ptera_engine_destroy(e);
}

int main(int argc, char **argv)
{
    static const struct matmul matmuls[] = {{"matmul_f16_mma", 16, 32, 2048},
                                            {"matmul_f16_wgmma", 64, 128, 24576}};
    if (argc != 2) {
        fprintf(stderr, "usage: matrix REAL_FOLDER\n");
        return 2;
    }
    instruction();
    double peer = openblas((int)sysconf(_SC_NPROCESSORS_ONLN));
    if (peer == 0)
        printf("OpenBLAS is not installed: matmuls are not compared\n");
    for (size_t i = 0; i < sizeof matmuls / sizeof *matmuls; i++)
        matmul(argv[1], &matmuls[i], peer);
    return 0;
}
