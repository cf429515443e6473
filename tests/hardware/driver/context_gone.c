/* Handles of contexts that were destroyed: what each call makes of one. Each has a process of its
 * own, since a driver may read through them. */
#include "tests/hardware/driver/say.h"

static CUcontext gone;
static CUdeviceptr memory;
static CUevent event;
static CUstream stream;

static void begin_gone(void)
{
    say_begin();
    cuMemAlloc(&memory, 64);
    cuEventCreate(&event, 0);
    cuStreamCreate(&stream, 0);
    cuCtxCreate(&gone, NULL, 0, 0);
    cuCtxDestroy(gone);
    cuCtxSetCurrent(context);
}

/* It is below the current one in this thread's stack. */
static void begin_below(void)
{
    say_begin();
    cuMemAlloc(&memory, 64);
    cuEventCreate(&event, 0);
    cuStreamCreate(&stream, 0);
    cuCtxCreate(&gone, NULL, 0, 0);
    cuCtxPushCurrent(context);
    cuCtxDestroy(gone);
}

static int calls(int which)
{
    int n = 0;
    unsigned version;
    unsigned long long id;
    CUdevice d;
    CUdevResource resource;
    CUgraph graph;
    CUgraphNode node;
    CUDA_MEMSET_NODE_PARAMS set;
    CUDA_MEMCPY3D_PEER box;
    memset(&box, 0, sizeof box);
    box.srcMemoryType = box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    box.srcDevice = memory;
    box.dstDevice = memory + 32;
    box.srcContext = gone;
    box.dstContext = context;
    box.WidthInBytes = 16;
    box.Height = box.Depth = 1;
    memset(&set, 0, sizeof set);
    set.dst = memory;
    set.elementSize = 4;
    set.width = set.height = 1;
    if (which >= 0)
        cuGraphCreate(&graph, 0);
    ALONE(cuCtxSetCurrent(gone));
    ALONE(cuCtxPushCurrent(gone));
    ALONE(cuCtxDestroy(gone));
    ALONE(cuCtxDetach(gone));
    ALONE(cuCtxGetId(gone, &id));
    ALONE(cuCtxGetApiVersion(gone, &version));
    ALONE(cuCtxGetDevice_v2(&d, gone));
    ALONE(cuCtxSynchronize_v2(gone));
    ALONE(cuCtxRecordEvent(gone, event));
    ALONE(cuCtxWaitEvent(gone, event));
    ALONE(cuCtxGetDevResource(gone, &resource, CU_DEV_RESOURCE_TYPE_SM));
    ALONE(cuCtxEnablePeerAccess(gone, 0));
    ALONE(cuCtxDisablePeerAccess(gone));
    ALONE(cuMemcpyPeer(memory, gone, memory + 32, context, 16));
    ALONE(cuMemcpyPeer(memory, context, memory + 32, gone, 16));
    ALONE(cuMemcpyPeerAsync(memory, context, memory + 32, gone, 16, stream));
    ALONE(cuMemcpy3DPeer(&box));
    ALONE(cuGraphAddMemsetNode(&node, graph, NULL, 0, &set, gone));
    return n;
}

void part_context_gone(void)
{
    say_alone(begin_gone, calls);
}

void part_context_gone_below(void)
{
    say_alone(begin_below, calls);
}
