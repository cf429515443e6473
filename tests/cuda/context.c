/* Contexts: the stack of each thread, primary contexts, preferences, peers, two threads and a
 * reset. */
#include <pthread.h>

#include "tests/cuda/support.h"

static CUcontext current(void)
{
    CUcontext ctx = WILD;
    OK(cuCtxGetCurrent(&ctx));
    return ctx;
}

static void check_stack(void)
{
    CUcontext a, b, popped;
    CUdevice device = -1;
    CHECK(!current());
    CHECK_CU(cuCtxGetDevice(&device), CUDA_ERROR_INVALID_CONTEXT);
    CHECK_CU(cuCtxPopCurrent_v2(&popped), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxCreate_v2(&a, 0, 0));
    OK(cuCtxCreate_v2(&b, CU_CTX_SCHED_BLOCKING_SYNC, 1));
    CHECK(a != b && current() == b);
    OK(cuCtxGetDevice(&device));
    CHECK_INT(device, 1);
    OK(cuCtxGetDevice_v2(&device, a));
    CHECK_INT(device, 0);
    OK(cuCtxGetDevice_v2(&device, WILD)); /* as bindings call it that know no such argument */
    CHECK_INT(device, 1);
    CHECK_CU(cuCtxGetDevice(NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuCtxPopCurrent_v2(&popped));
    CHECK(popped == b && current() == a);
    OK(cuCtxPushCurrent_v2(b));
    OK(cuCtxSetCurrent(a));
    CHECK(current() == a);
    OK(cuCtxPopCurrent_v2(NULL));
    CHECK(current() == a);
    OK(cuCtxSetCurrent(NULL));
    CHECK(!current());
    OK(cuCtxSetCurrent(b));
    OK(cuCtxDestroy_v2(b));
    CHECK(!current());
    OK(cuCtxPushCurrent_v2(a));
    OK(cuCtxPushCurrent_v2(a));
    OK(cuCtxDestroy_v2(a)); /* current below the top still */
    CHECK_CU(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    CHECK_CU(cuCtxDestroy_v2(a), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    OK(cuCtxPopCurrent_v2(NULL));
    CHECK_CU(cuCtxDestroy_v2(NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuCtxDestroy_v2(WILD), CUDA_ERROR_INVALID_CONTEXT);
    CHECK_CU(cuCtxSetCurrent(WILD), CUDA_ERROR_INVALID_CONTEXT);
    CHECK_CU(cuCtxPushCurrent_v2(NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuCtxPushCurrent_v2(WILD), CUDA_ERROR_INVALID_CONTEXT);
    CHECK_CU(cuCtxCreate_v2(NULL, 0, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuCtxCreate_v2(&a, 0, 9), CUDA_ERROR_INVALID_DEVICE);
    CHECK_CU(cuCtxCreate_v2(&a, 0x1000, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuCtxCreate_v2(&a, CU_CTX_SCHED_SPIN | CU_CTX_SCHED_YIELD, 0),
             CUDA_ERROR_INVALID_VALUE);
}

/* The handle of a context that was destroyed, when nothing of it is left. */
static void check_gone(void)
{
    CUcontext ctx, gone;
    CUevent event;
    CUdevice device;
    CUdeviceptr p;
    CUgraph graph;
    CUgraphNode node;
    unsigned version;
    unsigned long long id;
    OK(cuCtxCreate_v2(&ctx, 0, 0));
    OK(cuEventCreate(&event, 0));
    OK(cuMemAlloc_v2(&p, 64));
    OK(cuGraphCreate(&graph, 0));
    CUDA_MEMSET_NODE_PARAMS set = {p, 0, 0, 4, 1, 1};
    OK(cuCtxCreate_v2(&gone, 0, 1));
    OK(cuCtxDestroy_v2(gone));
    OK(cuCtxSetCurrent(ctx));
    const CUresult want = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    CHECK_CU(cuCtxSetCurrent(gone), want);
    CHECK_CU(cuCtxPushCurrent_v2(gone), want);
    CHECK_CU(cuCtxGetId(gone, &id), want);
    CHECK_CU(cuCtxSynchronize_v2(gone), want);
    CHECK_CU(cuCtxRecordEvent(gone, event), want);
    CHECK_CU(cuCtxWaitEvent(gone, event), want);
    CHECK_CU(cuCtxEnablePeerAccess(gone, 0), want);
    CHECK_CU(cuCtxDisablePeerAccess(gone), want);
    CHECK_CU(cuMemcpyPeer(p, gone, p + 32, ctx, 16), want);
    CHECK_CU(cuGraphAddMemsetNode(&node, graph, NULL, 0, &set, gone), want);
    CHECK_CU(cuCtxDestroy_v2(gone), CUDA_ERROR_INVALID_CONTEXT);
    CHECK_CU(cuCtxDetach(gone), CUDA_ERROR_INVALID_CONTEXT);
    CHECK_CU(cuCtxGetApiVersion(gone, &version), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxGetDevice_v2(&device, gone));
    OK(cuGraphDestroy(graph));
    OK(cuCtxDestroy_v2(ctx));
}

static void check_versions(void)
{
    CUcontext ctx;
    CUctxCreateParams params = {0};
    CUexecAffinityParam affinity = {CU_EXEC_AFFINITY_TYPE_SM_COUNT, 4};
    unsigned version;
    unsigned long long id, other;
    OK(cuCtxCreate_v3(&ctx, NULL, 0, 0, 0));
    OK(cuCtxGetApiVersion(ctx, &version));
    CHECK_INT(version, 3020);
    OK(cuCtxGetId(ctx, &id));
    OK(cuCtxDestroy(ctx));
    OK(cuCtxCreate_v4(&ctx, &params, 0, 0));
    OK(cuCtxGetId(NULL, &other));
    CHECK(id != other);
    OK(cuCtxDestroy_v2(ctx));
    OK(cuCtxCreate_v4(&ctx, NULL, 0, 0));
    OK(cuCtxDestroy_v2(ctx));
    CHECK_CU(cuCtxCreate_v3(&ctx, &affinity, 1, 0, 0), CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
    CHECK_CU(cuCtxCreate_v3(&ctx, NULL, 1, 0, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuCtxGetApiVersion(WILD, &version), CUDA_ERROR_INVALID_CONTEXT);
    CHECK_CU(cuCtxGetId(NULL, &id), CUDA_ERROR_INVALID_CONTEXT);
}

static void check_primary(void)
{
    CUcontext first, second;
    CUdeviceptr p;
    CUmodule module;
    unsigned flags;
    int active;
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    CHECK_INT(active, 0);
    CHECK_CU(cuDevicePrimaryCtxRelease_v2(0), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuDevicePrimaryCtxSetFlags_v2(0, CU_CTX_SCHED_SPIN));
    OK(cuDevicePrimaryCtxRetain(&first, 0));
    OK(cuDevicePrimaryCtxRetain(&second, 0));
    CHECK(first == second);
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    CHECK_INT(active, 1);
    CHECK_INT(flags, CU_CTX_SCHED_SPIN);
    OK(cuCtxSetCurrent(first));
    OK(cuCtxGetFlags(&flags));
    CHECK_INT(flags & CU_CTX_SCHED_MASK, CU_CTX_SCHED_SPIN);
    CHECK_CU(cuCtxDestroy_v2(first), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuMemAlloc_v2(&p, 4096));
    module = load_kernels();
    OK(cuDevicePrimaryCtxReset_v2(0));
    CHECK_CU(cuMemFree_v2(p), CUDA_ERROR_INVALID_VALUE); /* gone, with all else */
    CHECK_CU(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
    OK(cuMemAlloc_v2(&p, 4096));
    OK(cuDevicePrimaryCtxRelease_v2(0));
    OK(cuCtxSynchronize());
    OK(cuDevicePrimaryCtxRelease(0));
    CHECK_CU(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    CHECK_CU(cuCtxSetCurrent(first), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    OK(cuCtxSetCurrent(NULL));
    CHECK_CU(cuDevicePrimaryCtxRetain(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuDevicePrimaryCtxRetain(&first, 5), CUDA_ERROR_INVALID_DEVICE);
    CHECK_CU(cuDevicePrimaryCtxSetFlags_v2(0, 0x4000), CUDA_ERROR_INVALID_VALUE);
}

static void check_preferences(void)
{
    CUfunc_cache cache;
    CUsharedconfig shared;
    int least = 9, greatest = 9;
    CUcontext ctx = begin();
    OK(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
    OK(cuCtxGetCacheConfig(&cache));
    CHECK_INT(cache, CU_FUNC_CACHE_PREFER_L1);
    CHECK_CU(cuCtxSetCacheConfig((CUfunc_cache)9), CUDA_ERROR_INVALID_VALUE);
    OK(cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE));
    OK(cuCtxGetSharedMemConfig(&shared));
    CHECK_INT(shared, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
    OK(cuCtxGetStreamPriorityRange(&least, &greatest));
    CHECK_INT(least, 0);
    CHECK(greatest < 0);
    OK(cuCtxGetStreamPriorityRange(NULL, NULL));
    OK(cuProfilerStart());
    OK(cuProfilerStop());
    OK(cuCtxDestroy_v2(ctx));
}

static void check_peers(void)
{
    CUcontext a, b, same;
    OK(cuCtxCreate_v2(&same, 0, 0));
    OK(cuCtxCreate_v2(&b, 0, 1));
    OK(cuCtxCreate_v2(&a, 0, 0));
    OK(cuCtxEnablePeerAccess(b, 0));
    CHECK_CU(cuCtxEnablePeerAccess(b, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    OK(cuCtxDisablePeerAccess(b));
    CHECK_CU(cuCtxDisablePeerAccess(b), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    CHECK_CU(cuCtxEnablePeerAccess(same, 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    CHECK_CU(cuCtxEnablePeerAccess(b, 1), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuCtxEnablePeerAccess(WILD, 0), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxDestroy_v2(a));
    OK(cuCtxDestroy_v2(b));
    OK(cuCtxDestroy_v2(same));
}

/* A thread works on the primary context of its device, resets it, and works again. */
static void *work(void *ud)
{
    CUdevice device = *(const CUdevice *)ud;
    CUcontext ctx;
    long wrong = 0;
    if (cuDevicePrimaryCtxRetain(&ctx, device) || cuCtxSetCurrent(ctx))
        return (void *)-1;
    for (int round = 0; round < 20; round++) {
        CUmodule module;
        CUfunction add;
        CUdeviceptr p;
        unsigned n = 1000, value = 1, out[1000];
        wrong += cuModuleLoadData(&module, kernels) || cuModuleGetFunction(&add, module, "add");
        wrong += cuMemAlloc_v2(&p, sizeof out) || cuMemsetD8_v2(p, 0, sizeof out);
        for (int i = 0; i < 50; i++)
            wrong += cuLaunchKernel(add, 32, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&p, &n, &value},
                                    NULL) != CUDA_SUCCESS;
        wrong += cuMemcpyDtoH_v2(out, p, sizeof out) != CUDA_SUCCESS;
        for (int i = 0; i < 1000; i++)
            wrong += out[i] != 50;
        wrong += cuDevicePrimaryCtxReset_v2(device) != CUDA_SUCCESS;
    }
    wrong += cuDevicePrimaryCtxRelease_v2(device) != CUDA_SUCCESS;
    return (void *)wrong;
}

static void check_threads(void)
{
    pthread_t threads[2];
    CUdevice devices[2] = {0, 1};
    for (int i = 0; i < 2; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, work, &devices[i]), 0);
    for (int i = 0; i < 2; i++) {
        void *wrong = NULL;
        pthread_join(threads[i], &wrong);
        CHECK_INT((long)wrong, 0);
    }
}

/* Uses of a context are counted; it goes with the last one. */
static void check_uses(void)
{
    CUcontext ctx, seen = NULL;
    OK(cuCtxCreate_v2(&ctx, 0, 0));
    OK(cuCtxAttach(&seen, 0));
    CHECK(seen == ctx);
    CHECK_CU(cuCtxAttach(&seen, 1), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuCtxAttach(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuCtxDetach(NULL), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxDetach(ctx));
    OK(cuCtxGetCurrent(&seen));
    CHECK(seen == ctx);
    OK(cuCtxDetach(ctx));
    OK(cuCtxGetCurrent(&seen));
    CHECK(seen != ctx);
    CHECK_CU(cuCtxDetach(ctx), CUDA_ERROR_INVALID_CONTEXT);
}

int main(void)
{
    setenv("PTERA_DEVICES", "2", 1);
    OK(cuInit(0));
    check_stack();
    check_uses();
    check_gone();
    check_versions();
    check_primary();
    check_preferences();
    check_peers();
    check_threads();
    return CHECK_DONE("cuda_context");
}
