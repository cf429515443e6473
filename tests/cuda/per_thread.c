/* Programs compiled for a default stream a thread call entries whose names end with _ptsz and
 * _ptds: there stream 0 is the thread's own. What they put into it is captured when that is. */
#include <stdbool.h>
#include <string.h>

#include "tests/cuda/support.h"

enum { N = 16, BYTES = N * 4, HALF = BYTES / 2 };

static CUcontext ctx;
static CUmodule module;

/* The nodes that `call` puts into the capture of the thread's stream, which then run. */
#define CAPTURED(call, n)                                                       \
    do {                                                                        \
        CUgraph graph_ = NULL;                                                  \
        CUgraphExec exec_ = NULL;                                               \
        CUDA_GRAPH_INSTANTIATE_PARAMS how_ = {.flags = 0};                      \
        size_t count_ = 0;                                                      \
        OK(cuStreamBeginCapture_v2_ptsz(NULL, CU_STREAM_CAPTURE_MODE_RELAXED)); \
        OK(call);                                                               \
        OK(cuStreamEndCapture_ptsz(NULL, &graph_));                             \
        OK(cuGraphGetNodes(graph_, NULL, &count_));                             \
        CHECK_INT(count_, n);                                                   \
        OK(cuGraphInstantiateWithParams_ptsz(&exec_, graph_, &how_));           \
        OK(cuGraphUpload_ptsz(exec_, NULL));                                    \
        OK(cuGraphLaunch_ptsz(exec_, NULL));                                    \
        OK(cuStreamSynchronize_ptsz(NULL));                                     \
        OK(cuGraphExecDestroy(exec_));                                          \
        OK(cuGraphDestroy(graph_));                                             \
    } while (0)

/* All words of the memory. */
static void check_words(CUdeviceptr p, unsigned want)
{
    unsigned host[N];
    OK(cuMemcpyDtoH_v2(host, p, sizeof host));
    for (int i = 0; i < N; i++)
        CHECK_INT(host[i], want);
}

/* ---- sets and copies ------------------------------------------------------------------------- */

static void check_sets(CUdeviceptr p)
{
    CAPTURED(cuMemsetD8Async_ptsz(p, 1, BYTES, NULL), 1);
    check_words(p, 0x01010101);
    CAPTURED(cuMemsetD16Async_ptsz(p, 2, BYTES / 2, NULL), 1);
    check_words(p, 0x00020002);
    CAPTURED(cuMemsetD32Async_ptsz(p, 3, N, NULL), 1);
    check_words(p, 3);
    CAPTURED(cuMemsetD2D8Async_ptsz(p, HALF, 4, HALF, 2, NULL), 1);
    check_words(p, 0x04040404);
    CAPTURED(cuMemsetD2D16Async_ptsz(p, HALF, 5, HALF / 2, 2, NULL), 1);
    check_words(p, 0x00050005);
    CAPTURED(cuMemsetD2D32Async_ptsz(p, HALF, 6, HALF / 4, 2, NULL), 1);
    check_words(p, 6);
    OK(cuMemsetD8_v2_ptds(p, 7, BYTES));
    check_words(p, 0x07070707);
    OK(cuMemsetD16_v2_ptds(p, 8, BYTES / 2));
    check_words(p, 0x00080008);
    OK(cuMemsetD32_v2_ptds(p, 9, N));
    check_words(p, 9);
    OK(cuMemsetD2D8_v2_ptds(p, HALF, 1, HALF, 2));
    check_words(p, 0x01010101);
    OK(cuMemsetD2D16_v2_ptds(p, HALF, 2, HALF / 2, 2));
    check_words(p, 0x00020002);
    OK(cuMemsetD2D32_v2_ptds(p, HALF, 3, HALF / 4, 2));
    check_words(p, 3);
    CHECK_CU(cuMemsetD32_v2_ptds(p + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemsetD16Async_ptsz(p + 1, 0, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemsetD2D16_v2_ptds(p, HALF - 1, 0, HALF / 2, 2), CUDA_ERROR_INVALID_VALUE);
}

static CUDA_MEMCPY2D rows(CUdeviceptr to, CUdeviceptr from)
{
    return (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = from,
                           .srcPitch = HALF,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = to,
                           .dstPitch = HALF,
                           .WidthInBytes = HALF,
                           .Height = 2};
}

static CUDA_MEMCPY3D box(CUdeviceptr to, CUdeviceptr from)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = from,
                           .srcPitch = HALF,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = to,
                           .dstPitch = HALF,
                           .WidthInBytes = HALF,
                           .Height = 2,
                           .Depth = 1};
}

