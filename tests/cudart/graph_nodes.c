/* What nodes of graphs are told to be: asked for, changed in the graph, and changed where it has
 * been instantiated; edges, clones, objects that graphs keep. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/cudart/support.h"

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                     const cudaGraphNode_t *after, size_t n, void *to,
                                     const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t n,
                                   const CUDA_MEMSET_NODE_PARAMS *p);
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t n,
                                   const cudaKernelNodeParams *p);
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams *p);
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms *p);
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from,
                                           size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms *p);
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms *p);
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *to,
                                               const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const CUDA_MEMSET_NODE_PARAMS *p);

enum { N = 8, BYTES = N * 4 };

static cudaLibrary_t library;

static void run(cudaGraphExec_t exec)
{
    OK(cudaGraphLaunch(exec, NULL));
    OK(cudaDeviceSynchronize());
}

static unsigned word_of(const void *p)
{
    unsigned word = 0;
    OK(cudaMemcpy(&word, p, sizeof word, cudaMemcpyDeviceToHost));
    return word;
}

/* On a thread of the library's own. */
static void count_call(void *ud)
{
    atomic_fetch_add((atomic_uint *)ud, 1);
}

static void check_set_and_copy(void *a, void *b)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t set = NULL, copy = NULL;
    CUDA_MEMSET_NODE_PARAMS p = {.dst = (CUdeviceptr)a, .elementSize = 4, .width = N, .height = 1};
    CUDA_MEMSET_NODE_PARAMS have;
    cudaMemcpy3DParms box = {.srcPtr = {a, BYTES, BYTES, 1},
                             .dstPtr = {b, BYTES, BYTES, 1},
                             .extent = {4, 1, 1},
                             .kind = cudaMemcpyDeviceToDevice},
                      told;
    unsigned is_enabled = 7;
    OK(cudaMemset(b, 0, BYTES));
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemsetNode(&set, graph, NULL, 0, &p));
    OK(cudaGraphAddMemcpyNode1D(&copy, graph, &set, 1, b, a, 8, cudaMemcpyDeviceToDevice));
    p.value = 6;
    OK(cudaGraphMemsetNodeSetParams(set, &p));
    OK(cudaGraphMemsetNodeGetParams(set, &have));
    CHECK(have.value == 6 && have.dst == p.dst);
    OK(cudaGraphMemcpyNodeSetParams1D(copy, b, a, BYTES, cudaMemcpyDeviceToDevice));
    OK(cudaGraphMemcpyNodeGetParams(copy, &told));
    CHECK(told.extent.width == BYTES && told.dstPtr.ptr == b && told.srcPtr.ptr == a);
    OK(cudaGraphMemcpyNodeSetParams(copy, &box));
    OK(cudaGraphMemcpyNodeGetParams(copy, &told));
    CHECK_INT(told.extent.width, 4);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    run(exec);
    CHECK(word_of(b) == 6 && word_of((char *)b + 4) == 0);
    p.value = 7;
    OK(cudaGraphExecMemsetNodeSetParams(exec, set, &p));
    OK(cudaGraphExecMemcpyNodeSetParams1D(exec, copy, b, a, BYTES, cudaMemcpyDeviceToDevice));
    run(exec);
    CHECK(word_of(b) == 7 && word_of((char *)b + BYTES - 4) == 7);
    OK(cudaMemset(b, 0, BYTES));
    OK(cudaGraphExecMemcpyNodeSetParams(exec, copy, &box));
    run(exec);
    CHECK(word_of(b) == 7 && word_of((char *)b + 4) == 0);
    OK(cudaGraphNodeGetEnabled(exec, copy, &is_enabled));
    CHECK_INT(is_enabled, 1);
    OK(cudaGraphNodeSetEnabled(exec, copy, 0));
    OK(cudaMemset(b, 0, BYTES));
    run(exec);
    CHECK_INT(word_of(b), 0);
    BAD_VALUE(cudaGraphExecMemsetNodeSetParams(exec, set, NULL));
    BAD_VALUE(cudaGraphExecMemcpyNodeSetParams(exec, copy, NULL));
    BAD_VALUE(cudaGraphMemcpyNodeSetParams(copy, NULL));
    BAD_VALUE(cudaGraphMemcpyNodeGetParams(copy, NULL));
    CHECK_RT(cudaGraphMemcpyNodeSetParams1D(copy, b, a, 4, (cudaMemcpyKind)7),
             cudaErrorInvalidMemcpyDirection);
    CHECK_RT(cudaGraphExecMemcpyNodeSetParams1D(exec, copy, b, a, 4, (cudaMemcpyKind)7),
             cudaErrorInvalidMemcpyDirection);
    BAD_VALUE(cudaGraphMemsetNodeSetParams(copy, &p));
    BAD_VALUE(cudaGraphNodeGetEnabled(exec, copy, NULL));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

