/* What nodes of graphs are told to be: asked for, changed in the graph, and changed where it has
 * been instantiated. */
#include <string.h>

#include "tests/cuda/support.h"

enum { N = 8, BYTES = N * 4 };

static CUmodule module;

static void run(CUgraphExec exec)
{
    OK(cuGraphLaunch(exec, NULL));
    OK(cuCtxSynchronize());
}

static unsigned word_of(CUdeviceptr p)
{
    unsigned word = 0;
    OK(cuMemcpyDtoH_v2(&word, p, sizeof word));
    return word;
}

static void count_call(void *ud)
{
    ++*(unsigned *)ud;
}

/* ---- kernels, sets, copies, calls of the host ------------------------------------------------ */

static CUDA_KERNEL_NODE_PARAMS add_of(void **arguments)
{
    return (CUDA_KERNEL_NODE_PARAMS){.func = function_of(module, "add"),
                                     .gridDimX = 1,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = N,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .kernelParams = arguments};
}

static void check_kernel(CUdeviceptr p)
{
    unsigned n = N, value = 3;
    void *arguments[] = {&p, &n, &value};
    CUDA_KERNEL_NODE_PARAMS k = add_of(arguments), have;
    CUDA_KERNEL_NODE_PARAMS_v1 old;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUgraphNode node = NULL, set = NULL;
    CUDA_MEMSET_NODE_PARAMS zeros = {.dst = p, .elementSize = 4, .width = N, .height = 1};
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddMemsetNode(&set, graph, NULL, 0, &zeros, NULL));
    OK(cuGraphAddKernelNode_v2(&node, graph, &set, 1, &k));
    OK(cuGraphKernelNodeGetParams_v2(node, &have));
    CHECK(have.func == k.func && have.blockDimX == N && *(unsigned *)have.kernelParams[2] == 3);
    value = 4;
    OK(cuGraphKernelNodeSetParams_v2(node, &k));
    OK(cuGraphKernelNodeGetParams(node, &old));
    CHECK(old.func == k.func && *(unsigned *)old.kernelParams[2] == 4);
    value = 5;
    OK(cuGraphKernelNodeSetParams(node, &old)); /* its own, which are those that were */
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    run(exec);
    CHECK_INT(word_of(p), 4);
    OK(cuGraphExecKernelNodeSetParams_v2(exec, node, &k));
    run(exec);
    CHECK_INT(word_of(p), 5);
    CHECK_CU(cuGraphExecKernelNodeSetParams_v2(exec, node, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphExecKernelNodeSetParams(exec, node, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphExecKernelNodeSetParams_v2(exec, set, &k), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphExecKernelNodeSetParams_v2(WILD, node, &k), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphKernelNodeSetParams_v2(set, &k), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphKernelNodeSetParams_v2(node, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphKernelNodeSetParams(node, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphKernelNodeGetParams_v2(set, &have), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphKernelNodeGetParams_v2(node, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

static void check_set_and_copy(CUdeviceptr a, CUdeviceptr b)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUgraphNode set = NULL, copy = NULL;
    CUDA_MEMSET_NODE_PARAMS value = {.dst = a, .elementSize = 4, .width = N, .height = 1}, have;
    CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                         .srcDevice = a,
                         .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                         .dstDevice = b,
                         .WidthInBytes = 4,
                         .Height = 1,
                         .Depth = 1},
                  told;
    OK(cuMemsetD8_v2(b, 0, BYTES));
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddMemsetNode(&set, graph, NULL, 0, &value, NULL));
    OK(cuGraphAddMemcpyNode(&copy, graph, &set, 1, &box, NULL));
    value.value = 6;
    OK(cuGraphMemsetNodeSetParams(set, &value));
    OK(cuGraphMemsetNodeGetParams(set, &have));
    CHECK(have.dst == a && have.value == 6 && have.width == N);
    box.WidthInBytes = BYTES;
    OK(cuGraphMemcpyNodeSetParams(copy, &box));
    OK(cuGraphMemcpyNodeGetParams(copy, &told));
    CHECK(told.srcDevice == a && told.dstDevice == b && told.WidthInBytes == BYTES);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    run(exec);
    CHECK_INT(word_of(b + BYTES - 4), 6);
    value.value = 7;
    OK(cuGraphExecMemsetNodeSetParams(exec, set, &value, NULL));
    box.WidthInBytes = 4;
    OK(cuGraphExecMemcpyNodeSetParams(exec, copy, &box, NULL));
    run(exec);
    CHECK_INT(word_of(b), 7);
    CHECK_INT(word_of(b + BYTES - 4), 6);
    value.elementSize = 3;
    CHECK_CU(cuGraphMemsetNodeSetParams(set, &value), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphExecMemsetNodeSetParams(exec, set, &value, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphExecMemsetNodeSetParams(exec, set, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphExecMemcpyNodeSetParams(exec, copy, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphExecMemcpyNodeSetParams(exec, set, &box, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphMemsetNodeSetParams(copy, &value), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphMemcpyNodeSetParams(copy, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphMemcpyNodeGetParams(copy, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

static void check_host(void)
{
    unsigned first = 0, second = 0;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUgraphNode node = NULL;
    CUDA_HOST_NODE_PARAMS p = {count_call, &first}, have;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddHostNode(&node, graph, NULL, 0, &p));
    p.userData = &second;
    OK(cuGraphHostNodeSetParams(node, &p));
    OK(cuGraphHostNodeGetParams(node, &have));
    CHECK(have.fn == count_call && have.userData == &second);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    run(exec);
    p.userData = &first;
    OK(cuGraphExecHostNodeSetParams(exec, node, &p));
    run(exec);
    CHECK(first == 1 && second == 1);
    p.fn = NULL;
    CHECK_CU(cuGraphHostNodeSetParams(node, &p), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphExecHostNodeSetParams(exec, node, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

/* ---- events, child graphs, words ------------------------------------------------------------- */

static void check_events(void)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUgraphNode record = NULL, wait = NULL;
    CUevent first = NULL, second = NULL, have = NULL;
    OK(cuEventCreate(&first, 0));
    OK(cuEventCreate(&second, 0));
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddEventRecordNode(&record, graph, NULL, 0, first));
    OK(cuGraphAddEventWaitNode(&wait, graph, &record, 1, first));
    OK(cuGraphEventRecordNodeGetEvent(record, &have));
    CHECK(have == first);
    OK(cuGraphEventRecordNodeSetEvent(record, second));
    OK(cuGraphEventRecordNodeGetEvent(record, &have));
    CHECK(have == second);
    OK(cuGraphEventWaitNodeSetEvent(wait, second));
    OK(cuGraphEventWaitNodeGetEvent(wait, &have));
    CHECK(have == second);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphExecEventRecordNodeSetEvent(exec, record, first));
    OK(cuGraphExecEventWaitNodeSetEvent(exec, wait, first));
    run(exec);
    OK(cuEventQuery(first));
    CHECK_CU(cuGraphEventRecordNodeSetEvent(wait, first), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphEventWaitNodeSetEvent(record, first), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphEventRecordNodeGetEvent(wait, &have), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphEventWaitNodeGetEvent(wait, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphExecEventRecordNodeSetEvent(exec, wait, first), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphExecEventWaitNodeSetEvent(exec, wait, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuEventDestroy_v2(first));
    OK(cuEventDestroy_v2(second));
}

static CUgraph graph_that_sets(CUdeviceptr p, unsigned value)
{
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUDA_MEMSET_NODE_PARAMS set = {
        .dst = p, .value = value, .elementSize = 4, .width = N, .height = 1};
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &set, NULL));
    return graph;
}

static void check_child(CUdeviceptr p)
{
    CUgraph graph = NULL, inner = NULL, five = graph_that_sets(p, 5), six = graph_that_sets(p, 6);
    CUgraph empty = NULL;
    CUgraphExec exec = NULL;
    CUgraphNode node = NULL;
    cuuint64_t flags = 7;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphCreate(&empty, 0));
    OK(cuGraphAddChildGraphNode(&node, graph, NULL, 0, five));
    OK(cuGraphChildGraphNodeGetGraph(node, &inner));
    CHECK(inner && inner != five);
    OK(cuGraphInstantiateWithFlags(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    OK(cuGraphExecGetFlags(exec, &flags));
    CHECK_INT(flags, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    CHECK_CU(cuGraphExecGetFlags(exec, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphExecGetFlags(WILD, &flags), CUDA_ERROR_INVALID_VALUE);
    run(exec);
    CHECK_INT(word_of(p), 5);
    OK(cuGraphExecChildGraphNodeSetParams(exec, node, six));
    OK(cuMemsetD8_v2(p, 0, BYTES));
    run(exec);
    CHECK_INT(word_of(p), 6);
    OK(cuMemsetD8_v2(p, 0, BYTES));
    CHECK_CU(cuGraphExecChildGraphNodeSetParams(exec, node, empty), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphExecChildGraphNodeSetParams(exec, node, WILD), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphExecChildGraphNodeSetParams(exec, node, NULL), CUDA_ERROR_INVALID_VALUE);
    run(exec);
    CHECK_INT(word_of(p), 6);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(empty));
    OK(cuGraphDestroy(five));
    OK(cuGraphDestroy(six));
}

static void check_words(CUcontext ctx, CUdeviceptr p)
{
    CUstreamBatchMemOpParams op = {
        .writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .address = p, .value = 5}};
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = {.ctx = ctx, .count = 1, .paramArray = &op}, have;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUgraphNode node = NULL;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &params));
    op.writeValue.value = 6;
    OK(cuGraphBatchMemOpNodeSetParams(node, &params));
    OK(cuGraphBatchMemOpNodeGetParams(node, &have));
    CHECK(have.count == 1 && have.paramArray[0].writeValue.value == 6);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    run(exec);
    CHECK_INT(word_of(p), 6);
    op.writeValue.value = 7;
    OK(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params));
    run(exec);
    CHECK_INT(word_of(p), 7);
    CHECK_CU(cuGraphExecBatchMemOpNodeSetParams(exec, node, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphBatchMemOpNodeGetParams(node, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphExecExternalSemaphoresSignalNodeSetParams(exec, node, NULL),
             CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphExecExternalSemaphoresWaitNodeSetParams(
                 exec, node, &(CUDA_EXT_SEM_NODE_PARAMS){.numExtSems = 0}),
             CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

/* ---- edges ----------------------------------------------------------------------------------- */

static void check_edges(void)
{
    CUgraph graph = NULL;
    CUgraphNode a = NULL, b = NULL, c = NULL, have[2], to[2];
    CUgraphEdgeData data[2] = {{0}};
    size_t n = 2;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddEmptyNode(&a, graph, NULL, 0));
    OK(cuGraphAddEmptyNode(&b, graph, NULL, 0));
    OK(cuGraphAddEmptyNode(&c, graph, NULL, 0));
    OK(cuGraphAddDependencies_v2(graph, (CUgraphNode[]){a, a}, (CUgraphNode[]){b, c}, data, 2));
    OK(cuGraphNodeGetDependentNodes_v2(a, have, data, &n));
    CHECK(n == 2 && have[0] == b && have[1] == c);
    OK(cuGraphNodeGetDependentNodes(a, NULL, &n));
    CHECK_INT(n, 2);
    OK(cuGraphNodeGetDependencies_v2(c, have, data, &n));
    CHECK(n == 1 && have[0] == a);
    n = 2;
    OK(cuGraphGetEdges_v2(graph, have, to, data, &n));
    CHECK(n == 2 && have[0] == a && have[1] == a && to[0] == b && to[1] == c);
    CHECK_CU(cuGraphAddDependencies_v2(graph, &a, &b, data, 1), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphAddDependencies_v2(graph, &a, &a, data, 1), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphAddDependencies_v2(graph, NULL, &a, data, 1), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphNodeGetDependencies_v2(c, have, data, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGraphNodeGetDependentNodes_v2(WILD, have, data, &n), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphRemoveDependencies_v2(graph, &a, &b, NULL, 1));
    OK(cuGraphRemoveDependencies(graph, &a, &c, 1));
    CHECK_CU(cuGraphRemoveDependencies_v2(graph, &a, &b, NULL, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphGetEdges(graph, NULL, NULL, &n));
    CHECK_INT(n, 0);
    OK(cuGraphDestroy(graph));
}

int main(void)
{
    CUcontext ctx = begin();
    module = load_kernels();
    CUdeviceptr a = new_memory(BYTES), b = new_memory(BYTES);
    check_kernel(a);
    check_set_and_copy(a, b);
    check_host();
    check_events();
    check_child(a);
    check_words(ctx, a);
    check_edges();
    OK(cuMemFree_v2(a));
    OK(cuMemFree_v2(b));
    OK(cuCtxDestroy_v2(ctx));
    return CHECK_DONE("cuda_graph_nodes");
}
