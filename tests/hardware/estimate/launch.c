/* Launches kernels for profilers, of a GPU or Ptera, and says which, a line each:
 *
 *     launch FOLDER CASES [N]
 *
 * FOLDER is tests. CASES has a line for each case: "profile NAME BLOCKS THREADS", a kernel of
 * hardware/profile; or "bench NAME SIZE", the launches of a case of bench, of which the first few
 * are made; or "sample ...", a kernel of samples (tests/hardware/samples.h). With N, line N alone
 * is run. Link with libcuda. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/case.h"
#include "tests/hardware/samples.h"

#ifdef PTERA_PROFILED
#include "runtime/cuda/abi.h"
#else
#include <cuda.h>
#endif

enum { FLOATS = 40 << 20, BEFORE = 2 << 20, PLACES = 1 << 22, MOST_LAUNCHES = 12 };

static void must(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "launch: %s: error %u\n", what, (unsigned)result);
    exit(1);
}

static CUmodule load(const char *folder, const char *file)
{
    CUmodule module;
    char path[4096], *text = calloc(1, 1 << 20);
    snprintf(path, sizeof path, "%s/%s.ptx", folder, file);
    FILE *in = fopen(path, "r");
    if (!in || !text || !fread(text, 1, (1 << 20) - 1, in))
        must(CUDA_ERROR_FILE_NOT_FOUND, path);
    fclose(in);
    must(cuModuleLoadData(&module, text), path);
    free(text);
    return module;
}

static CUdeviceptr make(const void *from, size_t bytes)
{
    CUdeviceptr p;
    must(cuMemAlloc_v2(&p, bytes ? bytes : 1), "cuMemAlloc");
    must(cuMemcpyHtoD_v2(p, from, bytes), "cuMemcpyHtoD");
    return p;
}

/* ---- kernels of hardware/profile ------------------------------------------------------------- */

static CUdeviceptr make_floats(void)
{
    float *v = malloc(FLOATS * sizeof *v);
    for (int i = 0; v && i < FLOATS; i++)
        v[i] = (float)(i % 1001) * 0.125f;
    CUdeviceptr p = make(v, FLOATS * sizeof *v);
    free(v);
    return p;
}

static CUdeviceptr make_places(void)
{
    int *v = malloc(PLACES * sizeof *v);
    uint32_t state = 1;
    for (int i = 0; v && i < PLACES; i++) { /* each once, by Fisher and Yates */
        state = state * 1664525 + 1013904223;
        int k = (int)(state >> 8) % (i + 1);
        v[i] = v[k];
        v[k] = i;
    }
    CUdeviceptr p = make(v, PLACES * sizeof *v);
    free(v);
    return p;
}

static void run_profile(const char *folder, const char *name, unsigned blocks, unsigned threads)
{
    static CUmodule module;
    static CUdeviceptr in, out, at;
    CUfunction f;
    int zero = 0;
    if (!module) {
        module = load(folder, "hardware/profile/kernels");
        in = make_floats() + BEFORE * sizeof(float);
        out = make_floats();
        at = make_places();
    }
    void *parameters[] = {&in, &out, &at, &zero};
    must(cuModuleGetFunction(&f, module, name), name);
    must(cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, 0, NULL, parameters, NULL), name);
    must(cuCtxSynchronize(), name);
    printf("profile %s %u: %s\n", name, blocks, name);
}

/* ---- cases of bench -------------------------------------------------------------------------- */

static void launch_bench(CUmodule module, struct bench_launch *l, CUdeviceptr *buffers)
{
    CUfunction f;
    void *parameters[BENCH_ARGUMENTS];
    for (unsigned a = 0; a < l->n_arguments; a++)
        parameters[a] = l->argument[a].is_buffer ? (void *)&buffers[l->argument[a].buffer]
                                                 : (void *)l->argument[a].raw;
    must(cuModuleGetFunction(&f, module, l->kernel), l->kernel);
    must(cuLaunchKernel(f, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
                        l->block[2], 0, NULL, parameters, NULL),
         l->kernel);
    must(cuCtxSynchronize(), l->kernel);
}

static void run_bench(const char *folder, const char *name, unsigned size)
{
    struct bench_case c;
    CUdeviceptr buffers[BENCH_BUFFERS];
    char path[200];
    int i = 0;
    while (bench_kind(i) && strcmp(bench_kind(i)->name, name) != 0)
        i++;
    const char *why = bench_kind(i) ? bench_case_make(&c, bench_kind(i), size) : "unknown";
    if (why) {
        fprintf(stderr, "launch: %s %u: %s\n", name, size, why);
        exit(1);
    }
    for (int b = 0; b < c.n_buffers; b++)
        buffers[b] = make(c.buffer[b].host, c.buffer[b].bytes);
    snprintf(path, sizeof path, "bench/kernels/%s", c.kind->file);
    CUmodule module = load(folder, path);
    for (int l = 0; l < c.n_launches && l < MOST_LAUNCHES; l++) {
        launch_bench(module, &c.launch[l], buffers);
        printf("bench %s %u: %s\n", name, size, c.launch[l].kernel);
    }
    must(cuModuleUnload(module), "cuModuleUnload");
    for (int b = 0; b < c.n_buffers; b++)
        must(cuMemFree_v2(buffers[b]), "cuMemFree");
    bench_case_free(&c);
}

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    char line[200], name[100];
    unsigned a, b;
    int only = argc == 4 ? atoi(argv[3]) : 0;
    FILE *cases = argc >= 3 ? fopen(argv[2], "r") : NULL;
    if (!cases)
        return 2;
    must(cuInit(0), "cuInit");
    must(cuDeviceGet(&device, 0), "cuDeviceGet");
    must(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    for (int n = 1; fgets(line, sizeof line, cases); n++) {
        if (only && n != only)
            continue;
        if (sscanf(line, "profile %99s %u %u", name, &a, &b) == 3)
            run_profile(argv[1], name, a, b);
        else if (sscanf(line, "bench %99s %u", name, &a) == 2)
            run_bench(argv[1], name, a);
        else if (strncmp(line, "sample ", 7) == 0)
            samples_run(argv[1], line + 7);
    }
    fclose(cases);
    return 0;
}
