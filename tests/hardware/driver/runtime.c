/* The runtime library: devices, memory, streams, kernels, its last error. */
#include "tests/hardware/driver/say.h"
#include <unistd.h>

static void last(void)
{
    int peek = (int)cudaPeekAtLastError();
    printf(", last %d %d\n", peek, (int)cudaGetLastError());
}

/* The call, and the last error that it leaves. */
#define LAST(call) ((void)cudaGetLastError(), say_call(#call), say_result((int)(call)), last())

void part_rt_device(void)
{
    int n;
    unsigned flags;
    size_t size;
    cudaMemPool_t pool;
    char text[32];
    LAST(cudaGetDeviceCount(NULL));
    GET(n, cudaGetDevice(&n));
    LAST(cudaGetDevice(NULL));
    LAST(cudaSetDevice(-1));
    LAST(cudaSetDevice(9));
    LAST(cudaSetDevice(0));
    GET(flags, cudaGetDeviceFlags(&flags));
    for (unsigned f = 0; f < 10; f++) {
        printf("%u\n", f);
        LAST(cudaSetDeviceFlags(f));
        GET(flags, cudaGetDeviceFlags(&flags));
    }
    LAST(cudaSetDeviceFlags(0x1000));
    LAST(cudaInitDevice(9, 0, 0));
    LAST(cudaInitDevice(0, 0, 0));
    LAST(cudaInitDevice(0, 1, cudaInitDeviceFlagsAreValid));
    LAST(cudaInitDevice(0, 0, 7));
    LAST(cudaFree(0));
    for (int id = 0; id < 9; id++) {
        printf("%d\n", id);
        GET(size, cudaDeviceGetLimit(&size, (enum cudaLimit)id));
        LAST(cudaDeviceSetLimit((enum cudaLimit)id, 0));
    }
    LAST(cudaDeviceGetLimit(NULL, cudaLimitStackSize));
    LAST(cudaDeviceGetAttribute(NULL, cudaDevAttrMaxThreadsPerBlock, 0));
    GET(n, cudaDeviceGetAttribute(&n, cudaDevAttrMaxThreadsPerBlock, 9));
    GET(n, cudaDeviceGetAttribute(&n, (enum cudaDeviceAttr)0, 0));
    GET(n, cudaDeviceGetAttribute(&n, (enum cudaDeviceAttr)999, 0));
    LAST(cudaGetDeviceProperties(NULL, 0));
    struct cudaDeviceProp prop;
    LAST(cudaGetDeviceProperties(&prop, 9));
    memset(&prop, 0, sizeof prop);
    GET(n, cudaChooseDevice(&n, &prop));
    prop.major = 99;
    GET(n, cudaChooseDevice(&n, &prop));
    int devices[1] = {0};
    LAST(cudaSetValidDevices(devices, 1));
    devices[0] = 9;
    LAST(cudaSetValidDevices(devices, 1));
    LAST(cudaSetValidDevices(NULL, 0));
    GET(n, cudaDeviceGetByPCIBusId(&n, "bad"));
    LAST(cudaDeviceGetPCIBusId(text, 5, 0));
    MAKE(pool, cudaDeviceGetDefaultMemPool(&pool, 0));
    MAKE(pool, cudaDeviceGetDefaultMemPool(&pool, 9));
    int low, high;
    GET(high, cudaDeviceGetStreamPriorityRange(&low, &high));
    GET(size, cudaDeviceGetTexture1DLinearMaxWidth(&size, NULL, 0));
    LAST(cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTargetCurrentDevice,
                                            cudaFlushGPUDirectRDMAWritesToOwner));
    LAST(cudaCtxResetPersistingL2Cache());
    GET(n, cudaDriverGetVersion(NULL));
    GET(n, cudaRuntimeGetVersion(NULL));
    enum cudaFuncCache cache;
    GET(cache, cudaDeviceGetCacheConfig(&cache));
    LAST(cudaDeviceSetCacheConfig((enum cudaFuncCache)9));
    enum cudaSharedMemConfig config;
    GET(config, cudaDeviceGetSharedMemConfig(&config));
    LAST(cudaDeviceSetSharedMemConfig((enum cudaSharedMemConfig)9));
    LAST(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte));
    GET(config, cudaDeviceGetSharedMemConfig(&config));
}

