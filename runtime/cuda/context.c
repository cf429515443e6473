/* Contexts: each has an engine of its own, so that what a kernel breaks stays inside. */
#include "runtime/cuda/context.h"

#include <stdlib.h>

#include "runtime/cuda/array.h"
#include "runtime/cuda/block.h"
#include "runtime/cuda/capture.h"
#include "runtime/cuda/check.h"
#include "runtime/cuda/command.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/counted.h"
#include "runtime/cuda/current.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/device_runtime.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/error.h"
#include "runtime/cuda/event.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/ipc.h"
#include "runtime/cuda/limit.h"
#include "runtime/cuda/listener.h"
#include "runtime/cuda/lock.h"
#include "runtime/cuda/log.h"
#include "runtime/cuda/module.h"
#include "runtime/cuda/multicast.h"
#include "runtime/cuda/overlap.h"
#include "runtime/cuda/pool.h"
#include "runtime/cuda/printed.h"
#include "runtime/cuda/range.h"
#include "runtime/cuda/stream.h"
#include "runtime/cuda/stream_management.h"
#include "runtime/cuda/thread.h"
#include "runtime/cuda/trace.h"

enum { API_VERSION_OLD = 3010, API_VERSION = 3020 };

/* Work that is under way in them goes on. */
static void delete_default_streams(uint64_t thread)
{
    for (CUcontext ctx = pt_cu_context_list_next(NULL); ctx; ctx = pt_cu_context_list_next(ctx)) {
        CUstream next;
        for (CUstream s = ctx->streams; s; s = next) {
            next = s->next;
            if (s->thread == thread)
                pt_cu_stream_management_delete(s);
        }
    }
}

/* ---- text that kernels print ----------------------------------------------------------------- */

void pt_cu_context_end_thread(struct pt_cu_thread *thread)
{
    pt_cu_lock_take();
    delete_default_streams(thread->id);
    pt_cu_current_leave_all(thread);
    pt_cu_lock_release();
}

/* Errors that a kernel survives are told always, notes of the engine with what else is said of
 * loading. */
static void take_note(void *ud, ptera_severity severity, const char *text)
{
    (void)ud;
    if (severity == PTERA_ERROR || pt_cu_log_is_on(PT_CU_LOG_LOAD))
        pt_cu_log_print("%s", text);
}

/* ---- making and unmaking --------------------------------------------------------------------- */

static bool is_allocated(const struct pt_cu_range *range)
{
    return range->memory == PT_CU_DEVICE || range->memory == PT_CU_HOST ||
           range->memory == PT_CU_MANAGED || range->memory == PT_CU_POOLED ||
           range->memory == PT_CU_TEXELS || range->memory == PT_CU_TEXTURE ||
           range->memory == PT_CU_SURFACE;
}

static void free_one(struct pt_cu_range *range, void *ctx)
{
    if (range->ctx != ctx)
        return;
    if (is_allocated(range))
        pt_cu_block_free(range);
    else if (range->memory == PT_CU_IMPORTED || range->memory == PT_CU_EXTERNAL)
        pt_cu_ipc_close(range);
    else
        pt_cu_range_remove(range);
}

static void free_all(CUcontext ctx)
{
    while (ctx->arrays)
        pt_cu_array_delete(ctx->arrays);
    pt_cu_range_each(free_one, ctx);
    pt_cu_pool_forget(ctx);
    pt_cu_block_drop_kept(ctx);
}

/* Peer access is to a device here: it ends with the context that its memory is in by default. */
static void end_peer_access(CUdevice device)
{
    for (CUcontext ctx = pt_cu_context_list_next(NULL); ctx; ctx = pt_cu_context_list_next(ctx))
        ctx->peers &= ~(UINT64_C(1) << device);
}

void pt_cu_context_kill(CUcontext ctx)
{
    pt_cu_command_quiesce(ctx);
    pt_cu_printed_flush(ctx);
    PT_CU_LISTENER_TELL(PT_CU_ENDS_CONTEXT, .context = ctx);
    ctx->is_alive = false;
    pt_cu_context_list_leave(ctx);
    pt_cu_check_end(ctx);
    pt_cu_overlap_forget(ctx, NULL);
    while (ctx->events)
        pt_cu_event_delete(ctx->events);
    while (ctx->streams)
        pt_cu_stream_management_delete(ctx->streams);
    while (ctx->modules)
        pt_cu_module_delete(ctx->modules);
    pt_cu_command_put(ctx->gate);
    ctx->gate = NULL;
    pt_cu_counted_end(ctx);
    free_all(ctx);
    ptera_engine_destroy(ctx->engine);
    ctx->engine = NULL;
    ctx->null_stream = NULL;
    ctx->peers = 0;
    if (ctx->is_primary)
        end_peer_access(ctx->device);
    free(ctx->printed);
    ctx->printed = NULL;
    ctx->n_printed = ctx->cap_printed = 0;
}

static bool find_foreign(uint64_t address, uint64_t *first, uint64_t *bytes)
{
    return pt_cu_range_find_foreign(address, first, bytes) ||
           pt_cu_multicast_find_bound(address, first, bytes);
}

