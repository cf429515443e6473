/* Memory that something else than CUDA made: files of this process's own. */
#define _GNU_SOURCE
#include "tests/hardware/driver/say.h"
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 2 << 20 };

/* An allocation's handle as a file. */
static int allocation(void)
{
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp p;
    int fd = -1;
    memset(&p, 0, sizeof p);
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    SAY(cuMemCreate(&handle, BYTES, &p, 0));
    SAY(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    return fd;
}

static void buffers(CUexternalMemory memory)
{
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC b;
    CUdeviceptr p;
    unsigned char byte = 9;
    memset(&b, 0, sizeof b);
    b.size = BYTES;
    MAKE(p, cuExternalMemoryGetMappedBuffer(&p, memory, &b));
    if (p) {
        SAY(cuMemsetD8(p, 5, BYTES));
        SAY(cuMemcpyDtoH(&byte, p + 100, 1));
        printf("%d\n", byte);
        SAY(cuMemFree(p));
    }
    SAY(cuExternalMemoryGetMappedBuffer(NULL, memory, &b));
    SAY(cuExternalMemoryGetMappedBuffer(&p, memory, NULL));
    b.size = 0;
    MAKE(p, cuExternalMemoryGetMappedBuffer(&p, memory, &b));
    b.size = 2 * BYTES;
    MAKE(p, cuExternalMemoryGetMappedBuffer(&p, memory, &b));
    b.size = BYTES;
    b.offset = 4096;
    MAKE(p, cuExternalMemoryGetMappedBuffer(&p, memory, &b));
    b.size = 4096;
    MAKE(p, cuExternalMemoryGetMappedBuffer(&p, memory, &b));
    b.offset = 100;
    MAKE(p, cuExternalMemoryGetMappedBuffer(&p, memory, &b));
    b.offset = 0;
    b.flags = 1;
    MAKE(p, cuExternalMemoryGetMappedBuffer(&p, memory, &b));
}

void part_external_memory(void)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d;
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC b;
    CUexternalMemory memory;
    CUdeviceptr p;
    say_begin();
    memset(&d, 0, sizeof d);
    memset(&b, 0, sizeof b);
    b.size = 4096;
    SAY(cuImportExternalMemory(NULL, &d));
    SAY(cuImportExternalMemory(&memory, NULL));
    d.size = BYTES;
    for (int type = 0; type < 12; type++) {
        d.type = (CUexternalMemoryHandleType)type;
        d.handle.fd = -1;
        if (type >= 2 && type <= 8)
            continue; /* Windows, NvSciBuf */
        printf("type %d\n", type);
        MAKE(memory, cuImportExternalMemory(&memory, &d));
    }
    d.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    d.handle.fd = memfd_create("memory", 0);
    printf("%d\n", ftruncate(d.handle.fd, BYTES));
    MAKE(memory, cuImportExternalMemory(&memory, &d));
    d.handle.fd = allocation();
    d.size = 0;
    MAKE(memory, cuImportExternalMemory(&memory, &d));
    d.size = 2 * BYTES;
    MAKE(memory, cuImportExternalMemory(&memory, &d));
    d.size = BYTES;
    d.flags = 2;
    MAKE(memory, cuImportExternalMemory(&memory, &d));
    d.flags = 0;
    MAKE(memory, cuImportExternalMemory(&memory, &d));
    if (memory)
        buffers(memory);
    if (memory)
        SAY(cuDestroyExternalMemory(memory));
    SAY(cuDestroyExternalMemory(NULL));
    MAKE(p, cuExternalMemoryGetMappedBuffer(&p, NULL, &b));
}