void part_rt_memory(void)
{
    void *p, *h;
    size_t pitch;
    unsigned flags;
    struct cudaPitchedPtr pp;
    static char plain[8192] __attribute__((aligned(4096)));
    LAST(cudaMalloc(NULL, 4));
    MAKE(p, cudaMalloc(&p, 0));
    MAKE(p, cudaMalloc(&p, (size_t)1 << 50));
    MAKE(p, cudaMalloc(&p, 100));
    LAST(cudaFree((char *)p + 4));
    LAST(cudaFree(p));
    LAST(cudaFree(p));
    LAST(cudaFree(plain));
    LAST(cudaFree(NULL));
    MAKE(p, cudaMallocPitch(&p, &pitch, 100, 10));
    printf("%zu\n", pitch);
    MAKE(p, cudaMallocPitch(&p, &pitch, 0, 10));
    MAKE(p, cudaMallocPitch(&p, &pitch, 100, 0));
    LAST(cudaMallocPitch(NULL, &pitch, 100, 10));
    LAST(cudaMallocPitch(&p, NULL, 100, 10));
    struct cudaExtent extent = {100, 4, 4}, none = {0, 4, 4};
    LAST(cudaMalloc3D(&pp, extent));
    printf("%zu %zu %zu\n", pp.pitch, pp.xsize, pp.ysize);
    LAST(cudaMalloc3D(&pp, none));
    LAST(cudaMalloc3D(NULL, extent));
    MAKE(h, cudaMallocHost(&h, 0));
    MAKE(h, cudaMallocHost(&h, 100));
    LAST(cudaMallocHost(NULL, 100));
    LAST(cudaFreeHost((char *)h + 4));
    LAST(cudaFreeHost(plain));
    LAST(cudaFreeHost(NULL));
    GET(flags, cudaHostGetFlags(&flags, h));
    GET(flags, cudaHostGetFlags(&flags, plain));
    MAKE(p, cudaHostGetDevicePointer(&p, h, 0));
    MAKE(p, cudaHostGetDevicePointer(&p, h, 1));
    MAKE(p, cudaHostGetDevicePointer(&p, plain, 0));
    LAST(cudaFreeHost(h));
    LAST(cudaFreeHost(h));
    MAKE(h, cudaHostAlloc(&h, 100, 8));
    MAKE(h, cudaHostAlloc(&h, 100, cudaHostAllocMapped | cudaHostAllocPortable));
    LAST(cudaHostRegister(plain, 4096, 0));
    LAST(cudaHostRegister(plain, 4096, 0));
    LAST(cudaHostRegister(NULL, 4096, 0));
    LAST(cudaHostRegister(plain + 4096, 0, 0));
    LAST(cudaHostRegister(plain + 4096, 4096, 0x80));
    LAST(cudaHostUnregister(plain + 4096));
    LAST(cudaHostUnregister(plain));
    LAST(cudaHostUnregister(plain));
    MAKE(p, cudaMallocManaged(&p, 0, cudaMemAttachGlobal));
    MAKE(p, cudaMallocManaged(&p, 4, 0));
    MAKE(p, cudaMallocManaged(&p, 4, cudaMemAttachSingle));
    MAKE(p, cudaMallocManaged(&p, 4, cudaMemAttachHost));
    MAKE(p, cudaMallocAsync(&p, 0, NULL));
    MAKE(p, cudaMallocAsync(&p, 100, NULL));
    LAST(cudaFreeAsync(NULL, NULL));
    LAST(cudaFreeAsync(p, NULL));
    LAST(cudaFreeAsync(p, NULL));
    LAST(cudaMemGetInfo(NULL, NULL));
    LAST(cudaMemset(NULL, 0, 0));
    LAST(cudaMemset(NULL, 0, 4));
    LAST(cudaMemset(plain, 0, 4));
    LAST(cudaMemset2D(NULL, 4, 0, 8, 1));
    LAST(cudaDeviceSynchronize());
}

