/* What pointers are said to be; attributes of ranges; memory of other processes. */
#include "tests/hardware/driver/say.h"

static void attributes(const char *what, CUdeviceptr p)
{
    for (int id = 1; id < 24; id++) {
        union {
            unsigned char bytes[64];
            int n;
            unsigned long long big;
        } v;
        memset(&v, 0, sizeof v);
        int r = (int)cuPointerGetAttribute(&v, (CUpointer_attribute)id, p);
        int address = id == CU_POINTER_ATTRIBUTE_CONTEXT || id == CU_POINTER_ATTRIBUTE_BUFFER_ID ||
                      (id >= 3 && id <= 4) || id == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR ||
                      id == 5 || id == CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR ||
                      id == CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE;
        printf("%s, attribute %d: %d %lld\n", what, id, r,
               address ? (long long)(v.big != 0) : (long long)v.n);
    }
}

static void runtime_says(const char *what, const void *p)
{
    struct cudaPointerAttributes a;
    memset(&a, 0, sizeof a);
    int r = (int)cudaPointerGetAttributes(&a, p);
    printf("%s: %d, type %d, device %d, %s %s\n", what, r, (int)a.type, a.device,
           a.devicePointer ? "device pointer" : "none", a.hostPointer ? "host pointer" : "none");
}

void part_pointer(void)
{
    CUdeviceptr p, m, a, g;
    void *h = NULL, *mapped = NULL;
    static char plain[8192] __attribute__((aligned(4096)));
    size_t n;
    unsigned on = 1;
    say_begin();
    MAKE(p, cuMemAlloc(&p, 1000));
    MAKE(m, cuMemAllocManaged(&m, 1000, CU_MEM_ATTACH_GLOBAL));
    MAKE(h, cuMemAllocHost(&h, 1000));
    MAKE(mapped, cuMemHostAlloc(&mapped, 1000, CU_MEMHOSTALLOC_DEVICEMAP));
    MAKE(a, cuMemAllocAsync(&a, 1000, NULL));
    MAKE(g, cuModuleGetGlobal(&g, &n, module, "bytes"));
    attributes("allocated", p + 10);
    attributes("managed", m);
    attributes("host", (CUdeviceptr)(uintptr_t)h);
    attributes("pool", a);
    attributes("variable", g);
    attributes("plain", (CUdeviceptr)(uintptr_t)plain);
    attributes("null", 0);
    SAY(cuMemHostRegister(plain, 4096, 0));
    attributes("registered", (CUdeviceptr)(uintptr_t)plain);
    SAY(cuPointerGetAttribute(NULL, CU_POINTER_ATTRIBUTE_CONTEXT, p));
    SAY(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
    SAY(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, m));
    SAY(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, 0));
    SAY(cuPointerSetAttribute(NULL, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
    SAY(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_IS_MANAGED, p));
    CUpointer_attribute ids[2] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                  CU_POINTER_ATTRIBUTE_IS_MANAGED};
    int type = 77, managed = 77;
    void *to[2] = {&type, &managed};
    SAY(cuPointerGetAttributes(2, ids, to, p));
    printf("%d %d\n", type, managed);
    SAY(cuPointerGetAttributes(2, ids, to, 16));
    printf("%d %d\n", type, managed);
    SAY(cuPointerGetAttributes(0, ids, to, p));
    SAY(cuPointerGetAttributes(2, NULL, to, p));
    runtime_says("allocated", (void *)(uintptr_t)p);
    runtime_says("inside", (void *)(uintptr_t)(p + 100));
    runtime_says("managed", (void *)(uintptr_t)m);
    runtime_says("host", h);
    runtime_says("pool", (void *)(uintptr_t)a);
    runtime_says("registered", plain);
    runtime_says("plain", plain + 4096);
    runtime_says("null", NULL);
    SAY(cudaPointerGetAttributes(NULL, h));
}

