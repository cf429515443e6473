/* Records: of launches, copies, sets, graphs, calls, waits, and what the client says of them. */
#include <unistd.h>

#include "tests/cupti/support.h"

static const CUpti_ActivityKind wanted[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                            CUPTI_ACTIVITY_KIND_MEMCPY,
                                            CUPTI_ACTIVITY_KIND_MEMSET,
                                            CUPTI_ACTIVITY_KIND_DRIVER,
                                            CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                                            CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                                            CUPTI_ACTIVITY_KIND_CONTEXT,
                                            CUPTI_ACTIVITY_KIND_STREAM,
                                            CUPTI_ACTIVITY_KIND_DEVICE,
                                            CUPTI_ACTIVITY_KIND_OVERHEAD};

static CUresult launch_add(CUfunction add, CUdeviceptr p, CUstream stream)
{
    unsigned n = 64, value = 1;
    void *parameters[] = {&p, &n, &value};
    return cuLaunchKernel(add, 2, 1, 1, 32, 1, 1, 128, stream, parameters, NULL);
}

static void check_made(CUcontext ctx)
{
    uint32_t id = 0, null = 0;
    CUPTI_OK(cuptiActivityFlushAll(0));
    CUPTI_OK(cuptiGetContextId(ctx, &id));
    CUPTI_OK(cuptiGetStreamId(ctx, NULL, &null));
    const CUpti_ActivityContext *context = find(CUPTI_ACTIVITY_KIND_CONTEXT, 0);
    const CUpti_ActivityDevice *device = find(CUPTI_ACTIVITY_KIND_DEVICE, 0);
    CHECK(context && device);
    if (!context || !device)
        return;
    CHECK_INT(context->context, id);
    CHECK_INT(context->null_stream, null);
    CHECK_INT(context->process, getpid());
    CHECK_INT(device->id, 0);
    CHECK_INT(device->warp_threads, 32);
    CHECK(device->name && device->multiprocessors && device->global_bytes);
    CHECK_INT(count(CUPTI_ACTIVITY_KIND_OVERHEAD), 1); /* the module's loading */
    forget();
}

static void check_launch(CUcontext ctx, CUmodule module, CUdeviceptr p)
{
    uint64_t before, after;
    uint32_t context, stream;
    CUPTI_OK(cuptiGetTimestamp(&before));
    OK(launch_add(function_of(module, "add"), p, NULL));
    OK(cuCtxSynchronize());
    CUPTI_OK(cuptiGetTimestamp(&after));
    CUPTI_OK(cuptiActivityFlushAll(0));
    CUPTI_OK(cuptiGetContextId(ctx, &context));
    CUPTI_OK(cuptiGetStreamIdEx(ctx, NULL, 0, &stream));
    CHECK_INT(count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 1);
    const CUpti_ActivityKernel *k = find(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0);
    const CUpti_ActivityAPI *call = find_call(CUPTI_ACTIVITY_KIND_DRIVER, "cuLaunchKernel");
    CHECK(k && call);
    if (!k || !call)
        return;
    CHECK_TEXT(k->name, "add");
    CHECK(before <= call->start && call->start <= k->start && k->start < k->end && k->end <= after);
    CHECK_INT(k->completed, k->end);
    CHECK_INT(k->correlation, call->correlation);
    CHECK_INT(call->result, 0);
    CHECK_INT(call->process, getpid());
    CHECK_INT(k->context, context);
    CHECK_INT(k->stream, stream);
    CHECK_INT(k->device, 0);
    CHECK_INT(k->grid[0], 2);
    CHECK_INT(k->grid[1], 1);
    CHECK_INT(k->block[0], 32);
    CHECK_INT(k->shared_dynamic, 128);
    CHECK_INT(k->shared_static, 0);
    CHECK(k->registers > 0);
    CHECK_INT(k->graph, 0);
    CHECK_INT(k->graph_node, 0);
    const CUpti_ActivitySynchronization *wait = find(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 0);
    CHECK(wait && wait->type == CUPTI_ACTIVITY_SYNCHRONIZATION_CONTEXT &&
          wait->context == context && wait->end >= k->end);
    forget();
}

static void check_failed_launch(void)
{
    CHECK_CU(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
             CUDA_ERROR_INVALID_HANDLE);
    CUPTI_OK(cuptiActivityFlushAll(0));
    const CUpti_ActivityAPI *call = find_call(CUPTI_ACTIVITY_KIND_DRIVER, "cuLaunchKernel");
    CHECK(call && call->result == CUDA_ERROR_INVALID_HANDLE);
    CHECK_INT(count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 0);
    forget();
}

