/* Events: the command that was last recorded. */
#include "runtime/cuda/event.h"

#include <time.h>

#include "runtime/cuda/capture.h"
#include "runtime/cuda/command.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/current.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/event_page.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/op.h"
#include "runtime/cuda/pool.h"
#include "runtime/cuda/printed.h"
#include "runtime/cuda/stream.h"

void pt_cu_event_delete(CUevent event)
{
    CUevent *place = &event->ctx->events;
    while (*place != event)
        place = &(*place)->next;
    *place = event->next;
    pt_cu_capture_forget(event);
    pt_cu_command_put(event->recorded);
    pt_cu_event_page_put(event->shared);
    pt_cu_handle_delete(event);
}

CUresult pt_cu_event_new(CUcontext ctx, unsigned flags, struct pt_cu_event_page *shared,
                         CUevent *out)
{
    CUevent event = pt_cu_handle_new(PT_CU_EVENT, sizeof *event);
    if (!event) {
        pt_cu_event_page_put(shared);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    event->ctx = ctx;
    event->flags = flags;
    event->shared = shared;
    event->next = ctx->events;
    ctx->events = event;
    *out = event;
    pt_cu_handle_give(event);
    return CUDA_SUCCESS;
}

static CUresult create(CUevent *out, unsigned flags)
{
    const unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    if (r != CUDA_SUCCESS)
        return r;
    bool no_timing = (flags & CU_EVENT_DISABLE_TIMING) != 0;
    if (!out || flags & ~known || (flags & CU_EVENT_INTERPROCESS && !no_timing))
        return CUDA_ERROR_INVALID_VALUE;
    struct pt_cu_event_page *shared = flags & CU_EVENT_INTERPROCESS ? pt_cu_event_page_new() : NULL;
    if (flags & CU_EVENT_INTERPROCESS && !shared)
        return CUDA_ERROR_OUT_OF_MEMORY;
    return pt_cu_event_new(ctx, flags, shared, out);
}

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    return API(create(event, flags));
}

static CUresult check(CUevent event)
{
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS && !pt_cu_handle_is(event, PT_CU_EVENT))
        r = CUDA_ERROR_INVALID_HANDLE;
    return r;
}

static CUresult destroy(CUevent event)
{
    CUresult r = check(event);
    if (r == CUDA_SUCCESS)
        pt_cu_event_delete(event);
    return r;
}

CUresult cuEventDestroy(CUevent event)
{
    return API(destroy(event));
}

CUresult cuEventDestroy_v2(CUevent event)
{
    return API(destroy(event));
}

/* An event of several processes tells them the number of its record. */
static struct pt_cu_op record_op(CUevent event)
{
    struct pt_cu_op op = {.work = PT_CU_RECORD, .record.event = event};
    if (event->shared) {
        op.record.shared = pt_cu_event_page_ref(event->shared);
        op.record.number = pt_cu_event_page_record(event->shared);
    }
    return op;
}

/* `command`, which may be NULL, is what the event stands for from now on. */
static CUresult start_record(CUevent event, const struct pt_cu_op *op,
                             struct pt_cu_command *command)
{
    if (!command && event->shared)
        pt_cu_event_page_done(event->shared, op->record.number);
    if (!command)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pt_cu_capture_forget(event);
    pt_cu_command_put(event->recorded);
    event->recorded = command;
    pt_cu_command_start(command);
    return CUDA_SUCCESS;
}