void part_range(void)
{
    CUdeviceptr p, q;
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    say_begin();
    MAKE(p, cuMemAllocManaged(&p, 1 << 16, CU_MEM_ATTACH_GLOBAL));
    MAKE(q, cuMemAlloc(&q, 1 << 16));
    for (int id = 0; id < 12; id++) {
        long long v = 77;
        size_t bytes = id == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY ? 8 : 4;
        printf("%d\n", id);
        SAY(cuMemRangeGetAttribute(&v, bytes, (CUmem_range_attribute)id, p, 1 << 16));
        printf("%d\n", (int)v);
    }
    SAY(cuMemAdvise(p, 1 << 16, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    SAY(cuMemAdvise(p, 1 << 16, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here));
    SAY(cuMemAdvise(p, 1 << 15, CU_MEM_ADVISE_SET_ACCESSED_BY, here));
    SAY(cuMemPrefetchAsync(p, 1 << 16, here, 0, NULL));
    SAY(cuCtxSynchronize());
    for (int id = 1; id < 9; id++) {
        long long v = 77;
        size_t bytes = id == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY ? 8 : 4;
        printf("%d\n", id);
        SAY(cuMemRangeGetAttribute(&v, bytes, (CUmem_range_attribute)id, p, 1 << 16));
        printf("%d\n", (int)v);
    }
    int v;
    GET(v, cuMemRangeGetAttribute(&v, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 0));
    GET(v, cuMemRangeGetAttribute(&v, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, q, 4096));
    GET(v, cuMemRangeGetAttribute(&v, 8, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 4096));
    GET(v, cuMemRangeGetAttribute(&v, 0, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 4096));
    GET(v, cuMemRangeGetAttribute(&v, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 0, 4096));
    SAY(cuMemRangeGetAttribute(NULL, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 4096));
    GET(v, cuMemRangeGetAttribute(&v, 3, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, 4096));
    int a = 77, b = 77;
    void *to[2] = {&a, &b};
    size_t sizes[2] = {4, 4};
    CUmem_range_attribute ids[2] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                    CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION};
    SAY(cuMemRangeGetAttributes(to, sizes, ids, 2, p, 4096));
    printf("%d %d\n", a, b);
    SAY(cuMemRangeGetAttributes(to, sizes, ids, 0, p, 4096));
    SAY(cuMemRangeGetAttributes(NULL, sizes, ids, 2, p, 4096));
    SAY(cuMemFree(p));
}

void part_ipc(void)
{
    CUdeviceptr p, m, a, q;
    CUipcMemHandle handle;
    CUipcEventHandle other;
    CUevent e, f;
    void *h = NULL;
    say_begin();
    MAKE(p, cuMemAlloc(&p, 1000));
    MAKE(m, cuMemAllocManaged(&m, 1000, CU_MEM_ATTACH_GLOBAL));
    MAKE(a, cuMemAllocAsync(&a, 1000, NULL));
    MAKE(h, cuMemAllocHost(&h, 1000));
    SAY(cuIpcGetMemHandle(&handle, p));
    SAY(cuIpcGetMemHandle(&handle, p + 8));
    SAY(cuIpcGetMemHandle(NULL, p));
    MAKE(q, cuIpcOpenMemHandle(&q, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    MAKE(q, cuIpcOpenMemHandle(&q, handle, 0));
    SAY(cuIpcOpenMemHandle(NULL, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    SAY(cuIpcCloseMemHandle(p));
    SAY(cuIpcCloseMemHandle(0));
    SAY(cuIpcGetMemHandle(&handle, m));
    SAY(cuIpcGetMemHandle(&handle, a));
    SAY(cuIpcGetMemHandle(&handle, (CUdeviceptr)(uintptr_t)h));
    SAY(cuIpcGetMemHandle(&handle, 0));
    SAY(cuIpcGetMemHandle(&handle, 16));
    memset(&handle, 0, sizeof handle);
    MAKE(q, cuIpcOpenMemHandle(&q, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    MAKE(e, cuEventCreate(&e, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    SAY(cuIpcGetEventHandle(&other, e));
    SAY(cuIpcGetEventHandle(NULL, e));
    MAKE(f, cuIpcOpenEventHandle(&f, other));
    SAY(cuIpcOpenEventHandle(NULL, other));
    MAKE(f, cuEventCreate(&f, 0));
    SAY(cuIpcGetEventHandle(&other, f));
    MAKE(f, cuEventCreate(&f, CU_EVENT_INTERPROCESS));
    SAY(cuIpcGetEventHandle(&other, NULL));
    memset(&other, 0, sizeof other);
    MAKE(f, cuIpcOpenEventHandle(&f, other));
}
