/* The entries of streams. */
#include "runtime/cuda/stream_management.h"

#include "runtime/cuda/capture.h"
#include "runtime/cuda/command.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/current.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/event.h"
#include "runtime/cuda/event_page.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/hint.h"
#include "runtime/cuda/listener.h"
#include "runtime/cuda/op.h"
#include "runtime/cuda/pool.h"
#include "runtime/cuda/stream.h"
#include "runtime/cuda/submit.h"
#include "runtime/cuda/track.h"

void pt_cu_stream_management_delete(CUstream stream)
{
    CUstream *place = &stream->ctx->streams;
    PT_CU_LISTENER_TELL(PT_CU_ENDS_STREAM, .context = stream->ctx, .stream = stream);
    while (*place != stream)
        place = &(*place)->next;
    pt_cu_stream_hand_over(stream);
    *place = stream->next;
    pt_cu_capture_leave(stream);
    pt_cu_command_put(stream->tail);
    pt_cu_track_put(stream->track);
    pt_cu_handle_delete(stream);
}

/* ---- entries --------------------------------------------------------------------------------- */

static int bound_priority(int priority)
{
    return priority > 0                         ? 0
           : priority < PT_CU_PRIORITY_GREATEST ? PT_CU_PRIORITY_GREATEST
                                                : priority;
}

static CUresult create_in(CUcontext handle, CUstream *out, unsigned flags, int priority)
{
    if (!out || flags & ~(unsigned)CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    *out = pt_cu_stream_new(handle->whole, flags, bound_priority(priority));
    if (!*out)
        return CUDA_ERROR_OUT_OF_MEMORY;
    (*out)->green = handle == handle->whole ? NULL : handle;
    pt_cu_handle_give(*out);
    return CUDA_SUCCESS;
}

static CUresult create(CUstream *out, unsigned flags, int priority)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    return r == CUDA_SUCCESS ? create_in(pt_cu_current_handle(), out, flags, priority) : r;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    return API(create(stream, flags, 0));
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
    return API(create(stream, flags, priority));
}

/* Default streams of green contexts would order what is in several of them. */
static CUresult create_green(CUstream *out, CUgreenCtx green, unsigned flags, int priority)
{
    CUcontext handle = (CUcontext)green;
    CUresult r = pt_cu_context_list_check_green(green);
    if (r == CUDA_SUCCESS)
        r = handle->whole->error;
    if (r == CUDA_SUCCESS && !(flags & CU_STREAM_NON_BLOCKING))
        r = CUDA_ERROR_INVALID_VALUE;
    return r == CUDA_SUCCESS ? create_in(handle, out, flags, priority) : r;
}

CUresult cuGreenCtxStreamCreate(CUstream *stream, CUgreenCtx green, unsigned flags, int priority)
{
    return API(create_green(stream, green, flags, priority));
}

/* Default streams stay. */
static CUresult destroy(CUstream stream)
{
    CUresult r = pt_cu_driver_check();
    if (r != CUDA_SUCCESS)
        return r;
    if (!pt_cu_handle_is(stream, PT_CU_STREAM) || stream->thread ||
        stream == stream->ctx->null_stream)
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
    CUresult r = pt_cu_stream_find(null, given, &stream);
    if (r != CUDA_SUCCESS)
        return r;
    CUdevice device = stream->ctx->device;
    r = pt_cu_submit_finish(stream);
    pt_cu_pool_trim_all(device);
    return r;
}

PER_THREAD_API_GIVEN(cuStreamSynchronize, _ptsz, ((struct pt_cu_stream_arguments){stream}),
                     synchronize, (CUstream stream), stream)

static CUresult query(CUstream null, CUstream given)
{
    CUstream stream;
    CUresult r = pt_cu_stream_find(null, given, &stream);
    if (r == CUDA_SUCCESS)
        r = pt_cu_capture_check(stream);
    if (r == CUDA_SUCCESS)
        r = pt_cu_capture_forbid(stream);
    if (r != CUDA_SUCCESS)
        return r;
    if (!pt_cu_stream_is_idle(stream))
        return CUDA_ERROR_NOT_READY;
    pt_cu_stream_waited(stream);
    return CUDA_SUCCESS;
}

PER_THREAD_API(cuStreamQuery, _ptsz, query, (CUstream stream), stream)

