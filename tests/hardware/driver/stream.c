/* Streams, their attributes and memory operations; events; functions of the host. */
#include "tests/hardware/driver/say.h"
#include <unistd.h>

void part_stream(void)
{
    CUstream s;
    int n;
    unsigned flags;
    CUcontext c;
    CUdevice d;
    unsigned long long id;
    say_begin();
    SAY(cuStreamCreate(NULL, 0));
    for (unsigned f = 0; f < 4; f++) {
        printf("%u\n", f);
        MAKE(s, cuStreamCreate(&s, f));
        GET(flags, cuStreamGetFlags(s, &flags));
    }
    MAKE(s, cuStreamCreate(&s, 0x10));
    static const int priorities[] = {-100, -6, -5, -4, -1, 0, 1, 100};
    for (int i = 0; i < 8; i++) {
        printf("%d\n", priorities[i]);
        MAKE(s, cuStreamCreateWithPriority(&s, CU_STREAM_NON_BLOCKING, priorities[i]));
        GET(n, cuStreamGetPriority(s, &n));
    }
    SAY(cuStreamCreateWithPriority(NULL, 0, 0));
    MAKE(s, cuStreamCreateWithPriority(&s, 9, 0));
    MAKE(s, cuStreamCreate(&s, 0));
    SAY(cuStreamGetPriority(s, NULL));
    GET(n, cuStreamGetPriority(NULL, &n));
    GET(n, cuStreamGetPriority(CU_STREAM_LEGACY, &n));
    GET(n, cuStreamGetPriority(CU_STREAM_PER_THREAD, &n));
    SAY(cuStreamGetFlags(s, NULL));
    GET(flags, cuStreamGetFlags(NULL, &flags));
    GET(flags, cuStreamGetFlags(CU_STREAM_LEGACY, &flags));
    GET(flags, cuStreamGetFlags(CU_STREAM_PER_THREAD, &flags));
    SAY(cuStreamGetCtx(s, NULL));
    MAKE(c, cuStreamGetCtx(NULL, &c));
    GET(d, cuStreamGetDevice(s, &d));
    GET(d, cuStreamGetDevice(NULL, &d));
    SAY(cuStreamGetDevice(s, NULL));
    SAY(cuStreamGetId(s, NULL));
    GET(id, cuStreamGetId(NULL, &id));
    GET(id, cuStreamGetId(CU_STREAM_LEGACY, &id));
    GET(id, cuStreamGetId(CU_STREAM_PER_THREAD, &id));
    SAY(cuStreamQuery(s));
    SAY(cuStreamQuery(NULL));
    SAY(cuStreamQuery(CU_STREAM_LEGACY));
    SAY(cuStreamQuery(CU_STREAM_PER_THREAD));
    SAY(cuStreamWaitEvent(s, NULL, 0));
    SAY(cuStreamAddCallback(s, NULL, NULL, 0));
    SAY(cuLaunchHostFunc(s, NULL, NULL));
    SAY(cuStreamDestroy(NULL));
    SAY(cuStreamDestroy(CU_STREAM_LEGACY));
    SAY(cuStreamDestroy(CU_STREAM_PER_THREAD));
    SAY(cuStreamCopyAttributes(s, NULL));
    SAY(cuStreamCopyAttributes(NULL, s));
    SAY(cuStreamCopyAttributes(s, s));
    SAY(cuStreamAttachMemAsync(s, 0, 0, CU_MEM_ATTACH_SINGLE));
    SAY(cuStreamAttachMemAsync(s, 16, 0, CU_MEM_ATTACH_SINGLE));
    CUgreenCtx green;
    MAKE(green, cuStreamGetGreenCtx(s, &green));
    SAY(cuStreamGetGreenCtx(s, NULL));
}

