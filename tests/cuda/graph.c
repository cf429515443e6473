/* Graphs: nodes of every kind, edges, launches, changes in place, capture. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
    return (CUDA_KERNEL_NODE_PARAMS_v1){
        function_of(module, "add"), 1, 1, 1, 32, 1, 1, 0, parameters, NULL};
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
    CUDA_MEMCPY3D back = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = buffer,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = out,
                          .WidthInBytes = sizeof out,
                          .Height = 1,
                          .Depth = 1},
                  back_back;
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

static CUresult set_hint(CUgraphNode node, CUlaunchAttributeID id, int value)
{
    CUlaunchAttributeValue v = {.priority = value};
    return cuGraphKernelNodeSetAttribute(node, id, &v);
}

/* Attributes that nodes only keep, and those that they do not have. */
static void check_hints(void)
{
    CUgraph graph, clone;
    CUgraphNode node, copy;
    CUlaunchAttributeValue v = {{0}};
    unsigned n = 4, value = 2;
    void *parameters[] = {&buffer, &n, &value};
    CUDA_KERNEL_NODE_PARAMS_v1 kernel = adding(parameters);
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    OK(set_hint(node, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, 0));
    OK(set_hint(node, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, 0x100));
    OK(set_hint(node, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, 1));
    OK(set_hint(node, CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50));
    CHECK_CU(set_hint(node, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, 9), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(set_hint(node, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, 1),
             CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(set_hint(node, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, 1),
             CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, NULL),
             CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphAddKernelNode(&copy, graph, NULL, 0, &kernel));
    OK(cuGraphKernelNodeCopyAttributes(copy, node));
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphNodeFindInClone(&copy, copy, clone));
    OK(cuGraphKernelNodeGetAttribute(copy, CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                                     &v));
    CHECK_INT(v.sharedMemCarveout, 50);
    OK(cuGraphDestroy(clone));
    OK(cuGraphDestroy(graph));
}

/* Whether a graph's text in the DOT language, with these flags, has a line of its own in it. */
static bool shows(CUgraph graph, unsigned flags, const char *text)
{
    char path[] = "/tmp/ptera-dot-XXXXXX", all[4096] = "";
    close(mkstemp(path));
    OK(cuGraphDebugDotPrint(graph, path, flags));
    FILE *file = fopen(path, "r");
    size_t n = fread(all, 1, sizeof all - 1, file);
    fclose(file);
    unlink(path);
    return strncmp(all, "digraph dot {\n", 14) == 0 && all[n - 2] == '}' && strstr(all, text);
}

