/* Streams and events: order inside one, none between two, the rules of default streams, values in
 * memory, ten thousand operations. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "tests/cuda/support.h"

static CUmodule module;

/* ---- one at a time --------------------------------------------------------------------------- */

static void check_entries(void)
{
    CUstream stream, prior;
    CUcontext ctx, seen;
    CUdevice device = -1;
    unsigned flags = 9;
    int priority = 9;
    unsigned long long a, b;
    CUgreenCtx green = WILD;
    CUstreamAttrValue value;
    OK(cuCtxGetCurrent(&ctx));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreateWithPriority(&prior, 0, -100));
    OK(cuStreamGetFlags(stream, &flags));
    CHECK_INT(flags, CU_STREAM_NON_BLOCKING);
    OK(cuStreamGetPriority(prior, &priority));
    CHECK_INT(priority, -5);
    OK(cuStreamGetId(stream, &a));
    OK(cuStreamGetId(prior, &b));
    CHECK(a != b);
    OK(cuStreamGetCtx(NULL, &seen));
    CHECK(seen == ctx);
    OK(cuStreamGetDevice(stream, &device));
    CHECK_INT(device, 0);
    OK(cuStreamGetGreenCtx(stream, &green));
    CHECK(!green);
    OK(cuStreamQuery(stream));
    OK(cuStreamSynchronize(CU_STREAM_LEGACY));
    OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    OK(cuStreamGetAttribute(prior, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    CHECK_INT(value.priority, -5);
    value.memSyncDomain = 1;
    OK(cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, &value));
    OK(cuStreamCopyAttributes(prior, stream));
    memset(&value, 0, sizeof value);
    OK(cuStreamGetAttribute(prior, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, &value));
    CHECK_INT(value.memSyncDomain, 1);
    CHECK_CU(cuStreamGetAttribute(prior, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value),
             CUDA_ERROR_INVALID_VALUE);
    OK(cuStreamDestroy_v2(stream));
    OK(cuStreamDestroy_v2(prior));
    CHECK_CU(cuStreamDestroy_v2(stream), CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuStreamQuery(WILD), CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuStreamDestroy_v2(NULL), CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuStreamCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuStreamCreate(&stream, 8), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuStreamGetFlags(NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuLaunchHostFunc(NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
}

/* A gate that a kernel, or the host, opens. */
static unsigned *new_gate(CUdeviceptr *address)
{
    void *p = NULL;
    OK(cuMemHostAlloc(&p, 4096, 0));
    memset(p, 0, 4096);
    *address = (uintptr_t)p;
    return p;
}

static void open_gate(unsigned *gate)
{
    atomic_store((atomic_uint *)gate, 1);
}

/* A kernel that waits does not keep another stream from going on; its own stream waits. */
static void check_side_by_side(void)
{
    CUstream waiting, other;
    CUdeviceptr address, p = new_memory(4);
    unsigned *gate = new_gate(&address), n = 1, value = 1, out = 0;
    OK(cuStreamCreate(&waiting, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cuCtxSynchronize());
    OK(LAUNCH(function_of(module, "wait"), 1, waiting, &address));
    OK(LAUNCH(function_of(module, "add"), 1, waiting, &p, &n, &value));
    OK(LAUNCH(function_of(module, "add"), 1, other, &p, &n, &value));
    OK(cuStreamSynchronize(other));
    CHECK_CU(cuStreamQuery(waiting), CUDA_ERROR_NOT_READY);
    OK(cuMemcpyDtoHAsync_v2(&out, p, 4, other));
    OK(cuStreamSynchronize(other));
    CHECK_INT(out, 1);
    /* a kernel of the other stream opens the gate */
    OK(LAUNCH(function_of(module, "add"), 1, other, &address, &n, &value));
    OK(cuStreamSynchronize(waiting));
    OK(cuMemcpyDtoHAsync_v2(&out, p, 4, other));
    CHECK_INT(out, 2);
    OK(cuStreamDestroy_v2(waiting));
    OK(cuStreamDestroy_v2(other));
    OK(cuMemFree_v2(p));
    OK(cuMemFreeHost(gate));
}

/* The default stream waits for blocking streams and they for it; not for one that is not
 * blocking. */
static void check_default_streams(void)
{
    CUstream blocking, free_stream;
    CUdeviceptr address, p = new_memory(4), q = new_memory(4);
    unsigned *gate = new_gate(&address);
    OK(cuStreamCreate(&blocking, 0));
    OK(cuStreamCreate(&free_stream, CU_STREAM_NON_BLOCKING));
    OK(cuCtxSynchronize());
    OK(LAUNCH(function_of(module, "wait"), 1, blocking, &address));
    OK(cuMemsetD32Async(p, 1, 1, NULL));
    OK(cuMemsetD32Async(q, 1, 1, free_stream));
    OK(cuStreamSynchronize(free_stream));
    CHECK_CU(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
    CHECK_INT(*(unsigned *)(uintptr_t)p, 0);
    CHECK_INT(*(unsigned *)(uintptr_t)q, 1);
    open_gate(gate);
    OK(cuStreamSynchronize(NULL));
    CHECK_INT(*(unsigned *)(uintptr_t)p, 1);
    /* the other way round */
    *gate = 0;
    OK(LAUNCH(function_of(module, "wait"), 1, NULL, &address));
    OK(cuMemsetD32Async(p, 2, 1, blocking));
    OK(cuMemsetD32Async(q, 2, 1, CU_STREAM_PER_THREAD));
    OK(cuMemsetD32Async(q, 3, 1, free_stream));
    OK(cuStreamSynchronize(free_stream));
    CHECK_CU(cuStreamQuery(blocking), CUDA_ERROR_NOT_READY);
    CHECK_CU(cuStreamQuery_ptsz(NULL), CUDA_ERROR_NOT_READY);
    CHECK_INT(*(unsigned *)(uintptr_t)p, 1);
    CHECK_INT(*(unsigned *)(uintptr_t)q, 3);
    OK(cuStreamDestroy_v2(blocking)); /* its work goes on */
    open_gate(gate);
    OK(cuCtxSynchronize());
    CHECK_INT(*(unsigned *)(uintptr_t)p, 2);
    CHECK_INT(*(unsigned *)(uintptr_t)q, 2);
    OK(cuStreamDestroy_v2(free_stream));
    OK(cuMemFree_v2(p));
    OK(cuMemFree_v2(q));
    OK(cuMemFreeHost(gate));
}

/* ---- events ---------------------------------------------------------------------------------- */

static void check_events(void)
{
    CUevent start, end, untimed, never;
    CUstream a, b;
    CUdeviceptr address, p = new_memory(4);
    unsigned *gate = new_gate(&address);
    float ms = -1;
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&start, CU_EVENT_DEFAULT));
    OK(cuEventCreate(&end, CU_EVENT_BLOCKING_SYNC));
    OK(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&never, 0));
    OK(cuEventQuery(never));
    OK(cuEventSynchronize(never));
    OK(cuCtxSynchronize());
    OK(cuEventRecord(start, a));
    OK(LAUNCH(function_of(module, "wait"), 1, a, &address));
    OK(cuEventRecordWithFlags(end, a, 0));
    OK(cuEventRecord(untimed, a));
    OK(cuStreamWaitEvent(b, end, 0));
    OK(cuMemsetD32Async(p, 1, 1, b));
    CHECK_CU(cuEventQuery(end), CUDA_ERROR_NOT_READY);
    CHECK_CU(cuStreamQuery(b), CUDA_ERROR_NOT_READY);
    CHECK_CU(cuEventElapsedTime(&ms, start, end), CUDA_ERROR_NOT_READY);
    CHECK_INT(*(unsigned *)(uintptr_t)p, 0);
    usleep(2000);
    open_gate(gate);
    OK(cuEventSynchronize(end));
    OK(cuEventElapsedTime(&ms, start, end));
    CHECK(ms >= 2 && ms < 60000);
    OK(cuEventElapsedTime_v2(&ms, end, start));
    CHECK(ms <= -2);
    OK(cuStreamSynchronize(b));
    CHECK_INT(*(unsigned *)(uintptr_t)p, 1);
    OK(cuEventSynchronize(untimed));
    CHECK_CU(cuEventElapsedTime(&ms, start, untimed), CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuEventElapsedTime(&ms, start, never), CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuEventElapsedTime(NULL, start, end), CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuEventRecord(WILD, a), CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuEventRecord(end, WILD), CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuEventRecordWithFlags(end, a, 8), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuStreamWaitEvent(b, NULL, 0), CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuStreamWaitEvent(b, end, 9), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuEventCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuEventCreate(&never, 0x40), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuEventCreate(&never, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE);
    OK(cuEventDestroy_v2(end));
    CHECK_CU(cuEventQuery(end), CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuEventDestroy_v2(end), CUDA_ERROR_INVALID_HANDLE);
    OK(cuStreamDestroy_v2(a));
    OK(cuStreamDestroy_v2(b));
    OK(cuMemFree_v2(p));
    OK(cuMemFreeHost(gate));
}

/* ---- the host's functions, values ------------------------------------------------------------ */

static void note_call(CUstream stream, CUresult status, void *ud)
{
    (void)stream;
    *(int *)ud = status == CUDA_SUCCESS ? 1 : -(int)status;
}

struct called {
    CUstream stream;
    CUresult alloc, query;
};

static void call_driver(void *ud)
{
    struct called *c = ud;
    CUdeviceptr p;
    c->alloc = cuMemAlloc_v2(&p, 4);
    c->query = cuStreamQuery(c->stream);
}

/* A host function may not call CUDA. */
static void check_host_functions(void)
{
    struct called called = {0};
    CUdeviceptr p;
    OK(cuStreamCreate(&called.stream, CU_STREAM_NON_BLOCKING));
    OK(cuLaunchHostFunc(called.stream, call_driver, &called));
    OK(cuStreamSynchronize(called.stream));
    CHECK_CU(called.alloc, CUDA_ERROR_NOT_PERMITTED);
    CHECK_CU(called.query, CUDA_ERROR_NOT_PERMITTED);
    OK(cuMemAlloc_v2(&p, 4));
    OK(cuMemFree_v2(p));
    OK(cuStreamDestroy_v2(called.stream));
}

static CUresult set_window(CUstream stream, size_t bytes, float ratio, int miss)
{
    CUlaunchAttributeValue v = {{0}};
    v.accessPolicyWindow = (CUaccessPolicyWindow){NULL, bytes, ratio, 2, miss};
    return cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &v);
}

/* Hints are kept; values that a device could not have are refused. */
static void check_hints(void)
{
    CUstream stream;
    int most = 0;
    CUlaunchAttributeValue v = {{0}};
    OK(cuStreamCreate(&stream, 0));
    OK(cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE, 0));
    OK(set_window(stream, (size_t)most, 0.5f, 1));
    OK(cuStreamGetAttribute(stream, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &v));
    CHECK(v.accessPolicyWindow.num_bytes == (size_t)most && v.accessPolicyWindow.hitRatio == 0.5f);
    CHECK_CU(set_window(stream, (size_t)most + 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(set_window(stream, 4, 1.5f, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(set_window(stream, 4, 1, 2), CUDA_ERROR_INVALID_VALUE);
    v = (CUlaunchAttributeValue){.memSyncDomainMap = {9, 0}};
    CHECK_CU(cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &v),
             CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, &v),
             CUDA_ERROR_INVALID_VALUE);
    OK(cuStreamDestroy_v2(stream));
}

static void check_callbacks(void)
{
    int called = 0;
    OK(cuStreamAddCallback(NULL, note_call, &called, 0));
    OK(cuStreamSynchronize(NULL));
    CHECK_INT(called, 1);
    CHECK_CU(cuStreamAddCallback(NULL, NULL, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuStreamAddCallback(NULL, note_call, NULL, 1), CUDA_ERROR_INVALID_VALUE);
}

/* Callbacks hear of a failure, which is all contexts' from then on. */
static void check_broken(void)
{
    int called = 0;
    CUdeviceptr nowhere = 16, address;
    unsigned *gate = new_gate(&address);
    OK(LAUNCH(function_of(module, "wait"), 1, NULL, &address));
    OK(LAUNCH(function_of(module, "store"), 1, NULL, &nowhere));
    OK(cuStreamAddCallback(NULL, note_call, &called, 0));
    open_gate(gate);
    CHECK_CU(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK_INT(called, -CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void check_values(void)
{
    CUstream a, b;
    CUdeviceptr p = new_memory(64);
    volatile unsigned *words = (unsigned *)(uintptr_t)p;
    CUstreamBatchMemOpParams ops[3];
    memset(ops, 0, sizeof ops);
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    OK(cuCtxSynchronize());
    OK(cuStreamWaitValue32(a, p, 5, CU_STREAM_WAIT_VALUE_GEQ));
    OK(cuStreamWaitValue64_v2(a, p + 8, 6, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuStreamWaitValue32_v2(a, p + 16, 2, CU_STREAM_WAIT_VALUE_AND));
    OK(cuStreamWriteValue32(a, p + 24, 77, 0));
    CHECK_CU(cuStreamQuery(a), CUDA_ERROR_NOT_READY);
    OK(cuStreamWriteValue32_v2(b, p, 9, 0));
    OK(cuStreamWriteValue64(b, p + 8, 6, 0));
    CHECK_CU(cuStreamQuery(a), CUDA_ERROR_NOT_READY);
    CHECK_INT(words[6], 0);
    ops[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    ops[0].writeValue.address = p + 16;
    ops[0].writeValue.value = 3;
    ops[1].operation = CU_STREAM_MEM_OP_BARRIER;
    ops[2].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    ops[2].waitValue.address = p + 24;
    ops[2].waitValue.value = 77;
    OK(cuStreamBatchMemOp_v2(b, 3, ops, 0));
    OK(cuStreamSynchronize(a));
    OK(cuStreamSynchronize(b));
    CHECK_INT(words[6], 77);
    OK(cuStreamWaitValue32(a, p, 0x0f, CU_STREAM_WAIT_VALUE_NOR)); /* some bit is in neither */
    OK(cuStreamSynchronize(a));
    CHECK_CU(cuStreamWaitValue32(a, p + 1, 0, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuStreamWaitValue32(a, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuStreamWaitValue32(a, (uintptr_t)WILD, 0, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuStreamWriteValue32(a, p, 0, 8), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuStreamBatchMemOp(a, 1, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuStreamDestroy_v2(a));
    OK(cuStreamDestroy_v2(b));
    OK(cuMemFree_v2(p));
}

/* ---- many ------------------------------------------------------------------------------------ */

enum { STREAMS = 16, OPERATIONS = 10000 };

/* Operations of all kinds on 16 streams, each with a word of its own that says how far it has come;
 * sometimes a stream takes over what another one has, behind an event. The host does the same sums.
 */
static unsigned random_state = 1;

static unsigned random_below(unsigned n)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % n;
}

static void increment(void *ud)
{
    ++*(unsigned *)ud;
}

static void check_many(void)
{
    CUstream streams[STREAMS];
    CUevent events[STREAMS];
    CUdeviceptr p = new_memory(STREAMS * 4);
    unsigned *words = (unsigned *)(uintptr_t)p, want[STREAMS] = {0}, n = 1, wrong = 0;
    CUfunction add = function_of(module, "add");
    for (unsigned s = 0; s < STREAMS; s++) {
        OK(cuStreamCreateWithPriority(&streams[s], s % 2 ? CU_STREAM_NON_BLOCKING : 0,
                                      -(int)(s % 6)));
        OK(cuEventCreate(&events[s], CU_EVENT_DISABLE_TIMING));
    }
    OK(cuCtxSynchronize());
    for (unsigned i = 0; i < OPERATIONS; i++) {
        unsigned s = random_below(STREAMS), t = random_below(STREAMS), value = random_below(100);
        CUdeviceptr mine = p + 4 * s, other = p + 4 * t;
        CUresult r = CUDA_SUCCESS;
        switch (random_below(6)) {
        case 0:
        case 1:
            r = LAUNCH(add, 32, streams[s], &mine, &n, &value);
            want[s] += value;
            break;
        case 2:
            r = cuMemsetD32Async(mine, value, 1, streams[s]);
            want[s] = value;
            break;
        case 3:
            r = cuLaunchHostFunc(streams[s], increment, &words[s]);
            want[s]++;
            break;
        case 4: /* t's stream must not go on before the copy is done either */
            r = cuEventRecord(events[t], streams[t]) ||
                        cuStreamWaitEvent(streams[s], events[t], 0) ||
                        cuMemcpyDtoDAsync_v2(mine, other, 4, streams[s]) ||
                        cuEventRecord(events[s], streams[s]) ||
                        cuStreamWaitEvent(streams[t], events[s], 0)
                    ? CUDA_ERROR_UNKNOWN
                    : CUDA_SUCCESS;
            want[s] = want[t];
            break;
        default: /* the same word, from the default stream: for blocking streams only */
            if (s % 2 == 0) {
                r = LAUNCH(add, 1, NULL, &mine, &n, &value);
                want[s] += value;
            }
        }
        wrong += r != CUDA_SUCCESS;
    }
    OK(cuCtxSynchronize());
    CHECK_INT(wrong, 0);
    for (unsigned s = 0; s < STREAMS; s++) {
        CHECK_INT(words[s], want[s]);
        OK(cuStreamDestroy_v2(streams[s]));
        OK(cuEventDestroy_v2(events[s]));
    }
    OK(cuMemFree_v2(p));
}

/* Each thread has a default stream of its own. */
static void *use_own_stream(void *ud)
{
    unsigned long long *id = ud;
    CUcontext ctx = (CUcontext)(uintptr_t)*id;
    bool ok = cuCtxSetCurrent(ctx) == CUDA_SUCCESS &&
              cuStreamGetId(CU_STREAM_PER_THREAD, id) == CUDA_SUCCESS;
    return ok ? NULL : ud;
}

static void check_threads(void)
{
    pthread_t threads[2];
    CUcontext ctx;
    unsigned long long ids[2], mine;
    OK(cuCtxGetCurrent(&ctx));
    OK(cuStreamGetId(CU_STREAM_PER_THREAD, &mine));
    for (int i = 0; i < 2; i++) {
        ids[i] = (uintptr_t)ctx;
        CHECK_INT(pthread_create(&threads[i], NULL, use_own_stream, &ids[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        CHECK(!failed);
    }
    CHECK(ids[0] != ids[1] && ids[0] != mine && ids[1] != mine);
    OK(cuCtxSynchronize()); /* threads that ended have taken their streams along */
}

int main(void)
{
    CUcontext ctx = begin();
    module = load_kernels();
    check_entries();
    check_side_by_side();
    check_default_streams();
    check_events();
    check_callbacks();
    check_host_functions();
    check_hints();
    check_values();
    check_many();
    check_threads();
    check_broken();
    OK(cuCtxDestroy_v2(ctx));
    return CHECK_DONE("cuda_stream");
}
