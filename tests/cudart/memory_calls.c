/* Memory in the runtime's rarer calls: pools and who may reach them, hints and prefetches, batches,
 * memory of others, what is told of it all; the device's limits; messages about errors. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/cudart/support.h"

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream);
cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream);
cudaError_t cudaMemset3DAsync(cudaPitchedPtr p, int value, cudaExtent extent, cudaStream_t stream);
cudaError_t cudaMallocManaged(void **p, size_t bytes, unsigned flags);
cudaError_t cudaThreadExit(void);

enum { N = 16, BYTES = N * 4, HALF = BYTES / 2 };

static CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};

static unsigned word_of(const void *p)
{
    unsigned word = 0;
    OK(cudaMemcpy(&word, p, sizeof word, cudaMemcpyDeviceToHost));
    return word;
}

/* ---- pools ----------------------------------------------------------------------------------- */

static void check_pools(void)
{
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                            .location = here};
    CUmemAccessDesc access = {here, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    cudaMemPool_t pool = NULL, usual = NULL, have = NULL;
    cuuint64_t kept = 0;
    void *p = NULL;
    OK(cudaDeviceGetDefaultMemPool(&usual, 0));
    OK(cudaMemGetDefaultMemPool(&have, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
    CHECK(have == usual);
    OK(cudaMemPoolCreate(&pool, &props));
    OK(cudaDeviceSetMemPool(0, pool));
    OK(cudaDeviceGetMemPool(&have, 0));
    CHECK(have == pool);
    OK(cudaMemSetMemPool(&here, CU_MEM_ALLOCATION_TYPE_PINNED, usual));
    OK(cudaMemGetMemPool(&have, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
    CHECK(have == usual);
    OK(cudaMemPoolSetAccess(pool, &access, 1));
    OK(cudaMemPoolGetAccess(&flags, pool, &here));
    CHECK_INT(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    kept = BYTES;
    OK(cudaMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &kept));
    kept = 0;
    OK(cudaMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &kept));
    CHECK_INT(kept, BYTES);
    OK(cudaMallocFromPoolAsync(&p, BYTES, pool, NULL));
    OK(cudaMemset(p, 1, BYTES));
    CHECK_INT(word_of(p), 0x01010101);
    OK(cudaFreeAsync(p, NULL));
    OK(cudaDeviceSynchronize());
    OK(cudaMemPoolTrimTo(pool, 0));
    BAD_VALUE(cudaMemPoolCreate(NULL, &props));
    BAD_VALUE(cudaMemPoolGetAccess(NULL, pool, &here));
    OK(cudaMemPoolDestroy(pool));
}

/* A pool for other processes, here taken in by the same one. */
static void check_shared_pool(void)
{
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                            .location = here};
    cudaMemPool_t pool = NULL, other = NULL;
    CUmemPoolPtrExportData data;
    void *p = NULL, *same = NULL;
    int fd = -1;
    OK(cudaMemPoolCreate(&pool, &props));
    OK(cudaMemPoolExportToShareableHandle(&fd, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CHECK(fd >= 0);
    OK(cudaMallocFromPoolAsync(&p, BYTES, pool, NULL));
    OK(cudaMemset(p, 2, BYTES));
    OK(cudaMemPoolExportPointer(&data, p));
    OK(cudaMemPoolImportFromShareableHandle(&other, (void *)(intptr_t)fd,
                                            CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    OK(cudaMemPoolImportPointer(&same, other, &data));
    CHECK_INT(word_of(same), 0x02020202);
    OK(cudaFree(same));
    OK(cudaFreeAsync(p, NULL));
    OK(cudaDeviceSynchronize());
    OK(cudaMemPoolDestroy(other));
    OK(cudaMemPoolDestroy(pool));
    close(fd);
    BAD_VALUE(cudaMemPoolExportPointer(NULL, p));
}

static void check_graph_memory(void)
{
    cuuint64_t high = 0;
    OK(cudaDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &high));
    high = 7;
    OK(cudaDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &high));
    CHECK_INT(high, 0);
    OK(cudaDeviceGraphMemTrim(0));
    CHECK(cudaDeviceGraphMemTrim(99) != cudaSuccess);
    cudaGetLastError();
}

/* ---- managed memory, batches ----------------------------------------------------------------- */

static void check_managed(void)
{
    void *p = NULL;
    size_t bytes = BYTES, first = 0, sizes[] = {4, 4};
    int mostly = 0, place = 0;
    void *values[] = {&mostly, &place};
    CUmem_range_attribute names[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                     CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION};
    OK(cudaMallocManaged(&p, BYTES, CU_MEM_ATTACH_GLOBAL));
    OK(cudaMemAdvise(p, BYTES, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    OK(cudaMemAdvise(p, BYTES, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here));
    OK(cudaMemRangeGetAttributes(values, sizes, names, 2, p, BYTES));
    CHECK(mostly == 1 && place == 0);
    OK(cudaMemPrefetchAsync(p, BYTES, here, 0, NULL));
    cudaStream_t stream = NULL;
    OK(cudaStreamCreate(&stream));
    OK(cudaMemPrefetchBatchAsync(&p, &bytes, 1, &here, &first, 1, 0, stream));
    OK(cudaMemDiscardAndPrefetchBatchAsync(&p, &bytes, 1, &here, &first, 1, 0, stream));
    OK(cudaMemDiscardBatchAsync(&p, &bytes, 1, 0, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaStreamDestroy(stream));
    BAD_VALUE(cudaMemRangeGetAttributes(values, sizes, names, 0, p, BYTES));
    OK(cudaFree(p));
}

static void check_batches(void *a, void *b)
{
    CUmemcpyAttributes how = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    CUDA_MEMCPY3D_BATCH_OP op = {
        .src = {CU_MEMCPY_OPERAND_TYPE_POINTER, {.ptr = {.ptr = (CUdeviceptr)b}}},
        .dst = {CU_MEMCPY_OPERAND_TYPE_POINTER, {.ptr = {.ptr = (CUdeviceptr)a}}},
        .extent = {BYTES, 1, 1},
        .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    const void *to = a, *from = b;
    size_t bytes = BYTES, first = 0;
    cudaStream_t stream = NULL;
    OK(cudaStreamCreate(&stream));
    OK(cudaMemset(b, 3, BYTES));
    OK(cudaMemcpyBatchAsync(&to, &from, &bytes, 1, &how, &first, 1, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK_INT(word_of(a), 0x03030303);
    OK(cudaMemset(b, 4, BYTES));
    OK(cudaMemcpy3DBatchAsync(1, &op, 0, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK_INT(word_of(a), 0x04040404);
    BAD_VALUE(cudaMemcpyBatchAsync(NULL, &from, &bytes, 1, &how, &first, 1, stream));
    OK(cudaStreamDestroy(stream));
}

static void check_rows(void *a, void *b)
{
    const cudaPitchedPtr rows = {a, HALF, HALF, 2};
    OK(cudaMemset2DAsync(b, HALF, 5, HALF, 2, NULL));
    OK(cudaMemcpy2DAsync(a, HALF, b, HALF, HALF, 2, cudaMemcpyDeviceToDevice, NULL));
    CHECK_INT(word_of((char *)a + HALF), 0x05050505);
    OK(cudaMemset3DAsync(rows, 6, (cudaExtent){HALF, 2, 1}, NULL));
    CHECK_INT(word_of((char *)a + HALF), 0x06060606);
    CHECK_RT(cudaMemcpy2DAsync(a, 1, b, HALF, HALF, 2, cudaMemcpyDeviceToDevice, NULL),
             cudaErrorInvalidPitchValue);
}

/* ---- what is others' ------------------------------------------------------------------------- */

static void check_external(void)
{
    CUexternalMemory memory = NULL;
    CUexternalSemaphore semaphore = NULL;
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC none = {.type =
                                                    CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD};
    unsigned host = 7;
    void *p = NULL;
    int fd = memfd_create("external", MFD_CLOEXEC);
    CHECK(fd >= 0 && ftruncate(fd, 4096) == 0 && pwrite(fd, &host, 4, 64) == 4);
    OK(cudaImportExternalMemory(
        &memory,
        &(CUDA_EXTERNAL_MEMORY_HANDLE_DESC){
            .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, .handle.fd = fd, .size = 4096}));
    OK(cudaExternalMemoryGetMappedBuffer(
        &p, memory, &(CUDA_EXTERNAL_MEMORY_BUFFER_DESC){.offset = 64, .size = 64}));
    CHECK_INT(word_of(p), 7);
    OK(cudaFree(p));
    OK(cudaDestroyExternalMemory(memory));
    BAD_VALUE(cudaDestroyExternalMemory(memory));
    CHECK(cudaImportExternalSemaphore(&semaphore, &none) != cudaSuccess);
    cudaGetLastError();
    CHECK(cudaDestroyExternalSemaphore(WILD) != cudaSuccess);
    cudaGetLastError();
}

static void check_atomics(void)
{
    CUatomicOperation add = CU_ATOMIC_OPERATION_FLOAT_ADD;
    unsigned host = 0, peer = 0;
    OK(cudaDeviceGetHostAtomicCapabilities(&host, &add, 1, 0));
    CHECK(host != 0);
    BAD_VALUE(cudaDeviceGetHostAtomicCapabilities(NULL, &add, 1, 0));
    CHECK(cudaDeviceGetP2PAtomicCapabilities(&peer, &add, 1, 0, 0) != cudaSuccess);
    cudaGetLastError();
}

/* ---- limits, messages ------------------------------------------------------------------------ */

/* By the names of CUDA 4, too. */
static void check_limits(void)
{
    CUfunc_cache cache = CU_FUNC_CACHE_PREFER_NONE;
    size_t bytes = 0;
    OK(cudaThreadSetLimit(CU_LIMIT_STACK_SIZE, 2048));
    OK(cudaDeviceGetLimit(&bytes, CU_LIMIT_STACK_SIZE));
    CHECK_INT(bytes, 2048);
    OK(cudaDeviceSetLimit(CU_LIMIT_STACK_SIZE, 1024));
    OK(cudaThreadGetLimit(&bytes, CU_LIMIT_STACK_SIZE));
    CHECK_INT(bytes, 1024);
    OK(cudaThreadSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
    OK(cudaThreadGetCacheConfig(&cache));
    CHECK_INT(cache, CU_FUNC_CACHE_PREFER_L1);
    OK(cudaThreadSynchronize());
    OK(cudaProfilerStart());
    OK(cudaProfilerStop());
    BAD_VALUE(cudaThreadGetLimit(NULL, CU_LIMIT_STACK_SIZE));
}

static void note(void *ud, CUlogLevel level, char *message, size_t length)
{
    CHECK(level == CU_LOG_LEVEL_ERROR && length && message);
    ++*(unsigned *)ud;
}

static void check_messages(void)
{
    CUlogsCallbackHandle handle = NULL;
    CUlogIterator begin = 0, end = 0;
    char path[] = "/tmp/ptera-log-XXXXXX", text[4096], read_back[4096] = "";
    size_t n = sizeof text;
    unsigned calls = 0;
    int fd = mkstemp(path);
    OK(cudaLogsRegisterCallback(note, &calls, &handle));
    OK(cudaLogsCurrent(&begin, 0));
    BAD_VALUE(cudaMalloc(NULL, 4));
    BAD_VALUE(cudaDeviceGetLimit(NULL, CU_LIMIT_STACK_SIZE));
    CHECK(calls > 0);
    end = begin;
    OK(cudaLogsDumpToMemory(&end, text, &n, 0));
    CHECK(n > 0 && end > begin);
    OK(cudaLogsDumpToFile(&begin, path, 0));
    CHECK(pread(fd, read_back, sizeof read_back - 1, 0) > 0 && !strcmp(text, read_back));
    OK(cudaLogsUnregisterCallback(handle));
    BAD_VALUE(cudaLogsUnregisterCallback(handle));
    close(fd);
    unlink(path);
}

int main(void)
{
    void *a = NULL, *b = NULL;
    OK(cudaMalloc(&a, BYTES));
    OK(cudaMalloc(&b, BYTES));
    check_pools();
    check_shared_pool();
    check_graph_memory();
    check_managed();
    check_batches(a, b);
    check_rows(a, b);
    check_external();
    check_atomics();
    check_limits();
    check_messages();
    OK(cudaFree(a));
    OK(cudaFree(b));
    OK(cudaThreadExit());
    return CHECK_DONE("cudart_memory_calls");
}
