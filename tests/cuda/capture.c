/* Captures: what they forbid while they last, and that it ends them. */
#include <pthread.h>

#include "tests/cuda/support.h"

static CUcontext context;
static CUmodule module;
static CUstream stream, other;
static CUevent recorded, captured;
static CUdeviceptr memory, managed;

/* ---- calls ----------------------------------------------------------------------------------- */

static CUresult alloc(void)
{
    CUdeviceptr p;
    CUresult r = cuMemAlloc_v2(&p, 4);
    return r == CUDA_SUCCESS ? cuMemFree_v2(p) : r;
}

static CUresult free_memory(void)
{
    return cuMemFree_v2(managed);
}

static CUresult alloc_host(void)
{
    void *p;
    CUresult r = cuMemHostAlloc(&p, 4, 0);
    return r == CUDA_SUCCESS ? cuMemFreeHost(p) : r;
}

static CUresult register_host(void)
{
    static char bytes[16];
    CUresult r = cuMemHostRegister_v2(bytes, sizeof bytes, 0);
    return r == CUDA_SUCCESS ? cuMemHostUnregister(bytes) : r;
}

static CUresult query_other(void)
{
    return cuEventQuery(recorded);
}

static CUresult query_captured(void)
{
    return cuEventQuery(captured);
}

static CUresult wait_for_captured(void)
{
    return cuEventSynchronize(captured);
}

static CUresult query_stream(void)
{
    return cuStreamQuery(stream);
}

static CUresult wait_for_stream(void)
{
    return cuStreamSynchronize(stream);
}

static CUresult attach(void)
{
    return cuStreamAttachMemAsync(stream, managed, 0, CU_MEM_ATTACH_SINGLE);
}

static CUresult set_in_other(void)
{
    return cuMemsetD8Async(memory, 0, 4, other);
}

static CUresult get_info(void)
{
    size_t available, total;
    return cuMemGetInfo_v2(&available, &total);
}

/* ---- captures around them -------------------------------------------------------------------- */

/* Captures, makes the call in the middle, and returns what it says; *end becomes what the end of
 * the capture says. */
static CUresult capture(CUresult (*call)(void), CUstreamCaptureMode mode, CUresult *end)
{
    CUgraph graph = NULL;
    OK(cuEventRecord(recorded, other));
    OK(cuStreamBeginCapture_v2(stream, mode));
    OK(LAUNCH(function_of(module, "empty"), 1, stream, NULL));
    OK(cuEventRecord(captured, stream));
    CUresult r = call();
    *end = cuStreamEndCapture(stream, &graph);
    CHECK((*end == CUDA_SUCCESS) == (graph != NULL));
    if (graph)
        OK(cuGraphDestroy(graph));
    return r;
}

