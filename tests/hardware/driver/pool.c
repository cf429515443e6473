/* Memory pools, and virtual memory. */
#include "tests/hardware/driver/say.h"

static CUmemPoolProps properties(void)
{
    CUmemPoolProps p;
    memset(&p, 0, sizeof p);
    p.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    return p;
}

static void create_pools(void)
{
    CUmemoryPool pool;
    CUmemPoolProps p = properties();
    SAY(cuMemPoolCreate(NULL, &p));
    MAKE(pool, cuMemPoolCreate(&pool, NULL));
    MAKE(pool, cuMemPoolCreate(&pool, &p));
    SAY(cuMemPoolDestroy(pool));
    p.allocType = CU_MEM_ALLOCATION_TYPE_INVALID;
    MAKE(pool, cuMemPoolCreate(&pool, &p));
    p.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED;
    MAKE(pool, cuMemPoolCreate(&pool, &p));
    p = properties();
    p.location.id = 9;
    MAKE(pool, cuMemPoolCreate(&pool, &p));
    p = properties();
    p.location.type = CU_MEM_LOCATION_TYPE_HOST;
    MAKE(pool, cuMemPoolCreate(&pool, &p));
    p.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    MAKE(pool, cuMemPoolCreate(&pool, &p));
    p = properties();
    for (int type = 0; type < 10; type++) {
        printf("%d\n", type);
        p.handleTypes = (CUmemAllocationHandleType)type;
        MAKE(pool, cuMemPoolCreate(&pool, &p));
    }
    p = properties();
    p.maxSize = 1 << 22;
    MAKE(pool, cuMemPoolCreate(&pool, &p));
    p.usage = 7;
    MAKE(pool, cuMemPoolCreate(&pool, &p));
    p = properties();
    p.reserved[3] = 1;
    MAKE(pool, cuMemPoolCreate(&pool, &p));
}

void part_pool(void)
{
    CUmemoryPool pool, own;
    CUmemPoolProps p = properties();
    unsigned long long v = 0;
    int on = 1;
    say_begin();
    create_pools();
    SAY(cuDeviceGetDefaultMemPool(&pool, 0));
    SAY(cuMemPoolCreate(&own, &p));
    for (int id = 0; id < 14; id++) {
        v = 0;
        printf("%d\n", id);
        SAY(cuMemPoolGetAttribute(pool, (CUmemPool_attribute)id, &v));
        printf("%llu\n", v);
        SAY(cuMemPoolGetAttribute(NULL, (CUmemPool_attribute)id, &v));
    }
    for (int id = 0; id < 14; id++) {
        v = 1;
        printf("%d\n", id);
        SAY(cuMemPoolSetAttribute(own, (CUmemPool_attribute)id, &v));
        v = 0;
        SAY(cuMemPoolSetAttribute(own, (CUmemPool_attribute)id, &v));
    }
    SAY(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, NULL));
    SAY(cuMemPoolSetAttribute(own, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &on));
    SAY(cuMemPoolDestroy(pool));
    SAY(cuMemPoolDestroy(NULL));
    SAY(cuMemPoolTrimTo(pool, 0));
    SAY(cuMemPoolTrimTo(NULL, 0));
    SAY(cuDeviceSetMemPool(0, own));
    SAY(cuDeviceSetMemPool(9, own));
    MAKE(pool, cuDeviceGetMemPool(&pool, 0));
    printf("own %d\n", pool == own);
    SAY(cuMemPoolDestroy(own));
    MAKE(pool, cuDeviceGetMemPool(&pool, 0));
    CUmemAccess_flags flags;
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0}, host = {CU_MEM_LOCATION_TYPE_HOST, 0},
                  wild = {CU_MEM_LOCATION_TYPE_DEVICE, 9};
    GET(flags, cuMemPoolGetAccess(&flags, pool, &here));
    GET(flags, cuMemPoolGetAccess(&flags, pool, &host));
    GET(flags, cuMemPoolGetAccess(&flags, pool, &wild));
    SAY(cuMemPoolGetAccess(NULL, pool, &here));
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_NONE};
    for (int f = 0; f < 4; f++) {
        printf("%d\n", f);
        access.flags = (CUmemAccess_flags)f;
        SAY(cuMemPoolSetAccess(pool, &access, 1));
    }
    SAY(cuMemPoolSetAccess(pool, NULL, 1));
    SAY(cuMemPoolSetAccess(pool, &access, 0));
    access.location.id = 9;
    SAY(cuMemPoolSetAccess(pool, &access, 1));
}

