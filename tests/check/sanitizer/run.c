/* Runs the cases of a labelled file on an NVIDIA GPU, for compute-sanitizer to watch.
 *
 *     cc run.c -lcuda -o run && ./run FILE.ptx FIRST
 *
 * Cases from number FIRST on; prints "CASE N" before each, "LEFT N WHY" if it cannot run, "DONE"
 * behind the last. It ends at the first that fails, since a context is of no use behind that, or
 * that hangs; sanitizer.py starts it again. Modules are not optimised: what a checker could see is
 * not taken away. Not part of the build: needs a GPU and cuda.h. */
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS = 6, ARGUMENTS = 16, PAUSE = 20000 /* us: for messages on their way */ };

struct launch {
    char kernel[128];
    unsigned grid[3], block[3], cluster[3], shared;
    unsigned n;
    uint64_t value[ARGUMENTS];
};

static void read_shape(const char *text, unsigned shape[3])
{
    sscanf(text, "%u,%u,%u", &shape[0], &shape[1], &shape[2]);
}

/* False: an argument of another kind than the labelled set has, or there is no memory, as where a
 * case before has done harm. */
static bool add_argument(struct launch *l, const char *text)
{
    unsigned long long n;
    char *data;
    CUdeviceptr *p = (CUdeviceptr *)&l->value[l->n];
    if (l->n == ARGUMENTS)
        return false;
    if (sscanf(text, "u32:%lli", (long long *)&n) == 1 ||
        sscanf(text, "u64:%lli", (long long *)&n) == 1) {
        l->value[l->n++] = n;
        return true;
    }
    bool is_iota = sscanf(text, "iota:u32:%llu", &n) == 1;
    if (!is_iota && sscanf(text, "zero:%llu", &n) != 1)
        return false;
    size_t bytes = is_iota ? 4 * n : n;
    data = calloc(1, bytes);
    for (unsigned i = 0; is_iota && i < n; i++)
        memcpy(data + 4 * i, &i, 4);
    bool ok = !cuMemAlloc(p, bytes) && !cuMemcpyHtoD(*p, data, bytes);
    free(data);
    l->n++;
    return ok;
}

/* TOOLS -b 64 -k KERNEL ARGUMENT... */
static bool read_launch(char *text, struct launch *l)
{
    *l = (struct launch){.grid = {1, 1, 1}, .block = {1, 1, 1}};
    strtok(text, " \n");
    for (char *word; (word = strtok(NULL, " \n"));) {
        if (!strcmp(word, "-k"))
            snprintf(l->kernel, sizeof l->kernel, "%s", strtok(NULL, " \n"));
        else if (!strcmp(word, "-g"))
            read_shape(strtok(NULL, " \n"), l->grid);
        else if (!strcmp(word, "-b"))
            read_shape(strtok(NULL, " \n"), l->block);
        else if (!strcmp(word, "--cluster"))
            l->cluster[1] = l->cluster[2] = 1, read_shape(strtok(NULL, " \n"), l->cluster);
        else if (!strcmp(word, "--shared"))
            l->shared = (unsigned)atoi(strtok(NULL, " \n"));
        else if (!strcmp(word, "--schedules") || !strcmp(word, "--order-tolerance") ||
                 !strcmp(word, "--threads"))
            strtok(NULL, " \n");
        else if (word[0] != '-' && !add_argument(l, word))
            return false;
    }
    return true;
}

static CUresult launch(CUmodule module, struct launch *l)
{
    CUfunction f;
    CUlaunchAttribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
    void *parameters[ARGUMENTS];
    for (unsigned i = 0; i < l->n; i++)
        parameters[i] = &l->value[i];
    memcpy(&cluster.value.clusterDim, l->cluster, sizeof l->cluster);
    CUlaunchConfig config = {.gridDimX = l->grid[0],
                             .gridDimY = l->grid[1],
                             .gridDimZ = l->grid[2],
                             .blockDimX = l->block[0],
                             .blockDimY = l->block[1],
                             .blockDimZ = l->block[2],
                             .sharedMemBytes = l->shared,
                             .attrs = &cluster,
                             .numAttrs = l->cluster[0] > 0};
    CUresult r = *l->kernel ? cuModuleGetFunction(&f, module, l->kernel) : CUDA_ERROR_NOT_FOUND;
    r = r ? r : cuLaunchKernelEx(&config, f, parameters, NULL);
    return r ? r : cuCtxSynchronize();
}

static CUmodule load(const char *path)
{
    static char text[1 << 20], log[1 << 14];
    FILE *f = fopen(path, "r");
    CUmodule module = NULL;
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_OPTIMIZATION_LEVEL, CU_JIT_GENERATE_LINE_INFO};
    void *values[] = {log, (void *)sizeof log, NULL, (void *)1};
    if (!f || !fread(text, 1, sizeof text - 1, f))
        perror(path);
    else if (cuModuleLoadDataEx(&module, text, 4, options, values))
        printf("LEFT all %.200s\n", log);
    return module;
}

static bool run_case(CUmodule module, int number, char *command)
{
    struct launch l;
    CUresult r = CUDA_ERROR_INVALID_VALUE;
    printf("CASE %d\n", number);
    fflush(stdout);
    alarm(SECONDS);
    if (read_launch(command, &l))
        r = launch(module, &l);
    alarm(0);
    usleep(PAUSE);
    const char *name = "";
    cuGetErrorName(r, &name);
    if (r)
        printf("LEFT %d %s\n", number, name);
    fflush(stdout);
    return !r;
}

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    char line[1024];
    int number = 0;
    FILE *in = argc == 3 ? fopen(argv[1], "r") : NULL;
    if (!in || cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
        cuCtxSetCurrent(context)) {
        fprintf(stderr, "usage: run FILE.ptx FIRST, on a machine with an NVIDIA GPU\n");
        return 2;
    }
    CUmodule module = load(argv[1]);
    while (module && fgets(line, sizeof line, in)) {
        if (strncmp(line, "// CHECK: ", 10) || number++ < atoi(argv[2]))
            continue;
        if (!run_case(module, number - 1, line + 10))
            return 1;
    }
    printf("DONE\n");
    return 0;
}
