/* Contexts: each has an engine of its own, so that what a kernel breaks stays inside. */
#include "runtime/cuda/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/thread.h"

enum { API_VERSION_OLD = 3010, API_VERSION = 3020 };

/* ---- what a thread has --------------------------------------------------------------------------------- */

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static __thread struct pt_cu_thread *mine;

static void unref(CUcontext ctx)
{
    if (--ctx->refs == 0 && !ctx->is_alive && !ctx->is_primary)
        pt_cu_delete(ctx);
}

/* Work that is under way in them goes on. */
static void delete_default_streams(uint64_t thread)
{
    for (CUcontext ctx = pt_cu_next_context(NULL); ctx; ctx = pt_cu_next_context(ctx)) {
        CUstream next;
        for (CUstream s = ctx->streams; s; s = next) {
            next = s->next;
            if (s->thread == thread)
                pt_cu_stream_delete(s);
        }
    }
}

static void thread_end(void *ud)
{
    struct pt_cu_thread *thread = ud;
    pt_cu_lock();
    delete_default_streams(thread->id);
    while (thread->depth)
        unref(thread->stack[--thread->depth]);
    pt_cu_unlock();
    free(thread->stack);
    free(thread);
}

static void make_key(void)
{
    pthread_key_create(&key, thread_end);
}

struct pt_cu_thread *pt_cu_thread(void)
{
    if (mine)
        return mine;
    pthread_once(&key_once, make_key);
    mine = calloc(1, sizeof *mine);
    if (mine) {
        mine->id = pt_cu_new_id();
        pthread_setspecific(key, mine);
    }
    return mine;
}

static CUcontext top(void)
{
    return mine && mine->depth ? mine->stack[mine->depth - 1] : NULL;
}

static CUresult push(CUcontext ctx)
{
    struct pt_cu_thread *thread = pt_cu_thread();
    if (thread && thread->depth == thread->cap) {
        size_t cap = thread->cap ? thread->cap * 2 : 8;
        CUcontext *stack = realloc(thread->stack, cap * sizeof *stack);
        if (!stack)
            return CUDA_ERROR_OUT_OF_MEMORY;
        thread->stack = stack;
        thread->cap = cap;
    }
    if (!thread)
        return CUDA_ERROR_OUT_OF_MEMORY;
    thread->stack[thread->depth++] = ctx;
    ctx->refs++;
    return CUDA_SUCCESS;
}

CUresult pt_cu_current_any(CUcontext *ctx)
{
    CUresult r = pt_cu_check_init();
    *ctx = r == CUDA_SUCCESS ? top() : NULL;
    if (r == CUDA_SUCCESS && !*ctx)
        r = CUDA_ERROR_INVALID_CONTEXT;
    if (r == CUDA_SUCCESS && !(*ctx)->is_alive)
        r = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return r;
}

CUresult pt_cu_current(CUcontext *ctx)
{
    CUresult r = pt_cu_current_any(ctx);
    return r == CUDA_SUCCESS ? (*ctx)->error : r;
}

