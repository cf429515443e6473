/* Virtual memory management, and memory between two processes. */
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cuda/support.h"

static const size_t unit = 2 << 20;

static CUmemAllocationProp prop_of(int device)
{
    return (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = {CU_MEM_LOCATION_TYPE_DEVICE, device},
                                 .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
}

/* An area that grows: two allocations side by side are one array for kernels and copies. */
static void check_growing(void)
{
    CUmemAllocationProp prop = prop_of(0), back;
    CUmemGenericAllocationHandle a, b, again;
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr p, aliased;
    size_t bytes = 0;
    unsigned long long flags;
    unsigned words[2] = {0};
    OK(cuMemGetAllocationGranularity(&bytes, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    CHECK_INT(bytes, unit);
    OK(cuMemAddressReserve(&p, (size_t)32 << 30, 0, 0, 0)); /* costs nothing */
    OK(cuMemCreate(&a, unit, &prop, 0));
    OK(cuMemCreate(&b, 2 * unit, &prop, 0));
    OK(cuMemMap(p, unit, 0, a, 0));
    OK(cuMemMap(p + unit, 2 * unit, 0, b, 0));
    CHECK_CU(cuMemMap(p, unit, 0, a, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemSetAccess(p, 3 * unit, &access, 1));
    OK(cuMemGetAccess(&flags, &access.location, p));
    CHECK_INT(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    OK(cuMemsetD32_v2(p, 0xabcd, 3 * unit / 4)); /* over both */
    OK(cuMemcpyDtoH_v2(words, p + unit - 4, 8));
    CHECK(words[0] == 0xabcd && words[1] == 0xabcd);
    CHECK_CU(cuMemsetD32_v2(p, 0, 3 * unit / 4 + 1), CUDA_ERROR_INVALID_VALUE);
    /* the same memory at a second address */
    OK(cuMemAddressReserve(&aliased, unit, 0, 0, 0));
    OK(cuMemMap(aliased, unit, unit, b, 0));
    OK(cuMemSetAccess(aliased, unit, &access, 1));
    OK(cuMemsetD32_v2(aliased, 77, 1));
    OK(cuMemcpyDtoH_v2(words, p + 2 * unit, 4));
    CHECK_INT(words[0], 77);
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READ; /* copies read it, and do not write it */
    OK(cuMemSetAccess(aliased, unit, &access, 1));
    words[0] = 0;
    OK(cuMemcpyDtoH_v2(words, aliased, 4));
    CHECK_INT(words[0], 77);
    CHECK_CU(cuMemcpyHtoD_v2(aliased, words, 4), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(p + 5)));
    CHECK(again == a);
    OK(cuMemGetAllocationPropertiesFromHandle(&back, a));
    CHECK_INT(back.location.id, 0);
    OK(cuMemRelease(again));
    OK(cuMemRelease(a)); /* mapped: it stays */
    CHECK_CU(cuMemRelease(a), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemAddressFree(p, (size_t)32 << 30), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemUnmap(p, unit / 2), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemUnmap(p, 3 * unit));
    OK(cuMemUnmap(aliased, unit));
    OK(cuMemRelease(b));
    OK(cuMemAddressFree(p, (size_t)32 << 30));
    OK(cuMemAddressFree(aliased, unit));
    CHECK_CU(cuMemAddressFree(aliased, unit), CUDA_ERROR_INVALID_VALUE);
}

static void check_refused(void)
{
    CUmemAllocationProp prop = prop_of(0);
    CUmemGenericAllocationHandle a;
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr p;
    OK(cuMemAddressReserve(&p, unit, unit, 0, 0));
    CHECK_CU(cuMemAddressReserve(&p, unit + 1, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemAddressReserve(NULL, unit, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemAddressReserve(&p, unit, 3, 0, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemCreate(&a, 1000, &prop, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemCreate(&a, unit, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemCreate(&a, (size_t)1 << 56, &prop, 0), CUDA_ERROR_OUT_OF_MEMORY);
    prop.location.id = 40;
    CHECK_CU(cuMemCreate(&a, unit, &prop, 0), CUDA_ERROR_INVALID_DEVICE);
    prop = prop_of(0);
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
    CHECK_CU(cuMemCreate(&a, unit, &prop, 0), CUDA_ERROR_NOT_SUPPORTED);
    prop = prop_of(0);
    OK(cuMemCreate(&a, unit, &prop, 0));
    CHECK_CU(cuMemMap(p, 2 * unit, 0, a, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemMap(p + unit, unit, 0, a, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemMap(p, unit, 0, (uintptr_t)WILD, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemSetAccess(p, unit, &access, 1), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemUnmap(p, unit), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemRelease(0), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemRelease(a));
    OK(cuMemAddressFree(p, unit));
}

/* ---- two processes --------------------------------------------------------------------------- */

/* What the parent tells: first that there is nothing to tell yet. */
struct letter {
    CUipcMemHandle handle;
    CUipcEventHandle event;
    int fd;
};

/* The parent's event is not done before the parent, told so, opens its gate. */
static void wait_in_child(CUipcEventHandle handle, int out)
{
    CUevent event;
    CUstream stream;
    OK(cuIpcOpenEventHandle(&event, handle));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK_CU(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    OK(cuStreamWaitEvent(stream, event, 0));
    CHECK_CU(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    CHECK_INT(write(out, "e", 1), 1);
    OK(cuEventSynchronize(event));
    OK(cuStreamSynchronize(stream));
    OK(cuEventQuery(event));
    OK(cuEventRecord(event, stream));
    OK(cuStreamSynchronize(stream));
    CHECK_CU(cuIpcGetEventHandle(&handle, event), CUDA_ERROR_INVALID_VALUE);
    OK(cuEventDestroy_v2(event));
    OK(cuStreamDestroy_v2(stream));
    memset(&handle, 7, sizeof handle);
    CHECK_CU(cuIpcOpenEventHandle(&event, handle), CUDA_ERROR_MAP_FAILED);
}

/* The child adds to what it finds in the parent's memory. It opened its end before the driver was
 * there. */
static int run_child(int in, int out)
{
    struct letter letter;
    CUcontext ctx;
    CUdeviceptr p = 0;
    unsigned words[4] = {0};
    if (read(in, &letter, sizeof letter) != sizeof letter)
        return 1;
    ctx = begin();
    wait_in_child(letter.event, out);
    OK(cuIpcOpenMemHandle_v2(&p, letter.handle, 1));
    OK(cuMemcpyDtoH_v2(words, p, sizeof words));
    CHECK(words[0] == 1 && words[3] == 1);
    OK(cuMemsetD32_v2(p + 4, 2, 2));
    CHECK_CU(cuMemsetD32_v2(p + 4, 2, 1000), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuIpcOpenMemHandle_v2(&p, letter.handle, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuIpcCloseMemHandle(p));
    CHECK_CU(cuIpcCloseMemHandle(p), CUDA_ERROR_INVALID_VALUE);
    memset(&letter.handle, 7, sizeof letter.handle);
    CHECK_CU(cuIpcOpenMemHandle(&p, letter.handle, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuCtxDestroy_v2(ctx));
    (void)!write(out, "x", 1);
    return check_failed != 0;
}

static void check_processes(int to_child, int from_child, pid_t child)
{
    CUdeviceptr p = 0, q;
    struct letter letter = {.fd = -1};
    unsigned words[4];
    int status = -1;
    char done;
    CUevent event, plain;
    CUstream stream;
    unsigned *gate;
    OK(cuMemHostAlloc((void **)&gate, sizeof *gate, 0));
    *gate = 0;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&plain, CU_EVENT_DISABLE_TIMING));
    CHECK_CU(cuIpcGetEventHandle(&letter.event, plain), CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuIpcGetEventHandle(&letter.event, WILD), CUDA_ERROR_INVALID_HANDLE);
    OK(cuIpcGetEventHandle(&letter.event, event));
    CHECK_CU(cuIpcOpenEventHandle(&plain, letter.event), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuEventQuery(event));
    OK(cuMemAlloc_v2(&p, 1000));
    OK(cuMemsetD32_v2(p, 1, 250));
    OK(cuIpcGetMemHandle(&letter.handle, p));
    OK(cuMemcpyDtoH_v2(words, p, 16)); /* where it was */
    CHECK_INT(words[3], 1);
    CHECK_CU(cuIpcOpenMemHandle_v2(&q, letter.handle, 1), CUDA_ERROR_INVALID_CONTEXT);
    CHECK_CU(cuIpcGetMemHandle(NULL, p), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuIpcGetMemHandle(&letter.handle, (uintptr_t)WILD), CUDA_ERROR_INVALID_VALUE);
    OK(cuStreamWaitValue32_v2(stream, (uintptr_t)gate, 1, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuEventRecord(event, stream));
    CHECK_INT(write(to_child, &letter, sizeof letter), sizeof letter);
    CHECK_INT(read(from_child, &done, 1), 1);
    CHECK_CU(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    __atomic_store_n(gate, 1, __ATOMIC_SEQ_CST);
    CHECK_INT(read(from_child, &done, 1), 1);
    OK(cuEventQuery(event));
    OK(cuEventDestroy_v2(event));
    OK(cuEventDestroy_v2(plain));
    OK(cuStreamDestroy_v2(stream));
    OK(cuMemFreeHost(gate));
    waitpid(child, &status, 0);
    CHECK_INT(status, 0);
    OK(cuMemcpyDtoH_v2(words, p, 16));
    CHECK(words[0] == 1 && words[1] == 2 && words[2] == 2 && words[3] == 1);
    OK(cuMemFree_v2(p));
}

/* An allocation through a file descriptor, here of the same process. */
static void check_file(void)
{
    CUmemAllocationProp prop = prop_of(0);
    CUmemGenericAllocationHandle a, b;
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr p;
    unsigned word = 0;
    int fd = -1;
    OK(cuMemCreate(&a, unit, &prop, 0));
    OK(cuMemExportToShareableHandle(&fd, a, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    OK(cuMemImportFromShareableHandle(&b, (void *)(uintptr_t)fd,
                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(fd);
    OK(cuMemAddressReserve(&p, 2 * unit, 0, 0, 0));
    OK(cuMemMap(p, unit, 0, a, 0));
    OK(cuMemMap(p + unit, unit, 0, b, 0));
    OK(cuMemSetAccess(p, 2 * unit, &access, 1));
    OK(cuMemsetD32_v2(p, 31, 1));
    OK(cuMemcpyDtoH_v2(&word, p + unit, 4));
    CHECK_INT(word, 31);
    CHECK_CU(cuMemExportToShareableHandle(&fd, a, CU_MEM_HANDLE_TYPE_WIN32, 0),
             CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemImportFromShareableHandle(&b, (void *)(uintptr_t)9999,
                                            CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
             CUDA_ERROR_INVALID_VALUE);
    OK(cuMemUnmap(p, 2 * unit));
    OK(cuMemRelease(a));
    OK(cuMemRelease(b));
    OK(cuMemAddressFree(p, 2 * unit));
}

int main(void)
{
    int down[2], up[2];
    if (pipe(down) != 0 || pipe(up) != 0)
        return 1;
    pid_t child = fork();
    if (child == 0)
        _exit(run_child(down[0], up[1]));
    CUcontext ctx = begin();
    check_growing();
    check_refused();
    check_file();
    check_processes(down[1], up[0], child);
    OK(cuCtxDestroy_v2(ctx));
    return CHECK_DONE("cuda_share");
}
