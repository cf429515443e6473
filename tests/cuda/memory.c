/* Memory of all kinds, what the driver knows of addresses, pools, memory in the order of a
 * stream. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/cuda/support.h"

static void check_device_memory(void)
{
    CUdeviceptr p, q, base;
    size_t before, after, total, pitch, bytes;
    OK(cuMemGetInfo_v2(&before, &total));
    CHECK(before <= total);
    OK(cuMemAlloc_v2(&p, 1 << 20));
    CHECK_INT(p % 256, 0);
    OK(cuMemGetInfo_v2(&after, NULL));
    CHECK_INT(before - after, 1 << 20);
    OK(cuMemGetAddressRange_v2(&base, &bytes, p + 1000));
    CHECK(base == p && bytes == 1 << 20);
    CHECK_CU(cuMemGetAddressRange_v2(&base, &bytes, p + (1 << 20)), CUDA_ERROR_NOT_FOUND);
    CHECK_CU(cuMemFree_v2(p + 256), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree_v2(p));
    CHECK_CU(cuMemFree_v2(p), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree_v2(0));
    CHECK_CU(cuMemAlloc_v2(&p, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemAlloc_v2(NULL, 16), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemAlloc_v2(&p, (size_t)1 << 60), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_CU(cuMemAlloc_v2(&p, total + 1), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_CU(cuMemFree_v2((CUdeviceptr)(uintptr_t)WILD), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAllocPitch_v2(&p, &pitch, 1000, 10, 4));
    CHECK(pitch >= 1000 && pitch % 512 == 0);
    OK(cuMemGetAddressRange_v2(NULL, &bytes, p));
    CHECK_INT(bytes, pitch * 10);
    OK(cuMemFree_v2(p));
    CHECK_CU(cuMemAllocPitch_v2(&p, &pitch, 1000, 10, 3), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemAllocPitch_v2(&p, &pitch, 0, 10, 4), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemAllocPitch_v2(&p, NULL, 10, 10, 4), CUDA_ERROR_INVALID_VALUE);
    /* blocks that are used again never overlap */
    CUdeviceptr many[64];
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < 64; i++) {
            OK(cuMemAlloc_v2(&many[i], 100 * (i + 1)));
            OK(cuMemsetD8_v2(many[i], (unsigned char)i, 100 * (i + 1)));
        }
        for (size_t i = 0; i < 64; i++) {
            unsigned char last = 0;
            OK(cuMemcpyDtoH_v2(&last, many[i] + 100 * (i + 1) - 1, 1));
            CHECK_INT(last, i);
            OK(cuMemFree_v2(many[i]));
        }
    }
    OK(cuMemAlloc_v2(&q, 16));
    OK(cuMemFree_v2(q));
    OK(cuMemGetInfo_v2(&after, NULL));
    CHECK_INT(before, after);
}

