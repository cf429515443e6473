/* What NVIDIA's own libraries ask of a driver. */
#define _GNU_SOURCE /* dladdr */
#include "runtime/cuda/driver.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

/* NVIDIA's compilers ask as well, and go on without. */
static bool is_compiler(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    return !strncmp(name, "libnvrtc", 8) || !strncmp(name, "libnvJitLink", 12) ||
           !strncmp(name, "libnvptxcompiler", 16);
}

/* Says once to a program with NVIDIA's runtime library inside why it is about to fail. */
static void explain(const void *caller)
{
    static atomic_bool is_told;
    Dl_info info = {0};
    if (!dladdr(caller, &info) || !info.dli_fname || is_compiler(info.dli_fname) ||
        atomic_exchange(&is_told, true))
        return;
    pt_cu_log("%s has NVIDIA's CUDA runtime library inside, which works on NVIDIA's driver only. `ptera "
              "exec` redirects it to Ptera's where it recognises it (`ptera doctor` says whether); "
              "rebuilt with `nvcc -cudart shared`, it runs in any case.",
              info.dli_fname);
}

/* The tables behind it are not documented, and none is given out. */
CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
    explain(__builtin_return_address(0));
    if (table)
        *table = NULL;
    (void)id;
    return API(CUDA_ERROR_INVALID_VALUE);
}
