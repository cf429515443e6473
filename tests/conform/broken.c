/* A driver library with bugs: it passes all calls on to Ptera's, and breaks one of them while a
 * module is loaded that PTERA_BROKEN has a line for: a row of the suite, words that the module's
 * text has (one or two, with '&' between), what breaks (bugs, below) and what the suite should say
 * of it. */
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/cuda/abi.h"

enum { WORDS_BYTES = 128 };

static char bug[64]; /* of the module that is loaded */
static size_t words; /* of 64 bits, that are copied back */

static int is_bug(const char *name)
{
    return !strcmp(bug, name);
}

static int has_words(const char *text, char *key)
{
    char *second = strchr(key, '&');
    if (second)
        *second++ = 0;
    return strstr(text, key) && (!second || strstr(text, second));
}

static void find_bug(const char *text)
{
    const char *path = getenv("PTERA_BROKEN");
    FILE *f = path ? fopen(path, "r") : NULL;
    char line[512], key[WORDS_BYTES], name[sizeof bug];
    *bug = 0;
    while (f && !*bug && fgets(line, sizeof line, f))
        if (*line != '#' && sscanf(line, "%*s %127s %63s", key, name) == 2 && has_words(text, key))
            strcpy(bug, name);
    if (f)
        fclose(f);
}

/* ---- how a process ends, or does not --------------------------------------------------------- */

static void die(const char *where)
{
    size_t n = strlen(where);
    if (strncmp(bug, where, n) != 0 || bug[n] != '_')
        return;
    const char *how = bug + n + 1;
    if (!strcmp(how, "segv"))
        raise(SIGSEGV);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "fpe"))
        raise(SIGFPE);
    if (!strcmp(how, "kill"))
        raise(SIGKILL);
    if (!strcmp(how, "exit"))
        exit(0);
    if (!strcmp(how, "exit3"))
        _exit(3);
    while (!strcmp(how, "hang"))
        pause();
}

/* ---- wrong words ----------------------------------------------------------------------------- */

static int is_nan32(uint32_t x)
{
    return (x & 0x7fffffff) > 0x7f800000;
}

static void each_word(uint64_t *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t low = (uint32_t)v[i], rest = low & 0x7fffffff;
        if (is_bug("wrong_nan") && is_nan32(low))
            v[i] = 0x7fc00000;
        if (is_bug("wrong_flush") && rest && rest < 0x800000)
            v[i] &= 0x80000000;
        if (is_bug("wrong_zero") && low == 0x80000000)
            v[i] = 0;
        if (is_bug("wrong_infinity") && rest == 0x7f800000)
            v[i] = (low & 0x80000000) | 0x7f7fffff;
        if (is_bug("wrong_ulp") && rest > 0x3f800000 && rest < 0x7f800000)
            v[i]++;
        if (is_bug("wrong_half"))
            v[i] &= 0xffffffff;
        if (is_bug("wrong_sign"))
            v[i] ^= 0x80000000;
        if (is_bug("wrong_complement"))
            v[i] = ~v[i];
    }
}

static void swap(uint64_t *a, uint64_t *b)
{
    uint64_t kept = *a;
    *a = *b;
    *b = kept;
}

static void break_words(uint64_t *v, size_t n)
{
    each_word(v, n);
    if (is_bug("wrong_first"))
        v[0] ^= 1;
    if (is_bug("wrong_last"))
        v[n - 1] ^= 1;
    if (is_bug("wrong_middle"))
        v[n / 2] ^= UINT64_C(1) << 31;
    if (is_bug("wrong_top"))
        v[n / 3] ^= UINT64_C(1) << 63;
    if (is_bug("wrong_off_by_one"))
        v[n / 4]++;
    if (is_bug("wrong_lane"))
        for (size_t i = 0; i + 1 < n; i += 2)
            swap(&v[i], &v[i + 1]);
    if (is_bug("wrong_warp"))
        for (size_t i = 0; i < 32 && i + 32 < n; i++)
            swap(&v[i], &v[i + 32]);
    if (is_bug("wrong_shift"))
        memmove(v, v + 1, (n - 1) * sizeof *v);
    if (is_bug("wrong_zeroed"))
        memset(v, 0, n * sizeof *v);
    if (is_bug("wrong_tail"))
        memset(v + n - n / 8, 0xcd, n / 8 * sizeof *v);
}

