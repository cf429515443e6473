/* Captures and graphs: nodes of every kind that the runtime adds, launches of them, and what is
 * refused. */
#include "tests/cudart/support.h"

cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t n,
                                   const cudaKernelNodeParams *p);
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams *p);
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t n,
                                   const cudaMemcpy3DParms *p);
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                     const cudaGraphNode_t *after, size_t n, void *to,
                                     const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t n,
                                   const CUDA_MEMSET_NODE_PARAMS *p);

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams *p);
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms *p);
cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                             const CUgraphEdgeData *data, size_t n, cudaGraphNodeParams *p);
cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams *p);
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                       cudaGraphNodeParams *p);

cudaError_t cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream, CUstreamCaptureStatus *status,
                                          cuuint64_t *id, cudaGraph_t *graph,
                                          const cudaGraphNode_t **after,
                                          const CUgraphEdgeData **data, size_t *n);

static cudaLibrary_t library;

/* Set to 0, add 3, copy back; then the kernel adds 4 instead. */
static void check_nodes(void)
{
    enum { N = 32 };
    unsigned host[N] = {0}, n = N, value = 3;
    void *p = NULL, *arguments[] = {&p, &n, &value};
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t set = NULL, run = NULL, copy = NULL;
    CUgraphNodeType type;
    size_t count = 0;
    OK(cudaMalloc(&p, sizeof host));
    CUDA_MEMSET_NODE_PARAMS zeros = {
        .dst = (CUdeviceptr)p, .elementSize = 4, .width = N, .height = 1};
    cudaKernelNodeParams k = {.func = kernel_of(library, "add"),
                              .gridDim = DIM(1),
                              .blockDim = DIM(N),
                              .kernelParams = arguments};
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemsetNode(&set, graph, NULL, 0, &zeros));
    OK(cudaGraphAddKernelNode(&run, graph, &set, 1, &k));
    OK(cudaGraphAddMemcpyNode1D(&copy, graph, &run, 1, host, p, sizeof host,
                                cudaMemcpyDeviceToHost));
    OK(cudaGraphGetNodes(graph, NULL, &count));
    CHECK_INT(count, 3);
    OK(cudaGraphNodeGetType(run, &type));
    CHECK_INT(type, CU_GRAPH_NODE_TYPE_KERNEL);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, NULL));
    OK(cudaDeviceSynchronize());
    CHECK(host[0] == 3 && host[N - 1] == 3);
    value = 4;
    OK(cudaGraphExecKernelNodeSetParams(exec, run, &k));
    OK(cudaGraphLaunch(exec, NULL));
    OK(cudaDeviceSynchronize());
    CHECK_INT(host[0], 4);
    BAD_VALUE(cudaGraphAddKernelNode(NULL, graph, NULL, 0, &k));
    BAD_VALUE(cudaGraphAddKernelNode(&run, graph, NULL, 0, NULL));
    BAD_VALUE(cudaGraphAddKernelNode(&run, WILD, NULL, 0, &k));
    BAD_VALUE(cudaGraphAddKernelNode(&run, graph, NULL, 1, &k));
    BAD_VALUE(cudaGraphAddKernelNode(&run, graph, (cudaGraphNode_t[]){WILD}, 1, &k));
    k.func = WILD;
    CHECK_RT(cudaGraphAddKernelNode(&run, graph, NULL, 0, &k), cudaErrorInvalidDeviceFunction);
    BAD_VALUE(cudaGraphAddMemsetNode(&set, graph, NULL, 0, NULL));
    BAD_VALUE(cudaGraphAddMemcpyNode(&copy, graph, NULL, 0, NULL));
    CHECK_RT(cudaGraphAddMemcpyNode1D(&copy, graph, NULL, 0, host, p, 4, (cudaMemcpyKind)7),
             cudaErrorInvalidMemcpyDirection);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaFree(p));
}

/* Nodes as one call adds and changes them, whatever their type is; what they are told to be. */
static void check_any(void)
{
    enum { N = 4 };
    unsigned host[N] = {0}, n = N, value = 3;
    void *p = NULL, *arguments[] = {&p, &n, &value};
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t set = NULL, run = NULL, copy = NULL;
    cudaKernelNodeParams kernel = {0};
    cudaMemcpy3DParms back = {0};
    CUDA_GRAPH_INSTANTIATE_PARAMS how = {.flags = 0};
    OK(cudaMalloc(&p, sizeof host));
    cudaGraphNodeParams k = {
        .type = CU_GRAPH_NODE_TYPE_KERNEL,
        .kernel = {kernel_of(library, "add"), DIM(1), DIM(N), 0, arguments, NULL}};
    cudaGraphNodeParams c = {.type = CU_GRAPH_NODE_TYPE_MEMCPY,
                             .memcpy.copyParams = {.srcPtr = {p, sizeof host, sizeof host, 1},
                                                   .dstPtr = {host, sizeof host, sizeof host, 1},
                                                   .extent = {sizeof host, 1, 1},
                                                   .kind = cudaMemcpyDeviceToHost}};
    CUgraphNodeParams zeros = {
        .type = CU_GRAPH_NODE_TYPE_MEMSET,
        .memset = {.dst = (CUdeviceptr)p, .elementSize = 4, .width = N, .height = 1}};
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddNode(&set, graph, NULL, NULL, 0, (cudaGraphNodeParams *)&zeros));
    OK(cudaGraphAddNode(&run, graph, &set, NULL, 1, &k));
    OK(cudaGraphAddNode(&copy, graph, &run, NULL, 1, &c));
    OK(cudaGraphKernelNodeGetParams(run, &kernel));
    CHECK(kernel.func == k.kernel.func && kernel.blockDim.x == N &&
          *(unsigned *)kernel.kernelParams[2] == 3);
    OK(cudaGraphMemcpyNodeGetParams(copy, &back));
    CHECK(back.kind == cudaMemcpyDeviceToHost && back.dstPtr.ptr == host && back.srcPtr.ptr == p &&
          back.extent.width == 16);
    OK(cudaGraphInstantiateWithParams(&exec, graph, &how));
    CHECK_INT(how.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
    value = 5;
    OK(cudaGraphExecNodeSetParams(exec, run, &k));
    OK(cudaGraphLaunch(exec, NULL));
    OK(cudaDeviceSynchronize());
    CHECK_INT(host[N - 1], 5);
    OK(cudaGraphNodeSetParams(run, &k));
    BAD_VALUE(cudaGraphNodeSetParams(run, &c));
    BAD_VALUE(cudaGraphAddNode(&run, graph, NULL, NULL, 0, NULL));
    BAD_VALUE(cudaGraphKernelNodeGetParams(copy, &kernel));
    BAD_VALUE(cudaGraphMemcpyNodeGetParams(copy, NULL));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaFree(p));
}

