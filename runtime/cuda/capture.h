/* Stream capture: work given to streams becomes nodes of a graph. */
#ifndef PTERA_CUDA_CAPTURE_H
#define PTERA_CUDA_CAPTURE_H

#include <stdbool.h>

#include "runtime/cuda/abi.h"

struct pt_cu_op;

struct pt_cu_capture {
    unsigned refs; /* of streams and events */
    uint64_t id;
    CUgraph graph;
    bool is_given;   /* the graph is the program's */
    CUstream origin; /* where it began; NULL: over */
    CUstreamCaptureMode mode;
    uint64_t thread;
    bool is_spoilt;
};

/* An error if a capture forbids to use the stream at all. */
CUresult pt_cu_capture_check(CUstream stream);
/* An error, and the end of the capture, if the stream is captured: for what cannot be. */
CUresult pt_cu_capture_forbid(CUstream stream);
CUresult pt_cu_capture_spoil(CUstream stream, CUresult error);
/* Likewise if any stream of the context is captured: for what would wait for all of them. */
CUresult pt_cu_capture_forbid_context(CUcontext ctx);
/* Likewise if a capture forbids this thread what could be unsafe meanwhile
 * (cuThreadExchangeStreamCaptureMode tells when). */
CUresult pt_cu_capture_forbid_unsafe(void);
/* What cannot be asked of an event that stands for a place in a graph. */
CUresult pt_cu_capture_forbid_event(CUevent event);
/* Adds the operation to the graph of the stream's capture, taking it over. */
CUresult pt_cu_capture_add(CUstream stream, struct pt_cu_op *op);
/* Waiting for an event where the stream or the event is captured. */
CUresult pt_cu_capture_wait(CUstream stream, CUevent event, unsigned flags);
CUresult pt_cu_capture_record(CUstream stream, CUevent event);
CUresult pt_cu_capture_child(CUstream stream, CUgraph graph);
/* Memory that is allocated and freed in the order of a stream becomes the graph's. */
CUresult pt_cu_capture_alloc(CUstream stream, size_t bytes, CUdeviceptr *address);
CUresult pt_cu_capture_free(CUstream stream, CUdeviceptr address);
/* The stream's next node is to depend on these nodes, and on those before if `add`. False: no
 * memory. */
bool pt_cu_capture_set_tail(CUstream stream, const CUgraphNode *nodes, size_t n, bool add);
/* A blocking stream of the context that is captured, or NULL. */
CUstream pt_cu_capture_find_blocking(CUcontext ctx);
void pt_cu_capture_leave(CUstream stream);
void pt_cu_capture_forget(CUevent event);

#endif
