#include "tools/fuzz/against.h"

#include <stdio.h>
#include <string.h>

/* Says which call failed. */
static bool failed(const struct driver *d, const char *call, CUresult r, char why[TRIAL_TEXT])
{
    if (r != CUDA_SUCCESS)
        snprintf(why, TRIAL_TEXT, "%s: %s", call, conform_driver_error(d, r));
    return r != CUDA_SUCCESS;
}

static enum verdict load(const struct driver *d, const struct against_launch *l, CUmodule *module,
                         char why[TRIAL_TEXT])
{
    char log[TRIAL_TEXT - 80] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_OPTIMIZATION_LEVEL};
    void *values[] = {log, (void *)(uintptr_t)sizeof log, (void *)(uintptr_t)0};
    CUresult r = d->cuModuleLoadDataEx(module, l->text, l->is_plain ? 3 : 2, options, values);
    if (!failed(d, "cuModuleLoadDataEx", r, why))
        return VERDICT_GOOD;
    size_t n = strlen(why);
    log[sizeof log - 1] = 0;
    snprintf(why + n, TRIAL_TEXT - n, " %s", log);
    return r == CUDA_ERROR_NOT_SUPPORTED ? VERDICT_UNSUPPORTED : VERDICT_INVALID;
}

static bool alloc(const struct driver *d, CUdeviceptr *at, const char *zeros, size_t bytes,
                  char why[TRIAL_TEXT])
{
    return !failed(d, "cuMemAlloc", d->cuMemAlloc_v2(at, bytes), why) &&
           !failed(d, "cuMemcpyHtoD", d->cuMemcpyHtoD_v2(*at, zeros, bytes), why);
}

static bool run(const struct driver *d, CUmodule module, const struct against_launch *l,
                char *after, char why[TRIAL_TEXT])
{
    CUdeviceptr out = 0, sums = 0;
    CUfunction kernel;
    const void *parameters[] = {&out, &sums, &l->s, &l->w};
    memset(after, 0, l->out_bytes + l->sums_bytes);
    bool ok =
        !failed(d, "cuModuleGetFunction", d->cuModuleGetFunction(&kernel, module, "k"), why) &&
        alloc(d, &out, after, l->out_bytes, why) && alloc(d, &sums, after, l->sums_bytes, why) &&
        !failed(d, "cuLaunchKernel",
                d->cuLaunchKernel(kernel, l->grid[0], l->grid[1], l->grid[2], l->block[0],
                                  l->block[1], l->block[2], 0, NULL, (void **)(uintptr_t)parameters,
                                  NULL),
                why) &&
        !failed(d, "cuCtxSynchronize", d->cuCtxSynchronize(), why) &&
        !failed(d, "cuMemcpyDtoH", d->cuMemcpyDtoH_v2(after, out, l->out_bytes), why) &&
        !failed(d, "cuMemcpyDtoH", d->cuMemcpyDtoH_v2(after + l->out_bytes, sums, l->sums_bytes),
                why);
    if (out)
        d->cuMemFree_v2(out);
    if (sums)
        d->cuMemFree_v2(sums);
    return ok;
}

enum verdict against_run(const struct driver *d, const struct against_launch *l, char *after,
                         char why[TRIAL_TEXT])
{
    CUmodule module;
    enum verdict verdict = load(d, l, &module, why);
    if (verdict != VERDICT_GOOD)
        return verdict;
    bool ok = run(d, module, l, after, why);
    d->cuModuleUnload(module);
    return ok ? VERDICT_GOOD : VERDICT_FAILED;
}
