#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/hardware/samples.h"

#ifdef PTERA_PROFILED
#include "runtime/cuda/abi.h"
#else
#include <cuda.h>
#endif

enum { MOST_ARGUMENTS = 12, MOST_TEXT = 1 << 20 };

struct arguments {
    union {
        CUdeviceptr buffer;
        uint32_t u;
        float f;
    } v[MOST_ARGUMENTS];
    void *at[MOST_ARGUMENTS];
    CUdeviceptr made[MOST_ARGUMENTS];
    unsigned n, n_made;
};

static void must(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "samples: %s: error %u\n", what, (unsigned)result);
    exit(1);
}

static uint32_t hash(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

static void make_word(void *at, const char *type, double value)
{
    float f = (float)value;
    uint32_t u = (uint32_t)value;
    memcpy(at, strcmp(type, "f32") == 0 ? (void *)&f : (void *)&u, sizeof u);
}

/* How many bytes `text` asks for, which `v` gets if there is room. */
static size_t fill(const char *text, unsigned char *v)
{
    char kind[16], type[16];
    unsigned n;
    double value = 0;
    if (sscanf(text, "zero:%u", &n) == 1) {
        if (v)
            memset(v, 0, n);
        return n;
    }
    if (sscanf(text, "bytes:%u", &n) == 1) {
        for (unsigned i = 0; v && i < n; i++)
            v[i] = (unsigned char)i;
        return n;
    }
    if (sscanf(text, "%15[a-z]:%15[a-z0-9]:%u:%lf", kind, type, &n, &value) < 3)
        return 0;
    for (unsigned i = 0; v && i < n; i++)
        make_word(v + 4 * i, type, *kind == 'i' ? i : *kind == 'h' ? hash(i) : value);
    return 4 * (size_t)n;
}

static void add_argument(struct arguments *a, const char *text)
{
    void *value = &a->v[a->n];
    size_t bytes = fill(text, NULL);
    a->at[a->n++] = value;
    if (!bytes) {
        make_word(value, strncmp(text, "f32", 3) == 0 ? "f32" : "u32", atof(strchr(text, ':') + 1));
        return;
    }
    unsigned char *host = malloc(bytes);
    if (!host)
        exit(1);
    fill(text, host);
    CUdeviceptr *p = value;
    must(cuMemAlloc_v2(p, bytes), text);
    must(cuMemcpyHtoD_v2(*p, host, bytes), text);
    a->made[a->n_made++] = *p;
    free(host);
}

static CUmodule load(const char *tests, const char *name)
{
    CUmodule module;
    char path[4096], *text = calloc(1, MOST_TEXT);
    snprintf(path, sizeof path, "%s/../samples/%s/%s.ptx", tests, name, name);
    FILE *in = fopen(path, "r");
    if (!in || !text || !fread(text, 1, MOST_TEXT - 1, in))
        must(CUDA_ERROR_FILE_NOT_FOUND, path);
    fclose(in);
    must(cuModuleLoadData(&module, text), path);
    free(text);
    return module;
}

void samples_run(const char *tests, const char *line)
{
    char text[400], *left = text, *word;
    char name[64], kernel[64];
    unsigned g[3], b[3], shared;
    int used = 0;
    struct arguments a = {0};
    CUfunction f;
    if (sscanf(line, "%63s %63s %u,%u,%u %u,%u,%u %u%n", name, kernel, &g[0], &g[1], &g[2], &b[0],
               &b[1], &b[2], &shared, &used) < 9)
        must(CUDA_ERROR_INVALID_VALUE, line);
    snprintf(text, sizeof text, "%s", line + used);
    while ((word = strtok(left, " \n"))) {
        add_argument(&a, word);
        left = NULL;
    }
    CUmodule module = load(tests, name);
    must(cuModuleGetFunction(&f, module, kernel), kernel);
    must(cuLaunchKernel(f, g[0], g[1], g[2], b[0], b[1], b[2], shared, NULL, a.at, NULL), kernel);
    must(cuCtxSynchronize(), kernel);
    printf("sample %s %s: %s\n", name, kernel, kernel);
    must(cuModuleUnload(module), name);
    for (unsigned i = 0; i < a.n_made; i++)
        must(cuMemFree_v2(a.made[i]), name);
}