void part_stream_attribute(void)
{
    CUstream s;
    CUstreamAttrValue v;
    say_begin();
    MAKE(s, cuStreamCreate(&s, 0));
    for (int id = 0; id < 20; id++) {
        memset(&v, 0, sizeof v);
        printf("%d\n", id);
        SAY(cuStreamGetAttribute(s, (CUstreamAttrID)id, &v));
        printf("%d\n", id == 1 ? 0 : v.pad[0]);
    }
    for (int id = 0; id < 20; id++) {
        memset(&v, 0, sizeof v);
        printf("%d\n", id);
        SAY(cuStreamSetAttribute(s, (CUstreamAttrID)id, &v));
        SAY(cuStreamSetAttribute(NULL, (CUstreamAttrID)id, &v));
    }
    memset(&v, 0, sizeof v);
    for (int policy = 0; policy < 6; policy++) {
        printf("%d\n", policy);
        v.syncPolicy = (CUsynchronizationPolicy)policy;
        SAY(cuStreamSetAttribute(s, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &v));
    }
    for (int priority = -7; priority < 3; priority++) {
        printf("%d\n", priority);
        v.priority = priority;
        SAY(cuStreamSetAttribute(s, CU_STREAM_ATTRIBUTE_PRIORITY, &v));
        SAY(cuStreamGetAttribute(s, CU_STREAM_ATTRIBUTE_PRIORITY, &v));
        printf("%d\n", v.priority);
    }
    for (int domain = 0; domain < 3; domain++) {
        printf("%d\n", domain);
        v.memSyncDomain = (CUlaunchMemSyncDomain)domain;
        SAY(cuStreamSetAttribute(s, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, &v));
    }
    for (unsigned char at = 0; at < 6; at++) {
        printf("%d\n", at);
        v.memSyncDomainMap.default_ = at;
        v.memSyncDomainMap.remote = 1;
        SAY(cuStreamSetAttribute(s, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &v));
        v.memSyncDomainMap.default_ = 1;
        v.memSyncDomainMap.remote = at;
        SAY(cuStreamSetAttribute(s, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &v));
    }
    SAY(cuStreamGetAttribute(s, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &v));
    printf("%d %d\n", v.memSyncDomainMap.default_, v.memSyncDomainMap.remote);
    CUdeviceptr p;
    MAKE(p, cuMemAlloc(&p, 1 << 20));
    static const struct {
        size_t bytes;
        float ratio;
        int hit, miss;
    } windows[] = {{1 << 20, 0.5f, 2, 1}, {0, 0, 0, 0},          {0, 0.5f, 2, 1},
                   {1 << 20, 1.5f, 2, 1}, {1 << 20, -1, 2, 1},   {1 << 20, 0.5f, 2, 2},
                   {1 << 20, 0.5f, 7, 1}, {1 << 30, 0.5f, 2, 1}, {1u << 31, 1, 1, 0}};
    for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
        memset(&v, 0, sizeof v);
        printf("%zu\n", i);
        v.accessPolicyWindow.base_ptr = (void *)(uintptr_t)p;
        v.accessPolicyWindow.num_bytes = windows[i].bytes;
        v.accessPolicyWindow.hitRatio = windows[i].ratio;
        v.accessPolicyWindow.hitProp = (CUaccessProperty)windows[i].hit;
        v.accessPolicyWindow.missProp = (CUaccessProperty)windows[i].miss;
        SAY(cuStreamSetAttribute(s, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &v));
    }
}

