/* Semaphores of something else than CUDA; what else devices tell. */
#define _GNU_SOURCE
#include "tests/hardware/driver/say.h"
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

void part_semaphore(void)
{
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC d;
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal_params;
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait_params;
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS sn;
    CUDA_EXT_SEM_WAIT_NODE_PARAMS wn;
    CUexternalSemaphore s = NULL;
    CUgraph graph;
    CUgraphNode node;
    say_begin();
    memset(&d, 0, sizeof d);
    memset(&signal_params, 0, sizeof signal_params);
    memset(&wait_params, 0, sizeof wait_params);
    SAY(cuImportExternalSemaphore(NULL, &d));
    SAY(cuImportExternalSemaphore(&s, NULL));
    for (int type = 0; type < 12; type++) {
        d.type = (CUexternalSemaphoreHandleType)type;
        d.handle.fd = -1;
        if (type == 6)
            continue; /* NvSciSync: a pointer */
        printf("type %d\n", type);
        MAKE(s, cuImportExternalSemaphore(&s, &d));
    }
    int files[3] = {eventfd(0, 0), memfd_create("semaphore", 0), open("/dev/null", O_RDWR)};
    if (ftruncate(files[1], 4096) != 0)
        return;
    for (int i = 0; i < 3; i++)
        for (int type = 1; type < 10; type += 8) {
            printf("file %d type %d\n", i, type);
            d.type = (CUexternalSemaphoreHandleType)type;
            d.handle.fd = dup(files[i]);
            MAKE(s, cuImportExternalSemaphore(&s, &d));
        }
    d.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD;
    d.handle.fd = -1;
    d.flags = 1;
    MAKE(s, cuImportExternalSemaphore(&s, &d));
    s = NULL;
    SAY(cuDestroyExternalSemaphore(NULL));
    SAY(cuSignalExternalSemaphoresAsync(NULL, &signal_params, 1, NULL));
    SAY(cuWaitExternalSemaphoresAsync(NULL, &wait_params, 1, NULL));
    SAY(cuSignalExternalSemaphoresAsync(&s, NULL, 1, NULL));
    SAY(cuWaitExternalSemaphoresAsync(&s, NULL, 1, NULL));
    SAY(cuSignalExternalSemaphoresAsync(&s, &signal_params, 0, NULL));
    SAY(cuWaitExternalSemaphoresAsync(&s, &wait_params, 0, NULL));
    SAY(cuSignalExternalSemaphoresAsync(NULL, NULL, 0, NULL));
    SAY(cuWaitExternalSemaphoresAsync(NULL, NULL, 0, NULL));
    SAY(cuGraphCreate(&graph, 0));
    memset(&sn, 0, sizeof sn);
    memset(&wn, 0, sizeof wn);
    MAKE(node, cuGraphAddExternalSemaphoresSignalNode(&node, graph, NULL, 0, NULL));
    MAKE(node, cuGraphAddExternalSemaphoresWaitNode(&node, graph, NULL, 0, NULL));
    MAKE(node, cuGraphAddExternalSemaphoresSignalNode(&node, graph, NULL, 0, &sn));
    if (node)
        SAY(cuGraphExternalSemaphoresSignalNodeGetParams(node, &sn));
    MAKE(node, cuGraphAddExternalSemaphoresWaitNode(&node, graph, NULL, 0, &wn));
    if (node)
        SAY(cuGraphExternalSemaphoresWaitNodeGetParams(node, &wn));
    SAY(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    SAY(cuGraphExternalSemaphoresSignalNodeSetParams(node, &sn));
    SAY(cuGraphExternalSemaphoresSignalNodeGetParams(node, &sn));
    SAY(cuGraphExternalSemaphoresWaitNodeSetParams(node, &wn));
    SAY(cuGraphExternalSemaphoresWaitNodeGetParams(node, &wn));
}

/* Mipmaps in memory of others. */
void part_external_array(void)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d;
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC a;
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp p;
    CUexternalMemory memory;
    CUmipmappedArray levels;
    CUarray level;
    CUdeviceptr q;
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC b;
    int fd = -1;
    say_begin();
    memset(&p, 0, sizeof p);
    memset(&d, 0, sizeof d);
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    SAY(cuMemCreate(&handle, 2 << 20, &p, 0));
    SAY(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    d.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    d.handle.fd = fd;
    d.size = 2 << 20;
    MAKE(memory, cuImportExternalMemory(&memory, &d));
    if (!memory)
        return;
    b.size = 2 << 20;
    SAY(cuExternalMemoryGetMappedBuffer(&q, memory, &b));
    SAY(cuMemsetD8(q, 7, 2 << 20));
    SAY(cuExternalMemoryGetMappedMipmappedArray(NULL, memory, &a));
    MAKE(levels, cuExternalMemoryGetMappedMipmappedArray(&levels, memory, NULL));
    MAKE(levels, cuExternalMemoryGetMappedMipmappedArray(&levels, memory, &a));
    a.arrayDesc.Width = 64;
    a.arrayDesc.Height = 64;
    a.arrayDesc.Format = CU_AD_FORMAT_UNSIGNED_INT8;
    a.arrayDesc.NumChannels = 4;
    for (unsigned n = 1; n < 9; n++) {
        printf("levels %u\n", n);
        a.numLevels = n;
        MAKE(levels, cuExternalMemoryGetMappedMipmappedArray(&levels, memory, &a));
    }
    a.numLevels = 1;
    a.offset = 100;
    MAKE(levels, cuExternalMemoryGetMappedMipmappedArray(&levels, memory, &a));
    a.offset = 4096;
    MAKE(levels, cuExternalMemoryGetMappedMipmappedArray(&levels, memory, &a));
    a.offset = 2 << 20;
    MAKE(levels, cuExternalMemoryGetMappedMipmappedArray(&levels, memory, &a));
    a.offset = 0;
    a.arrayDesc.Width = 4096;
    a.arrayDesc.Height = 4096;
    MAKE(levels, cuExternalMemoryGetMappedMipmappedArray(&levels, memory, &a));
    a.arrayDesc.Width = a.arrayDesc.Height = 64;
    a.arrayDesc.Flags = CUDA_ARRAY3D_SURFACE_LDST;
    MAKE(levels, cuExternalMemoryGetMappedMipmappedArray(&levels, memory, &a));
    if (!levels)
        return;
    unsigned char pixels[64 * 4] = {0};
    CUDA_ARRAY_DESCRIPTOR ad;
    memset(&ad, 0, sizeof ad);
    MAKE(level, cuMipmappedArrayGetLevel(&level, levels, 0));
    SAY(cuArrayGetDescriptor(&ad, level));
    printf("%zu %zu %d %u\n", ad.Width, ad.Height, (int)ad.Format, ad.NumChannels);
    SAY(cuMemcpyAtoH(pixels, level, 0, sizeof pixels));
    printf("%d %d\n", pixels[0], pixels[255]);
    SAY(cuArrayDestroy(level));
    SAY(cuDestroyExternalMemory(memory));
    SAY(cuMipmappedArrayDestroy(levels));
}

static void capabilities(CUdevice from, CUdevice to)
{
    for (int op = -1; op < 14; op++) {
        unsigned c = 77;
        CUatomicOperation o = (CUatomicOperation)op;
        printf("operation %d\n", op);
        SAY(cuDeviceGetHostAtomicCapabilities(&c, &o, 1, from));
        printf("%u\n", c);
        c = 77;
        SAY(cuDeviceGetP2PAtomicCapabilities(&c, &o, 1, from, to));
    }
}

void part_atomic_capabilities(void)
{
    CUatomicOperation o[2] = {CU_ATOMIC_OPERATION_AND, CU_ATOMIC_OPERATION_CAS};
    unsigned c[2] = {77, 77};
    say_begin();
    capabilities(0, 0);
    SAY(cuDeviceGetHostAtomicCapabilities(c, o, 2, 0));
    SAY(cuDeviceGetHostAtomicCapabilities(c, o, 0, 0));
    SAY(cuDeviceGetHostAtomicCapabilities(NULL, o, 2, 0));
    SAY(cuDeviceGetHostAtomicCapabilities(c, NULL, 2, 0));
    SAY(cuDeviceGetHostAtomicCapabilities(c, o, 2, 99));
    SAY(cuDeviceGetP2PAtomicCapabilities(c, o, 2, 0, 99));
    SAY(cuDeviceGetP2PAtomicCapabilities(c, o, 2, 99, 0));
}

/* Calls that Ptera refuses. */
void part_refused(void)
{
    size_t n = sizeof(char[256]);
    char text[256] = {0};
    char luid[8];
    unsigned mask = 0;
    int fd = -1, process = 0;
    void *function;
    CUdeviceptr p;
    CUlibrary library;
    say_begin();
    for (int id = 0; id < 9; id++) {
        n = sizeof text;
        memset(text, 0, sizeof text);
        printf("%d\n", id);
        SAY(cuCoredumpGetAttribute((CUcoredumpSettings)id, text, &n));
        printf("%zu %d\n", n, text[0]);
        n = sizeof text;
        SAY(cuCoredumpGetAttributeGlobal((CUcoredumpSettings)id, text, &n));
        printf("%zu %d\n", n, text[0]);
    }
    SAY(cuDeviceGetLuid(luid, &mask, 0));
    SAY(cuMemAlloc(&p, 2 << 20));
    SAY(cuMemGetHandleForAddressRange(&fd, p, 2 << 20, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
    SAY(cuMemGetHandleForAddressRange(&fd, p, 4096, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
    SAY(cuCheckpointProcessGetState(getpid(), (CUprocessState *)&process));
    printf("%d\n", process);
    SAY(cuLibraryLoadData(&library, module_text, NULL, NULL, 0, NULL, NULL, 0));
    SAY(cuLibraryGetUnifiedFunction(&function, library, "empty"));
    SAY(cuMemMapArrayAsync(NULL, 0, NULL));
    SAY(cuGraphicsMapResources(0, NULL, NULL));
    SAY(cuGraphicsUnmapResources(0, NULL, NULL));
    SAY(cuGraphicsUnregisterResource(NULL));
    SAY(cuMemBatchDecompressAsync(NULL, 0, 0, NULL, NULL));
}
