/* Streams: what waits for what. */
#include "runtime/cuda/driver.h"

#include <stdlib.h>
#include <string.h>

/* ---- making, finding ----------------------------------------------------------------------------------- */

CUstream pt_cu_stream_new(CUcontext ctx, unsigned flags, int priority)
{
    CUstream stream = pt_cu_new(PT_CU_STREAM, sizeof *stream);
    if (!stream)
        return NULL;
    stream->ctx = ctx;
    stream->flags = flags;
    stream->priority = priority;
    CUstream *end = &ctx->streams;
    if (ctx->null_stream) { /* which stays the first */
        stream->next = ctx->null_stream->next;
        end = &ctx->null_stream->next;
    }
    *end = stream;
    return stream;
}

static bool is_blocking(const struct CUstream_st *stream)
{
    return !(stream->flags & CU_STREAM_NON_BLOCKING) && stream != stream->ctx->null_stream;
}

static bool is_busy(const struct CUstream_st *stream)
{
    return stream->tail && !stream->tail->is_done;
}

/* The default stream goes on waiting for what is under way in a stream that goes. */
static void hand_over(CUstream stream)
{
    CUcontext ctx = stream->ctx;
    struct pt_cu_op op = {.work = PT_CU_EMPTY};
    if (!is_blocking(stream) || !is_busy(stream))
        return;
    struct pt_cu_command *marker = pt_cu_command_new(ctx, &op);
    bool ok = marker && pt_cu_command_after(marker, ctx->null_stream->tail) && pt_cu_command_after(marker, stream->tail);
    if (marker) {
        pt_cu_command_put(ctx->null_stream->tail);
        ctx->null_stream->tail = marker;
        pt_cu_command_start(marker);
    }
    if (!ok) /* no memory */
        pt_cu_drain(ctx);
}

void pt_cu_stream_delete(CUstream stream)
{
    CUstream *place = &stream->ctx->streams;
    while (*place != stream)
        place = &(*place)->next;
    hand_over(stream);
    *place = stream->next;
    pt_cu_capture_leave(stream);
    pt_cu_command_put(stream->tail);
    pt_cu_delete(stream);
}

/* This thread's default stream in the context. It is as any blocking stream. */
static CUstream per_thread(CUcontext ctx)
{
    struct pt_cu_thread *thread = pt_cu_thread();
    if (!thread)
        return NULL;
    CUstream stream = thread->stream;
    if (pt_cu_is(stream, PT_CU_STREAM) && stream->thread == thread->id && stream->ctx == ctx)
        return stream;
    for (stream = ctx->streams; stream && stream->thread != thread->id; stream = stream->next)
        continue;
    if (!stream)
        stream = pt_cu_stream_new(ctx, CU_STREAM_DEFAULT, 0);
    if (stream)
        stream->thread = thread->id;
    thread->stream = stream;
    return stream;
}

CUresult pt_cu_stream(CUstream null, CUstream given, CUstream *stream)
{
    CUcontext ctx;
    CUresult r = pt_cu_current(&ctx);
    if (r != CUDA_SUCCESS)
        return r;
    if (!given)
        given = null;
    if (given == CU_STREAM_LEGACY)
        *stream = ctx->null_stream;
    else if (given == CU_STREAM_PER_THREAD)
        *stream = per_thread(ctx);
    else if (pt_cu_is(given, PT_CU_STREAM))
        *stream = given;
    else
        return CUDA_ERROR_INVALID_HANDLE;
    return *stream ? (*stream)->ctx->error : CUDA_ERROR_OUT_OF_MEMORY;
}

/* ---- order --------------------------------------------------------------------------------------------- */

/* What is new in the default stream waits for all blocking streams; what is new in those waits for it. */
static bool wait_for_others(struct pt_cu_command *command, CUstream stream)
{
    CUcontext ctx = stream->ctx;
    bool ok = pt_cu_command_after(command, stream->tail);
    if (is_blocking(stream))
        return ok && pt_cu_command_after(command, ctx->null_stream->tail);
    if (stream == ctx->null_stream)
        for (CUstream s = ctx->streams; s; s = s->next)
            if (is_blocking(s))
                ok = ok && pt_cu_command_after(command, s->tail);
    return ok;
}

/* The command becomes the last one of the stream. NULL: no memory, and nothing is done. */
static struct pt_cu_command *append(CUstream stream, struct pt_cu_op *op, bool by_caller)
{
    struct pt_cu_command *command = pt_cu_command_new(stream->ctx, op);
    if (!command) {
        pt_cu_op_drop(op);
        return NULL;
    }
    command->by_caller = by_caller;
    if (!command->priority)
        command->priority = stream->priority;
    if (!wait_for_others(command, stream)) {
        pt_cu_command_cancel(command);
        pt_cu_command_start(command);
        pt_cu_command_put(command);
        return NULL;
    }
    pt_cu_command_put(stream->tail);
    stream->tail = pt_cu_command_ref(command);
    return command;
}

struct pt_cu_command *pt_cu_append(CUstream stream, struct pt_cu_op *op)
{
    return append(stream, op, false);
}

CUresult pt_cu_submit(CUstream stream, struct pt_cu_op *op)
{
    CUresult r = pt_cu_capture_check(stream);
    if (r == CUDA_SUCCESS && stream->capture)
        return pt_cu_capture_add(stream, op);
    if (r != CUDA_SUCCESS) {
        pt_cu_op_drop(op);
        return r;
    }
    bool is_awaited = pt_cu_driver.traps_host && (op->work == PT_CU_KERNEL_LAUNCH || op->work == PT_CU_COPY || op->work == PT_CU_SET);
    struct pt_cu_command *command = append(stream, op, false);
    if (!command)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pt_cu_command_start(command);
    if (is_awaited) /* its failure is told by the next call, as ever */
        pt_cu_command_finish(command);
    pt_cu_command_put(command);
    return CUDA_SUCCESS;
}