void part_rt_copy(void)
{
    void *p, *q;
    static char a[1024], b[1024];
    MAKE(p, cudaMalloc(&p, 1024));
    MAKE(q, cudaMalloc(&q, 1024));
    for (int kind = -1; kind < 6; kind++) {
        enum cudaMemcpyKind k = (enum cudaMemcpyKind)kind;
        printf("%d\n", kind);
        LAST(cudaMemcpy(a, b, 16, k));
        LAST(cudaMemcpy(p, b, 16, k));
        LAST(cudaMemcpy(a, p, 16, k));
        LAST(cudaMemcpy(p, q, 16, k));
        LAST(cudaMemcpy(NULL, NULL, 0, k));
        LAST(cudaMemcpy(NULL, b, 16, k));
        LAST(cudaMemcpy(p, NULL, 16, k));
        LAST(cudaMemcpy(p, b, 0, k));
        LAST(cudaMemcpy2D(p, 32, b, 32, 16, 2, k));
        LAST(cudaMemcpy2D(p, 8, b, 32, 16, 2, k));
        LAST(cudaMemcpy2D(p, 32, b, 8, 16, 2, k));
        LAST(cudaMemcpy2D(p, 32, b, 32, 0, 2, k));
        LAST(cudaMemcpyAsync(p, b, 16, k, NULL));
        LAST(cudaMemcpyAsync(a, p, 16, k, NULL));
    }
    LAST(cudaMemcpyToSymbol((void *)a, b, 4, 0, cudaMemcpyHostToDevice));
    LAST(cudaMemcpyFromSymbol(b, (void *)a, 4, 0, cudaMemcpyDeviceToHost));
    LAST(cudaGetSymbolAddress(&p, (void *)a));
    LAST(cudaGetSymbolAddress(NULL, NULL));
    size_t n;
    LAST(cudaGetSymbolSize(&n, (void *)a));
    struct cudaMemcpy3DParms c;
    memset(&c, 0, sizeof c);
    LAST(cudaMemcpy3D(NULL));
    LAST(cudaMemcpy3D(&c));
    c.extent.width = c.extent.height = c.extent.depth = 1;
    LAST(cudaMemcpy3D(&c));
    c.srcPtr.ptr = p;
    c.dstPtr.ptr = q;
    c.kind = cudaMemcpyDeviceToDevice;
    LAST(cudaMemcpy3D(&c));
    c.srcPtr.pitch = c.dstPtr.pitch = c.srcPtr.ysize = c.dstPtr.ysize = 16;
    LAST(cudaMemcpy3D(&c));
    c.extent.width = 17;
    LAST(cudaMemcpy3D(&c));
    LAST(cudaMemcpyPeer(q, 0, q, 0, 16));
    LAST(cudaMemcpyPeer(q, 9, q, 0, 16));
}

void part_rt_stream(void)
{
    cudaStream_t s;
    cudaEvent_t e, f;
    int n;
    unsigned flags;
    float ms;
    LAST(cudaStreamCreate(NULL));
    MAKE(s, cudaStreamCreate(&s));
    MAKE(s, cudaStreamCreateWithFlags(&s, 7));
    MAKE(s, cudaStreamCreateWithPriority(&s, 0, -100));
    GET(n, cudaStreamGetPriority(s, &n));
    GET(flags, cudaStreamGetFlags(s, &flags));
    LAST(cudaStreamQuery(s));
    LAST(cudaStreamQuery(NULL));
    LAST(cudaStreamSynchronize(s));
    LAST(cudaStreamWaitEvent(s, NULL, 0));
    LAST(cudaStreamDestroy(NULL));
    LAST(cudaStreamDestroy(cudaStreamLegacy));
    LAST(cudaStreamAddCallback(s, NULL, NULL, 0));
    LAST(cudaLaunchHostFunc(s, NULL, NULL));
    LAST(cudaEventCreate(NULL));
    MAKE(e, cudaEventCreateWithFlags(&e, 99));
    MAKE(e, cudaEventCreateWithFlags(&e, cudaEventInterprocess));
    MAKE(e, cudaEventCreate(&e));
    MAKE(f, cudaEventCreate(&f));
    LAST(cudaEventElapsedTime(&ms, e, f));
    LAST(cudaEventRecord(e, s));
    LAST(cudaEventElapsedTime(&ms, e, f));
    LAST(cudaEventRecordWithFlags(e, s, 9));
    LAST(cudaEventQuery(NULL));
    LAST(cudaEventSynchronize(NULL));
    LAST(cudaEventDestroy(NULL));
    LAST(cudaEventRecord(NULL, s));
    LAST(cudaStreamAttachMemAsync(s, NULL, 0, cudaMemAttachSingle));
    cudaIpcEventHandle_t handle;
    LAST(cudaIpcGetEventHandle(&handle, e));
    void *p;
    cudaIpcMemHandle_t memory;
    MAKE(p, cudaMalloc(&p, 100));
    LAST(cudaIpcGetMemHandle(&memory, p));
    LAST(cudaIpcOpenMemHandle(&p, memory, cudaIpcMemLazyEnablePeerAccess));
    LAST(cudaIpcCloseMemHandle(&n));
    union cudaLaunchAttributeValue v;
    for (int id = 0; id < 18; id++) {
        memset(&v, 0, sizeof v);
        printf("%d\n", id);
        LAST(cudaStreamGetAttribute(s, (cudaStreamAttrID)id, &v));
        LAST(cudaStreamSetAttribute(s, (cudaStreamAttrID)id, &v));
    }
    LAST(cudaStreamCopyAttributes(s, NULL));
}