/* A capture into a graph that is there; what it has so far; what its next node is to depend on. */
static void check_capture_into(void)
{
    cudaStream_t stream = NULL;
    cudaGraph_t graph = NULL, seen = NULL;
    cudaGraphNode_t empty = NULL;
    const cudaGraphNode_t *after = NULL;
    CUstreamCaptureStatus status = 9;
    cuuint64_t id = 0;
    size_t n = 0;
    void *p = NULL;
    OK(cudaMalloc(&p, 4));
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamGetCaptureInfo(stream, &status, &id, &seen, &after, NULL, &n));
    CHECK_INT(status, CU_STREAM_CAPTURE_STATUS_NONE);
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddEmptyNode(&empty, graph, NULL, 0));
    OK(cudaStreamBeginCaptureToGraph(stream, graph, &empty, NULL, 1,
                                     CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cudaStreamGetCaptureInfo(stream, &status, &id, &seen, &after, NULL, &n));
    CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE && id && seen == graph && n == 1 &&
          after[0] == empty);
    OK(cudaMemsetAsync(p, 0, 4, stream));
    OK(cudaStreamUpdateCaptureDependencies(stream, &empty, NULL, 1,
                                           CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    OK(cudaStreamGetCaptureInfo_ptsz(stream, &status, NULL, NULL, NULL, NULL, &n));
    CHECK_INT(n, 2);
    OK(cudaStreamEndCapture(stream, &seen));
    CHECK(seen == graph);
    BAD_VALUE(cudaStreamGetCaptureInfo(stream, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK_RT(cudaStreamUpdateCaptureDependencies(stream, &empty, NULL, 1, 0),
             cudaErrorIllegalState);
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(p));
}

static void check_capture(void)
{
    cudaStream_t stream = NULL;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    CUstreamCaptureStatus status;
    int *p = NULL, host = 5;
    OK(cudaMalloc((void **)&p, sizeof *p));
    OK(cudaMemset(p, 0, sizeof *p));
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cudaMemsetAsync(p, 1, sizeof *p, stream));
    OK(cudaStreamIsCapturing(stream, &status));
    CHECK_INT(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaMemcpy(&host, p, sizeof host, cudaMemcpyDeviceToHost));
    CHECK_INT(host, 0);
    OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemcpy(&host, p, sizeof host, cudaMemcpyDeviceToHost));
    CHECK_INT(host, 0x01010101);
    OK(cudaGraphDestroy(graph));
    CHECK_RT(cudaStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL),
             cudaErrorStreamCaptureUnsupported);
    BAD_VALUE(cudaStreamBeginCapture(stream, (CUstreamCaptureMode)9));
    CHECK_RT(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);
    BAD_VALUE(cudaStreamIsCapturing(stream, NULL));
    OK(cudaStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK_RT(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
    CHECK_RT(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(p));
}

static void check_handles(void)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node = NULL;
    CUgraphNodeType type;
    size_t n = 0;
    BAD_VALUE(cudaGraphCreate(NULL, 0));
    BAD_VALUE(cudaGraphCreate(&graph, 1));
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddEmptyNode(&node, graph, NULL, 0));
    BAD_VALUE(cudaGraphNodeGetType(node, NULL));
    BAD_VALUE(cudaGraphNodeGetType(NULL, &type));
    BAD_VALUE(cudaGraphNodeGetType(WILD, &type));
    BAD_VALUE(cudaGraphGetNodes(graph, NULL, NULL));
    BAD_VALUE(cudaGraphGetNodes(WILD, NULL, &n));
    BAD_VALUE(cudaGraphDestroyNode(WILD));
    OK(cudaGraphDestroyNode(node));
    BAD_VALUE(cudaGraphDestroyNode(node));
    BAD_VALUE(cudaGraphInstantiate(NULL, graph, 0));
    BAD_VALUE(cudaGraphInstantiate(&exec, WILD, 0));
    BAD_VALUE(cudaGraphLaunch(WILD, NULL));
    BAD_VALUE(cudaGraphLaunch(NULL, NULL));
    BAD_VALUE(cudaGraphExecDestroy(WILD));
    BAD_VALUE(cudaGraphExecDestroy(NULL));
    OK(cudaGraphDestroy(graph));
    BAD_VALUE(cudaGraphDestroy(graph));
    BAD_VALUE(cudaGraphDestroy(NULL));
}

int main(void)
{
    library = load_kernels();
    check_nodes();
    check_any();
    check_capture();
    check_capture_into();
    check_handles();
    OK(cudaLibraryUnload(library));
    return CHECK_DONE("graph");
}