static CUDA_MEMCPY3D_PEER box_of_peers(CUdeviceptr to, CUdeviceptr from)
{
    return (CUDA_MEMCPY3D_PEER){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = from,
                                .srcPitch = HALF,
                                .srcContext = ctx,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = to,
                                .dstPitch = HALF,
                                .dstContext = ctx,
                                .WidthInBytes = HALF,
                                .Height = 2,
                                .Depth = 1};
}

/* Copies `call` makes from b, which is set anew, to a. */
#define COPIES(value, call, want)          \
    do {                                   \
        OK(cuMemsetD8_v2(a, 0, BYTES));    \
        OK(cuMemsetD32_v2(b, (value), N)); \
        call;                              \
        check_words(a, (want));            \
    } while (0)

static void check_copies(CUdeviceptr a, CUdeviceptr b)
{
    static unsigned host[N];
    CUDA_MEMCPY2D two = rows(a, b);
    CUDA_MEMCPY3D three = box(a, b);
    CUDA_MEMCPY3D_PEER peers = box_of_peers(a, b);
    COPIES(1, CAPTURED(cuMemcpyAsync_ptsz(a, b, BYTES, NULL), 1), 1);
    COPIES(2, CAPTURED(cuMemcpyDtoDAsync_v2_ptsz(a, b, BYTES, NULL), 1), 2);
    COPIES(3, CAPTURED(cuMemcpyPeerAsync_ptsz(a, ctx, b, ctx, BYTES, NULL), 1), 3);
    COPIES(4, CAPTURED(cuMemcpy2DAsync_v2_ptsz(&two, NULL), 1), 4);
    COPIES(5, CAPTURED(cuMemcpy3DAsync_v2_ptsz(&three, NULL), 1), 5);
    COPIES(6, CAPTURED(cuMemcpy3DPeerAsync_ptsz(&peers, NULL), 1), 6);
    COPIES(7, CAPTURED(cuMemcpyDtoHAsync_v2_ptsz(host, b, BYTES, NULL), 1), 0);
    CHECK(host[0] == 7 && host[N - 1] == 7);
    COPIES(0, CAPTURED(cuMemcpyHtoDAsync_v2_ptsz(a, host, BYTES, NULL), 1), 7);
    COPIES(8, OK(cuMemcpy_ptds(a, b, BYTES)), 8);
    COPIES(9, OK(cuMemcpyDtoD_v2_ptds(a, b, BYTES)), 9);
    COPIES(1, OK(cuMemcpyPeer_ptds(a, ctx, b, ctx, BYTES)), 1);
    COPIES(2, OK(cuMemcpy2D_v2_ptds(&two)), 2);
    COPIES(3, OK(cuMemcpy2DUnaligned_v2_ptds(&two)), 3);
    COPIES(4, OK(cuMemcpy3D_v2_ptds(&three)), 4);
    COPIES(5, OK(cuMemcpy3DPeer_ptds(&peers)), 5);
    COPIES(6, OK(cuMemcpyDtoH_v2_ptds(host, b, BYTES)), 0);
    COPIES(0, OK(cuMemcpyHtoD_v2_ptds(a, host, BYTES)), 6);
    CHECK_CU(cuMemcpy3D_v2_ptds(NULL), CUDA_ERROR_INVALID_VALUE);
}

