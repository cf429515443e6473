/* Graphs: nodes of every kind, edges, launches, changes in place, capture. */
#include "tests/cuda/support.h"

static CUmodule module;
static CUdeviceptr buffer;
static unsigned calls;

static void count(void *ud)
{
    calls += *(const unsigned *)ud;
}

static unsigned first_word(void)
{
    unsigned value = 0;
    OK(cuMemcpyDtoH_v2(&value, buffer, sizeof value));
    return value;
}

/* add(buffer, n, value), as the older interface takes it. */
static CUDA_KERNEL_NODE_PARAMS_v1 adding(void **parameters)
{
    return (CUDA_KERNEL_NODE_PARAMS_v1){function_of(module, "add"), 1, 1, 1, 32, 1, 1, 0, parameters, NULL};
}

static void check_nodes(void)
{
    CUgraph graph, clone;
    CUgraphExec exec;
    CUgraphNode set, add, copy, host, empty, nodes[8], from[8], to[8], found;
    CUcontext ctx;
    CUgraphNodeType type;
    unsigned n = 4, value = 2, weight = 10, out[4] = {0}, is_enabled;
    size_t count_of = 8;
    void *parameters[] = {&buffer, &n, &value};
    CUDA_KERNEL_NODE_PARAMS_v1 kernel = adding(parameters), kernel_back;
    CUDA_MEMSET_NODE_PARAMS zero = {buffer, 0, 1, 4, 4, 1}, zero_back;
    CUDA_HOST_NODE_PARAMS call = {count, &weight}, call_back;
    CUDA_MEMCPY3D back = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = buffer, .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = out, .WidthInBytes = sizeof out, .Height = 1, .Depth = 1}, back_back;
    OK(cuCtxGetCurrent(&ctx));
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddMemsetNode(&set, graph, NULL, 0, &zero, ctx));
    OK(cuGraphAddKernelNode(&add, graph, &set, 1, &kernel));
    OK(cuGraphAddMemcpyNode(&copy, graph, &add, 1, &back, ctx));
    OK(cuGraphAddHostNode(&host, graph, NULL, 0, &call));
    OK(cuGraphAddEmptyNode(&empty, graph, NULL, 0));
    OK(cuGraphAddDependencies(graph, &copy, &empty, 1));
    OK(cuGraphAddDependencies(graph, &host, &empty, 1));
    CHECK_CU(cuGraphAddDependencies(graph, &host, &empty, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphGetNodes(graph, NULL, &count_of));
    CHECK_INT(count_of, 5);
    OK(cuGraphGetRootNodes(graph, nodes, &count_of));
    CHECK(count_of == 2 && nodes[0] == set && nodes[1] == host && !nodes[2]);
    count_of = 8;
    OK(cuGraphGetEdges(graph, from, to, &count_of));
    CHECK_INT(count_of, 4);
    CHECK(from[0] == set && to[0] == add);
    count_of = 8;
    OK(cuGraphNodeGetDependencies(empty, nodes, &count_of));
    CHECK(count_of == 2 && nodes[0] == copy && nodes[1] == host);
    count_of = 8;
    OK(cuGraphNodeGetDependentNodes(set, nodes, &count_of));
    CHECK(count_of == 1 && nodes[0] == add);
    OK(cuGraphNodeGetType(host, &type));
    CHECK_INT(type, CU_GRAPH_NODE_TYPE_HOST);
    OK(cuGraphKernelNodeGetParams(add, &kernel_back));
    CHECK(kernel_back.blockDimX == 32 && *(unsigned *)kernel_back.kernelParams[2] == 2);
    OK(cuGraphMemsetNodeGetParams(set, &zero_back));
    CHECK(zero_back.dst == buffer && zero_back.width == 4);
    OK(cuGraphMemcpyNodeGetParams(copy, &back_back));
    CHECK(back_back.dstHost == out);
    OK(cuGraphHostNodeGetParams(host, &call_back));
    CHECK(call_back.fn == count);
    CHECK_CU(cuGraphHostNodeGetParams(add, &call_back), CUDA_ERROR_INVALID_VALUE);

    OK(cuGraphInstantiate_v2(&exec, graph, NULL, NULL, 0));
    value = 50; /* was copied when the node was made */
    calls = 0;
    OK(cuGraphLaunch(exec, NULL));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuStreamSynchronize(NULL));
    CHECK(out[0] == 3 && out[3] == 3);
    CHECK_INT(calls, 20);
    OK(cuGraphExecKernelNodeSetParams(exec, add, &kernel));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuStreamSynchronize(NULL));
    CHECK_INT(out[3], 51);
    OK(cuGraphNodeSetEnabled(exec, add, 0));
    OK(cuGraphNodeGetEnabled(exec, add, &is_enabled));
    CHECK_INT(is_enabled, 0);
    OK(cuGraphLaunch(exec, NULL));
    OK(cuStreamSynchronize(NULL));
    CHECK_INT(out[3], 1);
    OK(cuGraphNodeSetEnabled(exec, add, 1));
    zero.value = 100;
    OK(cuGraphExecMemsetNodeSetParams(exec, set, &zero, ctx));
    weight = 3;
    OK(cuGraphExecHostNodeSetParams(exec, host, &call));
    back.WidthInBytes = 8;
    OK(cuGraphExecMemcpyNodeSetParams(exec, copy, &back, ctx));
    calls = 0;
    OK(cuGraphLaunch(exec, NULL));
    OK(cuStreamSynchronize(NULL));
    CHECK(out[0] == 150 && out[1] == 150 && out[2] == 1);
    CHECK_INT(calls, 3);
    CHECK_CU(cuGraphNodeSetEnabled(exec, host, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphExecHostNodeSetParams(exec, add, &call), CUDA_ERROR_INVALID_VALUE);
    kernel.blockDimX = 2000;
    CHECK_CU(cuGraphExecKernelNodeSetParams(exec, add, &kernel), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphAddKernelNode(&add, graph, NULL, 0, &kernel), CUDA_ERROR_INVALID_VALUE);

    OK(cuGraphClone(&clone, graph));
    OK(cuGraphNodeFindInClone(&found, host, clone));
    CHECK(found != host);
    OK(cuGraphDestroyNode(found));
    CHECK_CU(cuGraphNodeFindInClone(&found, host, clone), CUDA_ERROR_INVALID_VALUE);
    CUgraphExecUpdateResultInfo info;
    CHECK_CU(cuGraphExecUpdate_v2(exec, clone, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    CHECK_INT(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    OK(cuGraphExecUpdate_v2(exec, graph, &info));
    CHECK_INT(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    OK(cuGraphLaunch(exec, NULL));
    OK(cuGraphExecDestroy(exec)); /* while it may be under way */
    OK(cuStreamSynchronize(NULL));
    CHECK_INT(out[3], 3);
    OK(cuGraphAddDependencies(graph, &empty, &set, 1)); /* a circle */
    CHECK_CU(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphRemoveDependencies(graph, &empty, &set, 1));
    CHECK_CU(cuGraphRemoveDependencies(graph, &empty, &set, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(clone));
    OK(cuGraphDestroy(graph));
    CHECK_CU(cuGraphDestroy(graph), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphLaunch(exec, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphCreate(&graph, 1), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphGetNodes(WILD, NULL, &count_of), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphExecDestroy(WILD), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphDestroyNode(NULL), CUDA_ERROR_INVALID_VALUE);
}

static void check_children(void)
{
    CUgraph inner, outer, seen;
    CUgraphNode add, child, second;
    CUgraphExec exec;
    CUevent event;
    unsigned n = 1, value = 5;
    void *parameters[] = {&buffer, &n, &value};
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    params.kernel = (CUDA_KERNEL_NODE_PARAMS){.func = function_of(module, "add"), .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1,
                                              .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1, .kernelParams = parameters};
    OK(cuEventCreate(&event, 0));
    OK(cuMemsetD32_v2(buffer, 0, 4));
    OK(cuGraphCreate(&inner, 0));
    OK(cuGraphAddNode(&add, inner, NULL, 0, &params));
    OK(cuGraphCreate(&outer, 0));
    OK(cuGraphAddChildGraphNode(&child, outer, NULL, 0, inner));
    OK(cuGraphAddChildGraphNode(&second, outer, &child, 1, inner));
    OK(cuGraphAddEventRecordNode(&add, outer, &second, 1, event));
    OK(cuGraphChildGraphNodeGetGraph(child, &seen));
    CHECK(seen != inner);
    CHECK_CU(cuGraphDestroy(seen), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(inner));
    OK(cuGraphInstantiateWithFlags(&exec, outer, 0));
    for (int i = 0; i < 10; i++)
        OK(cuGraphLaunch(exec, NULL));
    OK(cuEventSynchronize(event));
    CHECK_INT(first_word(), 100);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(outer));
    OK(cuEventDestroy_v2(event));
}

static void add(CUstream stream, unsigned value)
{
    unsigned n = 4;
    OK(LAUNCH(function_of(module, "add"), 4, stream, &buffer, &n, &value));
}

/* Two streams, forked and joined by events. */
static void check_capture(void)
{
    CUstream a, b;
    CUevent fork, join;
    CUgraph graph = NULL;
    CUgraphExec exec;
    CUstreamCaptureStatus status;
    cuuint64_t id = 0;
    unsigned weight = 1;
    size_t n = 0;
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    OK(cuMemsetD32_v2(buffer, 7, 4));
    OK(cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuStreamIsCapturing(a, &status));
    CHECK_INT(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cuMemsetD32Async(buffer, 0, 4, a));
    OK(cuEventRecord(fork, a));
    OK(cuStreamWaitEvent(b, fork, 0));
    OK(cuStreamGetCaptureInfo_v2(b, &status, &id, NULL, NULL, &n));
    CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE && id && n == 1);
    OK(cuLaunchHostFunc(b, count, &weight));
    add(a, 10);
    OK(cuEventRecord(join, b));
    OK(cuStreamWaitEvent(a, join, 0));
    add(a, 1);
    CHECK_CU(cuEventQuery(join), CUDA_ERROR_CAPTURED_EVENT);
    OK(cuStreamEndCapture(a, &graph));
    OK(cuStreamIsCapturing(b, &status));
    CHECK_INT(status, CU_STREAM_CAPTURE_STATUS_NONE);
    CHECK_INT(first_word(), 7); /* nothing has run */
    OK(cuGraphGetNodes(graph, NULL, &n));
    CHECK_INT(n, 4);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    calls = 0;
    for (int i = 0; i < 100; i++)
        OK(cuGraphLaunch(exec, a));
    OK(cuStreamSynchronize(a));
    CHECK_INT(first_word(), 11);
    CHECK_INT(calls, 100);
    /* a launch that is captured is a child */
    CUgraph outer;
    OK(cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuGraphLaunch(exec, a));
    add(a, 100);
    OK(cuStreamEndCapture(a, &outer));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphInstantiateWithFlags(&exec, outer, 0));
    OK(cuGraphLaunch(exec, b));
    OK(cuStreamSynchronize(b));
    CHECK_INT(first_word(), 111);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(outer));
    OK(cuGraphDestroy(graph));
    OK(cuStreamDestroy_v2(a));
    OK(cuStreamDestroy_v2(b));
    OK(cuEventDestroy_v2(fork));
    OK(cuEventDestroy_v2(join));
}

static void check_broken_captures(void)
{
    CUstream a, b, blocking;
    CUevent event;
    CUgraph graph = WILD;
    CUstreamCaptureStatus status;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&blocking, 0));
    OK(cuEventCreate(&event, 0));
    CHECK_CU(cuStreamBeginCapture_v2(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CHECK_CU(cuStreamBeginCapture_v2(a, (CUstreamCaptureMode)9), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuStreamEndCapture(a, &graph), CUDA_ERROR_ILLEGAL_STATE);
    CHECK(!graph);
    /* waiting for a stream that only records */
    OK(cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK_CU(cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_ILLEGAL_STATE);
    CHECK_CU(cuStreamSynchronize(a), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    OK(cuStreamIsCapturing(a, &status));
    CHECK_INT(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    CHECK_CU(cuMemsetD32Async(buffer, 0, 4, a), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CHECK_CU(cuStreamEndCapture(a, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CHECK(!graph);
    /* work that was not waited for */
    OK(cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuEventRecord(event, a));
    OK(cuStreamWaitEvent(b, event, 0));
    OK(cuMemsetD32Async(buffer, 0, 4, b));
    CHECK_CU(cuStreamEndCapture(a, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    /* ended where it did not begin */
    OK(cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuEventRecord(event, a));
    OK(cuStreamWaitEvent(b, event, 0));
    CHECK_CU(cuStreamEndCapture(b, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    CHECK_CU(cuStreamEndCapture(a, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    /* an event of work that runs */
    OK(cuEventRecord(event, b));
    OK(cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK_CU(cuStreamWaitEvent(a, event, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    CHECK_CU(cuStreamEndCapture(a, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    /* the default stream beside a blocking one that records */
    OK(cuStreamBeginCapture_v2(blocking, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK_CU(cuMemsetD32_v2(buffer, 0, 4), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    CHECK_CU(cuStreamEndCapture(blocking, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    /* two captures */
    OK(cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuStreamBeginCapture_v2(b, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuEventRecord(event, a));
    CHECK_CU(cuStreamWaitEvent(b, event, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
    CHECK_CU(cuStreamEndCapture(a, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CHECK_CU(cuStreamEndCapture(b, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    CHECK_INT(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    CHECK_CU(cuThreadExchangeStreamCaptureMode(NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuStreamIsCapturing(a, NULL), CUDA_ERROR_INVALID_VALUE);
    /* a stream that goes while it records */
    OK(cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuEventRecord(event, a));
    OK(cuStreamDestroy_v2(a));
    CHECK_CU(cuStreamWaitEvent(b, event, 0), CUDA_ERROR_CAPTURED_EVENT);
    OK(cuStreamDestroy_v2(b));
    OK(cuStreamDestroy_v2(blocking));
    OK(cuEventDestroy_v2(event));
}

int main(void)
{
    CUcontext ctx = begin();
    module = load_kernels();
    buffer = new_memory(64);
    check_nodes();
    check_children();
    check_capture();
    check_broken_captures();
    OK(cuCtxDestroy_v2(ctx));
    return CHECK_DONE("cuda_graph");
}