static cudaKernel_t k_empty, k_store, k_bounds;

static void load(void)
{
    cudaLibrary_t l;
    SAY(cudaLibraryLoadData(&l, module_text, NULL, NULL, 0, NULL, NULL, 0));
    SAY(cudaLibraryGetKernel(&k_empty, l, "empty"));
    SAY(cudaLibraryGetKernel(&k_store, l, "store"));
    SAY(cudaLibraryGetKernel(&k_bounds, l, "bounds"));
}

static void no_kernel(void)
{
}

void part_rt_kernel(void)
{
    struct cudaFuncAttributes a;
    int n, block;
    load();
    memset(&a, 0, sizeof a);
    LAST(cudaFuncGetAttributes(&a, (void *)k_bounds));
    printf("%zu %zu %zu %d %d %d %d %d %d %d\n", a.sharedSizeBytes, a.constSizeBytes,
           a.localSizeBytes, a.maxThreadsPerBlock, a.ptxVersion, a.binaryVersion,
           a.maxDynamicSharedSizeBytes, a.preferredShmemCarveout, a.clusterDimMustBeSet,
           a.clusterSchedulingPolicyPreference);
    LAST(cudaFuncGetAttributes(&a, (void *)no_kernel));
    LAST(cudaFuncGetAttributes(&a, NULL));
    LAST(cudaFuncGetAttributes(NULL, (void *)k_bounds));
    static const int values[] = {-2, -1, 0, 1, 2, 100, 101, 49152, 232448, 232449};
    for (int id = 7; id < 17; id++)
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
            printf(
                "attribute %d value %d: %d\n", id, values[i],
                (int)cudaFuncSetAttribute((void *)k_empty, (enum cudaFuncAttribute)id, values[i]));
    (void)cudaGetLastError();
    LAST(cudaFuncSetCacheConfig((void *)k_empty, (enum cudaFuncCache)9));
    LAST(cudaFuncSetCacheConfig((void *)no_kernel, cudaFuncCachePreferL1));
    const char *name = NULL;
    LAST(cudaFuncGetName(&name, (void *)k_bounds));
    LAST(cudaFuncGetName(&name, (void *)no_kernel));
    size_t offset, size;
    GET(offset, cudaFuncGetParamInfo((void *)k_bounds, 1, &offset, &size));
    GET(offset, cudaFuncGetParamInfo((void *)k_bounds, 5, &offset, &size));
    GET(n, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (void *)k_empty, 128, 0));
    GET(n, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (void *)k_empty, 0, 0));
    GET(n, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (void *)k_empty, 1025, 0));
    GET(n, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (void *)no_kernel, 128, 0));
    GET(n, cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, (void *)k_empty, 128, 0, 4));
    GET(size, cudaOccupancyAvailableDynamicSMemPerBlock(&size, (void *)k_empty, 2, 128));
    cudaFunction_t f;
    LAST(cudaGetFuncBySymbol(&f, (void *)no_kernel));
    cudaKernel_t k;
    LAST(cudaGetKernel(&k, (void *)no_kernel));
    cudaLaunchConfig_t c;
    memset(&c, 0, sizeof c);
    c.gridDim.x = c.gridDim.y = c.gridDim.z = 1;
    c.blockDim.x = 64;
    c.blockDim.y = c.blockDim.z = 1;
    GET(n, cudaOccupancyMaxPotentialClusterSize(&n, (void *)k_empty, &c));
    GET(block, cudaOccupancyMaxActiveClusters(&block, (void *)k_empty, &c));
}

static void launch(unsigned gx, unsigned gy, unsigned bx, unsigned by, unsigned bz, size_t shared)
{
    dim3 g = {gx, gy, 1}, b = {bx, by, bz};
    int r = (int)cudaLaunchKernel((void *)k_empty, g, b, NULL, shared, NULL);
    int last = (int)cudaGetLastError();
    int q = (int)cudaLaunchKernel((void *)k_bounds, g, b, NULL, shared, NULL);
    (void)cudaGetLastError();
    printf("launch %ux%u %ux%ux%u %zu: %d last %d, bounds %d\n", gx, gy, bx, by, bz, shared, r,
           last, q);
}

