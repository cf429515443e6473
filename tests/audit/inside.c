/* A stand-in for what has NVIDIA's static runtime library inside: functions of its names, local
 * ones, in one part of the code, and what the library asks the C library for. It uses them in a
 * constructor and, as a program, in main; what runs is said. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <ftw.h>
#include <semaphore.h>
#include <stdio.h>

/* Calls of it stay as they are. */
#ifdef __clang__
#define OPAQUE noinline, optnone
#else
#define OPAQUE noipa
#endif

static void *volatile asked[] = {(void *)dlvsym, (void *)nftw, (void *)sem_timedwait};

__attribute__((OPAQUE)) static int theirs(const char *name)
{
    printf("%s of theirs%s\n", name, asked[0] ? "" : "!");
    return asked[0] ? -1 : 0; /* what it is no caller knows */
}

#define FUNCTION(name)                                                       \
    __attribute__((OPAQUE, used, aligned(16))) static int name(void *a, ...) \
    {                                                                        \
        (void)a;                                                             \
        return theirs(#name);                                                \
    }
FUNCTION(__cudaRegisterFatBinary)
FUNCTION(__cudaRegisterFunction)
FUNCTION(__cudaPushCallConfiguration)
FUNCTION(__cudaPopCallConfiguration)
FUNCTION(cudaLaunchKernel)
FUNCTION(cudaMalloc)
FUNCTION(cudaFree)
FUNCTION(cudaGetLastError)
FUNCTION(cudaOfTheFuture)
FUNCTION(cudaRuntimeGetVersion)
FUNCTION(cudaCtxResetPersistingL2Cache)

__attribute__((constructor)) static void start(void)
{
    void *memory = NULL;
    int error = cudaMalloc(&memory, (size_t)4096);
    printf("constructor: %d", error);
    if (memory) {
        *(volatile int *)memory = 1; /* as it can be in ours alone */
        printf(" %d", cudaFree(memory));
    }
    printf("\n");
}

#ifdef PROGRAM
int main(void)
{
    int version = 0, error = cudaRuntimeGetVersion(&version), missing = cudaOfTheFuture(NULL);
    printf("main: %d %d %d %d\n", error, version, missing, cudaGetLastError(NULL));
    return 0;
}
#endif
