/* libFuzzer target: calls of the driver API in any order, with handles that are live, gone, null,
 * of another kind or none, and any sizes. Each byte is a choice. Host memory is given where it is
 * large enough; kernels touch only what they are given. */
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/abi.h"
#include "tests/fuzz/input.h"

enum { HANDLES = 64, HOST_BYTES = 8192, CALLS_MAX = 80, CONTEXTS = 8 };

static struct state {
    struct input in;
    void *handles[HANDLES]; /* of all kinds, in the order in which they were made */
    unsigned n;
    void *all[CALLS_MAX + 1];
    CUdeviceptr memory[HANDLES];
    unsigned n_memory;
    CUcontext contexts[CONTEXTS];
    unsigned n_contexts;
} s;

static uint8_t host_memory[HOST_BYTES];

#define HEAD ".version 8.0\n.target sm_70\n.address_size 64\n"
static const char text[] =
    HEAD ".visible .global .align 4 .u32 v = 5;\n.visible .entry a(.param .u64 p, .param .u32 n)\n"
         "{ .reg .b64 %p; .reg .b32 %r; ld.param.u64 %p, [p]; ld.param.u32 %r, [n]; "
         "red.global.add.u32 [%p], %r; ret; }\n"
         ".visible .entry b() { trap; }\n";
static const char *const texts[] = {text, text,
                                    HEAD ".visible .entry a() { ret; "
                                         "}\n",
                                    HEAD ".entry", ""};
static const char *const names[] = {"a", "b", "v", "", "none", NULL};
static const size_t sizes[] = {
    0, 1, 4, 7, 64, 256, 4096, 65536, 1 << 20, (size_t)1 << 47, SIZE_MAX, SIZE_MAX / 2 + 1};
static const size_t host_sizes[] = {0, 1, 4, 64, 4096, HOST_BYTES / 2};
static const unsigned numbers[] = {0,  1,    2,    3,     8,          32,
                                   33, 1024, 1025, 65536, 0x7fffffff, 0xffffffffu};

static void keep(CUresult r, void *handle)
{
    if (r != CUDA_SUCCESS)
        return;
    s.all[s.n] = handle;
    s.handles[s.n++ % HANDLES] = handle;
}

static void *any(void)
{
    unsigned i = take(&s.in);
    if (i >= 250)
        return i == 255 ? NULL : (void *)(uintptr_t)(i == 254 ? 0x123450 : i - 250);
    return s.n ? s.handles[(s.n - 1 - i % (s.n < HANDLES ? s.n : HANDLES)) % HANDLES] : NULL;
}

static CUdeviceptr any_memory(void)
{
    unsigned i = take(&s.in);
    if (i >= 250 || !s.n_memory)
        return i == 255 ? 0 : 0x123450;
    CUdeviceptr p =
        s.memory[(s.n_memory - 1 - i % (s.n_memory < HANDLES ? s.n_memory : HANDLES)) % HANDLES];
    return p + (take(&s.in) == 1 ? PICK(&s.in, sizes) : 0);
}

static void keep_memory(CUresult r, CUdeviceptr p)
{
    if (r == CUDA_SUCCESS)
        s.memory[s.n_memory++ % HANDLES] = p;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void contexts(void)
{
    CUcontext ctx = NULL;
    CUdevice device;
    switch (take(&s.in) % 8) {
    case 0:
    case 1:
        if (s.n_contexts == CONTEXTS ||
            cuCtxCreate_v2(&ctx, take(&s.in) % 12, take(&s.in) == 255) != CUDA_SUCCESS)
            return;
        s.contexts[s.n_contexts++] = ctx;
        keep(CUDA_SUCCESS, ctx);
        return;
    case 2:
        cuCtxDestroy_v2(any());
        return;
    case 3:
        cuCtxSetCurrent(any());
        return;
    case 4:
        cuCtxPushCurrent_v2(any());
        return;
    case 5:
        cuCtxPopCurrent_v2(&ctx);
        return;
    case 6:
        keep(cuDevicePrimaryCtxRetain(&ctx, 0), ctx);
        cuCtxGetDevice(&device);
        return;
    default:
        cuDevicePrimaryCtxRelease_v2(0);
    }
}

static void modules(void)
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    CUdeviceptr p = 0;
    size_t bytes;
    switch (take(&s.in) % 4) {
    case 0:
        keep(cuModuleLoadData(&module, PICK(&s.in, texts)), module);
        return;
    case 1:
        keep(cuModuleGetFunction(&function, any(), PICK(&s.in, names)), function);
        return;
    case 2:
        keep_memory(cuModuleGetGlobal_v2(&p, &bytes, any(), PICK(&s.in, names)), p);
        return;
    default:
        cuModuleUnload(any());
    }
}

