/* A kernel of the suite, loaded and launched by a driver. */
#include "tools/conform/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOG_BYTES = 1 << 14, PLAIN_SHARED = 48 << 10 };

bool conform_launch_failed(struct worker *worker, const char *call, CUresult r,
                           struct result *result)
{
    if (r)
        conform_row_tell(result, VERDICT_FAILED, "%s: %s", call,
                         conform_driver_error(&worker->driver, r));
    return r != CUDA_SUCCESS;
}

bool conform_launch_made(struct worker *worker, const char *what, CUresult r, CUresult want,
                         struct result *result)
{
    if (r == want)
        return true;
    if (r == CUDA_ERROR_NOT_SUPPORTED)
        conform_row_tell(result, VERDICT_REFUSED, "the driver does not support %s", what);
    else
        conform_row_tell(result, VERDICT_DIFFERENT, "%s: %s, expected: %u", what,
                         r ? conform_driver_error(&worker->driver, r) : "made", want);
    worker->is_spoiled |= r && r != CUDA_ERROR_NOT_SUPPORTED; /* it may be an earlier launch's */
    return false;
}

bool conform_launch_claims(const struct worker *worker, const char *ptx, struct result *result)
{
    const char *version = strstr(ptx, ".version "), *target = strstr(ptx, ".target sm_");
    int major = 0, minor = 0, needed = 0, known = worker->driver.capability;
    char suffix = 0;
    if (!version || sscanf(version, ".version %d.%d", &major, &minor) != 2 || !target ||
        sscanf(target, ".target sm_%d%c", &needed, &suffix) < 1)
        return true;
    bool is_claimed = suffix == 'a'   ? needed == known
                      : suffix == 'f' ? needed / 10 == known / 10 && needed <= known
                                      : needed <= known;
    if (!is_claimed)
        conform_row_tell(result, VERDICT_SKIPPED, "for sm_%d%s, the device is sm_%d", needed,
                         suffix == 'a'   ? "a"
                         : suffix == 'f' ? "f"
                                         : "",
                         known);
    return is_claimed;
}

/* ---- modules --------------------------------------------------------------------------------- */

/* The module that stayed, if it is of this text; another one is unloaded. */
static CUmodule take_kept(struct worker *worker, const char *ptx, int level)
{
    struct kept_module kept = worker->kept;
    worker->kept = (struct kept_module){0};
    if (!kept.module)
        return NULL;
    bool is_same = kept.level == level && !strcmp(kept.ptx, ptx);
    free(kept.ptx);
    if (is_same)
        return kept.module;
    worker->driver.cuModuleUnload(kept.module);
    return NULL;
}

/* False: it is to be unloaded. */
static bool keep(struct worker *worker, CUmodule module, const struct launch *l)
{
    char *ptx = worker->is_module_kept ? strdup(l->ptx) : NULL;
    if (ptx)
        worker->kept = (struct kept_module){module, ptx, l->level};
    return ptx != NULL;
}

bool conform_launch_load(struct worker *worker, const char *ptx, int level, CUmodule *module,
                         struct result *result)
{
    static char log[LOG_BYTES];
    struct driver *d = &worker->driver;
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_OPTIMIZATION_LEVEL};
    void *values[] = {log, (void *)(size_t)(LOG_BYTES - 1), (void *)(uintptr_t)level};
    if ((*module = take_kept(worker, ptx, level)))
        return true;
    memset(log, 0, sizeof log);
    CUresult r = d->cuModuleLoadDataEx(module, ptx, level < 0 ? 2 : 3, options, values);
    if (r == CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
        conform_row_tell(result, VERDICT_SKIPPED, "a version of PTX that the driver does not know");
    else if (r)
        conform_row_tell(result, VERDICT_REFUSED, "%s%s%s", conform_driver_error(d, r),
                         *log ? ": " : "", log);
    return r == CUDA_SUCCESS;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static bool put_buffer(struct worker *worker, const struct launch_buffer *b, CUdeviceptr *at,
                       struct result *result)
{
    struct driver *d = &worker->driver;
    void *filled = b->from ? NULL : malloc(b->bytes);
    if (!b->from && !filled) {
        conform_row_tell(result, VERDICT_FAILED, "no memory on the host");
        return false;
    }
    if (filled)
        memset(filled, b->fill, b->bytes);
    bool ok =
        !conform_launch_failed(worker, "cuMemAlloc", d->cuMemAlloc_v2(at, b->bytes), result) &&
        !conform_launch_failed(worker, "cuMemcpyHtoD",
                               d->cuMemcpyHtoD_v2(*at, filled ? filled : b->from, b->bytes),
                               result);
    free(filled);
    return ok;
}

/* NVIDIA's driver 580 may tell of a fault no earlier than here (sured.p in three dimensions, on an
 * H100). */
static bool get_buffers(struct worker *worker, struct launch *l, const CUdeviceptr *at,
                        struct result *result)
{
    struct driver *d = &worker->driver;
    for (unsigned i = 0; i < l->n_buffers && !l->ended; i++)
        if (l->buffer[i].to)
            l->ended = d->cuMemcpyDtoH_v2(l->buffer[i].to, at[i], l->buffer[i].bytes);
    worker->is_spoiled |= l->ended != CUDA_SUCCESS;
    return !conform_launch_failed(worker, "cuMemcpyDtoH", l->ended, result);
}

/* ---- launches -------------------------------------------------------------------------------- */

static CUresult start_with_attributes(struct driver *d, const struct launch *l, CUfunction kernel,
                                      void **parameters)
{
    CUlaunchAttribute attribute = {.id = l->cluster ? CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
                                                    : CU_LAUNCH_ATTRIBUTE_COOPERATIVE};
    CUlaunchConfig config = {.gridDimX = l->grid[0],
                             .gridDimY = l->grid[1],
                             .gridDimZ = l->grid[2],
                             .blockDimX = l->block[0],
                             .blockDimY = l->block[1],
                             .blockDimZ = l->block[2],
                             .sharedMemBytes = l->shared,
                             .attrs = &attribute,
                             .numAttrs = 1};
    if (l->cluster) {
        attribute.value.clusterDim.x = l->cluster;
        attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
    } else {
        attribute.value.cooperative = 1;
    }
    return d->cuLaunchKernelEx(&config, kernel, parameters, NULL);
}

static CUresult wait_for(struct driver *d, unsigned seconds)
{
    CUresult r;
    time_t end = time(NULL) + seconds + 1;
    while ((r = d->cuStreamQuery(NULL)) == CUDA_ERROR_NOT_READY && time(NULL) < end)
        usleep(1000);
    return r;
}

/* More shared memory than any kernel may have is asked for. */
static bool allow_shared(struct worker *worker, const struct launch *l, CUfunction kernel,
                         struct result *result)
{
    struct driver *d = &worker->driver;
    return l->shared <= PLAIN_SHARED || !d->cuFuncSetAttribute ||
           !conform_launch_failed(
               worker, "cuFuncSetAttribute",
               d->cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                     (int)l->shared),
               result);
}