CUresult pt_cu_context(CUcontext given, CUcontext *ctx)
{
    if (!given)
        return pt_cu_current(ctx);
    CUresult r = pt_cu_check_init();
    if (r != CUDA_SUCCESS)
        return r;
    if (!pt_cu_is(given, PT_CU_CONTEXT))
        return CUDA_ERROR_INVALID_CONTEXT;
    *ctx = given;
    return given->is_alive ? given->error : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult pt_cu_result(ptera_result result)
{
    static const CUresult results[] = {
        [PTERA_ERROR_INVALID_ARGUMENT] = CUDA_ERROR_INVALID_VALUE,
        [PTERA_ERROR_OUT_OF_MEMORY] = CUDA_ERROR_OUT_OF_MEMORY,
        [PTERA_ERROR_INVALID_PTX] = CUDA_ERROR_INVALID_PTX,
        [PTERA_ERROR_UNSUPPORTED_PTX] = CUDA_ERROR_NOT_SUPPORTED,
        [PTERA_ERROR_FILE] = CUDA_ERROR_FILE_NOT_FOUND,
        [PTERA_ERROR_NOT_FOUND] = CUDA_ERROR_NOT_FOUND,
        [PTERA_ERROR_INVALID_LAUNCH] = CUDA_ERROR_INVALID_VALUE,
        [PTERA_ERROR_NOT_INITIALIZED] = CUDA_ERROR_NOT_INITIALIZED,
        [PTERA_ERROR_ILLEGAL_ADDRESS] = CUDA_ERROR_ILLEGAL_ADDRESS,
        [PTERA_ERROR_MISALIGNED_ADDRESS] = CUDA_ERROR_MISALIGNED_ADDRESS,
        [PTERA_ERROR_TRAP] = CUDA_ERROR_LAUNCH_FAILED,
        [PTERA_ERROR_ASSERT] = CUDA_ERROR_ASSERT,
        [PTERA_ERROR_STACK_OVERFLOW] =
            CUDA_ERROR_ILLEGAL_ADDRESS, /* as an H100 answers when a recursion is too deep */
        [PTERA_ERROR_ILLEGAL_INSTRUCTION] = CUDA_ERROR_ILLEGAL_INSTRUCTION,
        [PTERA_ERROR_DEADLOCK] = CUDA_ERROR_LAUNCH_TIMEOUT,
        [PTERA_ERROR_TIMEOUT] = CUDA_ERROR_LAUNCH_TIMEOUT,
    };
    return results[result];
}

/* ---- text that kernels print --------------------------------------------------------------------------- */

/* A program whose reader has gone is not to die of what its kernels print. */
static void print_out(const char *text, size_t bytes, bool is_last)
{
    struct pt_quiet quiet;
    pt_thread_quiet(&quiet);
    fwrite(text, 1, bytes, stdout);
    if (is_last)
        fflush(stdout);
    pt_thread_unquiet(&quiet);
}

static void write_out(CUcontext ctx, bool is_last)
{
    print_out(ctx->printed, ctx->n_printed, is_last);
    ctx->n_printed = 0;
}

/* From any worker. Text waits for the next synchronising call, or until there is as much as the FIFO holds. */
static void take_printed(void *ud, const char *text, size_t bytes)
{
    CUcontext ctx = ud;
    pthread_mutex_lock(&ctx->print_lock);
    if (ctx->n_printed + bytes > ctx->cap_printed) {
        size_t cap = (ctx->n_printed + bytes) * 2;
        char *more = realloc(ctx->printed, cap);
        if (more) {
            ctx->printed = more;
            ctx->cap_printed = cap;
        } else {
            write_out(ctx, false);
        }
    }
    if (ctx->n_printed + bytes <= ctx->cap_printed) {
        memcpy(ctx->printed + ctx->n_printed, text, bytes);
        ctx->n_printed += bytes;
    } else {
        print_out(text, bytes, false);
    }
    if (ctx->n_printed > ctx->limits[CU_LIMIT_PRINTF_FIFO_SIZE])
        write_out(ctx, false);
    pthread_mutex_unlock(&ctx->print_lock);
}

void pt_cu_flush_printed(CUcontext ctx)
{
    pthread_mutex_lock(&ctx->print_lock);
    if (ctx->n_printed)
        write_out(ctx, true);
    pthread_mutex_unlock(&ctx->print_lock);
}

/* Errors that a kernel survives are told always, notes of the engine with what else is said of loading. */
static void take_note(void *ud, ptera_severity severity, const char *text)
{
    (void)ud;
    if (severity == PTERA_ERROR || pt_cu_logs(PT_CU_LOG_LOAD))
        pt_cu_log("%s", text);
}

/* ---- making and unmaking ------------------------------------------------------------------------------- */

static CUcontext alive;

CUcontext pt_cu_next_context(CUcontext ctx)
{
    return ctx ? ctx->next : alive;
}

static void enter_list(CUcontext ctx)
{
    ctx->next = alive;
    ctx->previous = NULL;
    if (alive)
        alive->previous = ctx;
    alive = ctx;
}

static void leave_list(CUcontext ctx)
{
    if (ctx->next)
        ctx->next->previous = ctx->previous;
    if (ctx->previous)
        ctx->previous->next = ctx->next;
    else
        alive = ctx->next;
}

/* Ends all that a context has. The object stays. */
static void kill_context(CUcontext ctx)
{
    pt_cu_quiesce(ctx);
    pt_cu_flush_printed(ctx);
    ctx->is_alive = false;
    leave_list(ctx);
    while (ctx->events)
        pt_cu_event_delete(ctx->events);
    while (ctx->streams)
        pt_cu_stream_delete(ctx->streams);
    while (ctx->modules)
        pt_cu_module_delete(ctx->modules);
    pt_cu_free_all(ctx);
    ptera_engine_destroy(ctx->engine);
    ctx->engine = NULL;
    ctx->null_stream = NULL;
    ctx->peers = 0;
    free(ctx->printed);
    ctx->printed = NULL;
    ctx->n_printed = ctx->cap_printed = 0;
}

static CUresult revive(CUcontext ctx)
{
    ptera_options options;
    ptera_options_init(&options);
    options.print = take_printed;
    options.print_ud = ctx;
    options.log = take_note;
    ptera_result made = ptera_engine_create(&options, &ctx->engine);
    if (made != PTERA_OK)
        return pt_cu_result(made);
    ctx->engine->replicas = pt_cu_replicas;
    pt_cu_limits_reset(ctx);
    ctx->is_alive = true;
    enter_list(ctx);
    ctx->error = CUDA_SUCCESS;
    ctx->null_stream = pt_cu_stream_new(ctx, CU_STREAM_DEFAULT, 0);
    if (ctx->null_stream)
        return CUDA_SUCCESS;
    kill_context(ctx);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

static CUcontext new_context(CUdevice device, bool is_primary)
{
    CUcontext ctx = pt_cu_new(PT_CU_CONTEXT, sizeof *ctx);
    if (!ctx)
        return NULL;
    ctx->device = device;
    ctx->is_primary = is_primary;
    ctx->api_version = API_VERSION;
    pthread_mutex_init(&ctx->print_lock, NULL);
    return ctx;
}

static bool are_flags(unsigned flags)
{
    unsigned sched = flags & CU_CTX_SCHED_MASK;
    return !(flags & ~(unsigned)CU_CTX_FLAGS_MASK) && !(sched & (sched - 1));
}

static CUresult create(CUcontext *out, unsigned flags, CUdevice device, unsigned api_version)
{
    CUresult r = pt_cu_check_init();
    if (r != CUDA_SUCCESS)
        return r;
    if (!out || !are_flags(flags))
        return CUDA_ERROR_INVALID_VALUE;
    if (!pt_cu_is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    CUcontext ctx = new_context(device, false);
    if (!ctx)
        return CUDA_ERROR_OUT_OF_MEMORY;
    ctx->flags = flags | CU_CTX_MAP_HOST;
    ctx->uses = 1;
    ctx->api_version = api_version;
    r = revive(ctx);
    if (r == CUDA_SUCCESS)
        r = push(ctx);
    if (r == CUDA_SUCCESS)
        *out = ctx;
    else if (ctx->is_alive)
        kill_context(ctx);
    if (r != CUDA_SUCCESS)
        pt_cu_delete(ctx);
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
CUresult cuCtxCreate_v3(CUcontext *ctx, CUexecAffinityParam *affinity, int n, unsigned flags, CUdevice device)
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
    return API(affine ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY : create(ctx, flags, device, API_VERSION));
}

static CUresult destroy(CUcontext ctx)
{
    CUresult r = pt_cu_check_init();
    if (r != CUDA_SUCCESS)
        return r;
    if (!ctx)
        return CUDA_ERROR_INVALID_VALUE;
    if (!pt_cu_is(ctx, PT_CU_CONTEXT) || ctx->is_primary)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!ctx->is_alive)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    ctx->refs++;
    kill_context(ctx);
    if (top() == ctx) {
        mine->depth--;
        ctx->refs--;
    }
    unref(ctx);
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
    CUresult r = pt_cu_current_any(&ctx);
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
    CUresult r = pt_cu_current_any(&ctx);
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

/* ---- primary contexts ---------------------------------------------------------------------------------- */

static CUresult check_device(CUdevice device)
{
    CUresult r = pt_cu_check_init();
    return r == CUDA_SUCCESS && !pt_cu_is_device(device) ? CUDA_ERROR_INVALID_DEVICE : r;
}

static CUresult retain(CUcontext *out, CUdevice device)
{
    CUresult r = check_device(device);
    if (r != CUDA_SUCCESS)
        return r;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    struct pt_cu_device *d = &pt_cu_driver.devices[device];
    if (!d->primary)
        d->primary = new_context(device, true);
    if (!d->primary)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!d->primary->is_alive)
        r = revive(d->primary);
    if (r != CUDA_SUCCESS)
        return r;
    d->primary->flags = d->primary_flags | CU_CTX_MAP_HOST;
    d->retained++;
    *out = d->primary;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice device)
{
    return API(retain(ctx, device));
}

static CUresult release(CUdevice device)
{
    CUresult r = check_device(device);
    if (r != CUDA_SUCCESS)
        return r;
    struct pt_cu_device *d = &pt_cu_driver.devices[device];
    if (!d->retained)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (--d->retained == 0 && d->primary->is_alive)
        kill_context(d->primary);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    return API(release(device));
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    return API(release(device));
}

/* Those who retained it keep it; it is made anew at once, empty. */
static CUresult reset(CUdevice device)
{
    CUresult r = check_device(device);
    if (r != CUDA_SUCCESS)
        return r;
    struct pt_cu_device *d = &pt_cu_driver.devices[device];
    if (!d->primary || !d->primary->is_alive)
        return CUDA_SUCCESS;
    kill_context(d->primary);
    return d->retained ? revive(d->primary) : CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
    return API(reset(device));
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
    return API(reset(device));
}

static CUresult set_primary_flags(CUdevice device, unsigned flags)
{
    CUresult r = check_device(device);
    if (r != CUDA_SUCCESS)
        return r;
    if (!are_flags(flags))
        return CUDA_ERROR_INVALID_VALUE;
    struct pt_cu_device *d = &pt_cu_driver.devices[device];
    d->primary_flags = flags;
    if (d->primary)
        d->primary->flags = flags | CU_CTX_MAP_HOST;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags)
{
    return API(set_primary_flags(device, flags));
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags)
{
    return API(set_primary_flags(device, flags));
}

static CUresult get_state(CUdevice device, unsigned *flags, int *active)
{
    CUresult r = check_device(device);
    if (r != CUDA_SUCCESS)
        return r;
    if (!flags || !active)
        return CUDA_ERROR_INVALID_VALUE;
    const struct pt_cu_device *d = &pt_cu_driver.devices[device];
    *flags = d->primary_flags;
    *active = d->primary && d->primary->is_alive;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    return API(get_state(device, flags, active));
}

/* ---- which one is current ------------------------------------------------------------------------------ */

static CUresult check_usable(CUcontext ctx)
{
    CUresult r = pt_cu_check_init();
    if (r != CUDA_SUCCESS)
        return r;
    if (!pt_cu_is(ctx, PT_CU_CONTEXT))
        return CUDA_ERROR_INVALID_CONTEXT;
    return ctx->is_alive ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

static CUresult set_current(CUcontext ctx)
{
    CUresult r = ctx ? check_usable(ctx) : pt_cu_check_init();
    if (r != CUDA_SUCCESS)
        return r;
    if (!top())
        return ctx ? push(ctx) : CUDA_SUCCESS;
    CUcontext before = top();
    if (ctx) {
        mine->stack[mine->depth - 1] = ctx;
        ctx->refs++;
    } else {
        mine->depth--;
    }
    unref(before);
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext ctx)
{
    return API(set_current(ctx));
}

static CUresult get_current(CUcontext *ctx)
{
    CUresult r = pt_cu_check_init();
    if (r == CUDA_SUCCESS && !ctx)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *ctx = top();
    return r;
}

CUresult cuCtxGetCurrent(CUcontext *ctx)
{
    return API(get_current(ctx));
}

static CUresult push_current(CUcontext ctx)
{
    CUresult r = ctx ? check_usable(ctx) : CUDA_ERROR_INVALID_VALUE;
    return r == CUDA_SUCCESS ? push(ctx) : r;
}

CUresult cuCtxPushCurrent(CUcontext ctx)
{
    return API(push_current(ctx));
}

CUresult cuCtxPushCurrent_v2(CUcontext ctx)
{
    return API(push_current(ctx));
}

static CUresult pop_current(CUcontext *ctx)
{
    CUresult r = pt_cu_check_init();
    if (r != CUDA_SUCCESS)
        return r;
    CUcontext before = top();
    if (!before)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (ctx)
        *ctx = before;
    mine->depth--;
    unref(before);
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext *ctx)
{
    return API(pop_current(ctx));
}

CUresult cuCtxPopCurrent_v2(CUcontext *ctx)
{
    return API(pop_current(ctx));
}

/* ---- about the current one, or one that is given ------------------------------------------------------- */

/* Bindings that look for "_v2" of every name call these without the argument: what is no context means the current one. */
static CUresult or_current(CUcontext given, CUcontext *ctx)
{
    return pt_cu_is(given, PT_CU_CONTEXT) ? check_usable(*ctx = given) : pt_cu_current_any(ctx);
}

static CUresult get_device(CUdevice *device, CUcontext given)
{
    CUcontext ctx;
    CUresult r = or_current(given, &ctx);
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
    r = pt_cu_drain(ctx);
    pt_cu_pools_trim(ctx->device);
    pt_cu_flush_printed(ctx);
    return r;
}

CUresult cuCtxSynchronize(void)
{
    return API(synchronize(NULL));
}

CUresult cuCtxSynchronize_v2(CUcontext ctx)
{
    return API(synchronize(ctx));
}

static CUresult get_flags(unsigned *flags)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_any(&ctx);
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

static CUresult set_flags(unsigned flags)
{
    CUcontext ctx;
    CUresult r = pt_cu_current(&ctx);
    if (r == CUDA_SUCCESS && !are_flags(flags))
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
    CUresult r = given ? check_usable(ctx = given) : pt_cu_current_any(&ctx);
    if (r == CUDA_SUCCESS && !id)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *id = ctx->object.id;
    return r;
}

CUresult cuCtxGetId(CUcontext ctx, unsigned long long *id)
{
    return API(get_id(ctx, id));
}

static CUresult get_api_version(CUcontext given, unsigned *version)
{
    CUcontext ctx;
    CUresult r = given ? check_usable(ctx = given) : pt_cu_current_any(&ctx);
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

/* ---- preferences --------------------------------------------------------------------------------------- */

static CUresult cache_config(CUfunc_cache *get, CUfunc_cache set)
{
    CUcontext ctx;
    CUresult r = pt_cu_current(&ctx);
    if (r == CUDA_SUCCESS && ((unsigned)set > CU_FUNC_CACHE_PREFER_EQUAL))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && get)
        *get = ctx->cache_config;
    else if (r == CUDA_SUCCESS)
        ctx->cache_config = set;
    return r;
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *config)
{
    return API(config ? cache_config(config, CU_FUNC_CACHE_PREFER_NONE) : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
    return API(cache_config(NULL, config));
}

/* Banks have 4 bytes, whatever is asked for, as on all devices since compute capability 5.0. */
static CUresult shared_config(CUsharedconfig *get, CUsharedconfig set)
{
    CUcontext ctx;
    CUresult r = pt_cu_current(&ctx);
    if (r == CUDA_SUCCESS && ((unsigned)set > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && get)
        *get = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return r;
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config)
{
    return API(config ? shared_config(config, CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE) : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    return API(shared_config(NULL, config));
}

static CUresult priority_range(int *least, int *greatest)
{
    CUcontext ctx;
    CUresult r = pt_cu_current(&ctx);
    if (r == CUDA_SUCCESS && least)
        *least = 0;
    if (r == CUDA_SUCCESS && greatest)
        *greatest = PT_CU_PRIORITY_GREATEST;
    return r;
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    return API(priority_range(least, greatest));
}

static CUresult succeed_if_current(void)
{
    CUcontext ctx;
    return pt_cu_current(&ctx);
}

CUresult cuCtxResetPersistingL2Cache(void)
{
    return API(succeed_if_current());
}

/* There is no profiler to start or stop; programs that mark their regions go on. */
CUresult cuProfilerStart(void)
{
    return API(succeed_if_current());
}

CUresult cuProfilerStop(void)
{
    return API(succeed_if_current());
}

/* ---- memory of other devices --------------------------------------------------------------------------- */

static CUresult set_peer(CUcontext peer, unsigned flags, bool enable)
{
    CUcontext ctx;
    CUresult r = pt_cu_current(&ctx);
    if (r == CUDA_SUCCESS)
        r = check_usable(peer);
    if (r != CUDA_SUCCESS)
        return r;
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (peer->device == ctx->device)
        return enable ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    uint64_t bit = UINT64_C(1) << peer->device;
    bool is_enabled = (ctx->peers & bit) != 0;
    if (enable && is_enabled)
        return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    if (!enable && !is_enabled)
        return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    ctx->peers ^= bit;
    return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
    return API(set_peer(peer, flags, true));
}

CUresult cuCtxDisablePeerAccess(CUcontext peer)
{
    return API(set_peer(peer, 0, false));
}
