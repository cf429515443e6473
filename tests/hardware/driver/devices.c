/* Two devices: peers, contexts of both, what of one is good on the other. These parts are run on a
 * machine with two GPUs that are peers. */
#include "tests/hardware/driver/say.h"

static CUcontext other; /* the second device's primary context */

static void begin_two(void)
{
    say_begin();
    if (cuDevicePrimaryCtxRetain(&other, 1)) {
        printf("no second device\n");
        fflush(stdout);
        exit(2);
    }
}

/* Memory of the first device, of the second, in host memory, in their contexts. */
static CUdeviceptr here, there;

static void allocate_both(void)
{
    cuCtxSetCurrent(other);
    MAKE(there, cuMemAlloc(&there, 4096));
    SAY(cuMemsetD32(there, 5, 1024));
    cuCtxSetCurrent(context);
    MAKE(here, cuMemAlloc(&here, 4096));
    SAY(cuMemsetD32(here, 3, 1024));
}

static void say_number(CUdeviceptr at)
{
    unsigned n = 77;
    int r = (int)cuMemcpyDtoH(&n, at, 4);
    printf("number there: %d %u\n", r, n);
}

void part_devices(void)
{
    int n, v;
    CUdevice d;
    begin_two();
    GET(d, cuDeviceGet(&d, 1));
    GET(d, cuDeviceGet(&d, 2));
    GET(n, cuDeviceCanAccessPeer(&n, 0, 1));
    GET(n, cuDeviceCanAccessPeer(&n, 1, 0));
    GET(n, cuDeviceCanAccessPeer(&n, 0, 0));
    GET(n, cuDeviceCanAccessPeer(&n, 0, 2));
    GET(n, cuDeviceCanAccessPeer(&n, -1, 0));
    SAY(cuDeviceCanAccessPeer(NULL, 0, 1));
    for (int a = 0; a < 8; a++) {
        printf("attribute %d\n", a);
        GET(v, cuDeviceGetP2PAttribute(&v, (CUdevice_P2PAttribute)a, 0, 1));
        GET(v, cuDeviceGetP2PAttribute(&v, (CUdevice_P2PAttribute)a, 1, 1));
        GET(v, cuDeviceGetP2PAttribute(&v, (CUdevice_P2PAttribute)a, 0, 2));
    }
    SAY(cuDeviceGetP2PAttribute(NULL, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1));
    GET(v, cuDeviceGetAttribute(&v, CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD, 0));
    GET(v, cuDeviceGetAttribute(&v, CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD, 1));
    GET(v, cuDeviceGetAttribute(&v, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1));
    GET(v, cuDeviceGetAttribute(&v, CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH, 1));
    CUuuid a, b;
    SAY(cuDeviceGetUuid(&a, 0));
    SAY(cuDeviceGetUuid(&b, 1));
    printf("same %d\n", !memcmp(&a, &b, sizeof a));
    char bus[2][32];
    SAY(cuDeviceGetPCIBusId(bus[0], 32, 0));
    SAY(cuDeviceGetPCIBusId(bus[1], 32, 1));
    printf("same %d\n", !strcmp(bus[0], bus[1]));
    GET(d, cuDeviceGetByPCIBusId(&d, bus[1]));
}

void part_peer_access(void)
{
    begin_two();
    SAY(cuCtxEnablePeerAccess(NULL, 0));
    SAY(cuCtxEnablePeerAccess(context, 0));
    SAY(cuCtxEnablePeerAccess(other, 1));
    SAY(cuCtxDisablePeerAccess(other));
    SAY(cuCtxDisablePeerAccess(NULL));
    SAY(cuCtxDisablePeerAccess(context));
    SAY(cuCtxEnablePeerAccess(other, 0));
    SAY(cuCtxEnablePeerAccess(other, 0));
    SAY(cuCtxDisablePeerAccess(other));
    SAY(cuCtxDisablePeerAccess(other));
    SAY(cuCtxSetCurrent(NULL));
    SAY(cuCtxEnablePeerAccess(other, 0));
    SAY(cuCtxSetCurrent(other));
    SAY(cuCtxEnablePeerAccess(context, 0));
    SAY(cuCtxDisablePeerAccess(context));
    CUcontext own;
    MAKE(own, cuCtxCreate(&own, NULL, 0, 0));
    SAY(cuCtxEnablePeerAccess(context, 0));
    SAY(cuCtxEnablePeerAccess(other, 0));
    SAY(cuCtxDestroy(own));
    SAY(cuCtxEnablePeerAccess(own, 0));
    SAY(cuCtxDisablePeerAccess(own));
    SAY(cuCtxSetCurrent(context));
    SAY(cuCtxEnablePeerAccess(own, 0));
    SAY(cuCtxEnablePeerAccess(other, 0));
    SAY(cuDevicePrimaryCtxReset(1));
    SAY(cuCtxDisablePeerAccess(other));
    SAY(cuCtxEnablePeerAccess(other, 0));
}