CUresult pt_cu_event_record(CUevent event, CUstream stream, unsigned flags)
{
    CUresult r = check(event);
    if (r != CUDA_SUCCESS)
        return r;
    if (flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL)
        return CUDA_ERROR_INVALID_VALUE;
    if (event->ctx != stream->ctx)
        return CUDA_ERROR_INVALID_HANDLE;
    if (flags && !stream->capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    r = pt_cu_capture_check(stream);
    if (r != CUDA_SUCCESS)
        return r;
    if (stream->capture && !(flags & CU_EVENT_RECORD_EXTERNAL))
        return pt_cu_capture_record(stream, event);
    if (stream->capture) {
        struct pt_cu_op op = {.work = PT_CU_RECORD, .record.event = event};
        return pt_cu_capture_add(stream, &op);
    }
    struct pt_cu_op op = record_op(event);
    return start_record(event, &op, pt_cu_stream_append(stream, &op, false));
}

static CUresult record(CUstream null, CUevent event, CUstream given, unsigned flags)
{
    CUstream stream;
    CUresult r = pt_cu_stream_find(null, given, &stream);
    return r == CUDA_SUCCESS ? pt_cu_event_record(event, stream, flags) : r;
}

PER_THREAD_API(cuEventRecord, _ptsz, record, (CUevent event, CUstream stream), event, stream,
               CU_EVENT_RECORD_DEFAULT)
PER_THREAD_API(cuEventRecordWithFlags, _ptsz, record,
               (CUevent event, CUstream stream, unsigned flags), event, stream, flags)

/* ---- of all streams of a context ------------------------------------------------------------- */

/* What the calls about a context, or a green one, and an event have in common; captures that they
 * meet are spoilt. */
static CUresult check_both(CUcontext given, CUevent event, CUcontext *whole)
{
    CUresult r = pt_cu_context_list_check(given, whole);
    if (r == CUDA_SUCCESS)
        r = check(event);
    if (r == CUDA_SUCCESS)
        r = pt_cu_capture_forbid_event(event);
    if (r == CUDA_SUCCESS)
        r = pt_cu_capture_forbid_context(*whole);
    return r == CUDA_SUCCESS ? (*whole)->error : r;
}

static CUresult record_all(CUcontext given, CUevent event)
{
    CUcontext whole;
    CUresult r = check_both(given, event, &whole);
    if (r == CUDA_SUCCESS && event->ctx != whole)
        r = CUDA_ERROR_INVALID_HANDLE;
    if (r != CUDA_SUCCESS)
        return r;
    struct pt_cu_op op = record_op(event);
    struct pt_cu_command *command = pt_cu_command_new(whole, &op);
    if (!command) {
        pt_cu_op_drop(&op);
        return start_record(event, &op, NULL);
    }
    bool ok = pt_cu_command_after(command, given->gate);
    for (CUstream s = whole->streams; s; s = s->next)
        if (given == whole || s->green == given)
            ok = ok && pt_cu_command_after(command, s->tail);
    r = start_record(event, &op, command);
    if (!ok) /* no memory to wait for them apart */
        pt_cu_command_drain(whole);
    return r;
}

CUresult cuCtxRecordEvent(CUcontext ctx, CUevent event)
{
    return API(record_all(ctx, event));
}

CUresult cuGreenCtxRecordEvent(CUgreenCtx green, CUevent event)
{
    CUresult r = pt_cu_context_list_check_green(green);
    return API(r == CUDA_SUCCESS ? record_all((CUcontext)green, event) : r);
}

/* Streams that are made later wait, too. */
static CUresult wait_all(CUcontext given, CUevent event)
{
    CUcontext whole;
    struct pt_cu_op op = {.work = PT_CU_EMPTY};
    CUresult r = check_both(given, event, &whole);
    if (r != CUDA_SUCCESS)
        return r;
    if (event->shared && !pt_cu_event_page_is_done(event->shared))
        op = pt_cu_event_page_wait(event->shared);
    struct pt_cu_command *gate = pt_cu_command_new(whole, &op);
    if (!gate) {
        pt_cu_op_drop(&op);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    bool ok = pt_cu_command_after(gate, given->gate) && pt_cu_command_after(gate, event->recorded);
    pt_cu_command_put(given->gate);
    given->gate = gate;
    pt_cu_command_start(gate);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuCtxWaitEvent(CUcontext ctx, CUevent event)
{
    return API(wait_all(ctx, event));
}

CUresult cuGreenCtxWaitEvent(CUgreenCtx green, CUevent event)
{
    CUresult r = pt_cu_context_list_check_green(green);
    return API(r == CUDA_SUCCESS ? wait_all((CUcontext)green, event) : r);
}

/* ---- asking and waiting ---------------------------------------------------------------------- */

/* What cannot be asked while the event stands for a place in a graph. */
static CUresult check_recorded(CUevent event)
{
    CUresult r = check(event);
    if (r == CUDA_SUCCESS)
        r = pt_cu_capture_forbid_event(event);
    if (r == CUDA_SUCCESS)
        r = pt_cu_capture_forbid_unsafe();
    return r == CUDA_SUCCESS ? event->ctx->error : r;
}

static CUresult query(CUevent event)
{
    CUresult r = check_recorded(event);
    if (r == CUDA_SUCCESS && event->shared)
        return pt_cu_event_page_is_done(event->shared) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
    if (r == CUDA_SUCCESS && event->recorded && !event->recorded->is_done)
        r = CUDA_ERROR_NOT_READY;
    if (r == CUDA_SUCCESS && event->recorded)
        pt_cu_overlap_waited(event->recorded);
    return r;
}

CUresult cuEventQuery(CUevent event)
{
    return API(query(event));
}

enum { POLL_NS = 20000 };

/* Waits for the last record so far. The lock is left meanwhile. */
static void finish_shared(CUcontext ctx, struct pt_cu_event_page *shared)
{
    const struct timespec pause = {0, POLL_NS};
    uint64_t number = atomic_load(&shared->page->recorded);
    pt_cu_event_page_ref(shared);
    pt_cu_command_step_out(ctx);
    while (atomic_load(&shared->page->done) < number)
        nanosleep(&pause, NULL);
    pt_cu_command_step_in(ctx);
    pt_cu_event_page_put(shared);
}

static CUresult synchronize(CUevent event)
{
    CUresult r = check_recorded(event);
    if (r != CUDA_SUCCESS || (!event->recorded && !event->shared))
        return r;
    CUcontext ctx = event->ctx;
    if (event->shared) {
        finish_shared(ctx, event->shared);
        pt_cu_printed_flush(ctx);
        return ctx->error;
    }
    struct pt_cu_command *command = pt_cu_command_ref(event->recorded);
    r = pt_cu_command_finish(command);
    pt_cu_command_put(command);
    pt_cu_pool_trim_all(ctx->device);
    pt_cu_printed_flush(ctx);
    return r;
}

CUresult cuEventSynchronize(CUevent event)
{
    return API_GIVEN(((struct pt_cu_event_arguments){event}), synchronize(event));
}

/* The clock counts nanoseconds; CUDA promises about half a microsecond. */
static CUresult elapsed(float *milliseconds, CUevent start, CUevent end)
{
    CUresult r = check(start);
    if (r == CUDA_SUCCESS)
        r = check(end);
    if (r == CUDA_SUCCESS && (start->capture || end->capture)) /* which goes on */
        r = CUDA_ERROR_CAPTURED_EVENT;
    if (r == CUDA_SUCCESS)
        r = check_recorded(start);
    if (r == CUDA_SUCCESS)
        r = check_recorded(end);
    if (r != CUDA_SUCCESS)
        return r;
    if (!milliseconds)
        return CUDA_ERROR_INVALID_HANDLE;
    if (start->ctx != end->ctx || !start->recorded || !end->recorded ||
        (start->flags | end->flags) & CU_EVENT_DISABLE_TIMING)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!start->recorded->is_done || !end->recorded->is_done)
        return CUDA_ERROR_NOT_READY;
    pt_cu_overlap_waited(end->recorded);
    *milliseconds =
        (float)((double)(int64_t)(end->recorded->done_ns - start->recorded->done_ns) * 1e-6);
    return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    return API(elapsed(milliseconds, start, end));
}

CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end)
{
    return API(elapsed(milliseconds, start, end));
}