static void check_host_memory(void)
{
    void *p = NULL;
    unsigned *own = malloc(40000), flags = 0, value = 3, n = 1;
    CUdeviceptr d;
    CUmodule module = load_kernels();
    OK(cuMemHostAlloc(&p, 4096, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_WRITECOMBINED));
    *(unsigned *)p = 4;
    OK(cuMemHostGetFlags(&flags, p));
    CHECK_INT(flags, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED);
    OK(cuMemHostGetDevicePointer_v2(&d, p, 0));
    OK(LAUNCH(function_of(module, "add"), 1, NULL, &d, &n, &value));
    OK(cuCtxSynchronize());
    CHECK_INT(*(unsigned *)p, 7);
    CHECK_CU(cuMemFree_v2((uintptr_t)p), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFreeHost(p));
    CHECK_CU(cuMemFreeHost(p), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFreeHost(NULL));
    OK(cuMemAllocHost_v2(&p, 64));
    OK(cuMemFreeHost(p));
    CHECK_CU(cuMemHostAlloc(&p, 64, 0x100), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemHostAlloc(NULL, 64, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemHostAlloc(&p, 0, 0));
    CHECK(!p);
    CHECK_CU(cuMemHostGetFlags(&flags, own), CUDA_ERROR_INVALID_VALUE);
    own[0] = 1;
    OK(cuMemHostRegister_v2(own, 40000, CU_MEMHOSTREGISTER_DEVICEMAP));
    CHECK_CU(cuMemHostRegister_v2(own, 40000, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    CHECK_CU(cuMemHostRegister_v2(own + 100, 4, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    OK(cuMemHostGetDevicePointer_v2(&d, own, 0));
    OK(LAUNCH(function_of(module, "add"), 1, NULL, &d, &n, &value));
    OK(cuCtxSynchronize());
    CHECK_INT(own[0], 4);
    CHECK_CU(cuMemHostUnregister(own + 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemHostUnregister(own));
    CHECK_CU(cuMemHostUnregister(own), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    CHECK_CU(cuMemHostUnregister(NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemHostRegister_v2(NULL, 4, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemHostRegister_v2(own, 0, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemHostGetDevicePointer_v2(&d, own, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuModuleUnload(module));
    free(own);
}

static const char storing[] =
    PTX_HEADER ".visible .entry storing(.param .u64 p)\n{\n"
               "    .reg .b64 %rd<4>; .reg .b32 %r<2>; .reg .pred %q;\n"
               "    ld.param.u64 %rd1, [p]; mov.u32 %r1, 100000;\n"
               "    mov.b64 %rd2, 0x5555555555555555; not.b64 %rd3, %rd2;\nagain:\n"
               "    st.relaxed.sys.b64 [%rd1], %rd2; st.relaxed.sys.b64 [%rd1], %rd3;\n"
               "    sub.u32 %r1, %r1, 1; setp.ne.u32 %q, %r1, 0; @%q bra again;\n    ret;\n}\n";

/* Whoever reads while a kernel stores finds a word as it was or as it is. */
static void check_words(void)
{
    CUmodule module;
    CUstream stream;
    CUdeviceptr p;
    unsigned torn = 0;
    OK(cuMemAllocManaged(&p, 8, CU_MEM_ATTACH_GLOBAL));
    volatile uint64_t *word = (volatile uint64_t *)(uintptr_t)p;
    *word = 0x5555555555555555;
    OK(cuModuleLoadData(&module, storing));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(LAUNCH(function_of(module, "storing"), 1, stream, &p));
    while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
        for (int i = 0; i < 1000; i++) {
            uint64_t now = *word;
            torn += now != 0x5555555555555555 && now != 0xaaaaaaaaaaaaaaaa;
        }
    OK(cuStreamSynchronize(stream));
    CHECK_INT(torn, 0);
    CHECK(*word == 0xaaaaaaaaaaaaaaaa);
    OK(cuStreamDestroy_v2(stream));
    OK(cuModuleUnload(module));
    OK(cuMemFree_v2(p));
}

/* Whether the page lies in a file that has no name any more. */
static bool is_in_file(CUdeviceptr address)
{
    char line[512];
    bool is = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && fgets(line, sizeof line, maps)) {
        char *end;
        unsigned long first = strtoul(line, &end, 16), last = strtoul(end + 1, NULL, 16);
        if (address >= first && address < last)
            is = strstr(line, "(deleted)") != NULL;
    }
    if (maps)
        fclose(maps);
    return is;
}

/* What the system has written to its file it reads again, for the host and for kernels. */
static void check_paged(void)
{
    size_t machine = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    CUdeviceptr small, p;
    unsigned n = 1, value = 5;
    OK(cuMemAllocManaged(&small, 4096, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemAllocManaged(&p, 2 * machine, CU_MEM_ATTACH_GLOBAL));
    CHECK(!is_in_file(small));
    CHECK(is_in_file(p) && is_in_file(p + 2 * machine - 4));
    CUdeviceptr last = p + 2 * machine - 4;
    volatile int *word = (volatile int *)(uintptr_t)last;
    *word = 37;
    void *page = (void *)(uintptr_t)(last & ~(uint64_t)(sysconf(_SC_PAGESIZE) - 1));
    madvise(page, (size_t)sysconf(_SC_PAGESIZE), MADV_PAGEOUT);
    OK(LAUNCH(function_of(load_kernels(), "add"), 32, NULL, &last, &n, &value));
    OK(cuCtxSynchronize());
    CHECK_INT(*word, 42);
    CHECK_INT(*(volatile int *)(uintptr_t)p, 0);
    OK(cuMemFree_v2(p));
    OK(cuMemFree_v2(small));
    OK(cuMemAllocManaged(&p, 1 << 20, CU_MEM_ATTACH_GLOBAL));
    CHECK(!is_in_file(p));
    OK(cuMemFree_v2(p));
}

static void check_managed(void)
{
    CUdeviceptr p;
    int value[3] = {0};
    size_t sizes[2] = {4, 12};
    void *data[2] = {&value[0], value};
    CUmem_range_attribute which[2] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                      CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY};
    CUmemLocation host = {CU_MEM_LOCATION_TYPE_HOST, 0};
    CUstream stream;
    OK(cuStreamCreate(&stream, 0));
    OK(cuMemAllocManaged(&p, 4096, CU_MEM_ATTACH_GLOBAL));
    ((int *)(uintptr_t)p)[3] = 9; /* the host's as well */
    OK(cuMemPrefetchAsync(p, 4096, 0, stream));
    OK(cuMemPrefetchAsync_v2(p, 4096, host, 0, NULL));
    OK(cuMemRangeGetAttribute(value, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p, 4096));
    CHECK_INT(value[0], CU_DEVICE_CPU);
    OK(cuMemAdvise(p, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, 0));
    OK(cuMemAdvise(p, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, CU_DEVICE_CPU));
    OK(cuMemAdvise_v2(p, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY,
                      (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, 0}));
    OK(cuMemRangeGetAttributes(data, sizes, which, 1, p, 4096));
    CHECK_INT(value[0], 1);
    OK(cuMemRangeGetAttributes(data + 1, sizes + 1, which + 1, 1, p, 4096));
    CHECK(value[0] == 0 && value[1] == CU_DEVICE_CPU && value[2] == CU_DEVICE_INVALID);
    CHECK_CU(cuMemAdvise(p, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, 44),
             CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemAdvise(p, 8192, CU_MEM_ADVISE_SET_READ_MOSTLY, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemAdvise(p, 4096, (CUmem_advise)99, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemRangeGetAttribute(value, 8, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 4096),
             CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemPrefetchAsync(p, 4096, 44, NULL), CUDA_ERROR_INVALID_DEVICE);
    OK(cuStreamAttachMemAsync(stream, p, 0, CU_MEM_ATTACH_SINGLE));
    CHECK_CU(cuStreamAttachMemAsync(stream, p, 8, CU_MEM_ATTACH_SINGLE), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree_v2(p));
    size_t all, left, still; /* more than the device has */
    OK(cuMemGetInfo_v2(&left, &all));
    OK(cuMemAllocManaged(&p, 2 * all, CU_MEM_ATTACH_GLOBAL));
    ((char *)(uintptr_t)p)[2 * all - 1] = 1;
    OK(cuMemGetInfo_v2(&still, NULL));
    CHECK(still == left);
    OK(cuMemFree_v2(p));
    CHECK_CU(cuMemAllocManaged(&p, 4096, 7), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemAllocManaged(&p, 0, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
    OK(cuStreamDestroy_v2(stream));
}

/* The six that runtime libraries ask for, of any address. */
static void look_at(CUdeviceptr address, CUmemorytype type, int managed)
{
    CUcontext ctx = WILD;
    unsigned have = 99;
    CUdeviceptr device = 1;
    void *host = WILD;
    int is_managed = 99, ordinal = 99;
    CUpointer_attribute which[] = {
        CU_POINTER_ATTRIBUTE_CONTEXT,        CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        CU_POINTER_ATTRIBUTE_DEVICE_POINTER, CU_POINTER_ATTRIBUTE_HOST_POINTER,
        CU_POINTER_ATTRIBUTE_IS_MANAGED,     CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void *data[] = {&ctx, &have, &device, &host, &is_managed, &ordinal};
    OK(cuPointerGetAttributes(6, which, data, address));
    CHECK_INT(have, type);
    CHECK_INT(is_managed, managed);
    CHECK_INT(device, type ? address : 0);
    CHECK_INT((uintptr_t)host, type == CU_MEMORYTYPE_HOST || managed ? address : 0);
    CHECK_INT(ordinal, type ? 0 : CU_DEVICE_INVALID);
    CHECK((type != 0) == (ctx != NULL));
}

static void check_pointers(void)
{
    CUdeviceptr p, m;
    void *h;
    uint64_t value = 0;
    int here = 0;
    OK(cuMemAlloc_v2(&p, 100));
    OK(cuMemAllocManaged(&m, 100, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemHostAlloc(&h, 100, 0));
    look_at(p + 5, CU_MEMORYTYPE_DEVICE, 0);
    look_at(m, CU_MEMORYTYPE_DEVICE, 1);
    look_at((uintptr_t)h + 99, CU_MEMORYTYPE_HOST, 0);
    look_at((uintptr_t)&here, (CUmemorytype)0, 0);
    look_at(p + 100, (CUmemorytype)0, 0);
    OK(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, p + 5));
    CHECK_INT(value, p);
    OK(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_RANGE_SIZE, p + 5));
    CHECK_INT(value, 100);
    here = 1;
    OK(cuPointerSetAttribute(&here, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
    CHECK_CU(cuPointerSetAttribute(&here, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p),
             CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, (uintptr_t)&here),
             CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_HOST_POINTER, p),
             CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuPointerGetAttribute(NULL, CU_POINTER_ATTRIBUTE_CONTEXT, p),
             CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuPointerGetAttribute(&value, (CUpointer_attribute)777, p), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuPointerGetAttributes(0, NULL, NULL, p), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree_v2(p));
    OK(cuMemFree_v2(m));
    OK(cuMemFreeHost(h));
}

static void check_pools(void)
{
    CUmemoryPool pool, own, seen;
    CUdeviceptr p = 0, q;
    CUstream stream;
    uint64_t value = 0;
    unsigned out[4] = {0};
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemAccess_flags flags;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuDeviceGetMemPool(&seen, 0));
    CHECK(pool == seen);
    OK(cuMemAllocAsync(&p, sizeof out, stream));
    OK(cuMemsetD32Async(p, 0x12345678, 4, stream));
    OK(cuMemcpyDtoHAsync_v2(out, p, sizeof out, stream));
    OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value));
    CHECK_INT(value, sizeof out);
    OK(cuPointerGetAttribute(&seen, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p));
    CHECK(seen == pool);
    OK(cuMemFreeAsync(p, stream));
    CHECK_CU(cuMemFreeAsync(p, stream), CUDA_ERROR_INVALID_VALUE);
    OK(cuStreamSynchronize(stream));
    CHECK_INT(out[3], 0x12345678);
    OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value));
    CHECK_INT(value, 0);
    OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &value));
    CHECK_INT(value, sizeof out);
    value = UINT64_MAX;
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
    CHECK_CU(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value),
             CUDA_ERROR_INVALID_VALUE);
    CUmemLocation place = {CU_MEM_LOCATION_TYPE_DEVICE, 0}, host = {CU_MEM_LOCATION_TYPE_HOST, 0};
    OK(cuMemGetDefaultMemPool(&seen, &place, CU_MEM_ALLOCATION_TYPE_PINNED));
    CHECK(seen == pool);
    OK(cuMemSetMemPool(&place, CU_MEM_ALLOCATION_TYPE_PINNED, pool));
    OK(cuMemGetMemPool(&seen, &place, CU_MEM_ALLOCATION_TYPE_PINNED));
    CHECK(seen == pool);
    CHECK_CU(cuMemGetMemPool(&seen, &host, CU_MEM_ALLOCATION_TYPE_PINNED),
             CUDA_ERROR_NOT_SUPPORTED);
    CHECK_CU(cuMemGetMemPool(&seen, NULL, CU_MEM_ALLOCATION_TYPE_PINNED), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemPoolTrimTo(pool, 0));
    props.maxSize = 1000;
    OK(cuMemPoolCreate(&own, &props));
    OK(cuMemAllocFromPoolAsync(&p, 900, own, stream));
    CHECK_CU(cuMemAllocFromPoolAsync(&q, 101, own, stream), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemPoolSetAccess(own, &access, 1));
    OK(cuMemPoolGetAccess(&flags, own, &access.location));
    CHECK_INT(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    OK(cuDeviceSetMemPool(0, own));
    OK(cuMemPoolDestroy(own)); /* goes with its last block; the default pool takes its place */
    OK(cuDeviceGetMemPool(&seen, 0));
    CHECK(seen == pool);
    OK(cuMemFree_v2(p));
    CHECK_CU(cuMemAllocFromPoolAsync(&p, 16, own, stream), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemAllocFromPoolAsync(&p, 16, WILD, stream), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemAllocAsync(NULL, 16, stream), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemAllocAsync(&p, 16, WILD), CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuMemFreeAsync(12345, stream), CUDA_ERROR_INVALID_VALUE);
    props.location.id = 9;
    CHECK_CU(cuMemPoolCreate(&own, &props), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemPoolCreate(&own, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuDeviceGetMemPool(&seen, 3), CUDA_ERROR_INVALID_DEVICE);
    OK(cuStreamDestroy_v2(stream));
}

static uint64_t attribute_of(CUmemoryPool pool, CUmemPool_attribute which)
{
    uint64_t value = 77;
    OK(cuMemPoolGetAttribute(pool, which, &value));
    return value;
}

static void set_threshold(CUmemoryPool pool, uint64_t bytes)
{
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &bytes));
}

/* What was freed stays in the pool until a synchronisation finds more than the threshold. */
static void check_pool_keeping(CUmemoryPool pool, CUstream stream, CUstream other)
{
    enum { MIB = 1 << 20 };
    CUdeviceptr p, q;
    CUevent event;
    uint64_t zero = 0;
    size_t before, after;
    OK(cuMemGetInfo_v2(&before, NULL));
    set_threshold(pool, 0);
    OK(cuMemAllocAsync(&p, MIB, stream));
    CHECK_INT(attribute_of(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), MIB);
    OK(cuMemFreeAsync(p, stream));
    while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
        continue;
    CHECK_INT(attribute_of(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
    CHECK_INT(attribute_of(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), MIB);
    OK(cuMemAllocAsync(&q, MIB - 5000, other)); /* it is free: any stream gets it */
    CHECK_INT(q, p + 5000 / 256 * 256);
    CHECK_INT(attribute_of(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), MIB);
    OK(cuMemFreeAsync(q, other));
    OK(cuStreamSynchronize(other));
    CHECK_INT(attribute_of(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0);
    set_threshold(pool, 3 * MIB);
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &zero));
    OK(cuMemAllocAsync(&p, 2 * MIB, stream));
    OK(cuMemAllocAsync(&q, 2 * MIB, stream));
    OK(cuMemFree_v2(p)); /* to the pool, too */
    OK(cuMemFreeAsync(q, stream));
    OK(cuEventCreate(&event, 0));
    OK(cuEventRecord(event, stream));
    OK(cuEventSynchronize(event));
    OK(cuEventDestroy_v2(event));
    CHECK_INT(attribute_of(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 2 * MIB);
    CHECK_INT(attribute_of(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH), 4 * MIB);
    OK(cuMemGetInfo_v2(&after, NULL));
    CHECK_INT(before - after, 2 * MIB);
    OK(cuMemPoolTrimTo(pool, 2 * MIB));
    CHECK_INT(attribute_of(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 2 * MIB);
    set_threshold(pool, UINT64_MAX);
    OK(cuCtxSynchronize());
    CHECK_INT(attribute_of(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 2 * MIB);
    OK(cuMemPoolTrimTo(pool, 0));
    CHECK_INT(attribute_of(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0);
    OK(cuMemGetInfo_v2(&after, NULL));
    CHECK_INT(before, after);
}

/* A stream gets what it has to free before, while it is busy; another one does not. */
static void check_pool_order(CUmemoryPool pool, CUstream stream, CUstream other)
{
    unsigned *flag;
    CUdeviceptr p, q, r;
    CUmodule module = load_kernels();
    CUfunction wait = function_of(module, "wait");
    OK(cuMemAllocHost_v2((void **)&flag, 4));
    *flag = 0;
    OK(cuMemAllocAsync(&p, 4096, stream));
    OK(LAUNCH(wait, 1, stream, &flag));
    OK(cuMemFreeAsync(p, stream));
    OK(cuMemAllocAsync(&q, 4096, other));
    CHECK(q != p);
    OK(cuMemAllocAsync(&r, 4000, stream));
    CHECK_INT(r, p);
    OK(cuMemsetD8Async(r, 5, 4000, stream));
    OK(cuMemFreeAsync(r, stream));
    CHECK_CU(cuMemFreeAsync(r, stream), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAllocAsync(&r, 4096, stream));
    CHECK_INT(r, p);
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
    OK(cuStreamSynchronize(stream));
    CHECK_INT(attribute_of(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 8192);
    OK(cuMemsetD8_v2(r, 1, 4096)); /* it is still there */
    OK(cuMemFreeAsync(q, other));
    OK(cuMemFreeAsync(r, other));
    OK(cuCtxSynchronize());
    CHECK_INT(attribute_of(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
    OK(cuMemPoolTrimTo(pool, 0));
    CHECK_INT(attribute_of(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0);
    OK(cuMemFreeHost(flag));
    OK(cuModuleUnload(module));
}

static void check_pool_memory(void)
{
    CUmemoryPool pool;
    CUstream stream, other;
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuMemPoolTrimTo(pool, 0));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    check_pool_keeping(pool, stream, other);
    check_pool_order(pool, stream, other);
    OK(cuStreamDestroy_v2(stream));
    OK(cuStreamDestroy_v2(other));
}

int main(void)
{
    CUcontext ctx = begin();
    check_device_memory();
    check_host_memory();
    check_managed();
    check_words();
    check_paged();
    check_pointers();
    check_pools();
    check_pool_memory();
    OK(cuCtxDestroy_v2(ctx));
    return CHECK_DONE("cuda_memory");
}
