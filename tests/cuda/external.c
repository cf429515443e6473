/* External memory: files that are mapped for kernels. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/cuda/support.h"

enum { BYTES = 3 << 12 };

static CUexternalMemory take(int fd)
{
    CUexternalMemory memory = NULL;
    OK(cuImportExternalMemory(
        &memory,
        &(CUDA_EXTERNAL_MEMORY_HANDLE_DESC){
            .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, .handle.fd = fd, .size = BYTES}));
    return memory;
}

static CUresult map(CUdeviceptr *p, CUexternalMemory memory, size_t offset, size_t size)
{
    return cuExternalMemoryGetMappedBuffer(
        p, memory, &(CUDA_EXTERNAL_MEMORY_BUFFER_DESC){.offset = offset, .size = size});
}

/* What a kernel writes is in the file, and the other way round; buffers outlive the handle. */
static void check_file(CUfunction add)
{
    unsigned n = 4, value = 5;
    CUdeviceptr p = 0, whole = 0;
    int fd = memfd_create("external", MFD_CLOEXEC);
    CHECK(fd >= 0 && ftruncate(fd, BYTES) == 0);
    unsigned *host = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(host != MAP_FAILED);
    host[1028] = 7; /* at byte 4112 */
    CUexternalMemory memory = take(fd);
    CHECK(close(fd) != 0); /* it is the driver's */
    OK(map(&p, memory, 4112, 16));
    OK(map(&whole, memory, 0, BYTES));
    CHECK_CU(map(&p, memory, 0, BYTES + 1), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(map(&p, memory, BYTES, 1), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(map(&p, memory, 0, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(map(NULL, memory, 0, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuDestroyExternalMemory(memory));
    CHECK_CU(cuDestroyExternalMemory(memory), CUDA_ERROR_INVALID_VALUE);
    OK(LAUNCH(add, 4, NULL, &p, &n, &value));
    OK(cuCtxSynchronize());
    CHECK(host[1028] == 12 && host[1029] == 5 && host[1031] == 5 && host[1032] == 0);
    OK(cuMemcpyDtoH_v2(&value, whole + 4112, 4));
    CHECK_INT(value, 12);
    CHECK_CU(cuMemFree_v2(whole + 4112), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree_v2(p));
    OK(cuMemFree_v2(whole));
    CHECK_CU(cuMemFree_v2(p), CUDA_ERROR_INVALID_VALUE);
    munmap(host, BYTES);
}

/* An allocation of the driver's own. */
static void check_allocation(CUfunction store)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
                                .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
    CUmemGenericAllocationHandle handle = 0;
    CUdeviceptr p = 0;
    unsigned word;
    int fd = -1;
    OK(cuMemCreate(&handle, 2 << 20, &prop, 0));
    OK(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CUexternalMemory memory = take(fd);
    OK(map(&p, memory, 4096, 4096));
    OK(cuMemRelease(handle));
    OK(LAUNCH(store, 1, NULL, &p));
    OK(cuCtxSynchronize());
    OK(cuDestroyExternalMemory(memory));
    OK(cuMemFree_v2(p));
    /* It is gone; what lies there now may be anybody's. */
    CHECK_CU(cuMemcpyDtoH_v2(&word, p, 4), CUDA_ERROR_INVALID_VALUE);
}

int main(void)
{
    CUexternalMemory memory;
    begin();
    CUmodule module = load_kernels();
    check_file(function_of(module, "add"));
    CHECK_CU(cuImportExternalMemory(
                 &memory,
                 &(CUDA_EXTERNAL_MEMORY_HANDLE_DESC){
                     .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32, .size = BYTES}),
             CUDA_ERROR_NOT_SUPPORTED);
    CHECK_CU(cuDestroyExternalMemory(WILD), CUDA_ERROR_INVALID_VALUE);
    check_allocation(function_of(module, "store"));
    return CHECK_DONE("cuda_external");
}