static void get_memory(void)
{
    CUdeviceptr p = 0;
    size_t pitch;
    void *host = NULL;
    switch (take(&s.in) % 5) {
    case 0:
        keep_memory(cuMemAlloc_v2(&p, PICK(&s.in, sizes) % ((size_t)1 << 40)), p);
        return;
    case 1:
        keep_memory(cuMemAllocPitch_v2(&p, &pitch, PICK(&s.in, sizes), PICK(&s.in, numbers),
                                       take(&s.in) % 17),
                    p);
        return;
    case 2:
        keep_memory(cuMemAllocAsync(&p, PICK(&s.in, sizes) % ((size_t)1 << 40), any()), p);
        return;
    case 3:
        if (cuMemAllocHost_v2(&host, PICK(&s.in, host_sizes)) == CUDA_SUCCESS)
            cuMemFreeHost(host);
        return;
    default: /* there may be more of it than memory, which copies would fill */
        keep_memory(cuMemAllocManaged(&p, PICK(&s.in, sizes) % ((size_t)1 << 21), take(&s.in) % 4),
                    p);
    }
}

static void free_memory(void)
{
    if (take(&s.in) & 1)
        cuMemFree_v2(any_memory());
    else
        cuMemFreeAsync(any_memory(), any());
}

/* Of the program's memory as much as there is; of a device's any. */
static void copy(void)
{
    CUDA_MEMCPY2D box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                         .dstMemoryType = CU_MEMORYTYPE_DEVICE};
    switch (take(&s.in) % 7) {
    case 0:
        cuMemcpyHtoD_v2(any_memory(), host_memory, PICK(&s.in, host_sizes));
        return;
    case 1:
        cuMemcpyDtoH_v2(host_memory, any_memory(), PICK(&s.in, host_sizes));
        return;
    case 2:
        cuMemcpyDtoDAsync_v2(any_memory(), any_memory(), PICK(&s.in, sizes), any());
        return;
    case 3:
        cuMemcpyHtoDAsync_v2(any_memory(), host_memory, PICK(&s.in, host_sizes), any());
        return;
    case 4:
        cuMemsetD8_v2(any_memory(), (unsigned char)take(&s.in), PICK(&s.in, sizes));
        return;
    case 5:
        cuMemsetD2D32Async(any_memory(), PICK(&s.in, sizes), take(&s.in), PICK(&s.in, sizes),
                           PICK(&s.in, sizes), any());
        return;
    default:
        box.srcDevice = any_memory();
        box.dstDevice = any_memory();
        box.srcPitch = PICK(&s.in, sizes);
        box.dstPitch = PICK(&s.in, sizes);
        box.srcXInBytes = PICK(&s.in, sizes);
        box.dstY = PICK(&s.in, sizes);
        box.WidthInBytes = PICK(&s.in, sizes);
        box.Height = PICK(&s.in, sizes);
        cuMemcpy2D_v2(&box);
    }
}

static void streams(void)
{
    CUstream stream = NULL;
    switch (take(&s.in) % 6) {
    case 0:
        keep(cuStreamCreate(&stream, take(&s.in) % 3), stream);
        return;
    case 1:
        cuStreamDestroy_v2(any());
        return;
    case 2:
        cuStreamSynchronize(any());
        return;
    case 3:
        cuStreamQuery(any());
        return;
    case 4:
        cuStreamWaitEvent(any(), any(), take(&s.in) % 3);
        return;
    default:
        cuCtxSynchronize();
    }
}

static void events(void)
{
    CUevent event = NULL;
    float ms;
    switch (take(&s.in) % 6) {
    case 0:
        keep(cuEventCreate(&event, take(&s.in) % 5), event);
        return;
    case 1:
        cuEventDestroy_v2(any());
        return;
    case 2:
        cuEventRecord(any(), any());
        return;
    case 3:
        cuEventSynchronize(any());
        return;
    case 4:
        cuEventQuery(any());
        return;
    default:
        cuEventElapsedTime_v2(&ms, any(), any());
    }
}