void part_stream_memory(void)
{
    CUstream s;
    CUdeviceptr p;
    say_begin();
    MAKE(s, cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    MAKE(p, cuMemAlloc(&p, 256));
    SAY(cuMemsetD8(p, 0, 256));
    SAY(cuStreamWriteValue32(s, p, 5, 0));
    SAY(cuStreamWriteValue32(s, p, 5, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
    SAY(cuStreamWriteValue32(s, p, 5, 2));
    SAY(cuStreamWriteValue32(s, p + 2, 5, 0));
    SAY(cuStreamWriteValue32(s, p + 1, 5, 0));
    SAY(cuStreamWriteValue32(s, 0, 5, 0));
    SAY(cuStreamWriteValue32(s, 4096, 5, 0));
    SAY(cuStreamWriteValue32(NULL, p, 5, 0));
    SAY(cuStreamWriteValue64(s, p + 8, 5, 0));
    SAY(cuStreamWriteValue64(s, p + 12, 5, 0));
    SAY(cuStreamWaitValue32(s, p, 5, CU_STREAM_WAIT_VALUE_EQ));
    SAY(cuStreamWaitValue32(s, p, 5, CU_STREAM_WAIT_VALUE_GEQ));
    SAY(cuStreamWaitValue32(s, p, 1, CU_STREAM_WAIT_VALUE_AND));
    SAY(cuStreamWaitValue32(s, p, 0, CU_STREAM_WAIT_VALUE_NOR));
    SAY(cuStreamWaitValue32(s, p, 5, 1 | CU_STREAM_WAIT_VALUE_FLUSH));
    SAY(cuStreamWaitValue32(s, p, 5, 4));
    SAY(cuStreamWaitValue32(s, p, 5, 8));
    SAY(cuStreamWaitValue32(s, p + 2, 5, 0));
    SAY(cuStreamWaitValue32(s, 0, 5, 0));
    SAY(cuStreamWaitValue64(s, p + 8, 5, CU_STREAM_WAIT_VALUE_EQ));
    SAY(cuStreamWaitValue64(s, p + 12, 5, CU_STREAM_WAIT_VALUE_EQ));
    SAY(cuStreamSynchronize(s));
    CUstreamBatchMemOpParams ops[3];
    memset(ops, 0, sizeof ops);
    ops[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    ops[0].writeValue.address = p + 16;
    ops[0].writeValue.value = 9;
    ops[1].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    ops[1].waitValue.address = p + 16;
    ops[1].waitValue.value = 9;
    ops[2].memoryBarrier.operation = CU_STREAM_MEM_OP_BARRIER;
    ops[2].memoryBarrier.flags = CU_STREAM_MEMORY_BARRIER_TYPE_SYS;
    SAY(cuStreamBatchMemOp(s, 3, ops, 0));
    SAY(cuStreamBatchMemOp(s, 2, ops, 0));
    SAY(cuStreamBatchMemOp(s, 2, ops, 1));
    SAY(cuStreamBatchMemOp(s, 0, ops, 0));
    SAY(cuStreamBatchMemOp(s, 257, ops, 0));
    ops[1].operation = (CUstreamBatchMemOpType)77;
    SAY(cuStreamBatchMemOp(s, 2, ops, 0));
    ops[2].memoryBarrier.flags = 7;
    SAY(cuStreamBatchMemOp(s, 1, ops + 2, 0));
    SAY(cuStreamSynchronize(s));
    void *h = NULL;
    SAY(cuMemAllocHost(&h, 64));
    SAY(cuStreamWriteValue32(s, (CUdeviceptr)(uintptr_t)h, 5, 0));
    SAY(cuStreamSynchronize(s));
    printf("%d\n", *(int *)h);
}

void part_stream_ended(void)
{
    CUstream s;
    say_begin();
    MAKE(s, cuStreamCreate(&s, 0));
    SAY(cuStreamDestroy(s));
    SAY(cuStreamQuery(s));
    SAY(cuStreamSynchronize(s));
    SAY(cuStreamDestroy(s));
    SAY(cuStreamSynchronize((CUstream)(uintptr_t)0x123450));
}

void part_event(void)
{
    CUevent e, f, timeless;
    CUstream s;
    float ms = 0;
    say_begin();
    SAY(cuEventCreate(NULL, 0));
    for (unsigned flags = 0; flags < 10; flags++) {
        printf("%u\n", flags);
        MAKE(e, cuEventCreate(&e, flags));
    }
    MAKE(e, cuEventCreate(&e, 0));
    MAKE(f, cuEventCreate(&f, CU_EVENT_BLOCKING_SYNC));
    MAKE(timeless, cuEventCreate(&timeless, CU_EVENT_DISABLE_TIMING));
    MAKE(s, cuStreamCreate(&s, 0));
    SAY(cuEventQuery(e));
    SAY(cuEventSynchronize(e));
    SAY(cuStreamWaitEvent(s, e, 0));
    SAY(cuStreamWaitEvent(s, e, 1));
    SAY(cuStreamWaitEvent(s, e, 2));
    SAY(cuEventElapsedTime(&ms, e, f));
    SAY(cuEventRecord(e, s));
    SAY(cuEventElapsedTime(&ms, e, f));
    SAY(cuEventElapsedTime(&ms, f, e));
    SAY(cuEventRecord(f, s));
    SAY(cuEventSynchronize(f));
    SAY(cuEventElapsedTime(&ms, e, f));
    printf("%d\n", ms >= 0 && ms < 1000);
    SAY(cuEventElapsedTime(&ms, f, e));
    SAY(cuEventElapsedTime(&ms, e, e));
    printf("%g\n", (double)ms);
    SAY(cuEventElapsedTime(NULL, e, f));
    SAY(cuEventRecord(timeless, s));
    SAY(cuEventSynchronize(timeless));
    SAY(cuEventElapsedTime(&ms, e, timeless));
    SAY(cuEventElapsedTime(&ms, timeless, e));
    SAY(cuEventElapsedTime(&ms, NULL, e));
    SAY(cuEventRecord(NULL, s));
    SAY(cuEventQuery(NULL));
    SAY(cuEventSynchronize(NULL));
    SAY(cuEventDestroy(NULL));
    SAY(cuEventRecordWithFlags(e, s, 0));
    SAY(cuEventRecordWithFlags(e, s, CU_EVENT_RECORD_EXTERNAL));
    SAY(cuEventRecordWithFlags(e, s, 2));
    SAY(cuEventRecord(e, CU_STREAM_LEGACY));
    SAY(cuEventRecord(e, CU_STREAM_PER_THREAD));
    SAY(cuEventSynchronize(e));
    SAY(cuCtxRecordEvent(context, e));
    SAY(cuCtxWaitEvent(context, e));
    SAY(cuCtxRecordEvent(context, NULL));
    SAY(cuCtxWaitEvent(context, NULL));
    SAY(cuCtxRecordEvent(NULL, e));
}

void part_event_ended(void)
{
    CUevent e;
    say_begin();
    MAKE(e, cuEventCreate(&e, 0));
    SAY(cuEventDestroy(e));
    SAY(cuEventQuery(e));
    SAY(cuEventRecord(e, NULL));
    SAY(cuEventDestroy(e));
}

static int inside[6];

static void call_inside(void *data)
{
    CUdeviceptr p;
    CUstream s;
    (void)data;
    inside[0] = (int)cuMemAlloc(&p, 4);
    inside[1] = (int)cuStreamCreate(&s, 0);
    inside[2] = (int)cuCtxSynchronize();
    inside[3] = (int)cudaMalloc((void **)&p, 4);
    inside[4] = (int)cuStreamQuery(NULL);
    inside[5] = (int)cuDeviceGetCount(&inside[4]);
}

static void wait_long(void *data)
{
    (void)data;
    usleep(200000);
}

static void called(CUstream s, CUresult r, void *data)
{
    (void)s;
    *(int *)data = 100 + (int)r;
}

void part_host_function(void)
{
    CUstream s;
    CUevent e;
    int n = 0;
    say_begin();
    MAKE(s, cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    MAKE(e, cuEventCreate(&e, 0));
    SAY(cuLaunchHostFunc(s, call_inside, NULL));
    SAY(cuStreamSynchronize(s));
    printf("%d %d %d %d\n", inside[0], inside[1], inside[2], inside[3]);
    SAY(cuStreamAddCallback(s, called, &n, 0));
    SAY(cuStreamSynchronize(s));
    printf("%d\n", n);
    SAY(cuStreamAddCallback(s, called, &n, 1));
    SAY(cuLaunchHostFunc(s, wait_long, NULL));
    SAY(cuEventRecord(e, s));
    SAY(cuStreamQuery(s));
    SAY(cuEventQuery(e));
    SAY(cudaPeekAtLastError());
    SAY(cuStreamQuery(NULL));
    SAY(cuStreamSynchronize(s));
    SAY(cuEventQuery(e));
    SAY(cuLaunchHostFunc(NULL, wait_long, NULL));
    SAY(cuStreamQuery(NULL));
    SAY(cuStreamQuery(s));
    SAY(cuStreamQuery(CU_STREAM_PER_THREAD));
    SAY(cuCtxSynchronize());
    SAY(cuStreamQuery(NULL));
    SAY(cuLaunchHostFunc(s, wait_long, NULL));
    SAY(cuStreamDestroy(s));
    SAY(cuEventQuery(e));
}