static void store_number(CUdeviceptr to, unsigned what)
{
    void *args[] = {&to, &what};
    int r = (int)cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    printf("store: %d ", r);
    SAY(cuCtxSynchronize());
}

void part_peer_use(void)
{
    begin_two();
    allocate_both();
    SAY(cuCtxEnablePeerAccess(other, 0));
    store_number(there, 9);
    say_number(there);
    SAY(cuCtxSetCurrent(other));
    say_number(there);
    say_number(here);
    SAY(cuCtxSetCurrent(context));
    SAY(cuCtxDisablePeerAccess(other));
    say_number(there);
    store_number(there, 11);
    say_number(here);
    SAY(cuCtxSetCurrent(other));
    say_number(there);
    SAY(cuCtxSynchronize());
    SAY(cuMemFree(there));
}

void part_peer_later(void)
{
    CUdeviceptr later;
    begin_two();
    SAY(cuCtxEnablePeerAccess(other, 0));
    SAY(cuCtxSetCurrent(other));
    MAKE(later, cuMemAlloc(&later, 64));
    SAY(cuCtxSetCurrent(context));
    store_number(later, 13);
    say_number(later);
    SAY(cuMemFree(later));
    say_number(later);
}

void part_peer_copy(void)
{
    unsigned n = 8;
    CUstream s, t;
    begin_two();
    allocate_both();
    SAY(cuMemcpyDtoD(here, there, 64));
    say_number(here);
    SAY(cuMemcpy(here + 64, there, 64));
    say_number(here + 64);
    SAY(cuMemcpyPeer(here + 128, context, there, other, 64));
    say_number(here + 128);
    SAY(cuMemcpyPeer(here, other, there, context, 64));
    SAY(cuMemcpyPeer(here, NULL, there, other, 64));
    SAY(cuMemcpyPeer(here, context, there, NULL, 64));
    SAY(cuMemcpyPeer(here, context, here + 256, context, 64));
    SAY(cuMemcpyPeer(here, context, there, other, 0));
    SAY(cuMemcpyPeer(here, context, there, other, 1 << 20));
    SAY(cuMemcpyPeer(0, context, there, other, 64));
    SAY(cuMemcpyHtoD(there, &n, 4));
    say_number(there);
    SAY(cuMemsetD32(there, 6, 4));
    SAY(cuCtxEnablePeerAccess(other, 0));
    SAY(cuMemsetD32(there, 6, 4));
    SAY(cuMemsetD8(there + 4, 6, 4));
    SAY(cuMemsetD2D32(there, 128, 6, 4, 4));
    SAY(cuCtxSynchronize()); /* what is under way is a fault when access ends */
    SAY(cuCtxDisablePeerAccess(other));
    SAY(cuCtxSynchronize());
    say_number(there);
    MAKE(s, cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    SAY(cuCtxSetCurrent(other));
    MAKE(t, cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    SAY(cuCtxSetCurrent(context));
    SAY(cuMemcpyPeerAsync(here, context, there, other, 64, s));
    SAY(cuMemcpyPeerAsync(here, context, there, other, 64, t));
    SAY(cuMemcpyPeerAsync(there, other, here, context, 64, t));
    SAY(cuMemcpyDtoDAsync(here, there, 64, t));
    SAY(cuMemsetD32Async(here, 6, 4, t));
    SAY(cuMemsetD32Async(there, 6, 4, t));
    SAY(cuMemsetD32Async(there, 7, 4, s));
    SAY(cuStreamSynchronize(t));
    SAY(cuStreamSynchronize(s));
    say_number(there);
    CUDA_MEMCPY3D_PEER c;
    memset(&c, 0, sizeof c);
    c.srcMemoryType = c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    c.srcDevice = there;
    c.dstDevice = here;
    c.srcContext = other;
    c.dstContext = context;
    c.WidthInBytes = 16;
    c.Height = c.Depth = 2;
    c.srcPitch = c.dstPitch = 32;
    c.srcHeight = c.dstHeight = 2;
    SAY(cuMemcpy3DPeer(&c));
    SAY(cuMemcpy3DPeerAsync(&c, s));
    SAY(cuMemcpy3DPeerAsync(&c, t));
    c.srcContext = NULL;
    SAY(cuMemcpy3DPeer(&c));
    c.srcContext = context;
    SAY(cuMemcpy3DPeer(&c));
    SAY(cuStreamSynchronize(s));
    SAY(cuStreamSynchronize(t));
}

void part_peer_pointer(void)
{
    unsigned n;
    CUcontext c;
    void *h = NULL;
    begin_two();
    allocate_both();
    GET(n, cuPointerGetAttribute(&n, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, here));
    GET(n, cuPointerGetAttribute(&n, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, there));
    GET(n, cuPointerGetAttribute(&n, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, there));
    MAKE(c, cuPointerGetAttribute(&c, CU_POINTER_ATTRIBUTE_CONTEXT, there));
    printf("same %d\n", c == other);
    SAY(cuMemFree(there));
    SAY(cuMemFree(there));
    SAY(cuMemHostAlloc(&h, 64, 0));
    GET(n, cuPointerGetAttribute(&n, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, (CUdeviceptr)h));
    SAY(cuCtxSetCurrent(other));
    GET(n, cuPointerGetAttribute(&n, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, (CUdeviceptr)h));
    MAKE(c, cuPointerGetAttribute(&c, CU_POINTER_ATTRIBUTE_CONTEXT, (CUdeviceptr)h));
    printf("same %d\n", c == context);
    CUdeviceptr p;
    MAKE(p, cuMemHostGetDevicePointer(&p, h, 0));
    printf("same %d\n", p == (CUdeviceptr)h);
    SAY(cuMemFreeHost(h));
    MAKE(p, cuMemAllocManaged(&p, 64, CU_MEM_ATTACH_GLOBAL));
    GET(n, cuPointerGetAttribute(&n, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p));
    SAY(cuCtxSetCurrent(context));
    GET(n, cuPointerGetAttribute(&n, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p));
    SAY(cuMemFree(p));
}

void part_peer_stream(void)
{
    CUstream s, t;
    CUevent e, f, timed;
    CUcontext c;
    CUdevice d;
    float ms;
    begin_two();
    MAKE(s, cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    MAKE(e, cuEventCreate(&e, 0));
    MAKE(timed, cuEventCreate(&timed, 0));
    SAY(cuCtxSetCurrent(other));
    MAKE(t, cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    MAKE(f, cuEventCreate(&f, 0));
    SAY(cuEventRecord(e, t));
    SAY(cuEventRecord(f, t));
    SAY(cuEventRecord(e, s));
    SAY(cuEventRecord(e, NULL));
    SAY(cuEventRecord(f, NULL));
    SAY(cuStreamWaitEvent(t, e, 0));
    SAY(cuStreamWaitEvent(s, f, 0));
    SAY(cuStreamWaitEvent(NULL, e, 0));
    SAY(cuEventSynchronize(e));
    SAY(cuEventSynchronize(f));
    SAY(cuEventElapsedTime(&ms, e, f));
    SAY(cuStreamQuery(s));
    SAY(cuStreamSynchronize(s));
    MAKE(c, cuStreamGetCtx(s, &c));
    printf("same %d\n", c == context);
    MAKE(c, cuStreamGetCtx(NULL, &c));
    printf("same %d\n", c == other);
    GET(d, cuStreamGetDevice(t, &d));
    SAY(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    SAY(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, t, NULL, NULL));
    SAY(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    SAY(cuEventDestroy(e));
    SAY(cuStreamDestroy(s));
    SAY(cuCtxSynchronize());
    SAY(cuCtxSetCurrent(context));
    SAY(cuStreamDestroy(t));
    SAY(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    SAY(cuCtxSynchronize());
}

static const char stop_text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                ".visible .entry stop() { trap; }\n";

/* What the second device's context can do when a kernel of the first has failed. */
static void use_other(CUfunction f)
{
    SAY(cuCtxSynchronize());
    SAY(cuMemAlloc(&here, 64));
    SAY(cuCtxSetCurrent(other));
    SAY(cuCtxSynchronize());
    SAY(cuMemAlloc(&there, 64));
    void *args[] = {&there, &(unsigned){5}};
    SAY(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    SAY(cuCtxSynchronize());
}

static CUfunction begin_fault(void)
{
    CUmodule there_too;
    CUfunction f;
    begin_two();
    SAY(cuCtxSetCurrent(other));
    MAKE(there_too, cuModuleLoadData(&there_too, module_text));
    MAKE(f, cuModuleGetFunction(&f, there_too, "store"));
    printf("same %d\n", f == store);
    SAY(cuCtxSetCurrent(context));
    return f;
}

void part_peer_fault(void)
{
    CUfunction f = begin_fault();
    SAY(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    store_number(64, 1);
    use_other(f);
}

void part_peer_misaligned(void)
{
    CUfunction f = begin_fault();
    MAKE(here, cuMemAlloc(&here, 64));
    store_number(here + 2, 1);
    use_other(f);
}

void part_peer_trap(void)
{
    CUmodule stops;
    CUfunction stop, f = begin_fault();
    MAKE(stops, cuModuleLoadData(&stops, stop_text));
    MAKE(stop, cuModuleGetFunction(&stop, stops, "stop"));
    SAY(cuLaunchKernel(stop, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    use_other(f);
}

void part_peer_pool(void)
{
    CUmemoryPool pool, of;
    CUdeviceptr p;
    CUstream s;
    CUmemAccessDesc access;
    CUmemAccess_flags flags;
    CUmemLocation at = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1};
    begin_two();
    MAKE(pool, cuDeviceGetDefaultMemPool(&pool, 1));
    MAKE(of, cuDeviceGetDefaultMemPool(&of, 0));
    printf("same %d\n", of == pool);
    MAKE(s, cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    MAKE(p, cuMemAllocFromPoolAsync(&p, 64, pool, s));
    SAY(cuStreamSynchronize(s));
    GET(flags, cuMemPoolGetAccess(&flags, pool, &at));
    at.id = 0;
    GET(flags, cuMemPoolGetAccess(&flags, pool, &at));
    memset(&access, 0, sizeof access);
    access.location = at;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    SAY(cuMemPoolSetAccess(pool, &access, 1));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    allocate_both();
    SAY(cuMemsetD32(p, 6, 4));
    SAY(cuMemcpyDtoD(p, p + 32, 32));
    SAY(cuMemcpyDtoD(here, p, 32));
    SAY(cuMemcpyDtoD(p, here, 32));
    SAY(cuMemcpyDtoD(p, there, 32));
    SAY(cuMemcpyPeer(p, other, there, other, 32));
    SAY(cuMemcpyPeer(here, context, p, other, 32));
    say_number(p);
    SAY(cuMemPoolSetAccess(pool, &access, 1));
    GET(flags, cuMemPoolGetAccess(&flags, pool, &at));
    SAY(cuMemsetD32(p, 6, 4));
    store_number(p, 21);
    say_number(p);
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    SAY(cuMemPoolSetAccess(pool, &access, 1));
    GET(flags, cuMemPoolGetAccess(&flags, pool, &at));
    access.flags = (CUmemAccess_flags)2;
    SAY(cuMemPoolSetAccess(pool, &access, 1));
    access.flags = (CUmemAccess_flags)4;
    SAY(cuMemPoolSetAccess(pool, &access, 1));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    access.location.id = 1;
    SAY(cuMemPoolSetAccess(pool, &access, 1));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    SAY(cuMemPoolSetAccess(pool, &access, 1));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    SAY(cuMemPoolSetAccess(pool, &access, 1));
    access.location.type = CU_MEM_LOCATION_TYPE_HOST;
    SAY(cuMemPoolSetAccess(pool, &access, 1));
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = 2;
    SAY(cuMemPoolSetAccess(pool, &access, 1));
    SAY(cuMemPoolSetAccess(pool, NULL, 1));
    SAY(cuMemPoolSetAccess(pool, &access, 0));
    SAY(cuMemFreeAsync(p, s));
    SAY(cuDeviceSetMemPool(0, pool));
    MAKE(of, cuDeviceGetMemPool(&of, 0));
    printf("same %d\n", of == pool);
}

void part_peer_vmm(void)
{
    CUmemGenericAllocationHandle h;
    CUmemAllocationProp prop;
    CUmemAccessDesc access[2];
    CUdeviceptr p;
    size_t size;
    unsigned long long flags;
    begin_two();
    memset(&prop, 0, sizeof prop);
    memset(access, 0, sizeof access);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location = (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1};
    GET(size, cuMemGetAllocationGranularity(&size, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    MAKE(h, cuMemCreate(&h, size, &prop, 0));
    MAKE(p, cuMemAddressReserve(&p, size, 0, 0, 0));
    SAY(cuMemMap(p, size, 0, h, 0));
    for (int i = 0; i < 2; i++) {
        access[i].location = (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = i};
        access[i].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    }
    SAY(cuMemSetAccess(p, size, access + 1, 1));
    GET(flags, cuMemGetAccess(&flags, &access[0].location, p));
    GET(flags, cuMemGetAccess(&flags, &access[1].location, p));
    allocate_both();
    SAY(cuMemsetD32(p, 6, 4));
    SAY(cuMemcpyDtoD(here, p, 32));
    SAY(cuMemcpyDtoD(p, here, 32));
    SAY(cuMemcpyPeer(here, context, p, other, 32));
    say_number(p);
    SAY(cuMemSetAccess(p, size, access, 2));
    GET(flags, cuMemGetAccess(&flags, &access[0].location, p));
    SAY(cuMemsetD32(p, 6, 4));
    store_number(p, 31);
    say_number(p);
    access[0].flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    SAY(cuMemSetAccess(p, size, access, 1));
    GET(flags, cuMemGetAccess(&flags, &access[0].location, p));
    GET(flags, cuMemGetAccess(&flags, &access[1].location, p));
    access[0].flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    SAY(cuMemSetAccess(p, size, access, 1));
    GET(flags, cuMemGetAccess(&flags, &access[0].location, p));
    access[1].location.id = 2;
    SAY(cuMemSetAccess(p, size, access, 2));
    GET(flags, cuMemGetAccess(&flags, &access[1].location, p));
    prop.location.id = 2;
    GET(size, cuMemGetAllocationGranularity(&size, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    MAKE(h, cuMemCreate(&h, size, &prop, 0));
}

void part_peer_managed(void)
{
    CUdeviceptr p;
    CUmemLocation at = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1};
    int n;
    begin_two();
    MAKE(p, cuMemAllocManaged(&p, 4096, CU_MEM_ATTACH_GLOBAL));
    SAY(cuMemPrefetchAsync(p, 4096, at, 0, NULL));
    SAY(cuMemAdvise(p, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, at));
    SAY(cuMemAdvise(p, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, at));
    GET(n, cuMemRangeGetAttribute(&n, 4, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, 4096));
    GET(n, cuMemRangeGetAttribute(&n, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p, 4096));
    int by[3] = {77, 77, 77};
    SAY(cuMemRangeGetAttribute(by, sizeof by, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, 4096));
    printf("%d %d %d\n", by[0], by[1], by[2]);
    store_number(p, 41);
    SAY(cuCtxSetCurrent(other));
    say_number(p);
    at.id = 2;
    SAY(cuMemPrefetchAsync(p, 4096, at, 0, NULL));
    SAY(cuMemAdvise(p, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, at));
    SAY(cuMemAdvise(p, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, at));
    SAY(cuMemAdvise(p, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, at));
}

void part_peer_graph(void)
{
    CUgraph g;
    CUgraphNode a, b, c;
    CUgraphExec x;
    CUstream s, t;
    CUevent e, back;
    CUDA_MEMSET_NODE_PARAMS set;
    CUDA_KERNEL_NODE_PARAMS k;
    begin_two();
    allocate_both();
    memset(&set, 0, sizeof set);
    set.dst = there;
    set.elementSize = 4;
    set.value = 51;
    set.width = 4;
    set.height = 1;
    MAKE(g, cuGraphCreate(&g, 0));
    MAKE(a, cuGraphAddMemsetNode(&a, g, NULL, 0, &set, other));
    MAKE(b, cuGraphAddMemsetNode(&b, g, NULL, 0, &set, context));
    memset(&k, 0, sizeof k);
    k.func = empty;
    k.gridDimX = k.gridDimY = k.gridDimZ = k.blockDimX = k.blockDimY = k.blockDimZ = 1;
    k.ctx = other;
    MAKE(c, cuGraphAddKernelNode(&c, g, &a, 1, &k));
    k.ctx = context;
    MAKE(c, cuGraphAddKernelNode(&c, g, &a, 1, &k));
    MAKE(x, cuGraphInstantiate(&x, g, 0));
    SAY(cuGraphLaunch(x, NULL));
    SAY(cuCtxSynchronize());
    say_number(there);
    MAKE(s, cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    MAKE(e, cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    SAY(cuCtxSetCurrent(other));
    MAKE(t, cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    MAKE(back, cuEventCreate(&back, CU_EVENT_DISABLE_TIMING));
    SAY(cuGraphLaunch(x, t));
    SAY(cuStreamSynchronize(t));
    SAY(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    SAY(cuEventRecord(e, s));
    SAY(cuStreamWaitEvent(t, e, 0));
    SAY(cuMemsetD32Async(there, 61, 4, t));
    SAY(cuEventRecord(back, t));
    SAY(cuStreamWaitEvent(s, back, 0));
    MAKE(g, cuStreamEndCapture(s, &g));
    MAKE(x, cuGraphInstantiate(&x, g, 0));
    SAY(cuGraphLaunch(x, s));
    SAY(cuStreamSynchronize(s));
    say_number(there);
}
