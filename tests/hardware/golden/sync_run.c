/* Runs one line of sync_gen.py's jobs on an NVIDIA GPU and prints what came of it: the maker of
 * sync.tsv.
 *
 *     cc sync_run.c -lcuda -o sync_run && ./sync_run FOLDER LINE
 *
 * Prints the line and, behind it, "ok", "hangs", "fault N" (of the CUresult) or "refused N" (the
 * module does not load), and the words that were written: THREAD.WORD=HEX, or
 * THREAD-THREAD.WORD=HEX for a run of equal ones. A kernel that has not ended after a second and a
 * half hangs; its words are those written so far. Not part of the build: needs a GPU and cuda.h. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 4, THREADS = 1024, HANG_MS = 1500 };
#define UNWRITTEN 0xcdcdcdcdu

static void print_words(const volatile unsigned *out, unsigned threads)
{
    for (unsigned word = 0; word < WORDS; word++)
        for (unsigned t = 0; t < threads;) {
            unsigned first = t, value = out[t * WORDS + word];
            while (t < threads && out[t * WORDS + word] == value)
                t++;
            if (value == UNWRITTEN)
                continue;
            if (t - first > 1)
                printf("\t%u-%u.%u=%x", first, t - 1, word, value);
            else
                printf("\t%u.%u=%x", first, word, value);
        }
}

static CUresult load(const char *folder, const char *name, CUfunction *kernel)
{
    static char path[4096], text[1 << 16];
    CUmodule module;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    if (!f || !fread(text, 1, sizeof text - 1, f))
        exit(2);
    CUresult r = cuModuleLoadData(&module, text);
    return r ? r : cuModuleGetFunction(kernel, module, "k");
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* CUDA_ERROR_NOT_READY if it hangs. */
static CUresult run(CUfunction kernel, unsigned threads, unsigned *out, unsigned a, unsigned b)
{
    CUdeviceptr device;
    cuMemHostGetDevicePointer(&device, out, 0);
    void *parameters[] = {&device, &a, &b};
    CUresult r = cuLaunchKernel(kernel, 1, 1, 1, threads, 1, 1, 0, 0, parameters, 0);
    double end = now_ms() + HANG_MS;
    if (r)
        return r;
    while ((r = cuStreamQuery(0)) == CUDA_ERROR_NOT_READY && now_ms() < end)
        usleep(1000);
    return r;
}

int main(int argc, char **argv)
{
    char jobs[4096], line[256] = "", module[128];
    unsigned threads, a, b, *out;
    CUdevice device;
    CUcontext context;
    CUfunction kernel = NULL;
    if (argc != 3 || cuInit(0) || cuDeviceGet(&device, 0) ||
        cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context) ||
        cuMemHostAlloc((void **)&out, sizeof *out * WORDS * THREADS, CU_MEMHOSTALLOC_DEVICEMAP)) {
        fprintf(stderr, "usage: sync_run FOLDER LINE, on a machine with an NVIDIA GPU\n");
        return 2;
    }
    snprintf(jobs, sizeof jobs, "%s/jobs.tsv", argv[1]);
    FILE *f = fopen(jobs, "r");
    for (int i = atoi(argv[2]); f && i > 0 && fgets(line, sizeof line, f); i--)
        continue;
    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "%127[^\t]\t%u\t%x\t%x", module, &threads, &a, &b) != 4)
        return 2;
    memset(out, 0xcd, sizeof *out * WORDS * THREADS);
    CUresult loaded = load(argv[1], module, &kernel);
    CUresult r = loaded ? loaded : run(kernel, threads, out, a, b);
    if (loaded)
        printf("%s\trefused %d", line, r);
    else if (r && r != CUDA_ERROR_NOT_READY)
        printf("%s\tfault %d", line, r);
    else
        printf("%s\t%s", line, r ? "hangs" : "ok");
    print_words(out, threads);
    printf("\n");
    fflush(stdout);
    _exit(0); /* a kernel that hangs would be waited for */
}
