/* Copies of boxes and rows that reach memory of the second device: pools' and mapped memory that
 * the first may not use, or may. */
#include "tests/hardware/driver/say.h"

enum { ROW = 16, ROWS = 2, SLICES = 2, PITCH = 32 };

static CUcontext other; /* the second device's primary context */
static CUmemoryPool pool;
static CUstream stream, far_stream; /* of the first device, of the second */
static CUdeviceptr here, there, pooled, mapped;
static unsigned host[256];
static size_t granularity;

static void set_pool(int flags)
{
    CUmemAccessDesc a;
    memset(&a, 0, sizeof a);
    a.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    a.flags = (CUmemAccess_flags)flags;
    SAY(cuMemPoolSetAccess(pool, &a, 1));
}

static void set_mapped(int device_number, int flags)
{
    CUmemAccessDesc a;
    memset(&a, 0, sizeof a);
    a.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    a.location.id = device_number;
    a.flags = (CUmemAccess_flags)flags;
    SAY(cuMemSetAccess(mapped, granularity, &a, 1));
}

static void map(void)
{
    CUmemGenericAllocationHandle h;
    CUmemAllocationProp prop;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location = (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1};
    SAY(cuMemGetAllocationGranularity(&granularity, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    SAY(cuMemCreate(&h, granularity, &prop, 0));
    SAY(cuMemAddressReserve(&mapped, granularity, 0, 0, 0));
    SAY(cuMemMap(mapped, granularity, 0, h, 0));
    set_mapped(1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

static void begin(void)
{
    say_begin();
    SAY(cuDevicePrimaryCtxRetain(&other, 1));
    SAY(cuCtxSetCurrent(other));
    SAY(cuDeviceGetDefaultMemPool(&pool, 1));
    SAY(cuStreamCreate(&far_stream, CU_STREAM_NON_BLOCKING));
    SAY(cuMemAlloc(&there, 4096));
    SAY(cuMemAllocFromPoolAsync(&pooled, 4096, pool, far_stream));
    SAY(cuStreamSynchronize(far_stream));
    map();
    SAY(cuCtxSetCurrent(context));
    SAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    SAY(cuMemAlloc(&here, 4096));
}

/* ---- the forms ------------------------------------------------------------------------------- */

static CUDA_MEMCPY2D rows(CUdeviceptr to, CUdeviceptr from, CUmemorytype type)
{
    CUDA_MEMCPY2D c;
    memset(&c, 0, sizeof c);
    c.srcMemoryType = c.dstMemoryType = type;
    c.srcDevice = from;
    c.dstDevice = to;
    c.srcPitch = c.dstPitch = PITCH;
    c.WidthInBytes = ROW;
    c.Height = ROWS;
    return c;
}

static CUDA_MEMCPY3D box(CUdeviceptr to, CUdeviceptr from, CUmemorytype type)
{
    CUDA_MEMCPY3D c;
    memset(&c, 0, sizeof c);
    c.srcMemoryType = c.dstMemoryType = type;
    c.srcDevice = from;
    c.dstDevice = to;
    c.srcPitch = c.dstPitch = PITCH;
    c.srcHeight = c.dstHeight = ROWS;
    c.WidthInBytes = ROW;
    c.Height = ROWS;
    c.Depth = SLICES;
    return c;
}

static CUDA_MEMCPY3D_PEER named(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                CUcontext from_context)
{
    CUDA_MEMCPY3D_PEER c;
    memset(&c, 0, sizeof c);
    c.srcMemoryType = c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    c.srcDevice = from;
    c.dstDevice = to;
    c.srcContext = from_context;
    c.dstContext = to_context;
    c.srcPitch = c.dstPitch = PITCH;
    c.srcHeight = c.dstHeight = ROWS;
    c.WidthInBytes = ROW;
    c.Height = ROWS;
    c.Depth = SLICES;
    return c;
}

static void node(CUDA_MEMCPY3D c, CUcontext owner)
{
    CUgraph graph;
    CUgraphNode n;
    CUgraphExec exec = NULL;
    SAY(cuGraphCreate(&graph, 0));
    SAY(cuGraphAddMemcpyNode(&n, graph, NULL, 0, &c, owner));
    SAY(cuGraphInstantiate(&exec, graph, 0));
    if (exec) {
        SAY(cuGraphLaunch(exec, stream));
        SAY(cuStreamSynchronize(stream));
    }
}

static void copies(CUdeviceptr to, CUdeviceptr from)
{
    static const CUmemorytype types[] = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_UNIFIED};
    SAY(cuMemcpyDtoD(to, from, ROW));
    SAY(cuMemcpy(to, from, ROW));
    SAY(cuMemcpyDtoDAsync(to, from, ROW, stream));
    SAY(cuMemcpyDtoDAsync(to, from, ROW, far_stream));
    for (int i = 0; i < 2; i++) {
        CUDA_MEMCPY2D r = rows(to, from, types[i]);
        CUDA_MEMCPY3D b = box(to, from, types[i]);
        printf("type %d\n", (int)types[i]);
        SAY(cuMemcpy2D(&r));
        SAY(cuMemcpy2DUnaligned(&r));
        SAY(cuMemcpy2DAsync(&r, stream));
        SAY(cuMemcpy2DAsync(&r, far_stream));
        SAY(cuMemcpy3D(&b));
        SAY(cuMemcpy3DAsync(&b, stream));
        SAY(cuMemcpy3DAsync(&b, far_stream));
        r.Height = 1;
        SAY(cuMemcpy2D(&r));
    }
    SAY(cudaMemcpy2D((void *)to, PITCH, (void *)from, PITCH, ROW, ROWS, cudaMemcpyDefault));
    SAY(cudaMemcpy2D((void *)to, PITCH, (void *)from, PITCH, ROW, ROWS, cudaMemcpyDeviceToDevice));
    SAY(cuStreamSynchronize(stream));
    SAY(cuStreamSynchronize(far_stream));
}

/* Memory of the second device, at either end. */
static void use(CUdeviceptr p)
{
    CUDA_MEMCPY2D r;
    printf("-- to it\n");
    copies(p, here);
    printf("-- from it\n");
    copies(here, p);
    printf("-- to the second device's\n");
    copies(there, p);
    printf("-- the host's\n");
    SAY(cuMemcpyHtoD(p, host, ROW));
    SAY(cuMemcpyDtoH(host, p, ROW));
    SAY(cuMemcpyHtoDAsync(p, host, ROW, far_stream));
    r = rows(p, 0, CU_MEMORYTYPE_DEVICE);
    r.srcMemoryType = CU_MEMORYTYPE_HOST;
    r.srcHost = host;
    SAY(cuMemcpy2D(&r));
    SAY(cuMemcpy2DAsync(&r, stream));
    SAY(cuMemcpy2DAsync(&r, far_stream));
    r = rows(0, p, CU_MEMORYTYPE_DEVICE);
    r.dstMemoryType = CU_MEMORYTYPE_HOST;
    r.dstHost = host;
    SAY(cuMemcpy2D(&r));
    SAY(cuMemcpy2DAsync(&r, stream));
    SAY(cuMemcpy2DAsync(&r, far_stream));
    printf("-- set\n");
    SAY(cuMemsetD2D8(p, PITCH, 1, ROW, ROWS));
    SAY(cuMemsetD2D8Async(p, PITCH, 1, ROW, ROWS, stream));
    SAY(cuMemsetD2D8Async(p, PITCH, 1, ROW, ROWS, far_stream));
    SAY(cuStreamSynchronize(stream));
    SAY(cuStreamSynchronize(far_stream));
}

static void use_named(CUdeviceptr p)
{
    CUDA_MEMCPY3D_PEER c = named(here, context, p, other);
    printf("-- by contexts\n");
    SAY(cuMemcpyPeer(here, context, p, other, ROW));
    SAY(cuMemcpyPeer(here, context, p, context, ROW));
    SAY(cuMemcpy3DPeer(&c));
    SAY(cuMemcpy3DPeerAsync(&c, stream));
    c = named(here, context, p, context);
    SAY(cuMemcpy3DPeer(&c));
    c = named(p, other, here, context);
    SAY(cuMemcpy3DPeer(&c));
    SAY(cuMemcpy3DPeerAsync(&c, far_stream));
    c = named(p, context, here, context);
    SAY(cuMemcpy3DPeer(&c));
    SAY(cuStreamSynchronize(stream));
    SAY(cuStreamSynchronize(far_stream));
    printf("-- by graphs\n");
    node(box(here, p, CU_MEMORYTYPE_DEVICE), context);
    node(box(p, here, CU_MEMORYTYPE_DEVICE), context);
    node(box(here, p, CU_MEMORYTYPE_DEVICE), other);
}

static void use_all(CUdeviceptr p)
{
    use(p);
    use_named(p);
    SAY(cuCtxSynchronize());
}

void part_peer_box_pool(void)
{
    begin();
    use_all(pooled);
    set_pool(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    use_all(pooled);
    set_pool(CU_MEM_ACCESS_FLAGS_PROT_NONE);
    use(pooled);
}

void part_peer_box_mapped(void)
{
    begin();
    use_all(mapped);
    set_mapped(0, CU_MEM_ACCESS_FLAGS_PROT_READ);
    use_all(mapped);
    set_mapped(0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    use_all(mapped);
}

/* Memory of another device that is nobody's peer. */
void part_peer_box_plain(void)
{
    begin();
    use_all(there);
}