void part_pool_use(void)
{
    CUmemoryPool pool, own;
    CUmemPoolProps p = properties();
    CUdeviceptr a, b, c;
    CUstream s;
    unsigned long long v;
    int fd = -1;
    say_begin();
    MAKE(s, cuStreamCreate(&s, 0));
    SAY(cuDeviceGetDefaultMemPool(&pool, 0));
    SAY(cuMemAllocAsync(NULL, 4, s));
    MAKE(a, cuMemAllocAsync(&a, 0, s));
    MAKE(a, cuMemAllocAsync(&a, 1000, s));
    GET(v, cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &v));
    GET(v, cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &v));
    MAKE(b, cuMemAllocAsync(&b, 1000, s));
    printf("%lld\n", (long long)(b - a));
    GET(v, cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &v));
    MAKE(c, cuMemAllocAsync(&c, (size_t)1 << 50, s));
    SAY(cuMemFreeAsync(a, s));
    SAY(cuMemFreeAsync(a, s));
    SAY(cuMemFreeAsync(0, s));
    SAY(cuMemFreeAsync(16, s));
    SAY(cuMemFreeAsync(b + 8, s));
    MAKE(c, cuMemAllocAsync(&c, 1000, s));
    printf("reused %d\n", a == c);
    SAY(cuMemFree(b));
    SAY(cuMemFreeAsync(c, NULL));
    SAY(cuStreamSynchronize(s));
    SAY(cuCtxSynchronize());
    GET(v, cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &v));
    GET(v, cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &v));
    GET(v, cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &v));
    MAKE(b, cuMemAlloc(&b, 1000));
    SAY(cuMemFreeAsync(b, s));
    SAY(cuStreamSynchronize(s));
    MAKE(a, cuMemAllocFromPoolAsync(&a, 100, NULL, s));
    SAY(cuMemPoolCreate(&own, &p));
    MAKE(a, cuMemAllocFromPoolAsync(&a, 100, own, s));
    SAY(cuMemPoolExportToShareableHandle(&fd, own, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    SAY(cuMemPoolTrimTo(own, 0));
    GET(v, cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &v));
    SAY(cuMemPoolDestroy(own));
    SAY(cuMemFreeAsync(a, s));
    SAY(cuStreamSynchronize(s));
    p.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    SAY(cuMemPoolCreate(&own, &p));
    SAY(cuMemPoolExportToShareableHandle(&fd, own, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1));
    SAY(cuMemPoolExportToShareableHandle(&fd, own, CU_MEM_HANDLE_TYPE_WIN32, 0));
    SAY(cuMemPoolExportToShareableHandle(NULL, own, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    SAY(cuMemPoolExportToShareableHandle(&fd, own, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    printf("%d\n", fd >= 0);
    CUmemoryPool again;
    MAKE(again, cuMemPoolImportFromShareableHandle(&again, (void *)(uintptr_t)fd,
                                                   CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    MAKE(a, cuMemAllocFromPoolAsync(&a, 100, own, s));
    CUmemPoolPtrExportData data;
    SAY(cuMemPoolExportPointer(&data, a));
    SAY(cuMemPoolExportPointer(NULL, a));
    SAY(cuMemPoolExportPointer(&data, b));
    MAKE(c, cuMemAllocFromPoolAsync(&c, 100, again, s));
    MAKE(c, cuMemPoolImportPointer(&c, again, &data));
}

static CUmemAllocationProp pinned(void)
{
    CUmemAllocationProp p;
    memset(&p, 0, sizeof p);
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    return p;
}

void part_vmm(void)
{
    CUmemAllocationProp p = pinned(), got;
    CUmemGenericAllocationHandle handle;
    CUdeviceptr va;
    size_t n;
    say_begin();
    GET(n, cuMemGetAllocationGranularity(&n, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    GET(n, cuMemGetAllocationGranularity(&n, &p, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    GET(n, cuMemGetAllocationGranularity(&n, &p, 7));
    GET(n, cuMemGetAllocationGranularity(&n, NULL, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    SAY(cuMemGetAllocationGranularity(NULL, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    MAKE(va, cuMemAddressReserve(&va, 2 << 20, 0, 0, 0));
    SAY(cuMemAddressFree(va, 1 << 20));
    SAY(cuMemAddressFree(va + 4096, 2 << 20));
    SAY(cuMemAddressFree(va, 2 << 20));
    SAY(cuMemAddressFree(va, 2 << 20));
    MAKE(va, cuMemAddressReserve(&va, 4096, 0, 0, 0));
    MAKE(va, cuMemAddressReserve(&va, 65536, 0, 0, 0));
    MAKE(va, cuMemAddressReserve(&va, 100, 0, 0, 0));
    MAKE(va, cuMemAddressReserve(&va, 0, 0, 0, 0));
    MAKE(va, cuMemAddressReserve(&va, 2 << 20, 3, 0, 0));
    MAKE(va, cuMemAddressReserve(&va, 2 << 20, 4096, 0, 0));
    MAKE(va, cuMemAddressReserve(&va, 2 << 20, 4 << 20, 0, 0));
    printf("%d\n", (int)(va % (4 << 20)));
    MAKE(va, cuMemAddressReserve(&va, 2 << 20, 0, 0, 1));
    SAY(cuMemAddressReserve(NULL, 2 << 20, 0, 0, 0));
    MAKE(handle, cuMemCreate(&handle, 2 << 20, &p, 1));
    MAKE(handle, cuMemCreate(&handle, 1 << 20, &p, 0));
    MAKE(handle, cuMemCreate(&handle, 0, &p, 0));
    MAKE(handle, cuMemCreate(&handle, (size_t)1 << 50, &p, 0));
    SAY(cuMemCreate(NULL, 2 << 20, &p, 0));
    MAKE(handle, cuMemCreate(&handle, 2 << 20, NULL, 0));
    p.type = CU_MEM_ALLOCATION_TYPE_INVALID;
    MAKE(handle, cuMemCreate(&handle, 2 << 20, &p, 0));
    p = pinned();
    p.location.id = 9;
    MAKE(handle, cuMemCreate(&handle, 2 << 20, &p, 0));
    p = pinned();
    p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_WIN32;
    MAKE(handle, cuMemCreate(&handle, 2 << 20, &p, 0));
    p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    MAKE(handle, cuMemCreate(&handle, 2 << 20, &p, 0));
    SAY(cuMemGetAllocationPropertiesFromHandle(&got, handle));
    printf("%d %d %d\n", (int)got.type, (int)got.requestedHandleTypes, (int)got.location.type);
    SAY(cuMemGetAllocationPropertiesFromHandle(NULL, handle));
    int fd = -1;
    SAY(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1));
    SAY(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_WIN32, 0));
    SAY(cuMemExportToShareableHandle(NULL, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    SAY(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    printf("%d\n", fd >= 0);
    CUmemGenericAllocationHandle again;
    MAKE(again, cuMemImportFromShareableHandle(&again, (void *)(uintptr_t)fd,
                                               CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    SAY(cuMemRelease(again));
    MAKE(again, cuMemImportFromShareableHandle(&again, (void *)(uintptr_t)0,
                                               CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    SAY(cuMemRelease(handle));
    SAY(cuMemRelease(handle));
    SAY(cuMemRelease(0));
    p = pinned();
    MAKE(handle, cuMemCreate(&handle, 2 << 20, &p, 0));
    SAY(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
}

void part_vmm_map(void)
{
    CUmemAllocationProp p = pinned();
    CUmemGenericAllocationHandle handle, again;
    CUdeviceptr va;
    unsigned long long flags;
    CUmemAccessDesc rw = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    char byte = 1;
    say_begin();
    const size_t mb = 2 << 20;
    MAKE(va, cuMemAddressReserve(&va, 4 * mb, 0, 0, 0));
    MAKE(handle, cuMemCreate(&handle, 2 * mb, &p, 0));
    SAY(cuMemMap(va, 2 * mb, 0, handle, 1));
    SAY(cuMemMap(va, 3 * mb, 0, handle, 0));
    SAY(cuMemMap(va, mb, mb, handle, 0));
    SAY(cuMemMap(va + 4096, mb, 0, handle, 0));
    SAY(cuMemMap(0, mb, 0, handle, 0));
    SAY(cuMemMap(va, 0, 0, handle, 0));
    SAY(cuMemMap(va, mb, 0, 0, 0));
    SAY(cuMemMap(va + 3 * mb, 2 * mb, 0, handle, 0));
    SAY(cuMemUnmap(va, mb));
    SAY(cuMemMap(va, 2 * mb, 0, handle, 0));
    SAY(cuMemMap(va, 2 * mb, 0, handle, 0));
    SAY(cuMemcpyHtoD(va, &byte, 1));
    GET(flags, cuMemGetAccess(&flags, &rw.location, va));
    SAY(cuMemSetAccess(va, 2 * mb, &rw, 0));
    SAY(cuMemSetAccess(va, 2 * mb, NULL, 1));
    SAY(cuMemSetAccess(va, 4 * mb, &rw, 1));
    SAY(cuMemSetAccess(va, mb, &rw, 1));
    GET(flags, cuMemGetAccess(&flags, &rw.location, va));
    SAY(cuMemSetAccess(va, 2 * mb, &rw, 1));
    GET(flags, cuMemGetAccess(&flags, &rw.location, va));
    GET(flags, cuMemGetAccess(&flags, &rw.location, va + 3 * mb));
    SAY(cuMemGetAccess(NULL, &rw.location, va));
    SAY(cuMemGetAccess(&flags, NULL, va));
    SAY(cuMemcpyHtoD(va, &byte, 1));
    SAY(cuMemsetD8(va, 3, 2 * mb));
    SAY(cuMemsetD8(va, 3, 3 * mb));
    size_t n;
    CUdeviceptr base;
    GET(n, cuMemGetAddressRange(&base, &n, va + 100));
    SAY(cuMemFree(va));
    MAKE(again, cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)va));
    printf("same %d\n", again == handle);
    MAKE(again, cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(va + 3 * mb)));
    MAKE(again, cuMemRetainAllocationHandle(&again, NULL));
    SAY(cuMemRelease(handle));
    SAY(cuMemRelease(handle));
    SAY(cuMemcpyDtoH(&byte, va, 1));
    SAY(cuMemUnmap(va, mb));
    SAY(cuMemAddressFree(va, 4 * mb));
    rw.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    SAY(cuMemSetAccess(va, 2 * mb, &rw, 1));
    GET(flags, cuMemGetAccess(&flags, &rw.location, va));
    rw.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    SAY(cuMemSetAccess(va, 2 * mb, &rw, 1));
    rw.location.id = 9;
    SAY(cuMemSetAccess(va, 2 * mb, &rw, 1));
    SAY(cuMemUnmap(va, 2 * mb));
    SAY(cuMemUnmap(va, 2 * mb));
    SAY(cuMemAddressFree(va, 4 * mb));
}