void part_rt_launch(void)
{
    int zero[8] = {0};
    void *params[] = {zero, zero, zero};
    dim3 one = {1, 1, 1};
    (void)params;
    load();
    LAST(cudaLaunchKernel((void *)no_kernel, one, one, NULL, 0, NULL));
    LAST(cudaLaunchKernel(NULL, one, one, NULL, 0, NULL));
    LAST(cudaLaunchKernel((void *)k_empty, one, one, NULL, 0, NULL));
    LAST(cudaLaunchKernel((void *)k_store, one, one, NULL, 0, NULL));
    LAST(cudaLaunchCooperativeKernel((void *)k_empty, one, one, NULL, 0, NULL));
    dim3 g = {1, 1, 1}, many = {100000, 1, 1};
    LAST(cudaLaunchCooperativeKernel((void *)k_empty, many, g, NULL, 0, NULL));
    static const unsigned s[][6] = {{0, 1, 1, 1, 1, 0},        {1, 0, 1, 1, 1, 0},
                                    {1, 1, 0, 1, 1, 0},        {1, 1, 1024, 1, 1, 0},
                                    {1, 1, 1025, 1, 1, 0},     {1, 1, 1, 1025, 1, 0},
                                    {1, 1, 1, 1, 65, 0},       {1, 65536, 1, 1, 1, 0},
                                    {1u << 31, 1, 1, 1, 1, 0}, {1, 1, 1, 1, 1, 49153}};
    for (size_t i = 1; i < sizeof s / sizeof s[0]; i++)
        if (s[i][0] && s[i][2] != 1024)
            launch(s[i][0], s[i][1], s[i][2], s[i][3], s[i][4], s[i][5]);
    LAST(cudaDeviceSynchronize());
}

void part_rt_fault(void)
{
    void *to = (void *)16, *p;
    unsigned what = 3;
    void *params[] = {&to, &what};
    dim3 one = {1, 1, 1};
    int n;
    load();
    SAY(cudaLaunchKernel((void *)k_store, one, one, params, 0, NULL));
    SAY(cudaDeviceSynchronize());
    SAY(cudaPeekAtLastError());
    SAY(cudaGetLastError());
    SAY(cudaGetLastError());
    SAY(cudaMalloc(&p, 4));
    SAY(cudaDeviceSynchronize());
    GET(n, cudaGetDevice(&n));
    GET(n, cudaGetDeviceCount(&n));
    SAY(cudaSetDevice(0));
    SAY(cudaDeviceReset());
    SAY(cudaGetLastError());
    SAY(cudaDeviceReset());
    MAKE(p, cudaMalloc(&p, 4));
}

