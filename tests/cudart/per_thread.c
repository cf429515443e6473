/* Programs compiled for a default stream a thread call entries whose names end with _ptsz and
 * _ptds: there stream 0 is the thread's own. What they put into it is captured when that is. */
#include "tests/cudart/support.h"

#define FORWARD(...)
#define STREAM(name, parameters, ...) cudaError_t name##_ptsz parameters;
#include "runtime/cudart/forward.def"
#undef FORWARD
#undef STREAM

cudaError_t cudaMemcpy_ptds(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync_ptsz(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                                 cudaStream_t stream);
cudaError_t cudaMemcpy2D_ptds(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync_ptsz(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                   size_t width, size_t height, cudaMemcpyKind kind,
                                   cudaStream_t stream);
cudaError_t cudaMemcpy3D_ptds(const cudaMemcpy3DParms *p);
cudaError_t cudaMemcpy3DAsync_ptsz(const cudaMemcpy3DParms *p, cudaStream_t stream);
cudaError_t cudaMemcpy3DPeer_ptds(const cudaMemcpy3DPeerParms *p);
cudaError_t cudaMemcpy3DPeerAsync_ptsz(const cudaMemcpy3DPeerParms *p, cudaStream_t stream);
cudaError_t cudaMemset_ptds(void *p, int value, size_t bytes);
cudaError_t cudaMemsetAsync_ptsz(void *p, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaMemset2D_ptds(void *p, size_t pitch, int value, size_t width, size_t height);
cudaError_t cudaMemset2DAsync_ptsz(void *p, size_t pitch, int value, size_t width, size_t height,
                                   cudaStream_t stream);
cudaError_t cudaMemset3D_ptds(cudaPitchedPtr p, int value, cudaExtent extent);
cudaError_t cudaMemset3DAsync_ptsz(cudaPitchedPtr p, int value, cudaExtent extent,
                                   cudaStream_t stream);
cudaError_t cudaLaunchKernel_ptsz(const void *function, dim3 grid, dim3 block, void **arguments,
                                  size_t shared, cudaStream_t stream);
cudaError_t cudaLaunchCooperativeKernel_ptsz(const void *function, dim3 grid, dim3 block,
                                             void **arguments, size_t shared, cudaStream_t stream);
cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *function,
                                     void **arguments);
cudaError_t cudaGetDriverEntryPoint(const char *name, void **entry, unsigned long long flags,
                                    int *status);
cudaError_t cudaGetDriverEntryPoint_ptsz(const char *name, void **entry, unsigned long long flags,
                                         int *status);

enum { N = 16, BYTES = N * 4, HALF = BYTES / 2 };
enum { YIELD = 3 }; /* CU_SYNC_POLICY_YIELD */

static cudaLibrary_t library;
static unsigned calls; /* of the host function */

static void count_call(void *ud)
{
    ++*(unsigned *)ud;
}

/* The nodes that `call` puts into the capture of the thread's stream. */
#define CAPTURED(call, n)                                                      \
    do {                                                                       \
        cudaGraph_t graph_ = NULL;                                             \
        cudaGraphExec_t exec_ = NULL;                                          \
        size_t count_ = 0;                                                     \
        OK(cudaStreamBeginCapture_ptsz(NULL, CU_STREAM_CAPTURE_MODE_RELAXED)); \
        OK(call);                                                              \
        OK(cudaStreamEndCapture_ptsz(NULL, &graph_));                          \
        OK(cudaGraphGetNodes(graph_, NULL, &count_));                          \
        CHECK_INT(count_, n);                                                  \
        OK(cudaGraphInstantiate(&exec_, graph_, 0));                           \
        OK(cudaGraphUpload_ptsz(exec_, NULL));                                 \
        OK(cudaGraphLaunch_ptsz(exec_, NULL));                                 \
        OK(cudaStreamSynchronize_ptsz(NULL));                                  \
        OK(cudaGraphExecDestroy(exec_));                                       \
        OK(cudaGraphDestroy(graph_));                                          \
    } while (0)

/* All words of the memory. */
static void check_words(const void *p, unsigned want)
{
    unsigned host[N];
    OK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        CHECK_INT(host[i], want);
}

static cudaMemcpy3DParms whole(void *to, void *from)
{
    return (cudaMemcpy3DParms){.srcPtr = {from, HALF, HALF, 2},
                               .dstPtr = {to, HALF, HALF, 2},
                               .extent = {HALF, 2, 1},
                               .kind = cudaMemcpyDeviceToDevice};
}

static cudaMemcpy3DPeerParms whole_of_peers(void *to, void *from)
{
    cudaMemcpy3DParms c = whole(to, from);
    return (cudaMemcpy3DPeerParms){.srcPtr = c.srcPtr, .dstPtr = c.dstPtr, .extent = c.extent};
}

static void check_sets_and_copies(void *a, void *b)
{
    const cudaPitchedPtr rows = {b, HALF, HALF, 2};
    const cudaExtent extent = {HALF, 2, 1};
    cudaMemcpy3DParms copy = whole(a, b);
    cudaMemcpy3DPeerParms peers = whole_of_peers(b, a);
    CAPTURED(cudaMemsetAsync_ptsz(a, 1, BYTES, NULL), 1);
    check_words(a, 0x01010101);
    CAPTURED(cudaMemset2DAsync_ptsz(a, HALF, 2, HALF, 2, NULL), 1);
    check_words(a, 0x02020202);
    CAPTURED(cudaMemset3DAsync_ptsz(rows, 3, extent, NULL), 1);
    check_words(b, 0x03030303);
    CAPTURED(cudaMemcpyAsync_ptsz(b, a, BYTES, cudaMemcpyDefault, NULL), 1);
    check_words(b, 0x02020202);
    OK(cudaMemset_ptds(a, 4, BYTES));
    CAPTURED(cudaMemcpy2DAsync_ptsz(b, HALF, a, HALF, HALF, 2, cudaMemcpyDeviceToDevice, NULL), 1);
    check_words(b, 0x04040404);
    OK(cudaMemset2D_ptds(b, HALF, 5, HALF, 2));
    CAPTURED(cudaMemcpy3DAsync_ptsz(&copy, NULL), 1);
    check_words(a, 0x05050505);
    OK(cudaMemset3D_ptds((cudaPitchedPtr){a, HALF, HALF, 2}, 6, extent));
    CAPTURED(cudaMemcpy3DPeerAsync_ptsz(&peers, NULL), 1);
    check_words(b, 0x06060606);
}

static void check_copies_at_once(void *a, void *b)
{
    unsigned host[N];
    cudaMemcpy3DParms copy = whole(b, a);
    cudaMemcpy3DPeerParms peers = whole_of_peers(a, b);
    for (int i = 0; i < N; i++)
        host[i] = 7;
    OK(cudaMemcpy_ptds(a, host, BYTES, cudaMemcpyHostToDevice));
    OK(cudaMemcpy_ptds(b, a, BYTES, cudaMemcpyDeviceToDevice));
    check_words(b, 7);
    OK(cudaMemset_ptds(b, 0, BYTES));
    OK(cudaMemcpy3D_ptds(&copy));
    OK(cudaMemcpy_ptds(host, b, BYTES, cudaMemcpyDeviceToHost));
    CHECK(host[0] == 7 && host[N - 1] == 7);
    host[0] = host[N - 1] = 8;
    OK(cudaMemcpy2D_ptds(b, HALF, host, HALF, HALF, 2, cudaMemcpyHostToDevice));
    OK(cudaMemcpy3DPeer_ptds(&peers));
    OK(cudaMemcpy_ptds(host, a, BYTES, cudaMemcpyDefault));
    CHECK(host[0] == 8 && host[1] == 7 && host[N - 1] == 8);
    CHECK_RT(cudaMemcpy_ptds(a, b, BYTES, (cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection);
    CHECK_RT(cudaMemcpyAsync_ptsz(a, b, BYTES, (cudaMemcpyKind)9, NULL),
             cudaErrorInvalidMemcpyDirection);
    CHECK_RT(cudaMemcpy2D_ptds(b, HALF, host, 1, HALF, 2, cudaMemcpyHostToDevice),
             cudaErrorInvalidPitchValue);
    BAD_VALUE(cudaMemcpy3D_ptds(NULL));
    BAD_VALUE(cudaMemcpy3DPeer_ptds(NULL));
}

static void check_launches(void *a)
{
    unsigned n = N, value = 3;
    void *arguments[] = {&a, &n, &value};
    const void *add = kernel_of(library, "add");
    cudaLaunchConfig_t config = {.gridDim = DIM(1), .blockDim = DIM(N)};
    OK(cudaMemset_ptds(a, 0, BYTES));
    CAPTURED(cudaLaunchKernel_ptsz(add, DIM(1), DIM(N), arguments, 0, NULL), 1);
    CAPTURED(cudaLaunchCooperativeKernel_ptsz(add, DIM(1), DIM(N), arguments, 0, NULL), 1);
    CAPTURED(cudaLaunchKernelExC_ptsz(&config, add, arguments), 1);
    check_words(a, 9);
    CAPTURED(cudaLaunchHostFunc_ptsz(NULL, count_call, &calls), 1);
    CHECK_INT(calls, 1);
    BAD_VALUE(cudaLaunchKernelExC_ptsz(NULL, add, arguments));
    CHECK_RT(cudaLaunchKernel_ptsz(WILD, DIM(1), DIM(N), arguments, 0, NULL),
             cudaErrorInvalidDeviceFunction);
}

static void check_memory_in_order(void)
{
    void *p = NULL;
    CAPTURED(cudaMallocAsync_ptsz(&p, BYTES, NULL), 1);
    OK(cudaFreeAsync_ptsz(p, NULL));
    OK(cudaStreamSynchronize_ptsz(NULL));
}

/* It is another stream than the one that all threads share, and says so. */
static void check_stream(void)
{
    cudaEvent_t event = NULL;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    CUlaunchAttributeValue value;
    unsigned long long shared = 0, own = 0;
    unsigned flags = 7;
    int priority = 7, device = 7;
    OK(cudaStreamGetId(NULL, &shared));
    OK(cudaStreamGetId_ptsz(NULL, &own));
    CHECK(own != shared);
    OK(cudaStreamGetFlags_ptsz(NULL, &flags));
    CHECK_INT(flags, 0);
    OK(cudaStreamGetPriority_ptsz(NULL, &priority));
    CHECK_INT(priority, 0);
    OK(cudaStreamGetDevice_ptsz(NULL, &device));
    CHECK_INT(device, 0);
    OK(cudaStreamIsCapturing_ptsz(NULL, &status));
    CHECK_INT(status, CU_STREAM_CAPTURE_STATUS_NONE);
    value.syncPolicy = YIELD;
    OK(cudaStreamSetAttribute_ptsz(NULL, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    value.syncPolicy = 0;
    OK(cudaStreamGetAttribute_ptsz(NULL, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    CHECK_INT(value.syncPolicy, YIELD);
    OK(cudaStreamCopyAttributes_ptsz(NULL, NULL));
    OK(cudaEventCreate(&event));
    OK(cudaEventRecord_ptsz(event, NULL));
    OK(cudaEventRecordWithFlags_ptsz(event, NULL, 0));
    OK(cudaStreamWaitEvent_ptsz(NULL, event, 0));
    OK(cudaStreamSynchronize_ptsz(NULL));
    OK(cudaStreamQuery_ptsz(NULL));
    OK(cudaEventQuery(event));
    OK(cudaEventDestroy(event));
    BAD_HANDLE(cudaEventRecord_ptsz(WILD, NULL));
}

/* A capture of the thread's stream can be asked for, and its end moved. */
static void check_capture(void *a)
{
    cudaGraph_t graph = NULL, same = NULL;
    const cudaGraphNode_t *ends = NULL;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t id = 0;
    size_t n = 7;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaStreamBeginCaptureToGraph_ptsz(NULL, graph, NULL, NULL, 0,
                                          CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(cudaMemsetAsync_ptsz(a, 0, BYTES, NULL));
    OK(cudaStreamGetCaptureInfo_ptsz(NULL, &status, &id, &same, &ends, NULL, &n));
    CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE && id && same == graph);
    CHECK_INT(n, 1);
    OK(cudaStreamUpdateCaptureDependencies_ptsz(NULL, NULL, NULL, 0,
                                                CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    OK(cudaStreamGetCaptureInfo_ptsz(NULL, &status, NULL, NULL, NULL, NULL, &n));
    CHECK_INT(n, 0);
    CHECK_RT(cudaStreamSynchronize_ptsz(NULL), cudaErrorStreamCaptureUnsupported);
    CHECK_RT(cudaStreamEndCapture_ptsz(NULL, &same), cudaErrorStreamCaptureInvalidated);
    OK(cudaGraphDestroy(graph));
}

/* The driver's entries are those of the thread's stream, too. */
static void check_entry(void)
{
    void *shared = NULL, *own = NULL, *asked = NULL;
    int status = 7;
    OK(cudaGetDriverEntryPoint("cuStreamQuery", &shared, 0, NULL));
    OK(cudaGetDriverEntryPoint_ptsz("cuStreamQuery", &own, 0, &status));
    CHECK(own && own != shared && status == 0);
    OK(cudaGetDriverEntryPoint_ptsz("cuStreamQuery", &asked, CU_GET_PROC_ADDRESS_LEGACY_STREAM,
                                    NULL));
    CHECK(asked == shared);
    OK(cudaGetDriverEntryPoint_ptsz("cuNothing", &own, 0, &status));
    CHECK(status != 0);
    BAD_VALUE(cudaGetDriverEntryPoint_ptsz(NULL, &own, 0, NULL));
}

int main(void)
{
    void *a = NULL, *b = NULL;
    library = load_kernels();
    OK(cudaMalloc(&a, BYTES));
    OK(cudaMalloc(&b, BYTES));
    check_sets_and_copies(a, b);
    check_copies_at_once(a, b);
    check_launches(a);
    check_memory_in_order();
    check_stream();
    check_capture(a);
    check_entry();
    OK(cudaFree(a));
    OK(cudaFree(b));
    return CHECK_DONE("cudart_per_thread");
}