CUresult pt_cu_context_revive(CUcontext ctx)
{
    ptera_options options;
    char observers[256];
    ptera_options_init(&options);
    options.print = pt_cu_printed_take;
    options.print_ud = ctx;
    options.log = take_note;
    options.device = pt_cu_driver.profile->id;
    pt_cu_check_set(&options, ctx);
    pt_cu_counted_set(&options, observers, sizeof observers);
    ptera_result made = ptera_engine_create(&options, &ctx->engine);
    if (made == PTERA_OK && (made = pt_cu_device_runtime_register(ctx->engine)) != PTERA_OK) {
        ptera_engine_destroy(ctx->engine);
        ctx->engine = NULL;
    }
    if (made != PTERA_OK)
        return pt_cu_error_of(made);
    ctx->engine->replicas = pt_cu_multicast_replicas;
    ctx->engine->trace = pt_cu_trace_get();
    ctx->engine->uncounted = &pt_cu_driver.is_unprofiled;
    ctx->engine->find_foreign = find_foreign;
    pt_cu_limit_reset(ctx);
    ctx->is_alive = true;
    pt_cu_context_list_enter(ctx);
    ctx->error = CUDA_SUCCESS;
    ctx->null_stream = pt_cu_stream_new(ctx, CU_STREAM_DEFAULT, 0);
    if (!ctx->null_stream) {
        pt_cu_context_kill(ctx);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    PT_CU_LISTENER_TELL(PT_CU_MADE_CONTEXT, .context = ctx);
    return CUDA_SUCCESS;
}

CUcontext pt_cu_context_new(CUdevice device, bool is_primary)
{
    CUcontext ctx = pt_cu_handle_new(PT_CU_CONTEXT, sizeof *ctx);
    if (!ctx)
        return NULL;
    ctx->device = device;
    ctx->whole = ctx;
    ctx->is_primary = is_primary;
    ctx->api_version = API_VERSION;
    pthread_mutex_init(&ctx->print_lock, NULL);
    return ctx;
}

bool pt_cu_context_are_flags(unsigned flags)
{
    unsigned sched = flags & CU_CTX_SCHED_MASK;
    return !(flags & ~(unsigned)CU_CTX_FLAGS_MASK) && !(sched & (sched - 1));
}

static CUresult create(CUcontext *out, unsigned flags, CUdevice device, unsigned api_version)
{
    CUresult r = pt_cu_driver_check();
    if (r != CUDA_SUCCESS)
        return r;
    if (!out || !pt_cu_context_are_flags(flags))
        return CUDA_ERROR_INVALID_VALUE;
    if (!pt_cu_device_is_valid(device))
        return CUDA_ERROR_INVALID_DEVICE;
    CUcontext ctx = pt_cu_context_new(device, false);
    if (!ctx)
        return CUDA_ERROR_OUT_OF_MEMORY;
    ctx->flags = flags | CU_CTX_MAP_HOST;
    ctx->uses = 1;
    ctx->api_version = api_version;
    r = pt_cu_context_revive(ctx);
    if (r == CUDA_SUCCESS)
        r = pt_cu_current_push(ctx);
    if (r == CUDA_SUCCESS)
        *out = ctx;
    else if (ctx->is_alive)
        pt_cu_context_kill(ctx);
    if (r != CUDA_SUCCESS)
        pt_cu_handle_delete(ctx);
    return r;
}

CUresult cuCtxCreate(CUcontext *ctx, unsigned flags, CUdevice device)
{
    return API(create(ctx, flags, device, API_VERSION_OLD));
}

CUresult cuCtxCreate_v2(CUcontext *ctx, unsigned flags, CUdevice device)
{
    return API(create(ctx, flags, device, API_VERSION));
}

/* Affinity to some SMs is nothing that a device here offers. */
CUresult cuCtxCreate_v3(CUcontext *ctx, CUexecAffinityParam *affinity, int n, unsigned flags,
                        CUdevice device)
{
    if (n < 0 || (n && !affinity))
        return API(CUDA_ERROR_INVALID_VALUE);
    return API(n ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY : create(ctx, flags, device, API_VERSION));
}

CUresult cuCtxCreate_v4(CUcontext *ctx, CUctxCreateParams *params, unsigned flags, CUdevice device)
{
    if (params && params->cigParams)
        return API(CUDA_ERROR_NOT_SUPPORTED);
    bool affine = params && params->numExecAffinityParams;
    return API(affine ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY
                      : create(ctx, flags, device, API_VERSION));
}

static CUresult destroy(CUcontext ctx)
{
    CUresult r = pt_cu_driver_check();
    if (r != CUDA_SUCCESS)
        return r;
    if (!ctx)
        return CUDA_ERROR_INVALID_VALUE;
    if (!pt_cu_handle_is(ctx, PT_CU_CONTEXT) || ctx->is_primary)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!ctx->is_alive)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    ctx->refs++;
    pt_cu_context_kill(ctx);
    pt_cu_current_leave(ctx);
    pt_cu_current_unref(ctx);
    return CUDA_SUCCESS;
}