static void check_moves(CUdeviceptr p, CUstream stream)
{
    uint32_t host[64] = {0}, *pinned, id = 0;
    OK(cuMemHostAlloc((void **)&pinned, sizeof host, 0));
    forget();
    OK(cuMemcpyHtoD_v2(p, host, sizeof host));
    OK(cuMemcpyDtoHAsync_v2(pinned, p, 128, stream));
    OK(cuMemcpyDtoD_v2(p + 128, p, 64));
    OK(cuMemsetD32Async(p, 77, 16, stream));
    OK(cuStreamSynchronize(stream));
    CUPTI_OK(cuptiActivityFlushAll(0));
    CUPTI_OK(cuptiGetStreamId(NULL, stream, &id));
    const struct {
        uint8_t kind, from, to, flags;
        uint64_t bytes;
        const char *call;
    } want[] = {{1, 1, 3, 0, 256, "cuMemcpyHtoD_v2"},
                {2, 3, 2, 1, 128, "cuMemcpyDtoHAsync_v2"},
                {8, 3, 3, 0, 64, "cuMemcpyDtoD_v2"}};
    CHECK_INT(count(CUPTI_ACTIVITY_KIND_MEMCPY), 3);
    for (unsigned i = 0; i < 3; i++) {
        const CUpti_ActivityAPI *call = find_call(CUPTI_ACTIVITY_KIND_DRIVER, want[i].call);
        const CUpti_ActivityMemcpy *m = NULL;
        for (unsigned k = 0; call && (m = find(CUPTI_ACTIVITY_KIND_MEMCPY, k)); k++)
            if (m->correlation == call->correlation)
                break;
        CHECK(call && m);
        if (!call || !m)
            continue;
        CHECK_INT(m->copy_kind, want[i].kind);
        CHECK_INT(m->from, want[i].from);
        CHECK_INT(m->to, want[i].to);
        CHECK_INT(m->bytes, want[i].bytes);
        if (want[i].kind != 8)
            CHECK_INT(m->flags, want[i].flags);
        CHECK(m->start <= m->end);
    }
    const CUpti_ActivityMemset *set = find(CUPTI_ACTIVITY_KIND_MEMSET, 0);
    CHECK(set && set->value == 77 && set->bytes == 64 && set->stream == id && set->place == 3);
    const CUpti_ActivitySynchronization *wait = find(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 0);
    CHECK(wait && wait->type == CUPTI_ACTIVITY_SYNCHRONIZATION_STREAM && wait->stream == id);
    OK(cuMemFreeHost(pinned));
    forget();
}

static void check_waits(CUstream stream)
{
    CUevent event;
    uint32_t id = 0;
    OK(cuEventCreate(&event, 0));
    OK(cuEventRecord(event, stream));
    OK(cuStreamWaitEvent(NULL, event, 0));
    OK(cuEventSynchronize(event));
    CUPTI_OK(cuptiActivityFlushAll(0));
    CUPTI_OK(cuptiGetCudaEventId(event, &id));
    const CUpti_ActivitySynchronization *first = find(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 0),
                                        *then = find(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 1);
    CHECK(first && first->type == CUPTI_ACTIVITY_SYNCHRONIZATION_STREAM_WAIT_EVENT &&
          first->event == id);
    CHECK(then && then->type == CUPTI_ACTIVITY_SYNCHRONIZATION_EVENT && then->event == id);
    OK(cuEventDestroy_v2(event));
    forget();
}

static void check_graph(CUmodule module, CUdeviceptr p, CUstream stream)
{
    CUgraph graph;
    CUgraphExec exec;
    uint32_t id = 0;
    CUfunction add = function_of(module, "add");
    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(launch_add(add, p, stream));
    OK(cuMemsetD8Async(p, 0, 4, stream));
    OK(launch_add(add, p, stream));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    forget(); /* nothing has run */
    for (int i = 0; i < 2; i++) {
        OK(cuGraphLaunch(exec, stream));
        OK(cuStreamSynchronize(stream));
    }
    CUPTI_OK(cuptiActivityFlushAll(0));
    CUPTI_OK(cuptiGetGraphExecId(exec, &id));
    CHECK_INT(count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 4);
    CHECK_INT(count(CUPTI_ACTIVITY_KIND_MEMSET), 2);
    const CUpti_ActivityAPI *call = find_call(CUPTI_ACTIVITY_KIND_DRIVER, "cuGraphLaunch");
    const CUpti_ActivityKernel *k[4];
    for (unsigned i = 0; i < 4; i++)
        k[i] = find(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, i);
    CHECK(call && k[0] && k[3]);
    if (call && k[0] && k[3]) {
        CHECK_INT(k[0]->correlation, call->correlation);
        CHECK_INT(k[1]->correlation, call->correlation);
        CHECK(k[2]->correlation != call->correlation);
        CHECK_INT(k[0]->graph, id);
        CHECK(k[0]->graph_node && k[0]->graph_node != k[1]->graph_node);
        CHECK_INT(k[2]->graph_node, k[0]->graph_node);
    }
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    forget();
}