CUresult pt_cu_submit_and_wait(CUstream stream, struct pt_cu_op *op)
{
    CUresult r = pt_cu_capture_check(stream);
    if (r == CUDA_SUCCESS)
        r = pt_cu_capture_forbid(stream);
    if (r != CUDA_SUCCESS) {
        pt_cu_op_drop(op);
        return r;
    }
    struct pt_cu_command *command = append(stream, op, true);
    if (!command)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUcontext ctx = stream->ctx;
    r = pt_cu_command_finish(command);
    pt_cu_command_put(command);
    pt_cu_flush_printed(ctx);
    return r;
}

CUresult pt_cu_stream_finish(CUstream stream)
{
    struct pt_cu_op op = {.work = PT_CU_EMPTY};
    return pt_cu_submit_and_wait(stream, &op);
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
    pt_cu_stream_delete(stream);
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

/* The default stream is through when all that it would wait for is. */
static bool is_idle(CUstream stream)
{
    bool busy = is_busy(stream);
    if (is_blocking(stream))
        return !busy;
    if (stream == stream->ctx->null_stream)
        for (CUstream s = stream->ctx->streams; s; s = s->next)
            busy |= is_blocking(s) && is_busy(s);
    return !busy;
}

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
    return is_idle(stream) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
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
    struct pt_cu_command *command = append(stream, &op, false);
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

/* ---- values in memory ---------------------------------------------------------------------------------- */

static CUresult value_op(CUstream stream, enum pt_cu_work work, CUdeviceptr address, uint64_t value,
                         unsigned bytes, unsigned flags)
{
    unsigned known = work == PT_CU_WAIT_VALUE ? CU_STREAM_WAIT_VALUE_NOR | CU_STREAM_WAIT_VALUE_FLUSH
                                              : CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER;
    if (!address || address % bytes || flags & ~known || !pt_cu_is_usable(address, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    struct pt_cu_op op = {.work = work};
    op.value.address = (void *)(uintptr_t)address;
    op.value.value = value;
    op.value.bytes = bytes;
    op.value.flags = flags;
    return pt_cu_submit(stream, &op);
}

static CUresult wait_or_write(CUstream null, CUstream given, enum pt_cu_work work, CUdeviceptr address,
                              uint64_t value, unsigned bytes, unsigned flags)
{
    CUstream stream;
    CUresult r = pt_cu_stream(null, given, &stream);
    return r == CUDA_SUCCESS ? value_op(stream, work, address, value, bytes, flags) : r;
}

/* The first version and the second differ in the device attributes that speak of them. */
#define VALUE_API(name, work, type, bytes) \
    PER_THREAD_API(name, _ptsz, wait_or_write, (CUstream stream, CUdeviceptr address, type value, unsigned flags), \
                   stream, work, address, value, bytes, flags) \
    PER_THREAD_API(name##_v2, _ptsz, wait_or_write, \
                   (CUstream stream, CUdeviceptr address, type value, unsigned flags), stream, work, address, \
                   value, bytes, flags)
VALUE_API(cuStreamWaitValue32, PT_CU_WAIT_VALUE, cuuint32_t, 4)
VALUE_API(cuStreamWaitValue64, PT_CU_WAIT_VALUE, cuuint64_t, 8)
VALUE_API(cuStreamWriteValue32, PT_CU_WRITE_VALUE, cuuint32_t, 4)
VALUE_API(cuStreamWriteValue64, PT_CU_WRITE_VALUE, cuuint64_t, 8)

static CUresult batch_one(CUstream stream, const CUstreamBatchMemOpParams *p)
{
    switch (p->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        return value_op(stream, PT_CU_WAIT_VALUE, p->waitValue.address, p->waitValue.value, 4, p->waitValue.flags);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return value_op(stream, PT_CU_WAIT_VALUE, p->waitValue.address, p->waitValue.value64, 8, p->waitValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        return value_op(stream, PT_CU_WRITE_VALUE, p->writeValue.address, p->writeValue.value, 4, p->writeValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return value_op(stream, PT_CU_WRITE_VALUE, p->writeValue.address, p->writeValue.value64, 8,
                        p->writeValue.flags);
    case CU_STREAM_MEM_OP_BARRIER:
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES: /* a command sees all that commands before it wrote */
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult batch(CUstream null, CUstream given, unsigned n, const CUstreamBatchMemOpParams *params,
                      unsigned flags)
{
    CUstream stream;
    CUresult r = pt_cu_stream(null, given, &stream);
    if (r == CUDA_SUCCESS && (!params || flags || n > 256))
        r = CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; r == CUDA_SUCCESS && i < n; i++)
        r = batch_one(stream, &params[i]);
    return r;
}

PER_THREAD_API(cuStreamBatchMemOp, _ptsz, batch,
               (CUstream stream, unsigned n, CUstreamBatchMemOpParams *params, unsigned flags), stream, n, params,
               flags)
PER_THREAD_API(cuStreamBatchMemOp_v2, _ptsz, batch,
               (CUstream stream, unsigned n, CUstreamBatchMemOpParams *params, unsigned flags), stream, n, params,
               flags)

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