/* ---- the calls ------------------------------------------------------------------------------- */

/* The same call of the library behind this one. */
#define NEXT(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, name_of(name)))
#define name_of(name) name_in(name)
#define name_in(name) #name

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned n, CUjit_option *options,
                            void **values)
{
    find_bug(image);
    die("load");
    if (is_bug("load_refused") || is_bug("load_refused_silently")) {
        for (unsigned i = 0; i < n && is_bug("load_refused"); i++)
            if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
                strcpy(values[i], "no such instruction");
        return CUDA_ERROR_INVALID_PTX;
    }
    if (is_bug("load_memory"))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (is_bug("load_anything"))
        image = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n";
    return NEXT(cuModuleLoadDataEx)(module, image, n, options, values);
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    die("function");
    if (is_bug("function_missing"))
        return CUDA_ERROR_NOT_FOUND;
    return NEXT(cuModuleGetFunction)(function, module, name);
}

CUresult cuModuleUnload(CUmodule module)
{
    die("unload");
    return is_bug("unload_error") ? CUDA_ERROR_INVALID_HANDLE : NEXT(cuModuleUnload)(module);
}

CUresult cuMemAlloc_v2(CUdeviceptr *at, size_t bytes)
{
    die("alloc");
    return is_bug("alloc_error") ? CUDA_ERROR_OUT_OF_MEMORY : NEXT(cuMemAlloc_v2)(at, bytes);
}

CUresult cuMemFree_v2(CUdeviceptr at)
{
    die("free");
    return is_bug("free_error") ? CUDA_ERROR_INVALID_VALUE : NEXT(cuMemFree_v2)(at);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
    die("in");
    if (is_bug("in_error"))
        return CUDA_ERROR_INVALID_VALUE;
    if (is_bug("in_short"))
        bytes /= 2;
    return is_bug("in_lost") ? CUDA_SUCCESS : NEXT(cuMemcpyHtoD_v2)(to, from, bytes);
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
    die("out");
    if (is_bug("out_error"))
        return CUDA_ERROR_INVALID_VALUE;
    if (is_bug("out_lost"))
        return CUDA_SUCCESS;
    CUresult r = NEXT(cuMemcpyDtoH_v2)(to, from, bytes);
    words = bytes / sizeof(uint64_t);
    if (r == CUDA_SUCCESS && words)
        break_words(to, words);
    return r;
}

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *copy)
{
    bool is_back = copy->dstMemoryType == CU_MEMORYTYPE_HOST;
    return is_bug("array_lost") && is_back ? CUDA_SUCCESS : NEXT(cuMemcpy3D_v2)(copy);
}

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared, CUstream stream,
                        void **parameters, void **extra)
{
    die("launch");
    if (is_bug("launch_error"))
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    if (is_bug("launch_unsupported"))
        return CUDA_ERROR_NOT_SUPPORTED;
    if (is_bug("launch_lost"))
        return CUDA_SUCCESS;
    if (is_bug("launch_small"))
        bx /= 2;
    if (is_bug("launch_first"))
        gx = 1;
    return NEXT(cuLaunchKernel)(f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);
}

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                void *at, const cuuint64_t *dims, const cuuint64_t *strides,
                                const cuuint32_t *box, const cuuint32_t *steps,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion l2, CUtensorMapFloatOOBfill fill)
{
    if (is_bug("map_refused"))
        return CUDA_ERROR_INVALID_VALUE;
    if (is_bug("map_shifted"))
        at = (char *)at + 16;
    return NEXT(cuTensorMapEncodeTiled)(map, type, rank, at, dims, strides, box, steps, interleave,
                                        swizzle, l2, fill);
}

CUresult cuCtxSynchronize(void)
{
    die("sync");
    return is_bug("sync_error") ? CUDA_ERROR_ILLEGAL_ADDRESS : NEXT(cuCtxSynchronize)();
}