static void check_dot(void)
{
    CUgraph graph, inner;
    CUgraphNode node, child;
    unsigned n = 4, value = 2;
    void *parameters[] = {&buffer, &n, &value};
    CUDA_KERNEL_NODE_PARAMS_v1 kernel = adding(parameters);
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphCreate(&inner, 0));
    OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    OK(cuGraphAddEmptyNode(&child, inner, NULL, 0));
    OK(cuGraphAddChildGraphNode(&child, graph, &node, 1, inner));
    CHECK(shows(graph, 0, "add"));
    CHECK(shows(graph, 0, "\"graph_1_node_0\" -> \"graph_1_node_1\""));
    CHECK(shows(graph, 0, "cluster_2"));
    CHECK(!shows(graph, 0, "32"));
    CHECK(shows(graph, 1, "32"));
    CHECK_CU(cuGraphDebugDotPrint(WILD, "/tmp/ptera-dot", 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphDebugDotPrint(graph, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphDebugDotPrint(graph, "/nosuch/folder/dot", 0), CUDA_ERROR_OPERATING_SYSTEM);
    OK(cuGraphDestroy(inner));
    OK(cuGraphDestroy(graph));
}

/* A graph of one copy or one set, and what it is made of anew. */
static CUgraph graph_of(CUDA_MEMCPY3D *copy, CUDA_MEMSET_NODE_PARAMS *set, CUgraphNode *node)
{
    CUgraph graph;
    CUcontext ctx;
    OK(cuCtxGetCurrent(&ctx));
    OK(cuGraphCreate(&graph, 0));
    OK(copy ? cuGraphAddMemcpyNode(node, graph, NULL, 0, copy, ctx)
            : cuGraphAddMemsetNode(node, graph, NULL, 0, set, ctx));
    return graph;
}

static void check_change(CUgraph from, CUgraph to, CUgraphNode node, CUgraphExecUpdateResult want)
{
    CUgraphExec exec;
    CUgraphExecUpdateResultInfo info;
    OK(cuGraphInstantiateWithFlags(&exec, from, 0));
    CHECK_CU(cuGraphExecUpdate_v2(exec, to, &info),
             want ? CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE : CUDA_SUCCESS);
    CHECK_INT(info.result, want);
    CHECK(info.errorNode == (want ? node : NULL));
    OK(cuGraphExecDestroy(exec));
}

/* A copy stays between the kinds of memory that it was between, and a set of rows as large as it
 * was. */
static void check_changes(void)
{
    CUcontext ctx;
    CUgraphNode up, down, row, rows;
    CUgraphExec exec;
    unsigned out[4];
    CUDA_MEMCPY3D to_host = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                             .srcDevice = buffer,
                             .dstMemoryType = CU_MEMORYTYPE_HOST,
                             .dstHost = out,
                             .WidthInBytes = sizeof out,
                             .Height = 1,
                             .Depth = 1};
    CUDA_MEMCPY3D to_device = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                               .srcHost = out,
                               .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                               .dstDevice = buffer,
                               .WidthInBytes = sizeof out,
                               .Height = 1,
                               .Depth = 1};
    CUDA_MEMSET_NODE_PARAMS flat = {buffer, 0, 1, 4, 5, 1}, box = {buffer, 32, 1, 4, 5, 2};
    CUgraph copies[] = {graph_of(&to_host, NULL, &down), graph_of(&to_device, NULL, &up)};
    CUgraph sets[] = {graph_of(NULL, &flat, &row), graph_of(NULL, &box, &rows)};
    OK(cuCtxGetCurrent(&ctx));
    check_change(copies[0], copies[1], up, CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
    check_change(copies[0], copies[0], down, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    check_change(sets[0], sets[1], rows, CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
    check_change(sets[1], sets[1], rows, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    OK(cuGraphInstantiateWithFlags(&exec, copies[0], 0));
    CHECK_CU(cuGraphExecMemcpyNodeSetParams(exec, down, &to_device, ctx), CUDA_ERROR_INVALID_VALUE);
    to_host.WidthInBytes = 8;
    OK(cuGraphExecMemcpyNodeSetParams(exec, down, &to_host, ctx));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphInstantiateWithFlags(&exec, sets[0], 0));
    CHECK_CU(cuGraphExecMemsetNodeSetParams(exec, row, &box, ctx), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphExecDestroy(exec));
    for (int i = 0; i < 2; i++) {
        OK(cuGraphDestroy(copies[i]));
        OK(cuGraphDestroy(sets[i]));
    }
}

static CUgraph graph_of_kernel(CUgraphNode *node, CUdeviceptr p)
{
    CUgraph graph;
    CUDA_KERNEL_NODE_PARAMS params = {.func = function_of(load_kernels(), "store"),
                                      .gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 1,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = (void *[]){&p}};
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddKernelNode_v2(node, graph, NULL, 0, &params));
    return graph;
}

/* A kernel stays in its context. */
static void check_contexts(void)
{
    CUgraphNode here, there;
    CUgraph graph = graph_of_kernel(&here, buffer);
    CUcontext second = begin();
    CUgraph other = graph_of_kernel(&there, buffer);
    OK(cuCtxPopCurrent_v2(NULL));
    check_change(graph, other, there, CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE);
    check_change(graph, graph, here, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    OK(cuGraphDestroy(other));
    OK(cuGraphDestroy(graph));
    OK(cuCtxDestroy_v2(second));
}

/* Memory of a graph: its nodes say from where to where it may be used. */
static void check_memory(void)
{
    CUgraph graph, other;
    CUgraphNode alloc, set, copy, release;
    CUgraphExec exec, second;
    CUcontext ctx;
    CUdeviceptr seen = 0;
    unsigned out[4] = {0};
    CUDA_MEM_ALLOC_NODE_PARAMS p = {.bytesize = 1024}, back;
    p.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.poolProps.location = (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, 0};
    OK(cuCtxGetCurrent(&ctx));
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &p));
    CUDA_MEMSET_NODE_PARAMS sevens = {p.dptr, 0, 7, 4, 4, 1};
    CUDA_MEMCPY3D to_host = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                             .srcDevice = p.dptr,
                             .dstMemoryType = CU_MEMORYTYPE_HOST,
                             .dstHost = out,
                             .WidthInBytes = sizeof out,
                             .Height = 1,
                             .Depth = 1};
    OK(cuGraphAddMemsetNode(&set, graph, &alloc, 1, &sevens, ctx));
    OK(cuGraphAddMemcpyNode(&copy, graph, &set, 1, &to_host, ctx));
    OK(cuGraphAddMemFreeNode(&release, graph, &copy, 1, p.dptr));
    CHECK_CU(cuGraphAddMemFreeNode(&set, graph, &copy, 1, p.dptr), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphAddMemFreeNode(&set, graph, &copy, 1, buffer), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphMemAllocNodeGetParams(alloc, &back));
    CHECK(back.dptr == p.dptr && back.bytesize == 1024);
    OK(cuGraphMemFreeNodeGetParams(release, &seen));
    CHECK(seen == p.dptr);
    CHECK_CU(cuGraphMemFreeNodeGetParams(alloc, &seen), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphClone(&other, graph), CUDA_ERROR_NOT_SUPPORTED);
    CHECK_CU(cuGraphDestroyNode(release), CUDA_ERROR_NOT_SUPPORTED);
    CHECK_CU(cuMemFree_v2(p.dptr), CUDA_ERROR_INVALID_VALUE); /* nothing has allocated it */
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK_CU(cuGraphInstantiateWithFlags(&second, graph, 0), CUDA_ERROR_NOT_SUPPORTED);
    OK(cuGraphLaunch(exec, NULL));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuGraphDestroy(graph));
    OK(cuGraphExecDestroy(exec)); /* while it may be under way */
    OK(cuCtxSynchronize());
    CHECK_INT(out[3], 7);
    CHECK_CU(cuMemsetD8_v2(p.dptr, 0, 4), CUDA_ERROR_INVALID_VALUE);
}