/* The first parameter is memory: live, gone, or none. */
static void launch(void)
{
    CUdeviceptr p = any_memory();
    unsigned n = take(&s.in);
    void *parameters[] = {&p, &n};
    CUfunction f = any();
    cuLaunchKernel(f, PICK(&s.in, numbers) % 70000, 1, take(&s.in) % 3, PICK(&s.in, numbers), 1,
                   take(&s.in) % 3, PICK(&s.in, numbers), any(), parameters, NULL);
}

static void graphs(void)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUgraphNode node = NULL, before;
    CUDA_MEMSET_NODE_PARAMS set = {0};
    switch (take(&s.in) % 11) {
    case 0:
        keep(cuGraphCreate(&graph, take(&s.in) == 1), graph);
        return;
    case 1:
        cuGraphDestroy(any());
        return;
    case 2:
        keep(cuStreamBeginCapture_v2(any(), (CUstreamCaptureMode)(take(&s.in) % 4)), NULL);
        return;
    case 3:
        keep(cuStreamEndCapture(any(), &graph), graph);
        return;
    case 4:
        keep(cuGraphInstantiateWithFlags(&exec, any(), take(&s.in) % 16), exec);
        return;
    case 5:
        cuGraphLaunch(any(), any());
        return;
    case 6:
        cuGraphExecDestroy(any());
        return;
    case 7:
        set.dst = any_memory();
        set.pitch = PICK(&s.in, sizes);
        set.elementSize = take(&s.in) % 5;
        set.width = PICK(&s.in, sizes);
        set.height = PICK(&s.in, sizes);
        before = any();
        keep(cuGraphAddMemsetNode(&node, any(), &before, take(&s.in) % 2, &set, any()), node);
        return;
    case 8:
        keep(cuGraphAddEmptyNode(&node, any(), NULL, take(&s.in) == 1), node);
        return;
    case 9:
        cuGraphDestroyNode(any());
        return;
    default:
        keep(cuGraphAddChildGraphNode(&node, any(), NULL, 0, any()), node);
    }
}

static void ask(void)
{
    CUdeviceptr base;
    size_t bytes, left;
    int value;
    unsigned type;
    const char *name;
    switch (take(&s.in) % 5) {
    case 0:
        cuMemGetAddressRange_v2(&base, &bytes, any_memory());
        return;
    case 1:
        cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, any_memory());
        return;
    case 2:
        cuFuncGetAttribute(&value, (CUfunction_attribute)take(&s.in), any());
        return;
    case 3:
        cuGetErrorName((CUresult)PICK(&s.in, numbers), &name);
        return;
    default:
        cuMemGetInfo_v2(&left, &bytes);
    }
}

static void (*const calls[])(void) = {contexts, modules, modules, get_memory, free_memory,
                                      copy,     streams, events,  launch,     launch,
                                      graphs,   graphs,  ask};

/* All that is left goes, with its context; that of the device is made empty. Graphs are of no
 * context: what stays would grow, and libFuzzer looks for leaks only where little does. */
static void clear(void)
{
    CUcontext ctx;
    while (cuCtxPopCurrent_v2(&ctx) == CUDA_SUCCESS)
        continue;
    for (unsigned i = 0; i < s.n_contexts; i++)
        cuCtxDestroy_v2(s.contexts[i]);
    while (cuDevicePrimaryCtxRelease_v2(0) == CUDA_SUCCESS)
        continue;
    for (unsigned i = 0; i < s.n; i++)
        if (cuGraphExecDestroy(s.all[i]) != CUDA_SUCCESS)
            cuGraphDestroy(s.all[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CUcontext ctx = NULL;
    setenv("PTERA_ENGINE", "interp", 0);
    s = (struct state){.in = {data, size}};
    if (cuInit(0) != CUDA_SUCCESS || cuCtxCreate_v2(&ctx, 0, 0) != CUDA_SUCCESS)
        abort();
    s.contexts[s.n_contexts++] = ctx;
    keep(CUDA_SUCCESS, ctx);
    for (unsigned i = 0; s.in.left && i < CALLS_MAX; i++)
        PICK(&s.in, calls)();
    clear();
    return 0;
}