static void check_kernels(void *a)
{
    unsigned n = N, value = 3;
    void *arguments[] = {&a, &n, &value};
    cudaKernelNodeParams k = {.func = kernel_of(library, "add"),
                              .gridDim = DIM(1),
                              .blockDim = DIM(N),
                              .kernelParams = arguments};
    CUlaunchAttributeValue priority = {.priority = -1};
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t one = NULL, two = NULL;
    cuuint64_t flags = 7;
    OK(cudaMemset(a, 0, BYTES));
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddKernelNode(&one, graph, NULL, 0, &k));
    OK(cudaGraphAddKernelNode(&two, graph, &one, 1, &k));
    value = 4;
    OK(cudaGraphKernelNodeSetParams(two, &k));
    OK(cudaGraphKernelNodeSetAttribute(one, CU_LAUNCH_ATTRIBUTE_PRIORITY, &priority));
    OK(cudaGraphKernelNodeCopyAttributes(two, one));
    priority.priority = 7;
    OK(cudaGraphKernelNodeGetAttribute(two, CU_LAUNCH_ATTRIBUTE_PRIORITY, &priority));
    CHECK_INT(priority.priority, -1);
    OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cudaGraphExecGetFlags(exec, &flags));
    CHECK_INT(flags, 0);
    OK(cudaGraphUpload(exec, NULL));
    run(exec);
    CHECK_INT(word_of(a), 7);
    BAD_VALUE(cudaGraphKernelNodeSetParams(two, NULL));
    k.func = WILD;
    CHECK_RT(cudaGraphKernelNodeSetParams(two, &k), cudaErrorInvalidDeviceFunction);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

static void check_calls_and_events(void)
{
    atomic_uint first = 0, second = 0;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t call = NULL, record = NULL, wait = NULL;
    cudaEvent_t one = NULL, two = NULL, event = NULL;
    CUDA_HOST_NODE_PARAMS p = {count_call, &first}, have;
    OK(cudaEventCreate(&one));
    OK(cudaEventCreate(&two));
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddHostNode(&call, graph, NULL, 0, &p));
    OK(cudaGraphAddEventRecordNode(&record, graph, &call, 1, one));
    OK(cudaGraphAddEventWaitNode(&wait, graph, &record, 1, one));
    p.userData = &second;
    OK(cudaGraphHostNodeSetParams(call, &p));
    OK(cudaGraphHostNodeGetParams(call, &have));
    CHECK(have.fn == count_call && have.userData == &second);
    OK(cudaGraphEventRecordNodeSetEvent(record, two));
    OK(cudaGraphEventRecordNodeGetEvent(record, &event));
    CHECK(event == two);
    OK(cudaGraphEventWaitNodeSetEvent(wait, two));
    OK(cudaGraphEventWaitNodeGetEvent(wait, &event));
    CHECK(event == two);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    run(exec);
    p.userData = &first;
    OK(cudaGraphExecHostNodeSetParams(exec, call, &p));
    OK(cudaGraphExecEventRecordNodeSetEvent(exec, record, one));
    OK(cudaGraphExecEventWaitNodeSetEvent(exec, wait, one));
    run(exec);
    CHECK(first == 1 && second == 1);
    OK(cudaEventQuery(one));
    BAD_VALUE(cudaGraphEventWaitNodeGetEvent(record, &event));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaEventDestroy(one));
    OK(cudaEventDestroy(two));
}

/* A graph of one node that sets the memory. */
static cudaGraph_t graph_that_sets(void *a, unsigned value)
{
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node = NULL;
    CUDA_MEMSET_NODE_PARAMS p = {
        .dst = (CUdeviceptr)a, .value = value, .elementSize = 4, .width = N, .height = 1};
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &p));
    return graph;
}

