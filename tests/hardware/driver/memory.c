/* Memory: allocations, pages of the host, copies, settings, pointers, managed memory. */
#include "tests/hardware/driver/say.h"

void part_memory(void)
{
    CUdeviceptr p, q, base;
    size_t n;
    say_begin();
    SAY(cuMemAlloc(NULL, 4));
    MAKE(p, cuMemAlloc(&p, 0));
    MAKE(p, cuMemAlloc(&p, (size_t)1 << 50));
    MAKE(p, cuMemAlloc(&p, ~(size_t)0));
    MAKE(p, cuMemAlloc(&p, 1000));
    printf("aligned %d\n", p % 256 == 0);
    GET(n, cuMemGetAddressRange(&base, &n, p + 10));
    printf("%lld\n", (long long)(base - p));
    SAY(cuMemGetAddressRange(NULL, NULL, p));
    GET(n, cuMemGetAddressRange(NULL, &n, p + 999));
    GET(n, cuMemGetAddressRange(&base, &n, 16));
    GET(n, cuMemGetAddressRange(&base, &n, 0));
    SAY(cuMemFree(p + 4));
    SAY(cuMemFree(p));
    SAY(cuMemFree(p));
    SAY(cuMemFree(0));
    SAY(cuMemFree(16));
    MAKE(p, cuMemAllocPitch(&p, &n, 100, 10, 4));
    printf("%zu\n", n);
    GET(n, cuMemGetAddressRange(&base, &n, p));
    MAKE(q, cuMemAllocPitch(&q, &n, 600, 3, 16));
    printf("%zu\n", n);
    MAKE(q, cuMemAllocPitch(&q, &n, 100, 10, 3));
    MAKE(q, cuMemAllocPitch(&q, &n, 100, 10, 0));
    MAKE(q, cuMemAllocPitch(&q, &n, 0, 10, 4));
    MAKE(q, cuMemAllocPitch(&q, &n, 100, 0, 4));
    MAKE(q, cuMemAllocPitch(&q, &n, (size_t)1 << 40, 2, 4));
    SAY(cuMemAllocPitch(NULL, &n, 100, 10, 4));
    SAY(cuMemAllocPitch(&q, NULL, 100, 10, 4));
    SAY(cuMemGetInfo(NULL, NULL));
    SAY(cuMemGetInfo(&n, NULL));
    SAY(cuMemFree((CUdeviceptr)(uintptr_t)&n));
}

void part_host_memory(void)
{
    void *h = NULL, *more;
    CUdeviceptr p;
    unsigned flags;
    static char pages[65536] __attribute__((aligned(4096)));
    say_begin();
    SAY(cuMemAllocHost(NULL, 4));
    MAKE(h, cuMemAllocHost(&h, 0));
    MAKE(h, cuMemAllocHost(&h, 100));
    GET(flags, cuMemHostGetFlags(&flags, h));
    GET(flags, cuMemHostGetFlags(&flags, (char *)h + 50));
    SAY(cuMemHostGetFlags(NULL, h));
    GET(flags, cuMemHostGetFlags(&flags, pages));
    GET(flags, cuMemHostGetFlags(&flags, NULL));
    MAKE(p, cuMemHostGetDevicePointer(&p, h, 0));
    printf("same %d\n", (uintptr_t)h == p);
    MAKE(p, cuMemHostGetDevicePointer(&p, h, 1));
    MAKE(p, cuMemHostGetDevicePointer(&p, pages, 0));
    MAKE(p, cuMemHostGetDevicePointer(&p, NULL, 0));
    SAY(cuMemHostGetDevicePointer(NULL, h, 0));
    SAY(cuMemFreeHost((char *)h + 8));
    SAY(cuMemFreeHost(h));
    SAY(cuMemFreeHost(h));
    SAY(cuMemFreeHost(NULL));
    SAY(cuMemFreeHost(pages));
    for (unsigned f = 0; f < 10; f++) {
        printf("%u\n", f);
        MAKE(more, cuMemHostAlloc(&more, 100, f));
        GET(flags, cuMemHostGetFlags(&flags, more));
    }
    MAKE(more, cuMemHostAlloc(&more, 0, 0));
    SAY(cuMemHostRegister(NULL, 4096, 0));
    SAY(cuMemHostRegister(pages, 0, 0));
    SAY(cuMemHostRegister(pages, 4096, 0x100));
    SAY(cuMemHostRegister(pages, 8192, 0));
    GET(flags, cuMemHostGetFlags(&flags, pages));
    SAY(cuMemHostRegister(pages, 8192, 0));
    SAY(cuMemHostRegister(pages + 4096, 8192, 0));
    SAY(cuMemHostRegister(pages + 8192, 4096, CU_MEMHOSTREGISTER_DEVICEMAP));
    GET(flags, cuMemHostGetFlags(&flags, pages + 8192));
    MAKE(p, cuMemHostGetDevicePointer(&p, pages + 8200, 0));
    SAY(cuMemHostRegister(pages + 20000, 100, CU_MEMHOSTREGISTER_PORTABLE));
    SAY(cuMemHostRegister(pages + 20200, 100, 0));
    SAY(cuMemHostRegister(pages + 32768, 4096, CU_MEMHOSTREGISTER_READ_ONLY));
    SAY(cuMemHostRegister(pages + 40960, 4096, CU_MEMHOSTREGISTER_IOMEMORY));
    SAY(cuMemHostUnregister(pages + 100));
    SAY(cuMemHostUnregister(pages));
    SAY(cuMemHostUnregister(pages));
    SAY(cuMemHostUnregister(NULL));
    SAY(cuMemHostUnregister(pages + 49152));
    SAY(cuMemHostRegister((void *)(uintptr_t)0x100000, 4096, 0));
    MAKE(h, cuMemHostAlloc(&h, 4096, 0));
    SAY(cuMemHostRegister(h, 4096, 0));
    SAY(cuMemHostUnregister(h));
    SAY(cuMemFreeHost(pages + 8192));
    MAKE(p, cuMemAlloc(&p, 4096));
    SAY(cuMemFreeHost((void *)(uintptr_t)p));
    SAY(cuMemFree((CUdeviceptr)(uintptr_t)h));
}