void part_rt_capture(void)
{
    cudaStream_t s;
    cudaGraph_t g;
    cudaGraphExec_t x;
    void *p;
    enum cudaStreamCaptureStatus status;
    load();
    MAKE(s, cudaStreamCreate(&s));
    LAST(cudaStreamBeginCapture(s, (enum cudaStreamCaptureMode)9));
    LAST(cudaStreamBeginCapture(NULL, cudaStreamCaptureModeGlobal));
    LAST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    LAST(cudaMalloc(&p, 4));
    GET(status, cudaStreamIsCapturing(s, &status));
    LAST(cudaStreamEndCapture(s, &g));
    LAST(cudaStreamEndCapture(s, &g));
    LAST(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    LAST(cudaMalloc(&p, 4));
    LAST(cudaMemcpy(p, &status, 4, cudaMemcpyHostToDevice));
    GET(status, cudaStreamIsCapturing(s, &status));
    LAST(cudaStreamEndCapture(s, &g));
    LAST(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    LAST(cudaDeviceSynchronize());
    LAST(cudaStreamIsCapturing(NULL, &status));
    LAST(cudaStreamEndCapture(s, &g));
    LAST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    LAST(cudaFree(p));
    LAST(cudaStreamEndCapture(s, &g));
    LAST(cudaGraphInstantiate(&x, NULL, 0));
    LAST(cudaGraphLaunch(NULL, s));
    LAST(cudaGraphCreate(&g, 0));
    LAST(cudaGraphInstantiate(&x, g, 0));
    LAST(cudaGraphLaunch(x, s));
    LAST(cudaGraphExecDestroy(x));
    LAST(cudaGraphDestroy(g));
    LAST(cudaGraphDestroy(NULL));
}

void part_rt_reset(void)
{
    void *p, *q;
    cudaStream_t s;
    int n;
    MAKE(p, cudaMalloc(&p, 4));
    MAKE(s, cudaStreamCreate(&s));
    LAST(cudaDeviceReset());
    LAST(cudaFree(p));
    LAST(cudaStreamQuery(NULL));
    MAKE(q, cudaMalloc(&q, 4));
    GET(n, cudaGetDevice(&n));
    CUcontext c;
    MAKE(c, cuCtxGetCurrent(&c));
    LAST(cudaSetDevice(9));
    LAST(cudaDeviceReset());
    MAKE(c, cuCtxGetCurrent(&c));
    LAST(cudaPeekAtLastError());
    LAST(cudaDeviceSynchronize());
    LAST(cudaStreamDestroy(s));
}

/* Of two devices. */
void part_rt_devices(void)
{
    int n, v;
    char *p = NULL, *q = NULL;
    cudaStream_t s = NULL, t = NULL;
    cudaEvent_t e = NULL;
    struct cudaPointerAttributes where;
    LAST(cudaSetDevice(1));
    GET(n, cudaGetDevice(&n));
    LAST(cudaMalloc((void **)&q, 4096));
    LAST(cudaStreamCreate(&t));
    LAST(cudaSetDevice(0));
    LAST(cudaMalloc((void **)&p, 4096));
    LAST(cudaStreamCreate(&s));
    GET(n, cudaDeviceCanAccessPeer(&n, 0, 1));
    LAST(cudaDeviceCanAccessPeer(&n, 0, 7));
    LAST(cudaDeviceEnablePeerAccess(0, 0));
    LAST(cudaDeviceEnablePeerAccess(1, 1));
    LAST(cudaDeviceEnablePeerAccess(7, 0));
    LAST(cudaDeviceDisablePeerAccess(1));
    LAST(cudaDeviceEnablePeerAccess(1, 0));
    LAST(cudaDeviceEnablePeerAccess(1, 0));
    GET(v, cudaDeviceGetP2PAttribute(&v, cudaDevP2PAttrAccessSupported, 0, 1));
    GET(v, cudaDeviceGetP2PAttribute(&v, cudaDevP2PAttrPerformanceRank, 0, 1));
    LAST(cudaMemcpyPeer(p, 0, q, 1, 64));
    LAST(cudaMemcpyPeer(p, 1, q, 0, 64));
    LAST(cudaMemcpyPeer(p, 0, q, 7, 64));
    LAST(cudaMemcpy(p, q, 64, cudaMemcpyDefault));
    LAST(cudaMemcpy(p, q, 64, cudaMemcpyDeviceToDevice));
    LAST(cudaMemcpyPeerAsync(p, 0, q, 1, 64, s));
    LAST(cudaMemcpyPeerAsync(p, 0, q, 1, 64, t));
    LAST(cudaMemcpyAsync(p, q, 64, cudaMemcpyDefault, t));
    LAST(cudaMemsetAsync(p, 1, 64, t));
    LAST(cudaStreamSynchronize(t));
    LAST(cudaEventCreate(&e));
    LAST(cudaEventRecord(e, t));
    LAST(cudaEventRecord(e, s));
    LAST(cudaStreamWaitEvent(t, e, 0));
    LAST(cudaPointerGetAttributes(&where, q));
    printf("%d %d\n", (int)where.type, where.device);
    LAST(cudaPointerGetAttributes(&where, p));
    printf("%d %d\n", (int)where.type, where.device);
    LAST(cudaFree(q));
    LAST(cudaSetDevice(1));
    LAST(cudaDeviceReset());
    LAST(cudaSetDevice(0));
    LAST(cudaDeviceDisablePeerAccess(1));
    LAST(cudaMemset(p, 0, 64));
    LAST(cudaDeviceEnablePeerAccess(1, 0));
    LAST(cudaStreamSynchronize(s));
    LAST(cudaSetValidDevices((int[]){1, 0}, 2));
    LAST(cudaSetValidDevices((int[]){1, 7}, 2));
    struct cudaDeviceProp prop;
    LAST(cudaGetDeviceProperties(&prop, 1));
    memset(&prop, 0, sizeof prop);
    GET(n, cudaChooseDevice(&n, &prop));
}