static void check_external(CUmodule module, CUdeviceptr p)
{
    uint64_t id = 0;
    enum {
        A = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0,
        B = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1
    };
    CHECK_INT(cuptiActivityPopExternalCorrelationId(A, &id), CUPTI_ERROR_QUEUE_EMPTY);
    CHECK_INT(cuptiActivityPushExternalCorrelationId(0, 1), CUPTI_ERROR_INVALID_PARAMETER);
    CUPTI_OK(cuptiActivityPushExternalCorrelationId(A, 41));
    CUPTI_OK(cuptiActivityPushExternalCorrelationId(A, 42));
    CUPTI_OK(cuptiActivityPushExternalCorrelationId(B, 43));
    CUfunction add = function_of(module, "add");
    OK(cuCtxSynchronize());
    forget();
    OK(launch_add(add, p, NULL));
    CUPTI_OK(cuptiActivityPopExternalCorrelationId(A, &id));
    CHECK_INT(id, 42);
    CUPTI_OK(cuptiActivityPopExternalCorrelationId(A, NULL));
    CUPTI_OK(cuptiActivityPopExternalCorrelationId(B, &id));
    CHECK_INT(id, 43);
    OK(cuCtxSynchronize());
    CUPTI_OK(cuptiActivityFlushAll(0));
    const CUpti_ActivityKernel *k = find(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0);
    CHECK_INT(count(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION), 2);
    for (unsigned i = 0; i < 2; i++) {
        const CUpti_ActivityExternalCorrelation *e =
            find(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, i);
        CHECK(e && k && e->correlation == k->correlation);
        CHECK(e && e->external_id == (e->external_kind == A ? 42 : 43));
    }
    forget();
}

static void check_peers(CUdeviceptr p)
{
    CUcontext other;
    CUdeviceptr q = 0;
    OK(cuDevicePrimaryCtxRetain(&other, 1));
    OK(cuCtxPushCurrent_v2(other));
    OK(cuMemAlloc_v2(&q, 64));
    OK(cuCtxPopCurrent_v2(NULL));
    forget();
    CUPTI_OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY2));
    OK(cuMemcpyDtoD_v2(q, p, 64));
    CUPTI_OK(cuptiActivityFlushAll(0));
    const CUpti_ActivityMemcpyPtoP *m = find(CUPTI_ACTIVITY_KIND_MEMCPY2, 0);
    CHECK(m && m->copy_kind == 10 && m->bytes == 64 && m->from_device == 0 && m->to_device == 1);
    CHECK_INT(count(CUPTI_ACTIVITY_KIND_MEMCPY), 0);
    CUPTI_OK(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MEMCPY2));
    OK(cuMemFree_v2(q));
    OK(cuDevicePrimaryCtxRelease_v2(1));
    forget();
}

/* Kinds of one context, calls that are left out, the client's own clock. */
static uint64_t own_clock(void)
{
    static uint64_t now;
    return ++now;
}