static CUresult wait_event(CUstream null, CUstream given, CUevent event, unsigned flags)
{
    CUstream stream;
    CUresult r = pt_cu_stream_find(null, given, &stream);
    if (r != CUDA_SUCCESS)
        return r;
    if (!pt_cu_handle_is(event, PT_CU_EVENT))
        return CUDA_ERROR_INVALID_HANDLE;
    if (flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL)
        return CUDA_ERROR_INVALID_VALUE;
    if (flags && !stream->capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (stream->capture || event->capture)
        return pt_cu_capture_wait(stream, event, flags);
    if (event->shared && !pt_cu_event_page_is_done(event->shared)) {
        struct pt_cu_op wait = pt_cu_event_page_wait(event->shared);
        return pt_cu_submit_op(stream, &wait);
    }
    if (event->shared)
        pt_cu_overlap_drained(event->ctx);
    if (event->shared || !event->recorded ||
        (event->recorded->is_done && !pt_cu_overlap_is_watched()))
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

PER_THREAD_API_GIVEN(cuStreamWaitEvent, _ptsz,
                     ((struct pt_cu_wait_arguments){stream, event, flags}), wait_event,
                     (CUstream stream, CUevent event, unsigned flags), stream, event, flags)

/* An entry that tells something of a stream. */
#define GET_API(symbol, type, member)                                       \
    static CUresult symbol##_in(CUstream null, CUstream given, type *value) \
    {                                                                       \
        CUstream stream;                                                    \
        CUresult r = pt_cu_stream_find(null, given, &stream);               \
        if (r == CUDA_SUCCESS && !value)                                    \
            r = CUDA_ERROR_INVALID_VALUE;                                   \
        if (r == CUDA_SUCCESS)                                              \
            *value = stream->member;                                        \
        return r;                                                           \
    }                                                                       \
    PER_THREAD_API(symbol, _ptsz, symbol##_in, (CUstream stream, type * value), stream, value)
GET_API(cuStreamGetPriority, int, priority)
GET_API(cuStreamGetFlags, unsigned, flags)
GET_API(cuStreamGetId, unsigned long long, object.id)
GET_API(cuStreamGetDevice, CUdevice, ctx->device)

/* Where a stream is a green context's, that is its context, as handles of both kinds. */
static CUresult get_context(CUstream null, CUstream given, CUcontext *ctx, CUgreenCtx *green)
{
    CUstream stream;
    CUresult r = pt_cu_stream_find(null, given, &stream);
    if (r == CUDA_SUCCESS && !ctx)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    CUcontext part = pt_cu_stream_green(stream);
    *ctx = part ? part : stream->ctx;
    if (green)
        *green = (CUgreenCtx)part;
    return CUDA_SUCCESS;
}

PER_THREAD_API(cuStreamGetCtx, _ptsz, get_context, (CUstream stream, CUcontext *ctx), stream, ctx,
               NULL)
PER_THREAD_API(cuStreamGetCtx_v2, _ptsz, get_context,
               (CUstream stream, CUcontext *ctx, CUgreenCtx *green), stream, ctx, green)

static CUresult get_green_context(CUstream given, CUgreenCtx *green)
{
    CUcontext ctx;
    return green ? get_context(CU_STREAM_LEGACY, given, &ctx, green) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuStreamGetGreenCtx(CUstream stream, CUgreenCtx *green)
{
    return API(get_green_context(stream, green));
}

/* ---- functions of the host ------------------------------------------------------------------- */

static CUresult launch_host(CUstream null, CUstream given, CUhostFn call, void *ud)
{
    CUstream stream;
    CUresult r = pt_cu_stream_find(null, given, &stream);
    if (r == CUDA_SUCCESS && !call)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    struct pt_cu_op op = {.work = PT_CU_HOST_CALL, .host = {call, ud}};
    return pt_cu_submit_op(stream, &op);
}

PER_THREAD_API(cuLaunchHostFunc, _ptsz, launch_host, (CUstream stream, CUhostFn call, void *ud),
               stream, call, ud)

static CUresult add_callback(CUstream null, CUstream given, CUstreamCallback call, void *ud,
                             unsigned flags)
{
    CUstream stream;
    CUresult r = pt_cu_stream_find(null, given, &stream);
    if (r == CUDA_SUCCESS && (!call || flags))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && stream->capture)
        r = pt_cu_capture_spoil(stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    if (r != CUDA_SUCCESS)
        return r;
    struct pt_cu_op op = {.work = PT_CU_CALLBACK, .callback = {call, given, ud}};
    return pt_cu_submit_op(stream, &op);
}

PER_THREAD_API(cuStreamAddCallback, _ptsz, add_callback,
               (CUstream stream, CUstreamCallback call, void *ud, unsigned flags), stream, call, ud,
               flags)

/* ---- attributes ------------------------------------------------------------------------------ */

static CUresult attribute(CUstream null, CUstream given, CUstreamAttrID id, CUstreamAttrValue *get,
                          const CUstreamAttrValue *set)
{
    CUstream stream;
    CUresult r = pt_cu_stream_find(null, given, &stream);
    if (r != CUDA_SUCCESS)
        return r;
    if (!get && !set)
        return CUDA_ERROR_INVALID_VALUE;
    if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY && get) {
        get->priority = stream->priority;
        return CUDA_SUCCESS;
    }
    if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY) {
        stream->priority = bound_priority(set->priority);
        return CUDA_SUCCESS;
    }
    if (id == CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) /* a kernel's */
        return CUDA_ERROR_INVALID_VALUE;
    return get ? pt_cu_hint_get(&stream->hints, id, get)
               : pt_cu_hint_set(&stream->hints, id, set, stream->ctx->device);
}

PER_THREAD_API(cuStreamGetAttribute, _ptsz, attribute,
               (CUstream stream, CUstreamAttrID id, CUstreamAttrValue *value), stream, id, value,
               NULL)
PER_THREAD_API(cuStreamSetAttribute, _ptsz, attribute,
               (CUstream stream, CUstreamAttrID id, const CUstreamAttrValue *value), stream, id,
               NULL, value)

static CUresult copy_attributes(CUstream null, CUstream to, CUstream from)
{
    CUstream target, source;
    CUresult r = pt_cu_stream_find(null, to, &target);
    if (r == CUDA_SUCCESS)
        r = pt_cu_stream_find(null, from, &source);
    if (r == CUDA_SUCCESS)
        target->hints = source->hints;
    return r;
}

PER_THREAD_API(cuStreamCopyAttributes, _ptsz, copy_attributes, (CUstream to, CUstream from), to,
               from)