static void copy_shapes(CUdeviceptr p, char *host)
{
    CUDA_MEMCPY2D c;
    memset(&c, 0, sizeof c);
    SAY(cuMemcpy2D(NULL));
    SAY(cuMemcpy2D(&c));
    c.srcMemoryType = CU_MEMORYTYPE_HOST;
    c.srcHost = host;
    c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    c.dstDevice = p;
    SAY(cuMemcpy2D(&c));
    c.WidthInBytes = 16;
    c.Height = 4;
    SAY(cuMemcpy2D(&c));
    c.srcPitch = 16;
    c.dstPitch = 8;
    SAY(cuMemcpy2D(&c));
    c.dstPitch = 64;
    SAY(cuMemcpy2D(&c));
    c.srcXInBytes = 8;
    SAY(cuMemcpy2D(&c));
    c.srcXInBytes = 0;
    c.Height = 17;
    SAY(cuMemcpy2D(&c));
    SAY(cuMemcpy2DUnaligned(&c));
    c.Height = 4;
    c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    SAY(cuMemcpy2D(&c));
    c.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    SAY(cuMemcpy2D(&c));
    c.dstMemoryType = (CUmemorytype)9;
    SAY(cuMemcpy2D(&c));
    c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    c.dstPitch = (size_t)1 << 32;
    SAY(cuMemcpy2D(&c));
    SAY(cuMemcpy2DUnaligned(&c));
}