/* The same, made by a capture, and freed by the program. */
static void check_captured_memory(void)
{
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr kept = 0, inner = 0;
    unsigned n = 4, value = 3, out = 0;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuMemAllocAsync(&kept, 64, stream));
    OK(cuMemAllocAsync(&inner, 64, stream));
    OK(cuMemsetD32Async(kept, 5, 16, stream));
    OK(LAUNCH(function_of(module, "add"), 4, stream, &kept, &n, &value));
    OK(cuMemFreeAsync(inner, stream));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    CHECK_CU(cuGraphLaunch(exec, stream), CUDA_ERROR_INVALID_VALUE); /* it is allocated still */
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH_v2(&out, kept, 4));
    CHECK_INT(out, 8);
    OK(cuMemFreeAsync(kept, stream));
    OK(cuGraphLaunch(exec, stream));
    OK(cuMemFree_v2(kept));
    CHECK_CU(cuMemFree_v2(kept), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphInstantiateWithFlags(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuMemcpyDtoH_v2(&out, kept, 4)); /* what is allocated outlives its graph */
    OK(cuMemFree_v2(kept));
    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK_CU(cuMemFreeAsync(buffer, stream), CUDA_ERROR_INVALID_VALUE); /* the capture goes on */
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphDestroy(graph));
    OK(cuStreamDestroy_v2(stream));
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
    params.kernel = (CUDA_KERNEL_NODE_PARAMS){.func = function_of(module, "add"),
                                              .gridDimX = 1,
                                              .gridDimY = 1,
                                              .gridDimZ = 1,
                                              .blockDimX = 1,
                                              .blockDimY = 1,
                                              .blockDimZ = 1,
                                              .kernelParams = parameters};
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
    CHECK_CU(cuStreamBeginCapture_v2(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL),
             CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
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
    CHECK_CU(cuStreamWaitEvent(b, event, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuStreamDestroy_v2(b));
    OK(cuStreamDestroy_v2(blocking));
    OK(cuEventDestroy_v2(event));
}

/* A kernel that may begin before the one in front of it has ended (XLA makes such graphs). */
static void check_programmatic_edges(void)
{
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode set, first, second;
    unsigned n = 8, value = 2;
    void *parameters[] = {&buffer, &n, &value};
    CUDA_KERNEL_NODE_PARAMS_v1 kernel = adding(parameters);
    CUDA_MEMSET_NODE_PARAMS zero = {buffer, 0, 1, 4, 4, 1};
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_KERNEL,
                                .kernel = {.func = kernel.func,
                                           .gridDimX = 1,
                                           .gridDimY = 1,
                                           .gridDimZ = 1,
                                           .blockDimX = 32,
                                           .blockDimY = 1,
                                           .blockDimZ = 1,
                                           .kernelParams = parameters}};
    CUgraphEdgeData edge = {.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                            .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    CUcontext ctx;
    OK(cuCtxGetCurrent(&ctx));
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddMemsetNode(&set, graph, NULL, 0, &zero, ctx));
    CHECK_CU(cuGraphAddNode_v2(&first, graph, &set, &edge, 1, &params), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphAddNode_v2(&first, graph, &set, NULL, 1, &params));
    OK(cuGraphAddNode_v2(&second, graph, &first, &edge, 1, &params));
    edge.from_port = 7;
    CHECK_CU(cuGraphAddNode_v2(&second, graph, &first, &edge, 1, &params),
             CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuCtxSynchronize());
    CHECK_INT(first_word(), 5);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

int main(void)
{
    CUcontext ctx = begin();
    module = load_kernels();
    buffer = new_memory(64);
    check_nodes();
    check_hints();
    check_dot();
    check_changes();
    check_contexts();
    check_memory();
    check_captured_memory();
    check_children();
    check_programmatic_edges();
    check_capture();
    check_broken_captures();
    OK(cuCtxDestroy_v2(ctx));
    return CHECK_DONE("cuda_graph");
}
