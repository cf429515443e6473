/* Stream capture: work given to streams becomes nodes of a graph.
 *
 * A stream is not captured (stream->capture is NULL), or part of one capture: cuStreamBeginCapture
 * makes it the capture's origin, and a stream that waits for an event of a captured one joins. It
 * leaves when the origin ends the capture, or when it is destroyed. A capture is active until a
 * stream or event of it is used as a capture forbids (is_spoilt); cuStreamEndCapture in the origin
 * ends it (origin is NULL). The graph is the program's then, if all streams that joined have been
 * waited for, else it is destroyed, unless the program gave it. Events recorded in it hold an ended
 * capture until they are recorded anew or destroyed. */
#include "runtime/cuda/capture.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/context_list.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/event.h"
#include "runtime/cuda/graph.h"
#include "runtime/cuda/graph_memory.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/op.h"
#include "runtime/cuda/stream.h"
#include "runtime/cuda/thread.h"

static size_t n_captures; /* that have not ended */

/* ---- who takes part -------------------------------------------------------------------------- */

static void put(struct pt_cu_capture *capture)
{
    if (--capture->refs == 0)
        free(capture);
}

static void clear_tail(CUstream stream)
{
    free(stream->capture_tail);
    stream->capture_tail = NULL;
    stream->n_capture_tail = 0;
}

/* The stream's next node is to depend on these nodes, and on those before if `add`. */
bool pt_cu_capture_set_tail(CUstream stream, const CUgraphNode *nodes, size_t n, bool add)
{
    size_t had = add ? stream->n_capture_tail : 0;
    CUgraphNode *tail = malloc((had + n + 1) * sizeof *tail);
    if (!tail)
        return false;
    if (had)
        memcpy(tail, stream->capture_tail, had * sizeof *tail);
    if (n)
        memcpy(tail + had, nodes, n * sizeof *tail);
    clear_tail(stream);
    stream->capture_tail = tail;
    stream->n_capture_tail = had + n;
    return true;
}

/* The graph is the program's from now on, or nobody's. */
static void let_go(struct pt_cu_capture *capture, bool is_gone)
{
    if (capture->graph)
        capture->graph->is_captured = false;
    if (capture->graph && is_gone)
        pt_cu_graph_delete(capture->graph);
    capture->graph = NULL;
}

static void join(CUstream stream, struct pt_cu_capture *capture)
{
    stream->capture = capture;
    capture->refs++;
}

void pt_cu_capture_leave(CUstream stream)
{
    struct pt_cu_capture *capture = stream->capture;
    if (!capture)
        return;
    if (capture->origin == stream) { /* a stream that goes takes its capture along */
        capture->is_spoilt = true;
        capture->origin = NULL;
        n_captures--;
        let_go(capture, !capture->is_given);
    }
    clear_tail(stream);
    stream->capture = NULL;
    put(capture);
}

void pt_cu_capture_forget(CUevent event)
{
    if (!event->capture)
        return;
    free(event->captured);
    event->captured = NULL;
    event->n_captured = 0;
    put(event->capture);
    event->capture = NULL;
}

/* ---- what is allowed ------------------------------------------------------------------------- */

CUresult pt_cu_capture_spoil(CUstream stream, CUresult error)
{
    if (stream->capture)
        stream->capture->is_spoilt = true;
    return error;
}