static void check_choice(CUcontext ctx, CUmodule module, CUdeviceptr p)
{
    CUfunction add = function_of(module, "add");
    for (unsigned i = 0; i < sizeof wanted / sizeof *wanted; i++)
        CUPTI_OK(cuptiActivityDisable(wanted[i]));
    OK(launch_add(add, p, NULL));
    OK(cuCtxSynchronize());
    forget();
    CUPTI_OK(cuptiActivityFlushAll(0));
    CHECK_INT(n_taken, 0);
    CUPTI_OK(cuptiActivityEnableContext(ctx, CUPTI_ACTIVITY_KIND_KERNEL));
    CUPTI_OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER));
    enum { CTX_SYNCHRONIZE = 17 };
    CUPTI_OK(cuptiActivityEnableDriverApi(CTX_SYNCHRONIZE, 0));
    CUPTI_OK(cuptiActivityRegisterTimestampCallback(own_clock));
    OK(launch_add(add, p, NULL));
    OK(cuCtxSynchronize());
    CUPTI_OK(cuptiActivityFlushAll(0));
    const CUpti_ActivityKernel *k = find(CUPTI_ACTIVITY_KIND_KERNEL, 0);
    CHECK(k && k->start < k->end && k->end < 1000);
    CHECK(find_call(CUPTI_ACTIVITY_KIND_DRIVER, "cuLaunchKernel"));
    CHECK(!find_call(CUPTI_ACTIVITY_KIND_DRIVER, "cuCtxSynchronize"));
    CUPTI_OK(cuptiActivityDisableContext(ctx, CUPTI_ACTIVITY_KIND_KERNEL));
    CUPTI_OK(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_DRIVER));
    forget();
}

static void check_errors(void)
{
    size_t bytes = sizeof(size_t), value = 0, dropped = 1;
    const char *text = NULL;
    uint32_t version = 0, id;
    CUPTI_OK(cuptiGetVersion(&version));
    CHECK_INT(version, 130500);
    CHECK_INT(cuptiGetVersion(NULL), CUPTI_ERROR_INVALID_PARAMETER);
    CUPTI_OK(cuptiGetResultString(CUPTI_ERROR_QUEUE_EMPTY, &text));
    CHECK_TEXT(text, "CUPTI_ERROR_QUEUE_EMPTY");
    CHECK_INT(cuptiActivityEnable(0), CUPTI_ERROR_NOT_COMPATIBLE);
    CHECK_INT(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_COUNT), CUPTI_ERROR_NOT_COMPATIBLE);
    CHECK_INT(cuptiActivityEnable(6), CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED);
    CHECK_INT(cuptiActivityEnable(45), CUPTI_ERROR_NOT_SUPPORTED);
    CHECK_INT(cuptiActivityEnableContext(WILD, CUPTI_ACTIVITY_KIND_MEMCPY),
              CUPTI_ERROR_INVALID_CONTEXT);
    CHECK_INT(cuptiActivityRegisterCallbacks(NULL, complete), CUPTI_ERROR_INVALID_PARAMETER);
    CHECK_INT(cuptiGetContextId(WILD, &id), CUPTI_ERROR_INVALID_CONTEXT);
    CHECK_INT(cuptiGetStreamId(NULL, WILD, &id), CUPTI_ERROR_INVALID_STREAM);
    CHECK_INT(cuptiGetGraphId(WILD, &id), CUPTI_ERROR_INVALID_PARAMETER);
    CUPTI_OK(cuptiActivityGetAttribute(2, &bytes, &value));
    CHECK_INT(value, 250);
    value = 7;
    CUPTI_OK(cuptiActivitySetAttribute(2, &bytes, &value));
    value = 0;
    CUPTI_OK(cuptiActivityGetAttribute(2, &bytes, &value));
    CHECK_INT(value, 7);
    bytes = 4;
    CHECK_INT(cuptiActivityGetAttribute(2, &bytes, &value),
              CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT);
    CHECK_INT(cuptiGetLastError(), CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT);
    CHECK_INT(cuptiGetLastError(), CUPTI_SUCCESS);
    CUPTI_OK(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
    CHECK_INT(dropped, 0);
}

int main(void)
{
    CUstream stream;
    CUdeviceptr p = 0;
    setenv("PTERA_DEVICES", "2", 1);
    CUPTI_OK(cuptiActivityRegisterCallbacks(request, complete));
    for (unsigned i = 0; i < sizeof wanted / sizeof *wanted; i++)
        CUPTI_OK(cuptiActivityEnable(wanted[i]));
    CHECK_INT(n_given, 0);
    CUcontext ctx = begin();
    CHECK_INT(n_given, 1); /* with the first record */
    CUmodule module = load_kernels();
    OK(cuMemAlloc_v2(&p, 256));
    OK(cuMemsetD8_v2(p, 0, 256));
    check_made(ctx);
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    check_launch(ctx, module, p);
    check_failed_launch();
    check_moves(p, stream);
    check_waits(stream);
    check_graph(module, p, stream);
    check_external(module, p);
    check_peers(p);
    check_choice(ctx, module, p);
    check_errors();
    CUPTI_OK(cuptiFinalize());
    OK(cuCtxDestroy_v2(ctx));
    return CHECK_DONE("cupti_records");
}
