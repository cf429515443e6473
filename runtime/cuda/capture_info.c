/* What a stream's capture tells, and what may be changed of it while it goes on. */
#include "runtime/cuda/capture.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/graph.h"
#include "runtime/cuda/stream.h"
#include "runtime/cuda/thread.h"

static CUstreamCaptureStatus status_of(const struct CUstream_st *stream)
{
    return !stream->capture             ? CU_STREAM_CAPTURE_STATUS_NONE
           : stream->capture->is_spoilt ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                        : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

struct info {
    CUstreamCaptureStatus *status;
    cuuint64_t *id;
    CUgraph *graph;
    const CUgraphNode **nodes;
    const CUgraphEdgeData **data;
    size_t *n;
};

static CUresult get_info(CUstream null, CUstream given, struct info info)
{
    CUstream stream;
    CUresult r = pt_cu_stream_find(null, given, &stream);
    if (r == CUDA_SUCCESS && !info.status)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    if (stream == stream->ctx->null_stream &&
        pt_cu_capture_find_blocking(stream->ctx)) /* whose capture goes on */
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    *info.status = status_of(stream);
    if (*info.status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return CUDA_SUCCESS;
    if (info.id)
        *info.id = stream->capture->id;
    if (info.graph)
        *info.graph = stream->capture->graph;
    if (info.nodes)
        *info.nodes = stream->capture_tail;
    if (info.data)
        *info.data = NULL; /* all edges are plain */
    if (info.n)
        *info.n = stream->n_capture_tail;
    return CUDA_SUCCESS;
}

PER_THREAD_API(cuStreamIsCapturing, _ptsz, get_info,
               (CUstream stream, CUstreamCaptureStatus *status), stream,
               (struct info){.status = status})
PER_THREAD_API(cuStreamGetCaptureInfo, _ptsz, get_info,
               (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id), stream,
               (struct info){.status = status, .id = id})
PER_THREAD_API(cuStreamGetCaptureInfo_v2, _ptsz, get_info,
               (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                const CUgraphNode **nodes, size_t *n),
               stream, (struct info){status, id, graph, nodes, NULL, n})
PER_THREAD_API(cuStreamGetCaptureInfo_v3, _ptsz, get_info,
               (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                const CUgraphNode **nodes, const CUgraphEdgeData **data, size_t *n),
               stream, (struct info){status, id, graph, nodes, data, n})

static CUresult update_dependencies(CUstream null, CUstream given, const CUgraphNode *nodes,
                                    size_t n, unsigned flags)
{
    CUstream stream;
    CUresult r = pt_cu_stream_find(null, given, &stream);
    if (r == CUDA_SUCCESS && !stream->capture)
        r = CUDA_ERROR_ILLEGAL_STATE;
    if (r == CUDA_SUCCESS)
        r = pt_cu_capture_check(stream);
    if (r == CUDA_SUCCESS)
        r = flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES
                ? CUDA_ERROR_INVALID_VALUE
                : pt_cu_graph_check_nodes(stream->capture->graph, nodes, n);
    if (r == CUDA_SUCCESS &&
        !pt_cu_capture_set_tail(stream, nodes, n, flags == CU_STREAM_ADD_CAPTURE_DEPENDENCIES))
        r = CUDA_ERROR_OUT_OF_MEMORY;
    return r;
}

PER_THREAD_API(cuStreamUpdateCaptureDependencies, _ptsz, update_dependencies,
               (CUstream stream, CUgraphNode *nodes, size_t n, unsigned flags), stream, nodes, n,
               flags)
PER_THREAD_API(cuStreamUpdateCaptureDependencies_v2, _ptsz, update_dependencies,
               (CUstream stream, CUgraphNode *nodes, const CUgraphEdgeData *data, size_t n,
                unsigned flags),
               stream, nodes, ((void)data, n), flags)

static CUresult exchange_mode(CUstreamCaptureMode *mode)
{
    struct pt_cu_thread *thread = pt_cu_thread_get();
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS && (!mode || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && !thread)
        r = CUDA_ERROR_OUT_OF_MEMORY;
    if (r != CUDA_SUCCESS)
        return r;
    CUstreamCaptureMode before = thread->capture_mode;
    thread->capture_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    return API(exchange_mode(mode));
}
