/* Runs kernels on an NVIDIA GPU and keeps what they write: the maker of golden vectors.
 *
 *     cc device_run.c -lcuda -o device_run && ./device_run FOLDER [LEVEL]
 *
 * LEVEL is how far the driver optimises, 0 to 4 (4).
 * FOLDER/jobs.tsv: module, kernel, input file, rows, words in and out a row, separated by tabs.
 * Every kernel is .entry k(.param .u64 in, .param .u64 out): thread i reads in[i * nin ...] and
 * writes out[i * nout ...], words of 64 bits, in rows / 256 CTAs of 256 threads, or in one of
 * fewer. Or module, kernel, input file, CTAs of 128 threads, and the bytes they write. Results go
 * back to back to FOLDER/out.bin; FOLDER/ran.tsv says where: kernel, offset, bytes, or a dash and
 * why it did not run. Not part of the build: needs a GPU and cuda.h. */
#include <cuda.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read_file.h"

enum { CTA = 256, SHARED_CTA = 128, OUT_BYTES = 64 << 20 };

struct job {
    char module[256], kernel[256], input[256];
    unsigned ctas, threads;
    size_t bytes; /* that it writes */
};

static const char *folder;
static unsigned level = 4;

static FILE *open_file(const char *name, const char *mode)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, mode);
    if (!f) {
        perror(path);
        exit(2);
    }
    return f;
}

static void load_module(CUmodule *module, const char *name)
{
    static char log[1 << 16], loaded[256];
    if (!strcmp(loaded, name))
        return;
    if (*module)
        cuModuleUnload(*module);
    *module = NULL;
    snprintf(loaded, sizeof loaded, "%s", name);
    size_t bytes;
    char *text = read_file(folder, name, &bytes);
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_OPTIMIZATION_LEVEL};
    void *values[] = {log, (void *)sizeof log, (void *)(size_t)level};
    if (cuModuleLoadDataEx(module, text, 3, options, values))
        fprintf(stderr, "%s: %.600s\n", name, log);
    free(text);
}

static void load_input(CUdeviceptr *input, const char *name)
{
    static char loaded[256];
    if (!strcmp(loaded, name))
        return;
    if (*input)
        cuMemFree(*input);
    snprintf(loaded, sizeof loaded, "%s", name);
    size_t bytes;
    char *data = read_file(folder, name, &bytes);
    cuMemAlloc(input, bytes);
    cuMemcpyHtoD(*input, data, bytes);
    free(data);
}

static bool read_job(const char *line, struct job *j)
{
    unsigned a, b, c;
    int n = sscanf(line, "%255[^\t]\t%255[^\t]\t%255[^\t]\t%u\t%u\t%u", j->module, j->kernel,
                   j->input, &a, &b, &c);
    j->threads = n != 6 ? SHARED_CTA : a < CTA ? a : CTA;
    j->ctas = n == 6 ? a / j->threads : a;
    j->bytes = n == 6 ? (size_t)a * c * 8 : b;
    return n >= 5;
}

/* Returns NULL, or why the kernel did not run. */
static const char *run(const struct job *j, CUmodule module, CUdeviceptr input, CUdeviceptr output)
{
    CUfunction kernel;
    void *parameters[] = {&input, &output};
    if (!module)
        return "module";
    if (cuModuleGetFunction(&kernel, module, j->kernel))
        return "function";
    cuMemsetD8(output, 0xCD, j->bytes);
    if (cuLaunchKernel(kernel, j->ctas, 1, 1, j->threads, 1, 1, 0, 0, parameters, 0) ||
        cuCtxSynchronize())
        return "launch";
    return NULL;
}

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    CUmodule module = NULL;
    CUdeviceptr input = 0, output;
    size_t bytes, offset = 0;
    if (argc < 2 || argc > 3 || cuInit(0) || cuDeviceGet(&device, 0) ||
        cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context) ||
        cuMemAlloc(&output, OUT_BYTES)) {
        fprintf(stderr, "usage: device_run FOLDER [LEVEL], on a machine with an NVIDIA GPU\n");
        return 2;
    }
    folder = argv[1];
    level = argc > 2 ? (unsigned)atoi(argv[2]) : level;
    FILE *out = open_file("out.bin", "wb"), *ran = open_file("ran.tsv", "w");
    char *host = malloc(OUT_BYTES), *jobs = read_file(folder, "jobs.tsv", &bytes);
    for (char *line = strtok(jobs, "\n"); line; line = strtok(NULL, "\n")) {
        struct job j;
        if (!read_job(line, &j))
            continue;
        load_module(&module, j.module);
        load_input(&input, j.input);
        const char *why = run(&j, module, input, output);
        bytes = j.bytes;
        if (why) {
            fprintf(ran, "%s\t-\t%s\n", j.kernel, why);
            continue;
        }
        cuMemcpyDtoH(host, output, bytes);
        fwrite(host, 1, bytes, out);
        fprintf(ran, "%s\t%zu\t%zu\n", j.kernel, offset, bytes);
        offset += bytes;
    }
    fclose(out);
    fclose(ran);
    return 0;
}
