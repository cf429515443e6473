/* Green contexts: what is split, what belongs to one, and what its events wait for. What an H100's
 * driver answers besides: tests/hardware/driver/green.c. */
#include <stdbool.h>
#include <string.h>

#include "tests/cuda/support.h"

static CUdevResource whole;

/* A green context of `sms` SMs. */
static CUgreenCtx make(unsigned sms)
{
    CUdevResource part;
    CUdevResourceDesc desc = NULL;
    CUgreenCtx green = NULL;
    unsigned n = 1;
    OK(cuDevSmResourceSplitByCount(&part, &n, &whole, NULL, 0, sms));
    CHECK_INT(part.sm.smCount, sms);
    OK(cuDevResourceGenerateDesc(&desc, &part, 1));
    OK(cuGreenCtxCreate(&green, desc, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    return green;
}

/* Parts of one split go together, and each once. */
static void check_resources(void)
{
    CUdevResource parts[2], others[2], rest, both;
    CUdevResourceDesc desc = NULL;
    CUgreenCtx green = NULL;
    unsigned n = 2;
    CHECK(whole.sm.smCount == 132 && whole.sm.minSmPartitionSize == 8);
    OK(cuDevSmResourceSplitByCount(parts, &n, &whole, &rest, 0, 40));
    CHECK(n == 2 && parts[0].sm.smCount == 40 && rest.sm.smCount == 52);
    n = 2;
    OK(cuDevSmResourceSplitByCount(others, &n, &whole, NULL, 0, 40));
    OK(cuDevResourceGenerateDesc(&desc, (CUdevResource[]){parts[0], parts[1], rest}, 3));
    OK(cuGreenCtxCreate(&green, desc, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    OK(cuGreenCtxGetDevResource(green, &both, CU_DEV_RESOURCE_TYPE_SM));
    CHECK_INT(both.sm.smCount, 132);
    n = 1;
    OK(cuDevSmResourceSplitByCount(parts, &n, &both, NULL, 0, 64)); /* which may be split again */
    OK(cuGreenCtxDestroy(green));
    CHECK_CU(cuDevResourceGenerateDesc(&desc, (CUdevResource[]){parts[0], others[1]}, 2),
             CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
    CHECK_CU(cuDevResourceGenerateDesc(&desc, (CUdevResource[]){others[0], others[0]}, 2),
             CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
    CHECK_CU(cuDevResourceGenerateDesc(&desc, parts, 0), CUDA_ERROR_INVALID_VALUE);
    memset(&rest, 0, sizeof rest);
    CHECK_CU(cuDevResourceGenerateDesc(&desc, &rest, 1), CUDA_ERROR_INVALID_RESOURCE_TYPE);
    CHECK_CU(cuGreenCtxCreate(&green, WILD, 0, CU_GREEN_CTX_DEFAULT_STREAM),
             CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuGreenCtxGetId(WILD, &(unsigned long long){0}), CUDA_ERROR_INVALID_CONTEXT);
}

/* Its context is current as any other; memory, modules and errors are the primary context's. */
static void check_context(CUcontext primary, CUfunction empty)
{
    CUcontext ctx = NULL, seen = NULL;
    CUgreenCtx green = make(16), of = NULL;
    CUstream stream, plain;
    unsigned long long a, b;
    CUdevice device = 9;
    OK(cuStreamCreate(&plain, CU_STREAM_NON_BLOCKING));
    OK(cuCtxFromGreenCtx(&ctx, green));
    CHECK(ctx && ctx != primary);
    OK(cuCtxPushCurrent_v2(ctx));
    OK(cuCtxGetCurrent(&seen));
    CHECK(seen == ctx);
    OK(cuCtxGetDevice(&device));
    CHECK_INT(device, 0);
    OK(cuCtxGetId(NULL, &a));
    OK(cuGreenCtxGetId(green, &b));
    CHECK(a == b);
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamGetCtx_v2(stream, &seen, &of));
    CHECK(seen == ctx && of == green);
    OK(cuStreamGetCtx_v2(NULL, &seen, &of));
    CHECK(seen == ctx && of == green);
    OK(cuStreamGetCtx_v2(plain, &seen, &of));
    CHECK(seen == primary && !of);
    CUdeviceptr p = new_memory(4);
    OK(cuPointerGetAttribute(&seen, CU_POINTER_ATTRIBUTE_CONTEXT, p));
    CHECK(seen == primary);
    OK(LAUNCH(empty, 32, stream, NULL));
    OK(LAUNCH(empty, 32, NULL, NULL));
    OK(cuCtxSynchronize());
    OK(cuCtxPopCurrent_v2(&seen));
    CHECK(seen == ctx);
    OK(cuMemFree_v2(p));
    OK(cuGreenCtxDestroy(green));
    CHECK_CU(cuCtxSetCurrent(ctx), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    CHECK_CU(cuGreenCtxDestroy(green), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuStreamGetCtx_v2(stream, &seen, &of)); /* streams stay */
    CHECK(seen == primary && !of);
    OK(cuStreamDestroy_v2(stream));
    OK(cuStreamDestroy_v2(plain));
}

/* One that is destroyed while it is current stays so, and is of no use. */
static void check_destroyed(CUcontext primary)
{
    CUcontext ctx, seen;
    CUgreenCtx green = make(8);
    OK(cuCtxFromGreenCtx(&ctx, green));
    OK(cuCtxSetCurrent(ctx));
    OK(cuGreenCtxDestroy(green));
    CHECK_CU(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    OK(cuCtxGetCurrent(&seen));
    CHECK(seen == ctx);
    OK(cuCtxSetCurrent(primary));
}

/* As many blocks as its SMs hold can wait for each other: two of 1,024 threads on each. */
static void check_cooperative(CUfunction empty)
{
    CUgreenCtx green = make(8);
    CUstream stream, plain;
    OK(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
    OK(cuStreamCreate(&plain, CU_STREAM_NON_BLOCKING));
    OK(cuLaunchCooperativeKernel(empty, 16, 1, 1, 1024, 1, 1, 0, stream, NULL));
    CHECK_CU(cuLaunchCooperativeKernel(empty, 17, 1, 1, 1024, 1, 1, 0, stream, NULL),
             CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    OK(cuLaunchCooperativeKernel(empty, 17, 1, 1, 1024, 1, 1, 0, plain, NULL));
    OK(cuCtxSynchronize());
    OK(cuStreamDestroy_v2(stream));
    OK(cuStreamDestroy_v2(plain));
    OK(cuGreenCtxDestroy(green));
}

/* An event of all of a context's streams, and all streams that wait for one, later ones, too. */
static void check_events(CUcontext primary, CUfunction wait, CUfunction store)
{
    CUgreenCtx first = make(8), second = make(16);
    CUstream held, free, late;
    CUevent event, all;
    CUdeviceptr gate = new_memory(4), number = new_memory(4);
    unsigned value = 0;
    OK(cuGreenCtxStreamCreate(&held, first, CU_STREAM_NON_BLOCKING, 0));
    OK(cuGreenCtxStreamCreate(&free, second, CU_STREAM_NON_BLOCKING, 0));
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&all, CU_EVENT_DISABLE_TIMING));
    OK(LAUNCH(wait, 1, held, &gate));
    OK(cuGreenCtxRecordEvent(second, event));
    OK(cuEventSynchronize(event)); /* nothing is held there */
    OK(cuGreenCtxRecordEvent(first, event));
    OK(cuCtxRecordEvent(primary, all));
    CHECK_CU(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    CHECK_CU(cuEventQuery(all), CUDA_ERROR_NOT_READY);
    OK(LAUNCH(store, 1, free, &number));
    OK(cuStreamSynchronize(free));
    OK(cuGreenCtxWaitEvent(second, event));
    OK(cuGreenCtxStreamCreate(&late, second, CU_STREAM_NON_BLOCKING, 0));
    OK(cuMemsetD32Async(number, 9, 1, late));
    CHECK_CU(cuStreamQuery(late), CUDA_ERROR_NOT_READY);
    *(volatile unsigned *)(uintptr_t)gate = 1;
    OK(cuStreamSynchronize(late));
    OK(cuMemcpyDtoH_v2(&value, number, 4));
    CHECK_INT(value, 9);
    OK(cuEventSynchronize(all));
    OK(cuEventDestroy_v2(event));
    OK(cuEventDestroy_v2(all));
    OK(cuStreamDestroy_v2(held));
    OK(cuStreamDestroy_v2(free));
    OK(cuStreamDestroy_v2(late));
    OK(cuGreenCtxDestroy(first));
    OK(cuGreenCtxDestroy(second));
    OK(cuMemFree_v2(gate));
    OK(cuMemFree_v2(number));
}

/* Waiting for an event of the context itself, in order; and what a capture forbids. */
static void check_context_events(CUcontext primary, CUfunction wait)
{
    CUstream held, other;
    CUevent event;
    CUgraph graph = NULL;
    CUdeviceptr gate = new_memory(4);
    OK(cuStreamCreate(&held, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(LAUNCH(wait, 1, held, &gate));
    OK(cuEventRecord(event, held));
    OK(cuCtxWaitEvent(primary, event));
    OK(cuMemsetD32Async(gate, 2, 1, other)); /* behind the kernel that it would release */
    CHECK_CU(cuStreamQuery(other), CUDA_ERROR_NOT_READY);
    *(volatile unsigned *)(uintptr_t)gate = 1;
    OK(cuCtxSynchronize());
    CHECK_INT(*(volatile unsigned *)(uintptr_t)gate, 2);
    OK(cuStreamBeginCapture_v2(other, CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK_CU(cuCtxRecordEvent(primary, event), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CHECK_CU(cuStreamEndCapture(other, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CHECK_CU(cuCtxWaitEvent(primary, WILD), CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuCtxRecordEvent(WILD, event), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuEventDestroy_v2(event));
    OK(cuStreamDestroy_v2(held));
    OK(cuStreamDestroy_v2(other));
    OK(cuMemFree_v2(gate));
}

int main(void)
{
    CUcontext primary;
    unsigned flags;
    int active = 0;
    OK(cuInit(0));
    OK(cuDeviceGetDevResource(0, &whole, CU_DEV_RESOURCE_TYPE_SM));
    check_resources();
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    CHECK_INT(active, 0); /* the last green context let it go */
    OK(cuDevicePrimaryCtxRetain(&primary, 0));
    OK(cuCtxSetCurrent(primary));
    CUmodule module = load_kernels();
    CUfunction empty = function_of(module, "empty"), wait = function_of(module, "wait");
    check_context(primary, empty);
    check_destroyed(primary);
    check_cooperative(empty);
    check_events(primary, wait, function_of(module, "store"));
    check_context_events(primary, wait);
    OK(cuCtxSetCurrent(NULL));
    OK(cuDevicePrimaryCtxRelease_v2(0));
    return CHECK_DONE("cuda_green");
}
