/* Contexts: their stack, flags, creation, ends; primary contexts. */
#include "tests/hardware/driver/say.h"

void part_context(void)
{
    CUcontext c, other;
    CUdevice d;
    unsigned n;
    unsigned long long id = 0, again = 0;
    int low, high;
    CUfunc_cache cache;
    say_begin();
    SAY(cuCtxGetCurrent(NULL));
    SAY(cuCtxGetDevice(NULL));
    GET(d, cuCtxGetDevice(&d));
    MAKE(c, cuCtxPopCurrent(&c));
    MAKE(other, cuCtxPopCurrent(&other));
    MAKE(other, cuCtxGetCurrent(&other));
    SAY(cuCtxPopCurrent(NULL));
    SAY(cuCtxPushCurrent(NULL));
    SAY(cuCtxPushCurrent(context));
    SAY(cuCtxPushCurrent(context));
    SAY(cuCtxSetCurrent(NULL));
    MAKE(other, cuCtxGetCurrent(&other));
    MAKE(other, cuCtxPopCurrent(&other));
    MAKE(other, cuCtxGetCurrent(&other));
    SAY(cuCtxSetCurrent(NULL));
    SAY(cuCtxSetCurrent(context));
    SAY(cuCtxGetFlags(NULL));
    GET(n, cuCtxGetFlags(&n));
    for (unsigned flags = 0; flags < 10; flags++) {
        printf("%u\n", flags);
        SAY(cuCtxSetFlags(flags));
        GET(n, cuCtxGetFlags(&n));
    }
    SAY(cuCtxSetFlags(CU_CTX_SYNC_MEMOPS));
    GET(n, cuCtxGetFlags(&n));
    SAY(cuCtxSetFlags(CU_CTX_COREDUMP_ENABLE));
    SAY(cuCtxSetFlags(~0u));
    SAY(cuCtxSetFlags(0));
    SAY(cuCtxGetApiVersion(context, NULL));
    GET(n, cuCtxGetApiVersion(context, &n));
    GET(n, cuCtxGetApiVersion(NULL, &n));
    SAY(cuCtxGetId(NULL, &id));
    SAY(cuCtxGetId(context, &again));
    printf("same %d\n", id == again);
    SAY(cuCtxGetId(context, NULL));
    SAY(cuCtxGetStreamPriorityRange(NULL, NULL));
    GET(low, cuCtxGetStreamPriorityRange(&low, NULL));
    GET(high, cuCtxGetStreamPriorityRange(NULL, &high));
    GET(cache, cuCtxGetCacheConfig(&cache));
    SAY(cuCtxGetCacheConfig(NULL));
    SAY(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
    GET(cache, cuCtxGetCacheConfig(&cache));
    SAY(cuCtxSetCacheConfig(9));
    SAY(cuCtxSynchronize_v2(NULL));
    SAY(cuCtxSynchronize_v2(context));
    GET(d, cuCtxGetDevice_v2(&d, NULL));
    GET(d, cuCtxGetDevice_v2(&d, context));
    CUexecAffinityParam affinity;
    SAY(cuCtxGetExecAffinity(&affinity, CU_EXEC_AFFINITY_TYPE_SM_COUNT));
    SAY(cuCtxDestroy(NULL));
}

void part_context_create(void)
{
    CUcontext c;
    unsigned n;
    say_begin();
    SAY(cuCtxCreate(NULL, NULL, 0, 0));
    MAKE(c, cuCtxCreate(&c, NULL, 0, 9));
    MAKE(c, cuCtxCreate(&c, NULL, 3, 0));
    MAKE(c, cuCtxCreate(&c, NULL, 0x1000, 0));
    MAKE(c, cuCtxCreate(&c, NULL, CU_CTX_SCHED_BLOCKING_SYNC | CU_CTX_MAP_HOST, 0));
    GET(n, cuCtxGetFlags(&n));
    GET(n, cuCtxGetApiVersion(c, &n));
    SAY(cuCtxSetFlags(0));
    GET(n, cuCtxGetFlags(&n));
    SAY(cuCtxDestroy(c));
    CUctxCreateParams params = {NULL, 0, NULL};
    MAKE(c, cuCtxCreate(&c, &params, 0, 0));
    SAY(cuCtxDestroy(c));
    CUexecAffinityParam affinity = {CU_EXEC_AFFINITY_TYPE_SM_COUNT, {{1}}};
    params.execAffinityParams = &affinity;
    params.numExecAffinityParams = 1;
    MAKE(c, cuCtxCreate(&c, &params, 0, 0));
    affinity.param.smCount.val = 0;
    MAKE(c, cuCtxCreate(&c, &params, 0, 0));
    MAKE(c, cuCtxCreate(&c, NULL, CU_CTX_LMEM_RESIZE_TO_MAX, 0));
    MAKE(c, cuCtxGetCurrent(&c));
}

void part_context_ended(void)
{
    CUcontext a, b, c;
    CUstream s, s2;
    CUevent e;
    CUdeviceptr p, q;
    CUmodule m;
    unsigned char byte = 3;
    int n;
    say_begin();
    MAKE(a, cuCtxCreate(&a, NULL, 0, 0));
    MAKE(s, cuStreamCreate(&s, 0));
    MAKE(e, cuEventCreate(&e, 0));
    MAKE(p, cuMemAlloc(&p, 100));
    SAY(cuModuleLoadData(&m, module_text));
    MAKE(b, cuCtxCreate(&b, NULL, 0, 0));
    MAKE(s2, cuStreamCreate(&s2, 0));
    /* things of another context */
    SAY(cuEventRecord(e, s2));
    SAY(cuEventRecord(e, NULL));
    SAY(cuStreamWaitEvent(s2, e, 0));
    SAY(cuStreamQuery(s));
    SAY(cuStreamSynchronize(s));
    SAY(cuMemsetD8(p, 1, 10));
    SAY(cuMemcpyDtoH(&byte, p, 1));
    SAY(cuMemsetD8Async(p, 1, 10, s));
    SAY(cuMemsetD8Async(p, 1, 10, s2));
    SAY(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    SAY(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    GET(n, cuStreamGetPriority(s, &n));
    MAKE(c, cuStreamGetCtx(s, &c));
    printf("its own %d\n", c == a);
    SAY(cuMemFree(p));
    SAY(cuCtxDestroy(b));
    MAKE(c, cuCtxGetCurrent(&c));
    printf("the one below %d\n", c == a);
    MAKE(q, cuMemAlloc(&q, 100));
    SAY(cuCtxPushCurrent(context));
    SAY(cuCtxDestroy(a));
    MAKE(c, cuCtxGetCurrent(&c));
    SAY(cuMemcpyDtoH(&byte, q, 1));
    SAY(cuMemFree(q));
    MAKE(c, cuCtxPopCurrent(&c));
    MAKE(c, cuCtxGetCurrent(&c));
    SAY(cuCtxSynchronize());
    SAY(cuMemAlloc(&q, 100));
    SAY(cuCtxSetCurrent(context));
    SAY(cuCtxPushCurrent(a));
}

void part_primary(void)
{
    CUcontext a, b;
    unsigned flags;
    int active;
    SAY(cuInit(0));
    SAY(cuDevicePrimaryCtxRetain(NULL, 0));
    MAKE(a, cuDevicePrimaryCtxRetain(&a, 9));
    GET(active, cuDevicePrimaryCtxGetState(0, &flags, &active));
    printf("%u\n", flags);
    SAY(cuDevicePrimaryCtxGetState(0, NULL, &active));
    SAY(cuDevicePrimaryCtxGetState(0, &flags, NULL));
    SAY(cuDevicePrimaryCtxGetState(9, &flags, &active));
    SAY(cuDevicePrimaryCtxRelease(0));
    SAY(cuDevicePrimaryCtxReset(0));
    SAY(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_YIELD));
    SAY(cuDevicePrimaryCtxSetFlags(0, 3));
    SAY(cuDevicePrimaryCtxSetFlags(9, 0));
    GET(flags, cuDevicePrimaryCtxGetState(0, &flags, &active));
    MAKE(a, cuDevicePrimaryCtxRetain(&a, 0));
    MAKE(b, cuDevicePrimaryCtxRetain(&b, 0));
    printf("same %d\n", a == b);
    GET(active, cuDevicePrimaryCtxGetState(0, &flags, &active));
    SAY(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_SPIN));
    GET(flags, cuDevicePrimaryCtxGetState(0, &flags, &active));
    MAKE(b, cuCtxGetCurrent(&b));
    SAY(cuCtxSetCurrent(a));
    GET(flags, cuCtxGetFlags(&flags));
    SAY(cuCtxDestroy(a));
    SAY(cuDevicePrimaryCtxRelease(0));
    GET(active, cuDevicePrimaryCtxGetState(0, &flags, &active));
    SAY(cuCtxSynchronize());
    SAY(cuDevicePrimaryCtxRelease(0));
    GET(active, cuDevicePrimaryCtxGetState(0, &flags, &active));
    printf("%u\n", flags);
    SAY(cuCtxSynchronize());
    SAY(cuDevicePrimaryCtxRelease(0));
    MAKE(b, cuCtxGetCurrent(&b));
    MAKE(b, cuDevicePrimaryCtxRetain(&b, 0));
    printf("same %d\n", a == b);
    SAY(cuCtxSynchronize());
    SAY(cuDevicePrimaryCtxReset(0));
    GET(active, cuDevicePrimaryCtxGetState(0, &flags, &active));
    SAY(cuDevicePrimaryCtxRelease(0));
    SAY(cuDevicePrimaryCtxReset(9));
}