static void check_child_and_clone(void *a)
{
    cudaGraph_t graph = NULL, inner = NULL, clone = NULL;
    cudaGraph_t five = graph_that_sets(a, 5), six = graph_that_sets(a, 6);
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node = NULL, same = NULL;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddChildGraphNode(&node, graph, NULL, 0, five));
    OK(cudaGraphChildGraphNodeGetGraph(node, &inner));
    CHECK(inner && inner != five);
    OK(cudaGraphClone(&clone, graph));
    OK(cudaGraphNodeFindInClone(&same, node, clone));
    CHECK(same && same != node);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphExecChildGraphNodeSetParams(exec, node, six));
    run(exec);
    CHECK_INT(word_of(a), 6);
    BAD_VALUE(cudaGraphNodeFindInClone(&same, node, five));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(clone));
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphDestroy(five));
    OK(cudaGraphDestroy(six));
}

static void check_edges(void)
{
    cudaGraph_t graph = NULL;
    cudaGraphNode_t a = NULL, b = NULL, have[2], to[2];
    size_t n = 2;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddEmptyNode(&a, graph, NULL, 0));
    OK(cudaGraphAddEmptyNode(&b, graph, NULL, 0));
    OK(cudaGraphAddDependencies(graph, &a, &b, NULL, 1));
    OK(cudaGraphGetRootNodes(graph, have, &n));
    CHECK(n == 1 && have[0] == a);
    n = 2;
    OK(cudaGraphGetEdges(graph, have, to, NULL, &n));
    CHECK(n == 1 && have[0] == a && to[0] == b);
    OK(cudaGraphNodeGetDependencies(b, have, NULL, &n));
    CHECK(n == 1 && have[0] == a);
    OK(cudaGraphNodeGetDependentNodes(a, have, NULL, &n));
    CHECK(n == 1 && have[0] == b);
    OK(cudaGraphRemoveDependencies(graph, &a, &b, NULL, 1));
    OK(cudaGraphGetEdges(graph, NULL, NULL, NULL, &n));
    CHECK_INT(n, 0);
    OK(cudaGraphDestroyNode(b));
    BAD_VALUE(cudaGraphRemoveDependencies(graph, &a, &b, NULL, 1));
    OK(cudaGraphDestroy(graph));
}

/* What a graph keeps is given up with it. */
static void check_object(void)
{
    atomic_uint ends = 0;
    CUuserObject object = NULL;
    cudaGraph_t graph = NULL;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaUserObjectCreate(&object, &ends, count_call, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    OK(cudaUserObjectRetain(object, 1));
    OK(cudaGraphRetainUserObject(graph, object, 2, 0));
    OK(cudaUserObjectRelease(object, 2));
    OK(cudaGraphReleaseUserObject(graph, object, 1));
    CHECK_INT(ends, 0);
    OK(cudaGraphDestroy(graph));
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 1000 && !ends; i++)
        usleep(1000);
    CHECK_INT(ends, 1);
    BAD_VALUE(cudaUserObjectCreate(NULL, &ends, count_call, 1, 1));
}

/* Memory that is got and given back in a graph, and a drawing of it. */
static void check_memory(void)
{
    cudaGraph_t graph = NULL;
    cudaGraphNode_t get = NULL, give = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS p = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                  .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
                                    .bytesize = BYTES},
                               have = {0};
    void *given = NULL;
    char path[] = "/tmp/ptera-graph-XXXXXX", head[16] = "";
    int fd = mkstemp(path);
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemAllocNode(&get, graph, NULL, 0, &p));
    OK(cudaGraphAddMemFreeNode(&give, graph, &get, 1, (void *)p.dptr));
    OK(cudaGraphMemAllocNodeGetParams(get, &have));
    CHECK(have.dptr == p.dptr && have.bytesize == BYTES);
    OK(cudaGraphMemFreeNodeGetParams(give, &given));
    CHECK(given == (void *)p.dptr);
    OK(cudaGraphDebugDotPrint(graph, path, 0));
    CHECK(pread(fd, head, 7, 0) == 7 && !strcmp(head, "digraph"));
    BAD_VALUE(cudaGraphMemFreeNodeGetParams(get, &given));
    BAD_VALUE(cudaGraphDebugDotPrint(graph, NULL, 0));
    OK(cudaGraphDestroy(graph));
    close(fd);
    unlink(path);
}

int main(void)
{
    void *a = NULL, *b = NULL;
    library = load_kernels();
    OK(cudaMalloc(&a, BYTES));
    OK(cudaMalloc(&b, BYTES));
    check_set_and_copy(a, b);
    check_kernels(a);
    check_calls_and_events();
    check_child_and_clone(a);
    check_edges();
    check_object();
    check_memory();
    OK(cudaFree(a));
    OK(cudaFree(b));
    return CHECK_DONE("cudart_graph_nodes");
}