static void check_batches(CUdeviceptr a, CUdeviceptr b)
{
    CUmemcpyAttributes how = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    CUDA_MEMCPY3D_BATCH_OP op = {.src = {CU_MEMCPY_OPERAND_TYPE_POINTER, {.ptr = {.ptr = b}}},
                                 .dst = {CU_MEMCPY_OPERAND_TYPE_POINTER, {.ptr = {.ptr = a}}},
                                 .extent = {BYTES, 1, 1},
                                 .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    size_t bytes = BYTES, first = 0, wrong = SIZE_MAX;
    COPIES(1, OK(cuMemcpyBatchAsync_ptsz(&a, &b, &bytes, 1, &how, &first, 1, &wrong, NULL)), 1);
    COPIES(2, OK(cuMemcpyBatchAsync_v2_ptsz(&a, &b, &bytes, 1, &how, &first, 1, NULL)), 2);
    COPIES(3, OK(cuMemcpy3DBatchAsync_ptsz(1, &op, &wrong, 0, NULL)), 3);
    COPIES(4, OK(cuMemcpy3DBatchAsync_v2_ptsz(1, &op, 0, NULL)), 4);
    /* there all threads' stream is none */
    CHECK_CU(cuMemcpyBatchAsync_v2(&a, &b, &bytes, 1, &how, &first, 1, NULL),
             CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemcpy3DBatchAsync_v2(1, &op, 0, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void check_arrays(CUdeviceptr a, CUdeviceptr b)
{
    CUarray first = NULL, second = NULL;
    CUDA_ARRAY_DESCRIPTOR d = {.Width = N, .Format = CU_AD_FORMAT_UNSIGNED_INT32, .NumChannels = 1};
    static unsigned host[N];
    OK(cuArrayCreate_v2(&first, &d));
    OK(cuArrayCreate_v2(&second, &d));
    OK(cuMemsetD32_v2(b, 3, N));
    OK(cuMemcpyDtoA_v2_ptds(first, 0, b, BYTES));
    OK(cuMemcpyAtoA_v2_ptds(second, 0, first, 0, BYTES));
    OK(cuMemcpyAtoD_v2_ptds(a, second, 0, BYTES));
    check_words(a, 3);
    OK(cuMemcpyAtoH_v2_ptds(host, second, 0, BYTES));
    CHECK(host[0] == 3 && host[N - 1] == 3);
    host[0] = 4;
    OK(cuMemcpyHtoA_v2_ptds(first, 0, host, BYTES));
    host[0] = 0;
    CAPTURED(cuMemcpyAtoHAsync_v2_ptsz(host, first, 0, BYTES, NULL), 1);
    CHECK(host[0] == 4 && host[1] == 3);
    host[0] = 5;
    CAPTURED(cuMemcpyHtoAAsync_v2_ptsz(second, 0, host, BYTES, NULL), 1);
    OK(cuMemcpyAtoH_v2_ptds(host, second, 0, 8));
    CHECK(host[0] == 5 && host[1] == 3);
    OK(cuArrayDestroy(first));
    OK(cuArrayDestroy(second));
}

/* ---- launches -------------------------------------------------------------------------------- */

static void count_call(void *ud)
{
    ++*(unsigned *)ud;
}

static void count_callback(CUstream stream, CUresult result, void *ud)
{
    (void)stream;
    CHECK_CU(result, CUDA_SUCCESS);
    ++*(unsigned *)ud;
}

static void check_launches(CUdeviceptr a)
{
    static unsigned calls;
    unsigned n = N, value = 3;
    void *arguments[] = {&a, &n, &value};
    CUfunction add = function_of(module, "add");
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = N,
                             .blockDimY = 1,
                             .blockDimZ = 1};
    OK(cuMemsetD8_v2(a, 0, BYTES));
    CAPTURED(cuLaunchKernel_ptsz(add, 1, 1, 1, N, 1, 1, 0, NULL, arguments, NULL), 1);
    CAPTURED(cuLaunchCooperativeKernel_ptsz(add, 1, 1, 1, N, 1, 1, 0, NULL, arguments), 1);
    CAPTURED(cuLaunchKernelEx_ptsz(&config, add, arguments, NULL), 1);
    check_words(a, 9);
    CAPTURED(cuLaunchHostFunc_ptsz(NULL, count_call, &calls), 1);
    OK(cuStreamAddCallback_ptsz(NULL, count_callback, &calls, 0));
    OK(cuStreamSynchronize_ptsz(NULL));
    CHECK_INT(calls, 2);
    CHECK_CU(cuLaunchKernelEx_ptsz(NULL, add, arguments, NULL), CUDA_ERROR_INVALID_VALUE);
}

/* ---- the stream ------------------------------------------------------------------------------ */

static void check_stream(void)
{
    enum { YIELD = 3 }; /* CU_SYNC_POLICY_YIELD */
    CUevent event = NULL;
    CUcontext its = NULL;
    CUgreenCtx green = NULL;
    CUdevice device = 7;
    CUstreamAttrValue value = {.syncPolicy = YIELD};
    unsigned long long shared = 0, own = 0;
    unsigned flags = 7;
    int priority = 7;
    OK(cuStreamGetId(NULL, &shared));
    OK(cuStreamGetId_ptsz(NULL, &own));
    CHECK(own != shared);
    OK(cuStreamGetFlags_ptsz(NULL, &flags));
    CHECK_INT(flags, 0);
    OK(cuStreamGetPriority_ptsz(NULL, &priority));
    CHECK_INT(priority, 0);
    OK(cuStreamGetDevice_ptsz(NULL, &device));
    CHECK_INT(device, 0);
    OK(cuStreamGetCtx_ptsz(NULL, &its));
    CHECK(its == ctx);
    its = NULL;
    OK(cuStreamGetCtx_v2_ptsz(NULL, &its, &green));
    CHECK(its == ctx && !green);
    OK(cuStreamSetAttribute_ptsz(NULL, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    value.syncPolicy = 0;
    OK(cuStreamGetAttribute_ptsz(NULL, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    CHECK_INT(value.syncPolicy, YIELD);
    OK(cuStreamCopyAttributes_ptsz(NULL, NULL));
    OK(cuEventCreate(&event, 0));
    OK(cuEventRecord_ptsz(event, NULL));
    OK(cuEventRecordWithFlags_ptsz(event, NULL, 0));
    OK(cuStreamWaitEvent_ptsz(NULL, event, 0));
    OK(cuStreamSynchronize_ptsz(NULL));
    OK(cuStreamQuery_ptsz(NULL));
    OK(cuEventQuery(event));
    OK(cuEventDestroy_v2(event));
    CHECK_CU(cuEventRecord_ptsz(WILD, NULL), CUDA_ERROR_INVALID_HANDLE);
}

/* Writes of the stream, which its waits find. */
static void check_words_of_stream(CUdeviceptr p)
{
    cuuint64_t word = 0;
    CUstreamBatchMemOpParams op = {
        .writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .address = p, .value = 5}};
    OK(cuMemsetD8_v2(p, 0, BYTES));
    OK(cuStreamWriteValue32_ptsz(NULL, p, 1, 0));
    OK(cuStreamWaitValue32_ptsz(NULL, p, 1, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuStreamWriteValue32_v2_ptsz(NULL, p + 4, 2, 0));
    OK(cuStreamWaitValue32_v2_ptsz(NULL, p + 4, 2, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuStreamWaitValue64_ptsz(NULL, p, (cuuint64_t)2 << 32 | 1, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuStreamWriteValue64_ptsz(NULL, p, 3, 0));
    OK(cuStreamWaitValue64_v2_ptsz(NULL, p, 3, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuStreamWriteValue64_v2_ptsz(NULL, p, 4, 0));
    OK(cuStreamSynchronize_ptsz(NULL));
    OK(cuMemcpyDtoH_v2(&word, p, 8));
    CHECK_INT(word, 4);
    OK(cuStreamBatchMemOp_ptsz(NULL, 1, &op, 0));
    OK(cuStreamSynchronize_ptsz(NULL));
    OK(cuMemcpyDtoH_v2(&word, p, 8));
    CHECK_INT(word, 5);
    op.writeValue.value = 6;
    OK(cuStreamBatchMemOp_v2_ptsz(NULL, 1, &op, 0));
    OK(cuStreamSynchronize_ptsz(NULL));
    OK(cuMemcpyDtoH_v2(&word, p, 8));
    CHECK_INT(word, 6);
    CHECK_CU(cuStreamWriteValue32_ptsz(NULL, p + 1, 0, 0), CUDA_ERROR_INVALID_VALUE);
}

static void check_memory_in_order(void)
{
    CUdeviceptr p = 0, managed = 0;
    CUmemoryPool pool = NULL;
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    size_t bytes = BYTES, first = 0;
    CAPTURED(cuMemAllocAsync_ptsz(&p, BYTES, NULL), 1);
    OK(cuMemFreeAsync_ptsz(p, NULL));
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuMemAllocFromPoolAsync_ptsz(&p, BYTES, pool, NULL));
    OK(cuMemFreeAsync_ptsz(p, NULL));
    OK(cuMemAllocManaged(&managed, BYTES, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemPrefetchAsync_ptsz(managed, BYTES, 0, NULL));
    OK(cuMemPrefetchAsync_v2_ptsz(managed, BYTES, here, 0, NULL));
    OK(cuMemPrefetchBatchAsync_ptsz(&managed, &bytes, 1, &here, &first, 1, 0, NULL));
    OK(cuMemDiscardBatchAsync_ptsz(&managed, &bytes, 1, 0, NULL));
    OK(cuMemDiscardAndPrefetchBatchAsync_ptsz(&managed, &bytes, 1, &here, &first, 1, 0, NULL));
    OK(cuStreamAttachMemAsync_ptsz(NULL, managed, 0, CU_MEM_ATTACH_GLOBAL));
    OK(cuStreamSynchronize_ptsz(NULL));
    OK(cuMemFree_v2(managed));
}

/* A capture of the thread's stream can be asked for, and its end moved. */
static void check_capture(CUdeviceptr p)
{
    CUgraph graph = NULL, same = NULL;
    const CUgraphNode *ends = NULL;
    const CUgraphEdgeData *data = NULL;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t id = 0, again = 0;
    size_t n = 7;
    OK(cuGraphCreate(&graph, 0));
    OK(cuStreamBeginCaptureToGraph_ptsz(NULL, graph, NULL, NULL, 0,
                                        CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(cuMemsetD8Async_ptsz(p, 0, BYTES, NULL));
    OK(cuStreamIsCapturing_ptsz(NULL, &status));
    CHECK_INT(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cuStreamGetCaptureInfo_ptsz(NULL, &status, &id));
    OK(cuStreamGetCaptureInfo_v2_ptsz(NULL, &status, &again, &same, &ends, &n));
    CHECK(id && id == again && same == graph);
    CHECK_INT(n, 1);
    OK(cuStreamUpdateCaptureDependencies_ptsz(NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    OK(cuStreamGetCaptureInfo_v3_ptsz(NULL, &status, &again, &same, &ends, &data, &n));
    CHECK_INT(n, 0);
    OK(cuStreamUpdateCaptureDependencies_v2_ptsz(NULL, NULL, NULL, 0,
                                                 CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    OK(cuStreamEndCapture_ptsz(NULL, &same));
    CHECK(same == graph);
    OK(cuGraphDestroy(graph));
    OK(cuStreamBeginCapture_ptsz(NULL));
    CHECK_CU(cuStreamIsCapturing(NULL, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    OK(cuStreamEndCapture_ptsz(NULL, &graph));
    OK(cuGraphDestroy(graph));
}

int main(void)
{
    ctx = begin();
    module = load_kernels();
    CUdeviceptr a = new_memory(BYTES), b = new_memory(BYTES);
    check_sets(a);
    check_copies(a, b);
    check_batches(a, b);
    check_arrays(a, b);
    check_launches(a);
    check_stream();
    check_words_of_stream(a);
    check_memory_in_order();
    check_capture(a);
    OK(cuMemFree_v2(a));
    OK(cuMemFree_v2(b));
    OK(cuCtxDestroy_v2(ctx));
    return CHECK_DONE("cuda_per_thread");
}