void part_copy(void)
{
    CUdeviceptr p, q;
    static char host[1024];
    CUstream s;
    say_begin();
    MAKE(p, cuMemAlloc(&p, 1024));
    MAKE(q, cuMemAlloc(&q, 1024));
    MAKE(s, cuStreamCreate(&s, 0));
    SAY(cuMemcpyHtoD(p, host, 0));
    SAY(cuMemcpyHtoD(0, host, 0));
    SAY(cuMemcpyHtoD(0, NULL, 0));
    SAY(cuMemcpyHtoD(p, NULL, 0));
    SAY(cuMemcpyHtoD(p, NULL, 4));
    SAY(cuMemcpyHtoD(0, host, 4));
    SAY(cuMemcpyHtoD(16, host, 4));
    SAY(cuMemcpyHtoD(p + 1020, host, 4));
    SAY(cuMemcpyDtoH(NULL, p, 4));
    SAY(cuMemcpyDtoH(host, 0, 4));
    SAY(cuMemcpyDtoH(host, 16, 4));
    SAY(cuMemcpyDtoD(p, 0, 4));
    SAY(cuMemcpyDtoD(p, p + 4, 16));
    SAY(cuMemcpyDtoD(p, p, 16));
    SAY(cuMemcpyDtoD(p, q, 1024));
    SAY(cuMemcpyDtoD(p, q, 0));
    SAY(cuMemcpy(p, q, 16));
    SAY(cuMemcpy((CUdeviceptr)(uintptr_t)host, q, 16));
    SAY(cuMemcpy((CUdeviceptr)(uintptr_t)host, (CUdeviceptr)(uintptr_t)(host + 64), 16));
    SAY(cuMemcpy(0, 0, 0));
    SAY(cuMemcpy(0, p, 4));
    SAY(cuMemcpyAsync(p, q, 16, s));
    SAY(cuMemcpyAsync(p, 0, 4, s));
    SAY(cuMemcpyHtoDAsync(p, host, 4, s));
    SAY(cuMemcpyHtoDAsync(p, NULL, 4, s));
    SAY(cuMemcpyHtoDAsync(0, host, 4, s));
    SAY(cuMemcpyDtoHAsync(host, 0, 4, s));
    SAY(cuMemcpyDtoH(host, (CUdeviceptr)(uintptr_t)(host + 64), 4));
    SAY(cuMemcpyHtoD((CUdeviceptr)(uintptr_t)(host + 64), host, 4));
    SAY(cuMemcpyHtoD(p, (void *)(uintptr_t)q, 4));
    SAY(cuMemcpyDtoH((void *)(uintptr_t)q, p, 4));
    SAY(cuMemcpyPeer(p, context, q, context, 16));
    SAY(cuMemcpyPeer(p, NULL, q, context, 16));
    SAY(cuMemcpyPeerAsync(p, context, q, context, 16, s));
    SAY(cuMemcpyHtoD(p + 1000, host, (size_t)1 << 40));
    SAY(cuMemcpyDtoD(p, q, (size_t)1 << 40));
    copy_shapes(p, host);
}

void part_set(void)
{
    CUdeviceptr p;
    static char host[64];
    say_begin();
    MAKE(p, cuMemAlloc(&p, 1024));
    SAY(cuMemsetD8(p, 1, 0));
    SAY(cuMemsetD8(0, 1, 0));
    SAY(cuMemsetD8(0, 1, 4));
    SAY(cuMemsetD8(16, 1, 4));
    SAY(cuMemsetD8(p + 3, 1, 5));
    SAY(cuMemsetD16(p + 1, 1, 4));
    SAY(cuMemsetD16(p + 2, 1, 4));
    SAY(cuMemsetD32(p + 2, 1, 4));
    SAY(cuMemsetD32(p + 4, 1, 4));
    SAY(cuMemsetD32(p + 2, 1, 0));
    SAY(cuMemsetD8(p, 1, 1 << 30));
    SAY(cuMemsetD8((CUdeviceptr)(uintptr_t)host, 1, 4));
    SAY(cuMemsetD2D8(p, 16, 1, 8, 4));
    SAY(cuMemsetD2D8(p, 4, 1, 8, 4));
    SAY(cuMemsetD2D8(p, 0, 1, 8, 1));
    SAY(cuMemsetD2D8(p, 16, 1, 0, 4));
    SAY(cuMemsetD2D8(p, 16, 1, 8, 0));
    SAY(cuMemsetD2D16(p, 15, 1, 4, 4));
    SAY(cuMemsetD2D16(p + 1, 16, 1, 4, 4));
    SAY(cuMemsetD2D32(p, 18, 1, 4, 4));
    SAY(cuMemsetD2D32(p, 16, 1, 4, 4));
    SAY(cuMemsetD2D32(p, 16, 1, 4, 1000));
    SAY(cuMemsetD8Async(p, 1, 4, NULL));
    SAY(cuMemsetD8Async(0, 1, 4, NULL));
    SAY(cuMemsetD32Async(p + 1, 1, 4, NULL));
    void *h = NULL;
    SAY(cuMemAllocHost(&h, 64));
    SAY(cuMemsetD8((CUdeviceptr)(uintptr_t)h, 7, 4));
    printf("%d\n", *(char *)h);
}

