/* Streams as data: making and finding them, and what waits for what. */
#include "runtime/cuda/stream.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/cuda/command.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/current.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/listener.h"
#include "runtime/cuda/op.h"
#include "runtime/cuda/thread.h"
#include "runtime/cuda/trace.h"
#include "runtime/cuda/track.h"

static void make_track(CUstream stream)
{
    char name[40] = "default stream";
    if (stream->ctx->null_stream)
        snprintf(name, sizeof name, "stream %llu", (unsigned long long)stream->object.id);
    stream->track = pt_cu_track_new(stream->ctx, name);
}

CUstream pt_cu_stream_new(CUcontext ctx, unsigned flags, int priority)
{
    CUstream stream = pt_cu_handle_new(PT_CU_STREAM, sizeof *stream);
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
    if (pt_cu_trace_is_on())
        make_track(stream);
    PT_CU_LISTENER_TELL(PT_CU_MADE_STREAM, .context = ctx, .stream = stream);
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
void pt_cu_stream_hand_over(CUstream stream)
{
    CUcontext ctx = stream->ctx;
    struct pt_cu_op op = {.work = PT_CU_EMPTY};
    if (!ctx->is_alive || !is_blocking(stream) || (!is_busy(stream) && !pt_cu_overlap_is_watched()))
        return;
    struct pt_cu_command *marker = pt_cu_command_new(ctx, &op);
    bool ok = marker && pt_cu_command_after(marker, ctx->null_stream->tail) &&
              pt_cu_command_after(marker, stream->tail);
    if (marker) {
        pt_cu_command_put(ctx->null_stream->tail);
        ctx->null_stream->tail = marker;
        pt_cu_command_start(marker);
    }
    if (!ok) /* no memory */
        pt_cu_command_drain(ctx);
}

CUcontext pt_cu_stream_green(const struct CUstream_st *stream)
{
    CUcontext current = pt_cu_current_handle();
    bool is_default = stream == stream->ctx->null_stream || stream->thread;
    if (!is_default)
        return stream->green;
    return current && current != current->whole && current->whole == stream->ctx ? current : NULL;
}

/* This thread's default stream in the context. It is as any blocking stream. */
static CUstream per_thread(CUcontext ctx)
{
    struct pt_cu_thread *thread = pt_cu_thread_get();
    if (!thread)
        return NULL;
    CUstream stream = thread->stream;
    if (pt_cu_handle_is(stream, PT_CU_STREAM) && stream->thread == thread->id && stream->ctx == ctx)
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

CUresult pt_cu_stream_find(CUstream null, CUstream given, CUstream *stream)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    if (r != CUDA_SUCCESS)
        return r;
    if (!given)
        given = null;
    if (given == CU_STREAM_LEGACY)
        *stream = ctx->null_stream;
    else if (given == CU_STREAM_PER_THREAD)
        *stream = per_thread(ctx);
    else if (pt_cu_handle_is(given, PT_CU_STREAM))
        *stream = given;
    else
        return CUDA_ERROR_INVALID_HANDLE;
    return *stream ? (*stream)->ctx->error : CUDA_ERROR_OUT_OF_MEMORY;
}

static bool after_blocking(struct pt_cu_command *command, CUcontext ctx)
{
    bool ok = true;
    for (CUstream s = ctx->streams; s; s = s->next)
        if (is_blocking(s))
            ok = ok && pt_cu_command_after(command, s->tail);
    return ok;
}

/* What is new in the default stream waits for all blocking streams; what is new in those waits for
 * it. */
static bool wait_for_others(struct pt_cu_command *command, CUstream stream)
{
    CUcontext ctx = stream->ctx, green = pt_cu_stream_green(stream);
    bool is_early = command->op.work == PT_CU_KERNEL_LAUNCH && command->op.launch.is_early;
    bool ok = is_early ? pt_cu_command_after_trigger(command, stream->tail)
                       : pt_cu_command_after(command, stream->tail);
    ok = ok && pt_cu_command_after(command, ctx->gate);
    if (green)
        ok = ok && pt_cu_command_after(command, green->gate);
    if (is_blocking(stream))
        return ok && pt_cu_command_after(command, ctx->null_stream->tail);
    return ok && (stream != ctx->null_stream || after_blocking(command, ctx));
}

static void set_tail(CUstream stream, struct pt_cu_command *command)
{
    pt_cu_command_put(stream->tail);
    stream->tail = pt_cu_command_ref(command);
}

/* A copy between devices in the default stream is in that of both: it begins when what either was
 * given before is done, and what either is given next waits for it (CUDA C++ Programming Guide,
 * "Peer-to-Peer Memory Copy"). */
static bool join_devices(struct pt_cu_command *command, CUstream stream)
{
    CUcontext ctx = stream->ctx;
    bool ok = true;
    if (command->op.work != PT_CU_COPY || stream != ctx->null_stream)
        return true;
    for (unsigned i = 0; i < command->n_owners && ok; i++) {
        CUcontext owner = command->owners[i];
        if (owner->device == ctx->device)
            continue;
        ok = pt_cu_command_after(command, owner->null_stream->tail) &&
             after_blocking(command, owner);
        if (ok)
            set_tail(owner->null_stream, command);
    }
    return ok;
}

struct pt_cu_command *pt_cu_stream_append(CUstream stream, struct pt_cu_op *op, bool by_caller)
{
    struct pt_cu_command *command = pt_cu_command_new(stream->ctx, op);
    if (!command) {
        pt_cu_op_drop(op);
        return NULL;
    }
    command->track = pt_cu_track_ref(stream->track);
    command->stream = stream == stream->ctx->null_stream ? 0 : stream->object.id;
    command->by_caller = by_caller;
    if (!command->priority)
        command->priority = stream->priority;
    if (!wait_for_others(command, stream) || !join_devices(command, stream)) {
        pt_cu_command_cancel(command);
        pt_cu_command_start(command);
        pt_cu_command_put(command);
        return NULL;
    }
    set_tail(stream, command);
    return command;
}

/* The default stream is through when all that it would wait for is. */
bool pt_cu_stream_is_idle(CUstream stream)
{
    bool busy = is_busy(stream);
    if (is_blocking(stream))
        return !busy;
    if (stream == stream->ctx->null_stream)
        for (CUstream s = stream->ctx->streams; s; s = s->next)
            busy |= is_blocking(s) && is_busy(s);
    return !busy;
}

void pt_cu_stream_waited(CUstream stream)
{
    CUstream null = stream->ctx->null_stream;
    for (CUstream s = stream->ctx->streams; s; s = s->next)
        if (s->tail && (s == stream || (stream == null && is_blocking(s))))
            pt_cu_overlap_waited(s->tail);
}