CUresult pt_cu_capture_forbid(CUstream stream)
{
    return stream->capture ? pt_cu_capture_spoil(stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
                           : CUDA_SUCCESS;
}

CUresult pt_cu_capture_forbid_event(CUevent event)
{
    if (!event->capture)
        return CUDA_SUCCESS;
    if (!event->capture->origin) /* that capture is over */
        return CUDA_ERROR_INVALID_VALUE;
    event->capture->is_spoilt = true;
    return CUDA_ERROR_CAPTURED_EVENT;
}

CUresult pt_cu_capture_forbid_context(CUcontext ctx)
{
    CUresult r = CUDA_SUCCESS;
    for (CUstream s = n_captures ? ctx->streams : NULL; s; s = s->next)
        if (s->capture)
            r = pt_cu_capture_forbid(s);
    return r;
}

static bool forbids_unsafe(const struct pt_cu_capture *capture, const struct pt_cu_thread *thread)
{
    bool is_mine = capture->thread == thread->id;
    switch (thread->capture_mode) {
    case CU_STREAM_CAPTURE_MODE_GLOBAL:
        return capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL ||
               (is_mine && capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED);
    case CU_STREAM_CAPTURE_MODE_THREAD_LOCAL:
        return is_mine && capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    default:
        return false;
    }
}

CUresult pt_cu_capture_forbid_unsafe(void)
{
    CUresult r = CUDA_SUCCESS;
    const struct pt_cu_thread *thread = n_captures ? pt_cu_thread_get() : NULL;
    if (!thread)
        return CUDA_SUCCESS;
    for (CUcontext ctx = pt_cu_context_list_next(NULL); ctx; ctx = pt_cu_context_list_next(ctx))
        for (CUstream s = ctx->streams; s; s = s->next)
            if (s->capture && forbids_unsafe(s->capture, thread))
                r = pt_cu_capture_forbid(s);
    return r;
}

/* A captured stream that the default one would wait for, or NULL. */
CUstream pt_cu_capture_find_blocking(CUcontext ctx)
{
    CUstream s = n_captures ? ctx->streams : NULL;
    while (s && (!s->capture || s->flags & CU_STREAM_NON_BLOCKING))
        s = s->next;
    return s;
}

/* The default stream would wait for a stream whose work is not being done. */
CUresult pt_cu_capture_check(CUstream stream)
{
    CUcontext ctx = stream->ctx;
    if (stream->capture && stream->capture->is_spoilt)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    CUstream blocking = stream == ctx->null_stream ? pt_cu_capture_find_blocking(ctx) : NULL;
    return blocking ? pt_cu_capture_spoil(blocking, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
                    : CUDA_SUCCESS;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static CUgraphNodeType type_of(enum pt_cu_work work)
{
    switch (work) {
    case PT_CU_KERNEL_LAUNCH:
        return CU_GRAPH_NODE_TYPE_KERNEL;
    case PT_CU_COPY:
        return CU_GRAPH_NODE_TYPE_MEMCPY;
    case PT_CU_SET:
        return CU_GRAPH_NODE_TYPE_MEMSET;
    case PT_CU_HOST_CALL:
        return CU_GRAPH_NODE_TYPE_HOST;
    case PT_CU_RECORD:
        return CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    case PT_CU_WAIT_EVENT:
        return CU_GRAPH_NODE_TYPE_WAIT_EVENT;
    case PT_CU_WAIT_VALUE:
    case PT_CU_WRITE_VALUE:
    case PT_CU_BATCH:
        return CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    default:
        return CU_GRAPH_NODE_TYPE_EMPTY;
    }
}

/* A copy as it would have been given: in linear memory. */
static CUDA_MEMCPY3D describe_copy(const struct pt_cu_copy *c)
{
    return (CUDA_MEMCPY3D){
        .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
        .srcDevice = (uintptr_t)c->from,
        .srcPitch = c->from_pitch,
        .srcHeight = c->from_pitch ? c->from_slice / c->from_pitch : 0,
        .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
        .dstDevice = (uintptr_t)c->to,
        .dstPitch = c->to_pitch,
        .dstHeight = c->to_pitch ? c->to_slice / c->to_pitch : 0,
        .WidthInBytes = c->width,
        .Height = c->height,
        .Depth = c->depth,
    };
}

static void describe(CUgraphNode node, const struct CUstream_st *stream)
{
    const struct pt_cu_op *op = &node->op;
    if (op->work == PT_CU_COPY)
        node->copy = describe_copy(&op->copy);
    if (op->work == PT_CU_SET)
        node->set = (CUDA_MEMSET_NODE_PARAMS){(uintptr_t)op->set.to, op->set.pitch, op->set.value,
                                              op->set.element_bytes, op->set.width, op->set.height};
    if (op->work == PT_CU_RECORD)
        node->event = op->record.event;
    if (op->work == PT_CU_KERNEL_LAUNCH)
        node->hints = stream->hints;
}

/* A kernel that may begin before that which the stream was given last has ended. */
static unsigned char port_of(const struct CUstream_st *stream, const struct pt_cu_op *op)
{
    bool is_early = op->work == PT_CU_KERNEL_LAUNCH && op->launch.is_early &&
                    stream->n_capture_tail == 1 && *stream->capture_tail == stream->capture_last &&
                    stream->capture_last->type == CU_GRAPH_NODE_TYPE_KERNEL;
    return is_early ? CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC : 0;
}

/* A new node behind the stream's last ones, which it takes the place of. */
static CUresult append(CUstream stream, CUgraphNodeType type, unsigned char port, CUgraphNode *out)
{
    CUgraphNode node = pt_cu_graph_node_new(stream->capture->graph, type, stream->ctx);
    bool ok = node != NULL;
    for (size_t i = 0; ok && i < stream->n_capture_tail; i++)
        ok = pt_cu_graph_node_after(node, stream->capture_tail[i], port);
    ok = ok && pt_cu_capture_set_tail(stream, &node, 1, false);
    stream->capture_last = node;
    *out = node;
    return ok ? CUDA_SUCCESS : pt_cu_capture_spoil(stream, CUDA_ERROR_OUT_OF_MEMORY);
}

CUresult pt_cu_capture_add(CUstream stream, struct pt_cu_op *op)
{
    CUgraphNode node;
    CUresult r = append(stream, type_of(op->work), port_of(stream, op), &node);
    if (r != CUDA_SUCCESS) {
        pt_cu_op_drop(op);
        return r;
    }
    r = pt_cu_graph_node_take(node, op);
    describe(node, stream);
    return r;
}

/* A node of memory that came to nothing. */
static CUresult spoil_node(CUstream stream, CUgraphNode node, CUresult error)
{
    node->type = CU_GRAPH_NODE_TYPE_EMPTY;
    return pt_cu_capture_spoil(stream, error);
}

CUresult pt_cu_capture_alloc(CUstream stream, size_t bytes, CUdeviceptr *address)
{
    CUgraphNode node;
    CUDA_MEM_ALLOC_NODE_PARAMS p = {.bytesize = bytes};
    p.poolProps.location = (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, stream->ctx->device};
    CUresult r = pt_cu_capture_check(stream);
    if (r == CUDA_SUCCESS)
        r = append(stream, CU_GRAPH_NODE_TYPE_MEM_ALLOC, 0, &node);
    if (r != CUDA_SUCCESS)
        return pt_cu_capture_spoil(stream, r);
    r = pt_cu_graph_memory_set_alloc(node, &p);
    *address = p.dptr;
    return r == CUDA_SUCCESS ? r : spoil_node(stream, node, r);
}

CUresult pt_cu_capture_free(CUstream stream, CUdeviceptr address)
{
    CUgraphNode node;
    CUresult r = pt_cu_capture_check(stream);
    if (r == CUDA_SUCCESS && !pt_cu_graph_memory_block_at(address))
        return CUDA_ERROR_INVALID_VALUE; /* the capture goes on */
    if (r == CUDA_SUCCESS)
        r = append(stream, CU_GRAPH_NODE_TYPE_MEM_FREE, 0, &node);
    if (r != CUDA_SUCCESS)
        return pt_cu_capture_spoil(stream, r);
    r = pt_cu_graph_memory_set_free(node, address);
    return r == CUDA_SUCCESS ? r : spoil_node(stream, node, r);
}

CUresult pt_cu_capture_child(CUstream stream, CUgraph graph)
{
    CUgraphNode node;
    CUresult r = append(stream, CU_GRAPH_NODE_TYPE_GRAPH, 0, &node);
    return r == CUDA_SUCCESS ? pt_cu_graph_node_set_child(node, graph) : r;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* The event stands for the stream's last nodes. */
CUresult pt_cu_capture_record(CUstream stream, CUevent event)
{
    CUgraphNode *nodes = malloc((stream->n_capture_tail + 1) * sizeof *nodes);
    if (!nodes)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (stream->n_capture_tail)
        memcpy(nodes, stream->capture_tail, stream->n_capture_tail * sizeof *nodes);
    pt_cu_capture_forget(event);
    event->captured = nodes;
    event->n_captured = stream->n_capture_tail;
    event->capture = stream->capture;
    event->capture->refs++;
    return CUDA_SUCCESS;
}

/* A stream that waits for a captured event takes part from then on. */
CUresult pt_cu_capture_wait(CUstream stream, CUevent event, unsigned flags)
{
    struct pt_cu_op op = {.work = PT_CU_WAIT_EVENT, .record.event = event};
    CUresult r = pt_cu_capture_check(stream);
    if (r != CUDA_SUCCESS)
        return r;
    if (flags & CU_EVENT_WAIT_EXTERNAL) {
        r = stream->capture ? pt_cu_capture_add(stream, &op) : CUDA_ERROR_CAPTURED_EVENT;
        if (r == CUDA_SUCCESS)
            stream->capture_tail[0]->event = event;
        return r;
    }
    if (!event->capture && !event->recorded && !event->shared) /* there is nothing to wait for */
        return CUDA_SUCCESS;
    if (!event->capture)
        return pt_cu_capture_spoil(stream, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    if (!event->capture->origin) /* that capture is over */
        return pt_cu_capture_spoil(stream, CUDA_ERROR_INVALID_VALUE);
    if (event->capture->is_spoilt)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (stream->capture && stream->capture != event->capture) {
        event->capture->is_spoilt = true;
        return pt_cu_capture_spoil(stream, CUDA_ERROR_STREAM_CAPTURE_MERGE);
    }
    if (stream == stream->ctx->null_stream)
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    if (!stream->capture)
        join(stream, event->capture);
    return pt_cu_capture_set_tail(stream, event->captured, event->n_captured, true)
               ? CUDA_SUCCESS
               : CUDA_ERROR_OUT_OF_MEMORY;
}

/* ---- beginning and ending -------------------------------------------------------------------- */

static CUresult begin(CUstream stream, CUgraph graph, const CUgraphNode *nodes, size_t n,
                      CUstreamCaptureMode mode)
{
    struct pt_cu_thread *thread = pt_cu_thread_get();
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream == stream->ctx->null_stream)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (stream->capture || (graph && graph->is_captured))
        return CUDA_ERROR_ILLEGAL_STATE;
    struct pt_cu_capture *capture = calloc(1, sizeof *capture);
    if (!capture || !thread || !pt_cu_capture_set_tail(stream, nodes, n, false)) {
        free(capture);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    capture->graph = graph ? graph : pt_cu_graph_new();
    if (!capture->graph) {
        clear_tail(stream);
        free(capture);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    capture->graph->is_captured = true;
    capture->is_given = graph != NULL;
    capture->id = pt_cu_handle_new_id();
    capture->origin = stream;
    capture->mode = mode;
    capture->thread = thread->id;
    n_captures++;
    join(stream, capture);
    return CUDA_SUCCESS;
}

static CUresult begin_capture(CUstream null, CUstream given, CUstreamCaptureMode mode)
{
    CUstream stream;
    CUresult r = pt_cu_stream_find(null, given, &stream);
    return r == CUDA_SUCCESS ? begin(stream, NULL, NULL, 0, mode) : r;
}

PER_THREAD_API(cuStreamBeginCapture, _ptsz, begin_capture, (CUstream stream), stream,
               CU_STREAM_CAPTURE_MODE_GLOBAL)
PER_THREAD_API(cuStreamBeginCapture_v2, _ptsz, begin_capture,
               (CUstream stream, CUstreamCaptureMode mode), stream, mode)

static CUresult begin_to_graph(CUstream null, CUstream given, CUgraph graph,
                               const CUgraphNode *nodes, size_t n, CUstreamCaptureMode mode)
{
    CUstream stream;
    CUresult r = pt_cu_stream_find(null, given, &stream);
    if (r == CUDA_SUCCESS)
        r = pt_cu_handle_is(graph, PT_CU_GRAPH) ? pt_cu_graph_check_nodes(graph, nodes, n)
                                                : CUDA_ERROR_INVALID_VALUE;
    return r == CUDA_SUCCESS ? begin(stream, graph, nodes, n, mode) : r;
}

PER_THREAD_API(cuStreamBeginCaptureToGraph, _ptsz, begin_to_graph,
               (CUstream stream, CUgraph graph, const CUgraphNode *nodes,
                const CUgraphEdgeData *data, size_t n, CUstreamCaptureMode mode),
               stream, graph, nodes, ((void)data, n), mode)

static void mark_reached(CUgraphNode node)
{
    if (node->index)
        return;
    node->index = 1;
    for (size_t i = 0; i < node->n_before; i++)
        mark_reached(node->before[i]);
}

/* Whether all that other streams did has been waited for by the one where the capture began. */
static bool is_joined(const struct pt_cu_capture *capture)
{
    bool all = true;
    CUstream origin = capture->origin;
    for (size_t i = 0; i < capture->graph->n_nodes; i++)
        capture->graph->nodes[i]->index = 0;
    for (size_t i = 0; i < origin->n_capture_tail; i++)
        mark_reached(origin->capture_tail[i]);
    for (CUcontext ctx = pt_cu_context_list_next(NULL); ctx; ctx = pt_cu_context_list_next(ctx))
        for (CUstream s = ctx->streams; s; s = s->next)
            for (size_t i = 0; s->capture == capture && i < s->n_capture_tail; i++)
                all &= s->capture_tail[i]->index == 1;
    return all;
}

static void end_all(struct pt_cu_capture *capture)
{
    capture->refs++;
    capture->origin = NULL;
    n_captures--;
    for (CUcontext ctx = pt_cu_context_list_next(NULL); ctx; ctx = pt_cu_context_list_next(ctx))
        for (CUstream s = ctx->streams; s; s = s->next)
            if (s->capture == capture)
                pt_cu_capture_leave(s);
    put(capture);
}

static CUresult end_capture(CUstream null, CUstream given, CUgraph *graph)
{
    CUstream stream;
    CUresult r = pt_cu_stream_find(null, given, &stream);
    if (r != CUDA_SUCCESS)
        return r;
    struct pt_cu_capture *capture = stream->capture;
    if (graph)
        *graph = NULL;
    if (!capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
        capture->thread != pt_cu_thread_get()->id)
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    if (capture->origin != stream)
        return pt_cu_capture_spoil(stream, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    r = capture->is_spoilt    ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
        : !is_joined(capture) ? CUDA_ERROR_STREAM_CAPTURE_UNJOINED
                              : CUDA_SUCCESS;
    bool is_taken = r == CUDA_SUCCESS && graph; /* without a place for it it is gone */
    if (is_taken)
        pt_cu_handle_give(*graph = capture->graph);
    let_go(capture, !is_taken && !capture->is_given);
    end_all(capture);
    return r;
}

PER_THREAD_API(cuStreamEndCapture, _ptsz, end_capture, (CUstream stream, CUgraph *graph), stream,
               graph)