void part_managed(void)
{
    CUdeviceptr p, q;
    size_t n;
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0}, host = {CU_MEM_LOCATION_TYPE_HOST, 0},
                  wild = {CU_MEM_LOCATION_TYPE_DEVICE, 9}, none = {(CUmemLocationType)77, 0};
    CUstream s;
    say_begin();
    SAY(cuMemAllocManaged(NULL, 4, CU_MEM_ATTACH_GLOBAL));
    MAKE(p, cuMemAllocManaged(&p, 0, CU_MEM_ATTACH_GLOBAL));
    for (unsigned f = 0; f < 6; f++) {
        printf("%u\n", f);
        MAKE(p, cuMemAllocManaged(&p, 100, f));
    }
    MAKE(s, cuStreamCreate(&s, 0));
    MAKE(p, cuMemAllocManaged(&p, 1 << 16, CU_MEM_ATTACH_GLOBAL));
    MAKE(q, cuMemAlloc(&q, 1 << 16));
    GET(n, cuMemGetAddressRange(NULL, &n, p));
    SAY(cuStreamAttachMemAsync(s, p, 0, CU_MEM_ATTACH_SINGLE));
    SAY(cuStreamAttachMemAsync(s, p, 1 << 16, CU_MEM_ATTACH_HOST));
    SAY(cuStreamAttachMemAsync(s, p, 1000, CU_MEM_ATTACH_GLOBAL));
    SAY(cuStreamAttachMemAsync(s, p, 0, 3));
    SAY(cuStreamAttachMemAsync(NULL, p, 0, CU_MEM_ATTACH_SINGLE));
    SAY(cuStreamAttachMemAsync(s, q, 0, CU_MEM_ATTACH_SINGLE));
    SAY(cuStreamAttachMemAsync(s, p + 4, 0, CU_MEM_ATTACH_GLOBAL));
    SAY(cuStreamAttachMemAsync(s, p, 0, CU_MEM_ATTACH_GLOBAL));
    for (int advice = 0; advice < 9; advice++) {
        printf("%d\n", advice);
        SAY(cuMemAdvise(p, 4096, (CUmem_advise)advice, here));
        SAY(cuMemAdvise(p, 4096, (CUmem_advise)advice, host));
        SAY(cuMemAdvise(q, 4096, (CUmem_advise)advice, here));
    }
    SAY(cuMemAdvise(p, 0, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    SAY(cuMemAdvise(p, 1 << 20, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    SAY(cuMemAdvise(p, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, wild));
    SAY(cuMemAdvise(p, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, none));
    SAY(cuMemAdvise(0, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    SAY(cuMemPrefetchAsync(p, 1 << 16, here, 0, s));
    SAY(cuMemPrefetchAsync(p, 1 << 16, host, 0, s));
    SAY(cuMemPrefetchAsync(p, 1 << 16, wild, 0, s));
    SAY(cuMemPrefetchAsync(p, 1 << 16, none, 0, s));
    SAY(cuMemPrefetchAsync(p, 1 << 16, here, 1, s));
    SAY(cuMemPrefetchAsync(p, 0, here, 0, s));
    SAY(cuMemPrefetchAsync(p, 1 << 20, here, 0, s));
    SAY(cuMemPrefetchAsync(q, 1 << 16, here, 0, s));
    SAY(cuMemPrefetchAsync(0, 1 << 16, here, 0, s));
    SAY(cuMemPrefetchAsync(p, 1 << 16, here, 0, NULL));
    size_t sizes[1] = {1 << 16}, at[1] = {0}, wrong[1] = {4};
    SAY(cuMemPrefetchBatchAsync(&p, sizes, 1, &here, at, 1, 0, s));
    SAY(cuMemPrefetchBatchAsync(&p, sizes, 1, &here, wrong, 1, 0, s));
    SAY(cuMemPrefetchBatchAsync(&p, sizes, 0, &here, at, 1, 0, s));
    SAY(cuMemPrefetchBatchAsync(&p, sizes, 1, &here, at, 1, 1, s));
    SAY(cuMemPrefetchBatchAsync(&p, sizes, 1, &here, at, 1, 0, NULL));
    SAY(cuMemDiscardBatchAsync(&p, sizes, 1, 0, s));
    SAY(cuMemDiscardBatchAsync(&q, sizes, 1, 0, s));
    SAY(cuMemDiscardAndPrefetchBatchAsync(&p, sizes, 1, &here, at, 1, 0, s));
    SAY(cuStreamSynchronize(s));
}