static bool start(struct worker *worker, struct launch *l, CUfunction kernel, const CUdeviceptr *at,
                  struct result *result)
{
    struct driver *d = &worker->driver;
    void *parameters[LAUNCH_PARAMETERS];
    bool is_extended = l->cluster || l->is_cooperative;
    for (unsigned i = 0, b = 0, s = 0; *l->order ? l->order[i] : i < l->n_buffers + l->n_scalars;
         i++) {
        char kind = *l->order ? l->order[i] : i < l->n_buffers ? 'b' : 's';
        parameters[i] = kind == 'b'   ? (void *)(uintptr_t)&at[b++]
                        : kind == 's' ? (void *)&l->scalar[s++]
                                      : l->value;
    }
    if (is_extended && !d->cuLaunchKernelEx) {
        conform_row_tell(result, VERDICT_SKIPPED, "the driver has no cuLaunchKernelEx");
        return false;
    }
    CUresult r = is_extended ? start_with_attributes(d, l, kernel, parameters)
                             : d->cuLaunchKernel(kernel, l->grid[0], l->grid[1], l->grid[2],
                                                 l->block[0], l->block[1], l->block[2], l->shared,
                                                 NULL, parameters, NULL);
    const char *call = is_extended ? "cuLaunchKernelEx" : "cuLaunchKernel";
    l->has_started = true;
    l->ended = r;
    if (!r && l->patience && d->cuStreamQuery)
        l->ended = wait_for(d, l->patience);
    if (!l->ended)
        l->ended = d->cuCtxSynchronize();
    worker->is_spoiled |= l->ended != CUDA_SUCCESS;
    return !conform_launch_failed(worker, r ? call : "cuCtxSynchronize", l->ended, result);
}

/* An error here counts where all went well before. */
static bool release(struct worker *worker, CUmodule module, const struct launch *l,
                    const CUdeviceptr *at, bool ok, struct result *result)
{
    static struct result unheard;
    struct driver *d = &worker->driver;
    if (worker->is_spoiled)
        return ok;
    for (unsigned i = 0; i < l->n_buffers; i++)
        if (at[i] && conform_launch_failed(worker, "cuMemFree", d->cuMemFree_v2(at[i]),
                                           ok ? result : &unheard))
            ok = false;
    bool is_kept = ok && keep(worker, module, l);
    return (is_kept || !conform_launch_failed(worker, "cuModuleUnload", d->cuModuleUnload(module),
                                              ok ? result : &unheard)) &&
           ok;
}

bool conform_launch_run(struct worker *worker, struct launch *l, struct result *result)
{
    struct driver *d = &worker->driver;
    CUmodule module = NULL;
    CUfunction kernel;
    CUdeviceptr at[LAUNCH_PARAMETERS] = {0};
    if (!conform_launch_claims(worker, l->ptx, result) ||
        !conform_launch_load(worker, l->ptx, l->level, &module, result))
        return false;
    bool ok = !conform_launch_failed(worker, "cuModuleGetFunction",
                                     d->cuModuleGetFunction(&kernel, module, l->kernel), result);
    for (unsigned i = 0; ok && i < l->n_buffers; i++)
        ok = put_buffer(worker, &l->buffer[i], &at[i], result);
    ok = ok && allow_shared(worker, l, kernel, result) &&
         (!l->prepare || l->prepare(worker, l, at, result)) &&
         start(worker, l, kernel, at, result) && get_buffers(worker, l, at, result);
    return release(worker, module, l, at, ok, result);
}

bool conform_launch_ended(const struct launch *launch, CUresult want, struct result *result)
{
    if (!launch->has_started)
        return false; /* the result says why */
    bool is_wanted = launch->ended == want;
    if (is_wanted)
        conform_row_tell(result, VERDICT_SAME, "%s", "");
    else if (!launch->ended)
        conform_row_tell(result, VERDICT_DIFFERENT, "it ends, expected: fault %u", want);
    else
        result->verdict =
            launch->ended == CUDA_ERROR_NOT_SUPPORTED ? VERDICT_REFUSED : VERDICT_DIFFERENT;
    return is_wanted;
}
