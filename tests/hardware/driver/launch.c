/* Launches: shapes, attributes, faults; captures, graphs; green contexts; logs; entry points. */
#include "tests/hardware/driver/say.h"
#include <unistd.h>

static CUlaunchConfig one_block(void)
{
    CUlaunchConfig c;
    memset(&c, 0, sizeof c);
    c.gridDimX = c.gridDimY = c.gridDimZ = 1;
    c.blockDimX = 32;
    c.blockDimY = c.blockDimZ = 1;
    return c;
}

static void shape(CUfunction f, const char *name, const unsigned s[7])
{
    int r = (int)cuLaunchKernel(f, s[0], s[1], s[2], s[3], s[4], s[5], s[6], NULL, NULL, NULL);
    printf("%s %ux%ux%u %ux%ux%u %u: %d\n", name, s[0], s[1], s[2], s[3], s[4], s[5], s[6], r);
}

void part_launch(void)
{
    CUdeviceptr p = 0;
    unsigned what = 3;
    void *params[] = {&p, &what};
    say_begin();
    static const unsigned shapes[][7] = {
        {1, 1, 1, 1, 1, 1, 0},      {0, 1, 1, 1, 1, 1, 0},        {1, 0, 1, 1, 1, 1, 0},
        {1, 1, 0, 1, 1, 1, 0},      {1, 1, 1, 0, 1, 1, 0},        {1, 1, 1, 1, 0, 1, 0},
        {1, 1, 1, 1, 1, 0, 0},      {1, 1, 1, 1024, 1, 1, 0},     {1, 1, 1, 1025, 1, 1, 0},
        {1, 1, 1, 1, 1024, 1, 0},   {1, 1, 1, 1, 1025, 1, 0},     {1, 1, 1, 1, 1, 64, 0},
        {1, 1, 1, 1, 1, 65, 0},     {1, 1, 1, 32, 32, 1, 0},      {1, 1, 1, 32, 33, 1, 0},
        {1, 65535, 1, 1, 1, 1, 0},  {1, 65536, 1, 1, 1, 1, 0},    {1, 1, 65535, 1, 1, 1, 0},
        {1, 1, 65536, 1, 1, 1, 0},  {1u << 31, 1, 1, 1, 1, 1, 0}, {1, 1, 1, 32, 1, 1, 49152},
        {1, 1, 1, 32, 1, 1, 49153}, {1, 1, 1, 32, 1, 1, 45056},   {1, 1, 1, 32, 1, 1, 45057},
        {1, 1, 1, 129, 1, 1, 0},    {3, 1, 1, 32, 1, 1, 0},       {1, 2, 1, 32, 1, 1, 0},
        {2, 1, 1, 32, 1, 1, 0}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        shape(empty, "empty", shapes[i]);
        shape(cluster, "cluster", shapes[i]);
        shape(large, "large", shapes[i]);
    }
    SAY(cuMemAlloc(&p, 4));
    SAY(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    SAY(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    char buffer[16];
    size_t size = 12;
    memcpy(buffer, &p, 8);
    memcpy(buffer + 8, &what, 4);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    SAY(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    SAY(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL, params, extra));
    size = 4;
    SAY(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    size = 16;
    SAY(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    SAY(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    SAY(cuLaunchCooperativeKernel(empty, 1, 1, 1, 32, 1, 1, 0, NULL, NULL));
    SAY(cuLaunchCooperativeKernel(empty, 100000, 1, 1, 32, 1, 1, 0, NULL, NULL));
    SAY(cuLaunchCooperativeKernel(empty, 0, 1, 1, 32, 1, 1, 0, NULL, NULL));
    SAY(cuLaunchKernelEx(NULL, empty, NULL, NULL));
    SAY(cuLaunch(empty));
    SAY(cuFuncSetBlockShape(empty, 32, 1, 1));
    SAY(cuFuncSetBlockShape(empty, 0, 1, 1));
    SAY(cuFuncSetBlockShape(empty, 2000, 1, 1));
    SAY(cuFuncSetSharedSize(empty, 100000));
    SAY(cuFuncSetSharedSize(empty, 100));
    SAY(cuParamSetSize(empty, 4));
    SAY(cuParamSeti(empty, 0, 1));
    SAY(cuLaunchGrid(empty, 2, 2));
    SAY(cuLaunchGrid(empty, 0, 2));
    SAY(cuCtxSynchronize());
}

void part_launch_attribute(void)
{
    CUlaunchConfig c = one_block();
    CUlaunchAttribute a;
    say_begin();
    for (int id = 0; id < 20; id++)
        for (int value = 0; value < 3; value++) {
            int handle = id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT ||
                         id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
            if (handle && value != 0)
                continue; /* wild handles */
            memset(&a, 0, sizeof a);
            a.id = (CUlaunchAttributeID)id;
            a.value.pad[0] = (char)value;
            c.attrs = &a;
            c.numAttrs = 1;
            printf("attribute %d value %d: %d\n", id, value,
                   (int)cuLaunchKernelEx(&c, empty, NULL, NULL));
        }
    SAY(cuCtxSynchronize());
    c.numAttrs = 1;
    c.attrs = NULL;
    SAY(cuLaunchKernelEx(&c, empty, NULL, NULL));
    c.attrs = &a;
    memset(&a, 0, sizeof a);
    a.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    static const unsigned dims[][4] = {{1, 1, 1, 4}, {2, 1, 1, 4}, {3, 1, 1, 4},   {4, 1, 1, 4},
                                       {0, 1, 1, 4}, {1, 2, 1, 4}, {8, 1, 1, 8},   {16, 1, 1, 16},
                                       {9, 1, 1, 9}, {7, 1, 1, 7}, {32, 1, 1, 32}, {5, 1, 1, 10}};
    for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++) {
        a.value.clusterDim.x = dims[i][0];
        a.value.clusterDim.y = dims[i][1];
        a.value.clusterDim.z = dims[i][2];
        c.gridDimX = dims[i][3];
        int r = (int)cuLaunchKernelEx(&c, empty, NULL, NULL);
        int q = (int)cuLaunchKernelEx(&c, cluster, NULL, NULL);
        printf("cluster %ux%ux%u of %u: %d, fixed %d\n", dims[i][0], dims[i][1], dims[i][2],
               dims[i][3], r, q);
    }
    SAY(cuFuncSetAttribute(empty, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    a.value.clusterDim.x = 16;
    c.gridDimX = 16;
    SAY(cuLaunchKernelEx(&c, empty, NULL, NULL));
    a.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
    c.gridDimX = 1;
    for (int priority = -7; priority < 3; priority++) {
        a.value.priority = priority;
        printf("priority %d: %d\n", priority, (int)cuLaunchKernelEx(&c, empty, NULL, NULL));
    }
    a.id = CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP;
    for (unsigned char at = 0; at < 6; at++) {
        a.value.memSyncDomainMap.default_ = at;
        a.value.memSyncDomainMap.remote = 0;
        printf("domain %d: %d\n", at, (int)cuLaunchKernelEx(&c, empty, NULL, NULL));
    }
    a.id = CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
    for (int carveout = -2; carveout < 103; carveout += 15) {
        a.value.sharedMemCarveout = (unsigned)carveout;
        printf("carveout %d: %d\n", carveout, (int)cuLaunchKernelEx(&c, empty, NULL, NULL));
    }
    SAY(cuCtxSynchronize());
}

void part_launch_fault(void)
{
    CUdeviceptr p = 16, q;
    unsigned what = 3;
    void *params[] = {&p, &what};
    CUstream s;
    CUevent e;
    int n;
    CUcontext c;
    say_begin();
    MAKE(s, cuStreamCreate(&s, 0));
    MAKE(e, cuEventCreate(&e, 0));
    SAY(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, s, params, NULL));
    SAY(cuStreamSynchronize(s));
    SAY(cuStreamSynchronize(s));
    SAY(cuCtxSynchronize());
    SAY(cuMemAlloc(&q, 4));
    SAY(cuMemFree(0));
    SAY(cuStreamQuery(s));
    SAY(cuEventQuery(e));
    SAY(cuEventRecord(e, s));
    SAY(cuEventDestroy(e));
    SAY(cuStreamDestroy(s));
    GET(n, cuDeviceGetCount(&n));
    GET(n, cuDeviceGetAttribute(&n, 1, 0));
    MAKE(c, cuCtxGetCurrent(&c));
    GET(n, cuFuncGetAttribute(&n, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, empty));
    SAY(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    SAY(cuModuleUnload(module));
    SAY(cudaGetLastError());
    SAY(cudaDeviceSynchronize());
    SAY(cudaGetLastError());
    SAY(cudaGetLastError());
    SAY(cuDevicePrimaryCtxReset(0));
    MAKE(q, cuMemAlloc(&q, 4));
}

void part_capture(void)
{
    CUstream s, t;
    CUgraph g;
    CUgraphExec x;
    CUstreamCaptureStatus status;
    CUstreamCaptureMode mode;
    say_begin();
    MAKE(s, cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    MAKE(t, cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    SAY(cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SAY(cuStreamBeginCapture(CU_STREAM_LEGACY, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SAY(cuStreamBeginCapture(s, 7));
    MAKE(g, cuStreamEndCapture(s, &g));
    GET(status, cuStreamIsCapturing(s, &status));
    GET(status, cuStreamIsCapturing(NULL, &status));
    SAY(cuStreamIsCapturing(s, NULL));
    SAY(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SAY(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    GET(status, cuStreamIsCapturing(s, &status));
    GET(status, cuStreamIsCapturing(NULL, &status));
    MAKE(g, cuStreamEndCapture(t, &g));
    SAY(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    SAY(cuStreamEndCapture(s, NULL));
    MAKE(g, cuStreamEndCapture(s, &g));
    SAY(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    MAKE(g, cuStreamEndCapture(s, &g));
    MAKE(x, cuGraphInstantiate(&x, g, 0));
    SAY(cuGraphLaunch(x, s));
    SAY(cuStreamSynchronize(s));
    SAY(cuStreamBeginCapture(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_RELAXED));
    GET(status, cuStreamIsCapturing(CU_STREAM_PER_THREAD, &status));
    MAKE(g, cuStreamEndCapture(CU_STREAM_PER_THREAD, &g));
    mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    SAY(cuThreadExchangeStreamCaptureMode(&mode));
    printf("%d\n", (int)mode);
    SAY(cuThreadExchangeStreamCaptureMode(&mode));
    printf("%d\n", (int)mode);
    mode = (CUstreamCaptureMode)9;
    SAY(cuThreadExchangeStreamCaptureMode(&mode));
    SAY(cuGraphCreate(&g, 0));
    SAY(cuStreamBeginCaptureToGraph(s, g, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SAY(cuStreamBeginCaptureToGraph(t, g, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CUgraph h;
    MAKE(h, cuStreamEndCapture(s, &h));
    printf("same %d\n", g == h);
    SAY(cuStreamBeginCaptureToGraph(s, NULL, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SAY(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SAY(cuStreamDestroy(s));
    SAY(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, t, NULL, NULL));
    SAY(cuStreamSynchronize(t));
}

typedef int forbidden_call(CUstream s, CUevent e, CUdeviceptr p);

static int call_query(CUstream s, CUevent e, CUdeviceptr p)
{
    return (void)e, (void)p, (int)cuStreamQuery(s);
}

static int call_synchronize(CUstream s, CUevent e, CUdeviceptr p)
{
    return (void)e, (void)p, (int)cuStreamSynchronize(s);
}

static int call_device(CUstream s, CUevent e, CUdeviceptr p)
{
    return (void)s, (void)e, (void)p, (int)cuCtxSynchronize();
}

static int call_legacy(CUstream s, CUevent e, CUdeviceptr p)
{
    return (void)s, (void)e, (int)cuMemsetD8Async(p, 1, 4, NULL);
}

static int call_copy(CUstream s, CUevent e, CUdeviceptr p)
{
    int n = 0;
    return (void)s, (void)e, (int)cuMemcpyHtoD(p, &n, 4);
}

static int call_alloc(CUstream s, CUevent e, CUdeviceptr p)
{
    return (void)s, (void)e, (int)cuMemAlloc(&p, 4);
}

static int call_free(CUstream s, CUevent e, CUdeviceptr p)
{
    return (void)s, (void)e, (int)cuMemFree(p);
}

static int call_host(CUstream s, CUevent e, CUdeviceptr p)
{
    void *h;
    return (void)s, (void)e, (void)p, (int)cuMemAllocHost(&h, 4);
}

static int call_event_query(CUstream s, CUevent e, CUdeviceptr p)
{
    (void)p;
    return (int)cuEventRecord(e, s) * 1000 + (int)cuEventQuery(e);
}

static int call_event_synchronize(CUstream s, CUevent e, CUdeviceptr p)
{
    (void)p;
    return (int)cuEventRecord(e, s) * 1000 + (int)cuEventSynchronize(e);
}

static int call_uncaptured(CUstream s, CUevent e, CUdeviceptr p)
{
    return (void)p, (int)cuStreamWaitEvent(s, e, 0);
}

static int call_external(CUstream s, CUevent e, CUdeviceptr p)
{
    return (void)p, (int)cuStreamWaitEvent(s, e, CU_EVENT_WAIT_EXTERNAL);
}

static int call_attach(CUstream s, CUevent e, CUdeviceptr p)
{
    return (void)e, (void)p, (int)cuStreamAttachMemAsync(s, 0, 0, CU_MEM_ATTACH_SINGLE);
}

static int call_create(CUstream s, CUevent e, CUdeviceptr p)
{
    return (void)e, (void)p, (int)cuStreamCreate(&s, 0);
}

static int call_event_create(CUstream s, CUevent e, CUdeviceptr p)
{
    return (void)s, (void)p, (int)cuEventCreate(&e, 0);
}

static int call_load(CUstream s, CUevent e, CUdeviceptr p)
{
    CUmodule m;
    return (void)s, (void)e, (void)p, (int)cuModuleLoadData(&m, module_text);
}

static int call_limit(CUstream s, CUevent e, CUdeviceptr p)
{
    return (void)s, (void)e, (void)p, (int)cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048);
}

static int call_callback(CUstream s, CUevent e, CUdeviceptr p)
{
    return (void)e, (void)p, (int)cuStreamAddCallback(s, NULL, NULL, 0);
}

static int call_alloc_async(CUstream s, CUevent e, CUdeviceptr p)
{
    return (void)e, (int)cuMemAllocAsync(&p, 4, s);
}

static int call_free_async(CUstream s, CUevent e, CUdeviceptr p)
{
    return (void)e, (int)cuMemFreeAsync(p, s);
}

static int call_write(CUstream s, CUevent e, CUdeviceptr p)
{
    return (void)e, (int)cuStreamWriteValue32(s, p, 1, 0);
}

static int call_prefetch(CUstream s, CUevent e, CUdeviceptr p)
{
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    return (void)e, (int)cuMemPrefetchAsync(p, 4, here, 0, s);
}

static int call_attribute(CUstream s, CUevent e, CUdeviceptr p)
{
    CUstreamAttrValue v;
    memset(&v, 0, sizeof v);
    return (void)e, (void)p, (int)cuStreamSetAttribute(s, CU_STREAM_ATTRIBUTE_PRIORITY, &v);
}

static int call_destroy(CUstream s, CUevent e, CUdeviceptr p)
{
    return (void)s, (void)p, (int)cuEventDestroy(e);
}

static int call_unknown(CUstream s, CUevent e, CUdeviceptr p)
{
    return (void)e, (void)p, (int)cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL);
}

static int call_wrong_shape(CUstream s, CUevent e, CUdeviceptr p)
{
    return (void)e, (void)p, (int)cuLaunchKernel(empty, 0, 1, 1, 1, 1, 1, 0, s, NULL, NULL);
}

static int call_wild_set(CUstream s, CUevent e, CUdeviceptr p)
{
    return (void)e, (void)p, (int)cuMemsetD8Async(16, 1, 4, s);
}

static int call_elapsed(CUstream s, CUevent e, CUdeviceptr p)
{
    float ms;
    (void)p;
    return (int)cuEventRecord(e, s) * 1000 + (int)cuEventElapsedTime(&ms, e, e);
}

static const struct {
    const char *name;
    forbidden_call *call;
} forbidden[] = {{"query", call_query},
                 {"synchronize", call_synchronize},
                 {"context", call_device},
                 {"legacy", call_legacy},
                 {"copy", call_copy},
                 {"alloc", call_alloc},
                 {"free", call_free},
                 {"host", call_host},
                 {"event query", call_event_query},
                 {"event synchronize", call_event_synchronize},
                 {"uncaptured", call_uncaptured},
                 {"external", call_external},
                 {"attach", call_attach},
                 {"create", call_create},
                 {"event create", call_event_create},
                 {"load", call_load},
                 {"limit", call_limit},
                 {"callback", call_callback},
                 {"alloc async", call_alloc_async},
                 {"free async", call_free_async},
                 {"write value", call_write},
                 {"prefetch", call_prefetch},
                 {"attribute", call_attribute},
                 {"destroy", call_destroy},
                 {"no function", call_unknown},
                 {"wrong shape", call_wrong_shape},
                 {"wild memory", call_wild_set},
                 {"elapsed", call_elapsed}};

/* Each call while a stream captures, of either kind, in each mode; and what it makes of it. */
void part_capture_forbidden(void)
{
    say_begin();
    for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; i++)
        for (unsigned mode = 0; mode < 3; mode++)
            for (unsigned flags = 0; flags < 2; flags++) {
                CUstream s = NULL;
                CUevent e = NULL;
                CUdeviceptr p = 0;
                CUgraph g = NULL;
                CUstreamCaptureStatus status = 77;
                if (cuStreamCreate(&s, flags) || cuEventCreate(&e, 0) || cuMemAlloc(&p, 64) ||
                    cuStreamBeginCapture(s, (CUstreamCaptureMode)mode))
                    printf("not ready\n");
                int r = forbidden[i].call(s, e, p);
                int q = (int)cuStreamIsCapturing(s, &status);
                int end = (int)cuStreamEndCapture(s, &g);
                printf("%s, mode %u, stream %u: %d, then %d %d, ends %d %s\n", forbidden[i].name,
                       mode, flags, r, q, (int)status, end, g ? "graph" : "null");
                cuStreamDestroy(s);
            }
}

void part_capture_fork(void)
{
    CUstream s, t, u;
    CUevent e, f;
    CUgraph g;
    CUstreamCaptureStatus status;
    say_begin();
    MAKE(s, cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    MAKE(t, cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    MAKE(u, cuStreamCreate(&u, CU_STREAM_NON_BLOCKING));
    MAKE(e, cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    MAKE(f, cuEventCreate(&f, CU_EVENT_DISABLE_TIMING));
    /* not joined */
    SAY(cuStreamBeginCapture(s, 0));
    SAY(cuEventRecord(e, s));
    SAY(cuStreamWaitEvent(t, e, 0));
    GET(status, cuStreamIsCapturing(t, &status));
    SAY(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, t, NULL, NULL));
    MAKE(g, cuStreamEndCapture(t, &g));
    MAKE(g, cuStreamEndCapture(s, &g));
    GET(status, cuStreamIsCapturing(t, &status));
    /* joined */
    SAY(cuStreamBeginCapture(s, 0));
    SAY(cuEventRecord(e, s));
    SAY(cuStreamWaitEvent(t, e, 0));
    SAY(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, t, NULL, NULL));
    SAY(cuEventRecord(f, t));
    SAY(cuStreamWaitEvent(s, f, 0));
    MAKE(g, cuStreamEndCapture(s, &g));
    size_t n;
    GET(n, cuGraphGetNodes(g, NULL, &n));
    SAY(cuEventQuery(f));
    SAY(cuStreamWaitEvent(u, f, 0));
    /* forked without work */
    SAY(cuStreamBeginCapture(s, 0));
    SAY(cuEventRecord(e, s));
    SAY(cuStreamWaitEvent(t, e, 0));
    MAKE(g, cuStreamEndCapture(s, &g));
    GET(status, cuStreamIsCapturing(t, &status));
    /* two captures meet */
    SAY(cuStreamBeginCapture(s, 0));
    SAY(cuStreamBeginCapture(t, 0));
    SAY(cuEventRecord(e, s));
    SAY(cuStreamWaitEvent(t, e, 0));
    GET(status, cuStreamIsCapturing(s, &status));
    GET(status, cuStreamIsCapturing(t, &status));
    SAY(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    MAKE(g, cuStreamEndCapture(s, &g));
    MAKE(g, cuStreamEndCapture(t, &g));
    /* a stream of it goes */
    SAY(cuStreamBeginCapture(s, 0));
    SAY(cuEventRecord(e, s));
    SAY(cuStreamWaitEvent(t, e, 0));
    SAY(cuStreamDestroy(t));
    MAKE(g, cuStreamEndCapture(s, &g));
    /* destroyed events, and those recorded again */
    SAY(cuStreamBeginCapture(s, 0));
    SAY(cuEventRecord(e, s));
    SAY(cuEventRecord(e, u));
    SAY(cuStreamWaitEvent(s, e, 0));
    SAY(cuEventRecordWithFlags(e, s, CU_EVENT_RECORD_EXTERNAL));
    MAKE(g, cuStreamEndCapture(s, &g));
    SAY(cuStreamQuery(u));
}

void part_capture_info(void)
{
    CUstream s;
    CUstreamCaptureStatus status;
    cuuint64_t id = 77, id2 = 0;
    CUgraph g, h;
    const CUgraphNode *nodes;
    const CUgraphEdgeData *edges;
    size_t n;
    say_begin();
    MAKE(s, cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    GET(status, cuStreamGetCaptureInfo(s, &status, &id, &g, &nodes, &edges, &n));
    SAY(cuStreamGetCaptureInfo(s, NULL, &id, &g, &nodes, &edges, &n));
    GET(status, cuStreamGetCaptureInfo(NULL, &status, NULL, NULL, NULL, NULL, NULL));
    SAY(cuStreamBeginCapture(s, 0));
    GET(n, cuStreamGetCaptureInfo(s, &status, &id, &g, &nodes, &edges, &n));
    SAY(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    SAY(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    GET(n, cuStreamGetCaptureInfo(s, &status, &id2, &g, &nodes, &edges, &n));
    printf("same %d, edges %d\n", id == id2, edges != NULL);
    GET(n, cuStreamGetCaptureInfo(s, &status, NULL, NULL, NULL, NULL, &n));
    GET(n, cuStreamGetCaptureInfo(s, &status, NULL, NULL, &nodes, NULL, &n));
    CUgraphNode other = NULL, dep[1] = {nodes[0]};
    MAKE(other, cuGraphAddEmptyNode(&other, g, dep, 1));
    SAY(cuStreamUpdateCaptureDependencies(s, &other, NULL, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    SAY(cuStreamUpdateCaptureDependencies(s, dep, NULL, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    GET(n, cuStreamGetCaptureInfo(s, &status, NULL, NULL, &nodes, NULL, &n));
    SAY(cuStreamUpdateCaptureDependencies(s, dep, NULL, 1, 9));
    SAY(cuStreamUpdateCaptureDependencies(s, NULL, NULL, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    SAY(cuStreamUpdateCaptureDependencies(s, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    SAY(cuGraphDestroyNode(dep[0]));
    SAY(cuGraphDestroy(g));
    MAKE(h, cuStreamEndCapture(s, &h));
    printf("same %d\n", g == h);
    SAY(cuStreamUpdateCaptureDependencies(s, &other, NULL, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
}

void part_graph(void)
{
    CUgraph g, clone;
    CUgraphNode a, b, c;
    CUgraphExec x;
    CUgraphExecUpdateResultInfo info;
    CUgraphNodeType type;
    CUDA_KERNEL_NODE_PARAMS k;
    size_t n;
    say_begin();
    memset(&k, 0, sizeof k);
    memset(&info, 0, sizeof info);
    SAY(cuGraphCreate(NULL, 0));
    SAY(cuGraphCreate(&g, 1));
    SAY(cuGraphCreate(&g, 0));
    MAKE(a, cuGraphAddKernelNode(&a, g, NULL, 0, &k));
    MAKE(a, cuGraphAddKernelNode(&a, g, NULL, 0, NULL));
    k.func = empty;
    MAKE(a, cuGraphAddKernelNode(&a, g, NULL, 0, &k));
    k.gridDimX = k.gridDimY = k.gridDimZ = k.blockDimX = k.blockDimY = k.blockDimZ = 1;
    MAKE(a, cuGraphAddKernelNode(&a, g, NULL, 0, &k));
    MAKE(b, cuGraphAddKernelNode(&b, g, &a, 1, &k));
    MAKE(c, cuGraphAddEmptyNode(&c, g, NULL, 1));
    MAKE(c, cuGraphAddEmptyNode(&c, g, &b, 1));
    SAY(cuGraphAddDependencies(g, &a, &b, NULL, 1));
    SAY(cuGraphAddDependencies(g, &c, &a, NULL, 1));
    MAKE(x, cuGraphInstantiate(&x, g, 0));
    SAY(cuGraphRemoveDependencies(g, &c, &a, NULL, 1));
    SAY(cuGraphRemoveDependencies(g, &c, &a, NULL, 1));
    SAY(cuGraphAddDependencies(g, &a, &a, NULL, 1));
    GET(n, cuGraphGetNodes(g, NULL, &n));
    GET(n, cuGraphGetRootNodes(g, NULL, &n));
    GET(n, cuGraphGetEdges(g, NULL, NULL, NULL, &n));
    SAY(cuGraphGetNodes(g, NULL, NULL));
    GET(type, cuGraphNodeGetType(c, &type));
    SAY(cuGraphNodeGetType(NULL, &type));
    MAKE(x, cuGraphInstantiate(&x, g, 0xff00));
    MAKE(x, cuGraphInstantiate(&x, NULL, 0));
    MAKE(x, cuGraphInstantiate(&x, g, 0));
    SAY(cuGraphInstantiate(NULL, g, 0));
    MAKE(clone, cuGraphClone(&clone, g));
    MAKE(b, cuGraphNodeFindInClone(&b, a, clone));
    MAKE(b, cuGraphNodeFindInClone(&b, a, g));
    SAY(cuGraphExecUpdate(x, clone, &info));
    printf("%d\n", (int)info.result);
    SAY(cuGraphAddEmptyNode(&b, clone, NULL, 0));
    SAY(cuGraphExecUpdate(x, clone, &info));
    printf("%d\n", (int)info.result);
    SAY(cuGraphExecUpdate(x, NULL, &info));
    SAY(cuGraphLaunch(NULL, NULL));
    SAY(cuGraphLaunch(x, NULL));
    SAY(cuGraphUpload(x, NULL));
    SAY(cuCtxSynchronize());
    SAY(cuGraphDestroyNode(c));
    SAY(cuGraphExecDestroy(x));
    SAY(cuGraphExecDestroy(NULL));
    SAY(cuGraphDestroy(g));
    SAY(cuGraphDestroy(NULL));
}