#define CHECK_CAPTURE(call, mode, want, want_end)                           \
    do {                                                                    \
        CUresult end;                                                       \
        CHECK_CU(capture(call, CU_STREAM_CAPTURE_MODE_##mode, &end), want); \
        CHECK_CU(end, want_end);                                            \
    } while (0)
#define FORBIDDEN(call, mode, want) \
    CHECK_CAPTURE(call, mode, want, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
#define ALLOWED(call, mode) CHECK_CAPTURE(call, mode, CUDA_SUCCESS, CUDA_SUCCESS)

/* Whatever the mode is: what asks for work that is not being done. */
static void check_conflicts(void)
{
    static const CUresult unsupported = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    FORBIDDEN(cuCtxSynchronize, RELAXED, unsupported);
    FORBIDDEN(cuCtxSynchronize, GLOBAL, unsupported);
    FORBIDDEN(query_stream, RELAXED, unsupported);
    FORBIDDEN(wait_for_stream, RELAXED, unsupported);
    FORBIDDEN(attach, RELAXED, unsupported);
    FORBIDDEN(query_captured, RELAXED, CUDA_ERROR_CAPTURED_EVENT);
    FORBIDDEN(wait_for_captured, RELAXED, CUDA_ERROR_CAPTURED_EVENT);
    ALLOWED(set_in_other, GLOBAL);
    ALLOWED(get_info, GLOBAL);
}

/* What could be unsafe, unless the capture or the thread is relaxed. */
static void check_unsafe(void)
{
    CUresult (*const calls[])(void) = {alloc, free_memory, alloc_host, register_host, query_other};
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        FORBIDDEN(calls[i], GLOBAL, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        FORBIDDEN(calls[i], THREAD_LOCAL, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }
    ALLOWED(alloc, RELAXED);
    ALLOWED(query_other, RELAXED);
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    ALLOWED(alloc, GLOBAL);
    OK(cuThreadExchangeStreamCaptureMode(&mode));
}

static void *alloc_in_thread(void *result)
{
    OK(cuCtxSetCurrent(context));
    *(CUresult *)result = alloc();
    return NULL;
}

static CUresult alloc_elsewhere(void)
{
    pthread_t thread;
    CUresult result = CUDA_ERROR_UNKNOWN;
    pthread_create(&thread, NULL, alloc_in_thread, &result);
    pthread_join(thread, NULL);
    return result;
}

/* A global capture forbids it to other threads, too. */
static void check_threads(void)
{
    FORBIDDEN(alloc_elsewhere, GLOBAL, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    ALLOWED(alloc_elsewhere, THREAD_LOCAL);
    ALLOWED(alloc_elsewhere, RELAXED);
}

/* Asking the default stream beside a blocking one that captures is an error, and leaves that
 * alone. */
static void check_default_stream(void)
{
    CUstream blocking;
    CUgraph graph;
    CUstreamCaptureStatus status;
    OK(cuStreamCreate(&blocking, 0));
    OK(cuStreamBeginCapture_v2(blocking, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK_CU(cuStreamIsCapturing(NULL, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    CHECK_CU(cuStreamGetCaptureInfo(NULL, &status, NULL), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    OK(cuStreamEndCapture(blocking, &graph));
    OK(cuGraphDestroy(graph));
    OK(cuStreamIsCapturing(NULL, &status));
    CHECK_INT(status, CU_STREAM_CAPTURE_STATUS_NONE);
    OK(cuStreamDestroy_v2(blocking));
}

/* A free that a capture forbids has not happened: the block is freed by the next one. */
static void check_forbidden_free(void)
{
    CUstream blocking;
    CUgraph graph;
    CUdeviceptr p;
    OK(cuStreamCreate(&blocking, 0));
    OK(cuMemAllocAsync(&p, 4096, stream));
    OK(cuStreamBeginCapture_v2(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK_CU(cuMemFreeAsync(p, NULL), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    CHECK_CU(cuStreamEndCapture(blocking, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cuMemFreeAsync(p, NULL));
    OK(cuStreamSynchronize(NULL));
    OK(cuStreamDestroy_v2(blocking));
}

/* The stream's hints become those of the kernel nodes. */
static void check_hints(void)
{
    CUgraph graph;
    CUgraphNode node;
    size_t n = 1;
    CUlaunchAttributeValue v = {.memSyncDomain = 1};
    OK(cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, &v));
    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(LAUNCH(function_of(module, "empty"), 1, stream, NULL));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphGetNodes(graph, &node, &n));
    v.memSyncDomain = 0;
    OK(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, &v));
    CHECK_INT(v.memSyncDomain, 1);
    OK(cuGraphDestroy(graph));
    v.memSyncDomain = 0;
    OK(cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, &v));
}

int main(void)
{
    context = begin();
    module = load_kernels();
    memory = new_memory(4);
    OK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&recorded, 0));
    OK(cuEventCreate(&captured, 0));
    check_conflicts();
    check_unsafe();
    check_threads();
    check_default_stream();
    check_forbidden_free();
    check_hints();
    OK(cuCtxDestroy_v2(context));
    return CHECK_DONE("cuda_capture");
}
