/* The entries of streams. */
#include "runtime/cuda/driver.h"

void pt_cu_stream_management_delete(CUstream stream)
{
    CUstream *place = &stream->ctx->streams;
    while (*place != stream)
        place = &(*place)->next;
    pt_cu_stream_hand_over(stream);
    *place = stream->next;
    pt_cu_capture_leave(stream);
    pt_cu_command_put(stream->tail);
    pt_cu_delete(stream);
}

/* ---- entries ------------------------------------------------------------------------------------------- */

static CUresult create(CUstream *out, unsigned flags, int priority)
{
    CUcontext ctx;
    CUresult r = pt_cu_current(&ctx);
    if (r != CUDA_SUCCESS)
        return r;
    if (!out || flags & ~(unsigned)CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    if (priority > 0)
        priority = 0;
    if (priority < PT_CU_PRIORITY_GREATEST)
        priority = PT_CU_PRIORITY_GREATEST;
    *out = pt_cu_stream_new(ctx, flags, priority);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    return API(create(stream, flags, 0));
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
    return API(create(stream, flags, priority));
}

/* Default streams stay. */
static CUresult destroy(CUstream stream)
{
    CUresult r = pt_cu_check_init();
    if (r != CUDA_SUCCESS)
        return r;
    if (!pt_cu_is(stream, PT_CU_STREAM) || stream->thread || stream == stream->ctx->null_stream)
        return CUDA_ERROR_INVALID_HANDLE;
    pt_cu_stream_management_delete(stream);
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream stream)
{
    return API(destroy(stream));
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    return API(destroy(stream));
}

static CUresult synchronize(CUstream null, CUstream given)
{
    CUstream stream;
    CUresult r = pt_cu_stream(null, given, &stream);
    if (r != CUDA_SUCCESS)
        return r;
    CUdevice device = stream->ctx->device;
    r = pt_cu_stream_finish(stream);
    pt_cu_pools_trim(device);
    return r;
}

PER_THREAD_API(cuStreamSynchronize, _ptsz, synchronize, (CUstream stream), stream)

static CUresult query(CUstream null, CUstream given)
{
    CUstream stream;
    CUresult r = pt_cu_stream(null, given, &stream);
    if (r == CUDA_SUCCESS)
        r = pt_cu_capture_check(stream);
    if (r == CUDA_SUCCESS)
        r = pt_cu_capture_forbid(stream);
    if (r != CUDA_SUCCESS)
        return r;
    return pt_cu_stream_is_idle(stream) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

PER_THREAD_API(cuStreamQuery, _ptsz, query, (CUstream stream), stream)

static CUresult wait_event(CUstream null, CUstream given, CUevent event, unsigned flags)
{
    CUstream stream;
    CUresult r = pt_cu_stream(null, given, &stream);
    if (r != CUDA_SUCCESS)
        return r;
    if (!pt_cu_is(event, PT_CU_EVENT))
        return CUDA_ERROR_INVALID_HANDLE;
    if (flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream->capture || event->capture)
        return pt_cu_capture_wait(stream, event, flags);
    if (event->shared && !pt_cu_shared_is_done(event->shared)) {
        struct pt_cu_op wait = pt_cu_shared_wait(event->shared);
        return pt_cu_submit(stream, &wait);
    }
    if (event->shared || !event->recorded || event->recorded->is_done)
        return CUDA_SUCCESS;
    struct pt_cu_op op = {.work = PT_CU_EMPTY};
    struct pt_cu_command *command = pt_cu_stream_append(stream, &op, false);
    if (!command)
        return CUDA_ERROR_OUT_OF_MEMORY;
    bool ok = pt_cu_command_after(command, event->recorded);
    pt_cu_command_start(command);
    pt_cu_command_put(command);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

PER_THREAD_API(cuStreamWaitEvent, _ptsz, wait_event, (CUstream stream, CUevent event, unsigned flags), stream, event,
               flags)

static CUresult get_priority(CUstream null, CUstream given, int *priority)
{
    CUstream stream;
    CUresult r = pt_cu_stream(null, given, &stream);
    if (r == CUDA_SUCCESS && !priority)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *priority = stream->priority;
    return r;
}

PER_THREAD_API(cuStreamGetPriority, _ptsz, get_priority, (CUstream stream, int *priority), stream, priority)

static CUresult get_flags(CUstream null, CUstream given, unsigned *flags)
{
    CUstream stream;
    CUresult r = pt_cu_stream(null, given, &stream);
    if (r == CUDA_SUCCESS && !flags)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *flags = stream->flags;
    return r;
}

PER_THREAD_API(cuStreamGetFlags, _ptsz, get_flags, (CUstream stream, unsigned *flags), stream, flags)

static CUresult get_id(CUstream null, CUstream given, unsigned long long *id)
{
    CUstream stream;
    CUresult r = pt_cu_stream(null, given, &stream);
    if (r == CUDA_SUCCESS && !id)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *id = stream->object.id;
    return r;
}

PER_THREAD_API(cuStreamGetId, _ptsz, get_id, (CUstream stream, unsigned long long *id), stream, id)

static CUresult get_ctx(CUstream null, CUstream given, CUcontext *ctx)
{
    CUstream stream;
    CUresult r = pt_cu_stream(null, given, &stream);
    if (r == CUDA_SUCCESS && !ctx)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *ctx = stream->ctx;
    return r;
}

PER_THREAD_API(cuStreamGetCtx, _ptsz, get_ctx, (CUstream stream, CUcontext *ctx), stream, ctx)

static CUresult get_device(CUstream null, CUstream given, CUdevice *device)
{
    CUstream stream;
    CUresult r = pt_cu_stream(null, given, &stream);
    if (r == CUDA_SUCCESS && !device)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *device = stream->ctx->device;
    return r;
}

PER_THREAD_API(cuStreamGetDevice, _ptsz, get_device, (CUstream stream, CUdevice *device), stream, device)

/* ---- functions of the host ----------------------------------------------------------------------------- */

static CUresult launch_host(CUstream null, CUstream given, CUhostFn call, void *ud)
{
    CUstream stream;
    CUresult r = pt_cu_stream(null, given, &stream);
    if (r == CUDA_SUCCESS && !call)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    struct pt_cu_op op = {.work = PT_CU_HOST_CALL, .host = {call, ud}};
    return pt_cu_submit(stream, &op);
}

PER_THREAD_API(cuLaunchHostFunc, _ptsz, launch_host, (CUstream stream, CUhostFn call, void *ud), stream, call, ud)

static CUresult add_callback(CUstream null, CUstream given, CUstreamCallback call, void *ud, unsigned flags)
{
    CUstream stream;
    CUresult r = pt_cu_stream(null, given, &stream);
    if (r == CUDA_SUCCESS && (!call || flags))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && stream->capture)
        r = pt_cu_capture_spoil(stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    if (r != CUDA_SUCCESS)
        return r;
    struct pt_cu_op op = {.work = PT_CU_CALLBACK, .callback = {call, given, ud}};
    return pt_cu_submit(stream, &op);
}

PER_THREAD_API(cuStreamAddCallback, _ptsz, add_callback,
               (CUstream stream, CUstreamCallback call, void *ud, unsigned flags), stream, call, ud, flags)

/* ---- attributes ---------------------------------------------------------------------------------------- */

static CUresult attribute(CUstream null, CUstream given, CUstreamAttrID id, CUstreamAttrValue *get,
                          const CUstreamAttrValue *set)
{
    CUstream stream;
    CUresult r = pt_cu_stream(null, given, &stream);
    if (r != CUDA_SUCCESS)
        return r;
    if (!get && !set)
        return CUDA_ERROR_INVALID_VALUE;
    if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY && get) {
        get->priority = stream->priority;
        return CUDA_SUCCESS;
    }
    if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY) {
        stream->priority = set->priority;
        return CUDA_SUCCESS;
    }
    if (id == CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) /* a kernel's */
        return CUDA_ERROR_INVALID_VALUE;
    return get ? pt_cu_hint_get(&stream->hints, id, get)
               : pt_cu_hint_set(&stream->hints, id, set, stream->ctx->device);
}

PER_THREAD_API(cuStreamGetAttribute, _ptsz, attribute,
               (CUstream stream, CUstreamAttrID id, CUstreamAttrValue *value), stream, id, value, NULL)
PER_THREAD_API(cuStreamSetAttribute, _ptsz, attribute,
               (CUstream stream, CUstreamAttrID id, const CUstreamAttrValue *value), stream, id, NULL, value)

static CUresult copy_attributes(CUstream null, CUstream to, CUstream from)
{
    CUstream target, source;
    CUresult r = pt_cu_stream(null, to, &target);
    if (r == CUDA_SUCCESS)
        r = pt_cu_stream(null, from, &source);
    if (r == CUDA_SUCCESS)
        target->hints = source->hints;
    return r;
}

PER_THREAD_API(cuStreamCopyAttributes, _ptsz, copy_attributes, (CUstream to, CUstream from), to, from)