CUresult cuCtxDestroy(CUcontext ctx)
{
    return API(destroy(ctx));
}

CUresult cuCtxDestroy_v2(CUcontext ctx)
{
    return API(destroy(ctx));
}

static CUresult attach(CUcontext *out, unsigned flags)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get_any(&ctx);
    if (r == CUDA_SUCCESS && (!out || flags))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    ctx->uses++;
    *out = ctx;
    return CUDA_SUCCESS;
}

CUresult cuCtxAttach(CUcontext *ctx, unsigned flags)
{
    return API(attach(ctx, flags));
}

/* Of the current context only. */
static CUresult detach(CUcontext given)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get_any(&ctx);
    if (r == CUDA_SUCCESS && (given != ctx || !ctx->uses))
        r = CUDA_ERROR_INVALID_CONTEXT;
    if (r != CUDA_SUCCESS)
        return r;
    return --ctx->uses || ctx->is_primary ? CUDA_SUCCESS : destroy(ctx);
}

CUresult cuCtxDetach(CUcontext ctx)
{
    return API(detach(ctx));
}

/* ---- about the current one, or one that is given --------------------------------------------- */

/* Bindings that look for "_v2" of every name call these without the argument: what is no context
 * means the current one. */
static CUresult or_current(CUcontext given, CUcontext *ctx)
{
    CUresult r = pt_cu_context_list_check(given, ctx);
    return r == CUDA_ERROR_INVALID_CONTEXT ? pt_cu_current_get_any(ctx) : r;
}

static CUresult get_device(CUdevice *device, CUcontext given)
{
    CUcontext ctx;
    CUresult r = or_current(given, &ctx);
    if (r == CUDA_ERROR_CONTEXT_IS_DESTROYED) /* what is given; NVIDIA's driver tells, too */
        r = pt_cu_current_get_any(&ctx);
    if (r == CUDA_SUCCESS && !device)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *device = ctx->device;
    return r;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    return API(get_device(device, NULL));
}

CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext ctx)
{
    return API(get_device(device, ctx));
}

static CUresult synchronize(CUcontext given)
{
    CUcontext ctx;
    CUresult r = or_current(given, &ctx);
    if (r == CUDA_SUCCESS)
        r = ctx->error;
    if (r == CUDA_SUCCESS)
        r = pt_cu_capture_forbid_context(ctx);
    if (r != CUDA_SUCCESS)
        return r;
    r = pt_cu_command_drain(ctx);
    pt_cu_pool_trim_all(ctx->device);
    pt_cu_printed_flush(ctx);
    return r;
}

CUresult cuCtxSynchronize(void)
{
    return API(synchronize(NULL));
}

CUresult cuCtxSynchronize_v2(CUcontext ctx)
{
    return API_GIVEN(((struct pt_cu_context_arguments){ctx}), synchronize(ctx));
}

static CUresult get_flags(unsigned *flags)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get_any(&ctx);
    if (r == CUDA_SUCCESS && !flags)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *flags = ctx->flags;
    return r;
}

CUresult cuCtxGetFlags(unsigned *flags)
{
    return API(get_flags(flags));
}

/* All SMs are a context's. */
static CUresult get_affinity(CUexecAffinityParam *affinity, CUexecAffinityType type)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    if (r == CUDA_SUCCESS && (!affinity || type != CU_EXEC_AFFINITY_TYPE_SM_COUNT))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *affinity =
            (CUexecAffinityParam){type, (unsigned)pt_cu_device_attribute(
                                            CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, ctx->device)};
    return r;
}

CUresult cuCtxGetExecAffinity(CUexecAffinityParam *affinity, CUexecAffinityType type)
{
    return API(get_affinity(affinity, type));
}

static CUresult set_flags(unsigned flags)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    if (r == CUDA_SUCCESS && !pt_cu_context_are_flags(flags))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        ctx->flags = flags | CU_CTX_MAP_HOST;
    return r;
}

CUresult cuCtxSetFlags(unsigned flags)
{
    return API(set_flags(flags));
}

static CUresult get_id(CUcontext given, unsigned long long *id)
{
    CUcontext ctx;
    CUresult r = given ? pt_cu_context_list_check(given, &ctx) : pt_cu_current_get_any(&ctx);
    if (r == CUDA_SUCCESS && !id)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *id = (given ? given : pt_cu_current_handle())->object.id;
    return r;
}

CUresult cuCtxGetId(CUcontext ctx, unsigned long long *id)
{
    return API(get_id(ctx, id));
}

static CUresult get_api_version(CUcontext given, unsigned *version)
{
    CUcontext ctx;
    CUresult r = given ? pt_cu_context_list_check(given, &ctx) : pt_cu_current_get_any(&ctx);
    if (given && r == CUDA_ERROR_CONTEXT_IS_DESTROYED) /* as an H100's driver has it */
        r = CUDA_ERROR_INVALID_CONTEXT;
    if (r == CUDA_SUCCESS && !version)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *version = ctx->api_version;
    return r;
}

CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned *version)
{
    return API(get_api_version(ctx, version));
}
