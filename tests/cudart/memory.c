/* Memory: allocation of every kind, copies and sets of one to three dimensions, what a pointer
 * is. */
#include "tests/cudart/support.h"

cudaError_t cudaMallocHost(void **p, size_t bytes);
cudaError_t cudaFreeHost(void *p);
cudaError_t cudaMallocManaged(void **p, size_t bytes, unsigned flags);
cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height);
cudaError_t cudaMalloc3D(cudaPitchedPtr *p, cudaExtent extent);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device,
                           size_t bytes);
cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t bytes, cudaStream_t stream);
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *p);
cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms *p);
cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms *p, cudaStream_t stream);
cudaError_t cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *channels, size_t width,
                            size_t height, unsigned flags);
cudaError_t cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *channels,
                              cudaExtent extent, unsigned flags);
cudaError_t cudaFreeArray(cudaArray_t array);
cudaError_t cudaMallocMipmappedArray(CUmipmappedArray *mipmap,
                                     const cudaChannelFormatDesc *channels, cudaExtent extent,
                                     unsigned levels, unsigned flags);
cudaError_t cudaFreeMipmappedArray(CUmipmappedArray mipmap);
cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *array, CUmipmappedArray mipmap, unsigned level);
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc *channels, cudaExtent *extent, unsigned *flags,
                             cudaArray_t array);
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc *channels, cudaArray_t array);
cudaError_t cudaMemcpy2DToArray(cudaArray_t array, size_t x, size_t y, const void *from,
                                size_t pitch, size_t width, size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpyToArray(cudaArray_t array, size_t x, size_t y, const void *from, size_t bytes,
                              cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromArray(void *to, cudaArray_t array, size_t x, size_t y, size_t bytes,
                                cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_t array, size_t x,
                                       size_t y, size_t width, size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream);
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_t from,
                                     size_t from_x, size_t from_y, size_t width, size_t height,
                                     cudaMemcpyKind kind);
cudaError_t cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height);
cudaError_t cudaMemset3D(cudaPitchedPtr p, int value, cudaExtent extent);
cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *p);

static void check_device_memory(void)
{
    void *p = NULL;
    size_t before, after, total, pitch = 0;
    cudaPitchedPtr block;
    OK(cudaMemGetInfo(&before, &total));
    OK(cudaMalloc(&p, 1 << 20));
    OK(cudaMemGetInfo(&after, NULL));
    CHECK_INT(before - after, 1 << 20);
    BAD_VALUE(cudaFree((char *)p + 256));
    OK(cudaFree(p));
    BAD_VALUE(cudaFree(p));
    BAD_VALUE(cudaFree(WILD));
    OK(cudaFree(NULL));
    OK(cudaMalloc(&p, 0));
    CHECK(p == NULL);
    BAD_VALUE(cudaMalloc(NULL, 16));
    CHECK_RT(cudaMalloc(&p, total + 1), cudaErrorMemoryAllocation);
    CHECK_RT(cudaMalloc(&p, SIZE_MAX), cudaErrorMemoryAllocation);
    OK(cudaMallocPitch(&p, &pitch, 1000, 10));
    CHECK(pitch >= 1000);
    OK(cudaFree(p));
    BAD_VALUE(cudaMallocPitch(NULL, &pitch, 1000, 10));
    BAD_VALUE(cudaMallocPitch(&p, NULL, 1000, 10));
    CHECK_RT(cudaMallocPitch(&p, &pitch, (size_t)1 << 40, 1 << 10), cudaErrorMemoryAllocation);
    OK(cudaMalloc3D(&block, (cudaExtent){100, 5, 3}));
    CHECK(block.ptr && block.pitch >= 100 && block.xsize == 100 && block.ysize == 5);
    OK(cudaFree(block.ptr));
    BAD_VALUE(cudaMalloc3D(NULL, (cudaExtent){100, 5, 3}));
    BAD_VALUE(cudaMalloc3D(&block, (cudaExtent){100, SIZE_MAX, 3}));
    OK(cudaMemGetInfo(&after, &total));
    CHECK_INT(before, after);
}

static void check_host_memory(void)
{
    void *p = NULL, *device = NULL;
    unsigned flags = 99, *own = malloc(4096);
    OK(cudaMallocHost(&p, 4096));
    OK(cudaHostGetDevicePointer(&device, p, 0));
    CHECK(device != NULL);
    OK(cudaHostGetFlags(&flags, p));
    OK(cudaFreeHost(p));
    BAD_VALUE(cudaFreeHost(p));
    BAD_VALUE(cudaFreeHost(WILD));
    OK(cudaFreeHost(NULL));
    BAD_VALUE(cudaMallocHost(NULL, 16));
    OK(cudaHostAlloc(&p, 64, CU_MEMHOSTALLOC_PORTABLE));
    OK(cudaFreeHost(p));
    BAD_VALUE(cudaHostAlloc(&p, 64, 0x100));
    BAD_VALUE(cudaHostAlloc(NULL, 64, 0));
    OK(cudaHostRegister(own, 4096, 0));
    CHECK_RT(cudaHostRegister(own, 4096, 0), cudaErrorHostMemoryAlreadyRegistered);
    BAD_VALUE(cudaHostGetDevicePointer(NULL, own, 0));
    BAD_VALUE(cudaHostGetFlags(NULL, own));
    OK(cudaHostUnregister(own));
    CHECK_RT(cudaHostUnregister(own), cudaErrorHostMemoryNotRegistered);
    BAD_VALUE(cudaHostRegister(NULL, 4096, 0));
    BAD_VALUE(cudaHostRegister(own, 0, 0));
    BAD_VALUE(cudaHostGetFlags(&flags, own));
    BAD_VALUE(cudaHostGetDevicePointer(&device, own, 0));
    free(own);
}

static void check_managed_memory(void)
{
    int *p = NULL, device = 0;
    OK(cudaMallocManaged((void **)&p, 64, CU_MEM_ATTACH_GLOBAL));
    p[3] = 5;
    OK(cudaMemset(p, 0, 12));
    CHECK(p[0] == 0 && p[3] == 5);
    OK(cudaMemRangeGetAttribute(&device, sizeof device, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 64));
    BAD_VALUE(
        cudaMemRangeGetAttribute(NULL, sizeof device, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 64));
    OK(cudaFree(p));
    BAD_VALUE(cudaMallocManaged(NULL, 64, CU_MEM_ATTACH_GLOBAL));
    OK(cudaMallocManaged((void **)&p, 0, CU_MEM_ATTACH_GLOBAL));
    CHECK(!p);
    BAD_VALUE(cudaMallocManaged((void **)&p, 64, 0));
    CUmemLocation place = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    BAD_VALUE(cudaMemPrefetchAsync(WILD, 64, place, 0, NULL));
    BAD_VALUE(cudaMemAdvise(WILD, 64, CU_MEM_ADVISE_SET_READ_MOSTLY, place));
}

static void check_copies(void)
{
    char from[64] = "a text that goes there and back", to[64] = "";
    void *p = NULL, *q = NULL;
    OK(cudaMalloc(&p, sizeof from));
    OK(cudaMalloc(&q, sizeof from));
    OK(cudaMemcpy(p, from, sizeof from, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(q, p, sizeof from, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpyAsync(to, q, sizeof to, cudaMemcpyDefault, NULL));
    OK(cudaDeviceSynchronize());
    CHECK_TEXT(to, from);
    OK(cudaMemcpy(to, "host", 5, cudaMemcpyHostToHost));
    CHECK_TEXT(to, "host");
    OK(cudaMemcpy(NULL, NULL, 0, cudaMemcpyDefault));
    CHECK_RT(cudaMemcpy(p, from, 4, (cudaMemcpyKind)5), cudaErrorInvalidMemcpyDirection);
    CHECK_RT(cudaMemcpy(p, from, 4, (cudaMemcpyKind)-1), cudaErrorInvalidMemcpyDirection);
    CHECK_RT(cudaMemcpyAsync(p, from, 4, (cudaMemcpyKind)5, NULL), cudaErrorInvalidMemcpyDirection);
    for (cudaMemcpyKind kind = cudaMemcpyHostToHost; kind <= cudaMemcpyDefault; kind++) {
        BAD_VALUE(cudaMemcpy(NULL, from, 4, kind));
        BAD_VALUE(cudaMemcpy(to, NULL, 4, kind));
        BAD_VALUE(cudaMemcpyAsync(NULL, from, 4, kind, NULL));
        BAD_VALUE(cudaMemcpyAsync(to, NULL, 4, kind, NULL));
    }
    BAD_VALUE(cudaMemcpy(WILD, from, 4, cudaMemcpyHostToDevice));
    BAD_VALUE(cudaMemcpy(to, WILD, 4, cudaMemcpyDeviceToHost));
    BAD_VALUE(cudaMemcpy(p, WILD, 4, cudaMemcpyDeviceToDevice));
    BAD_VALUE(cudaMemcpy(p, from, SIZE_MAX, cudaMemcpyHostToDevice));
    BAD_HANDLE(cudaMemcpyAsync(p, from, 4, cudaMemcpyHostToDevice, WILD));
    OK(cudaMemcpyPeer(q, 0, p, 0, 8));
    CHECK_RT(cudaMemcpyPeer(q, 7, p, 0, 8), cudaErrorInvalidDevice);
    CHECK_RT(cudaMemcpyPeer(q, 0, p, -1, 8), cudaErrorInvalidDevice);
    CHECK_RT(cudaMemcpyPeerAsync(q, 7, p, 0, 8, NULL), cudaErrorInvalidDevice);
    OK(cudaFree(p));
    OK(cudaFree(q));
}

static void check_planes(void)
{
    unsigned char from[6][10], to[6][10] = {{0}};
    cudaPitchedPtr block;
    memset(from, 7, sizeof from);
    OK(cudaMalloc3D(&block, (cudaExtent){10, 3, 2}));
    OK(cudaMemcpy2D(block.ptr, block.pitch, from, 10, 10, 6, cudaMemcpyHostToDevice));
    OK(cudaMemset2D((char *)block.ptr + 1, block.pitch, 9, 2, 2));
    OK(cudaMemcpy2D(to, 10, block.ptr, block.pitch, 10, 6, cudaMemcpyDeviceToHost));
    CHECK(to[0][0] == 7 && to[0][1] == 9 && to[1][2] == 9 && to[1][3] == 7 && to[2][1] == 7);
    OK(cudaMemset3D(block, 4, (cudaExtent){5, 2, 2}));
    cudaMemcpy3DParms copy = {.srcPtr = block,
                              .dstPtr = {to, 10, 10, 3},
                              .extent = {10, 3, 2},
                              .kind = cudaMemcpyDeviceToHost};
    OK(cudaMemcpy3D(&copy));
    CHECK(to[0][0] == 4 && to[1][4] == 4 && to[1][5] == 7 && to[2][0] == 7 && to[3][0] == 4 &&
          to[5][0] == 7);
    BAD_VALUE(cudaMemcpy3D(NULL));
    cudaMemcpy3DPeerParms peers = {.srcPtr = {to, 10, 10, 3}, .dstPtr = block, .extent = {3, 1, 1}};
    to[0][0] = 1;
    OK(cudaMemcpy3DPeer(&peers));
    CHECK(((unsigned char *)block.ptr)[0] == 1);
    to[0][0] = 2;
    OK(cudaMemcpy3DPeerAsync(&peers, NULL));
    OK(cudaDeviceSynchronize());
    CHECK(((unsigned char *)block.ptr)[0] == 2);
    peers.dstDevice = 7;
    CHECK_RT(cudaMemcpy3DPeer(&peers), cudaErrorInvalidDevice);
    BAD_VALUE(cudaMemcpy3DPeer(NULL));
    copy.kind = (cudaMemcpyKind)9;
    CHECK_RT(cudaMemcpy3D(&copy), cudaErrorInvalidMemcpyDirection);
    CHECK_RT(cudaMemcpy2D(to, 9, block.ptr, block.pitch, 10, 6, cudaMemcpyDeviceToHost),
             cudaErrorInvalidPitchValue);
    CHECK_RT(cudaMemcpy2D(to, 10, block.ptr, 9, 10, 6, cudaMemcpyDeviceToHost),
             cudaErrorInvalidPitchValue);
    CHECK_RT(cudaMemcpy2D(to, 10, block.ptr, block.pitch, 10, 6, (cudaMemcpyKind)5),
             cudaErrorInvalidMemcpyDirection);
    BAD_VALUE(cudaMemcpy2D(NULL, 10, block.ptr, block.pitch, 10, 6, cudaMemcpyDeviceToHost));
    BAD_VALUE(cudaMemcpy2D(to, 10, WILD, 10, 10, 6, cudaMemcpyDeviceToHost));
    BAD_VALUE(cudaMemset2D(NULL, 16, 0, 4, 4));
    BAD_VALUE(cudaMemset2D(WILD, 16, 0, 4, 4));
    BAD_VALUE(cudaMemset3D((cudaPitchedPtr){WILD, 16, 16, 4}, 0, (cudaExtent){4, 4, 2}));
    OK(cudaFree(block.ptr));
    OK(cudaMemset(NULL, 0, 0));
    BAD_VALUE(cudaMemset(NULL, 0, 4));
    BAD_VALUE(cudaMemset(WILD, 0, 4));
    BAD_HANDLE(cudaMemsetAsync(WILD, 0, 4, WILD));
}

/* Arrays of two floats an element: what they are, copies in bytes and in elements. */
static void check_arrays(void)
{
    const cudaChannelFormatDesc two = {32, 32, 0, 0, 2}, odd = {32, 16, 0, 0, 2};
    cudaChannelFormatDesc seen = {0};
    cudaExtent extent = {0};
    unsigned flags = 9;
    cudaArray_t a = NULL, b = NULL, level = NULL;
    CUmipmappedArray mipmap = NULL;
    float from[3][8], to[3][8] = {{0}};
    for (int i = 0; i < 24; i++)
        from[i / 8][i % 8] = (float)i;
    OK(cudaMallocArray(&a, &two, 4, 3, 0));
    OK(cudaMalloc3DArray(&b, &two, (cudaExtent){4, 3, 2}, 0));
    OK(cudaArrayGetInfo(&seen, &extent, &flags, b));
    CHECK(seen.x == 32 && seen.y == 32 && !seen.z && seen.f == 2 && extent.width == 4 &&
          extent.depth == 2 && !flags);
    OK(cudaGetChannelDesc(&seen, a));
    OK(cudaMemcpy2DToArray(a, 0, 0, from, 32, 32, 3, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2DFromArrayAsync(to, 32, a, 8, 1, 16, 2, cudaMemcpyDeviceToHost, NULL));
    OK(cudaDeviceSynchronize());
    CHECK(to[0][0] == 10 && to[0][3] == 13 && to[1][0] == 18 && to[0][4] == 0);
    OK(cudaMemcpy2DArrayToArray(a, 0, 2, a, 0, 0, 32, 1, cudaMemcpyDeviceToDevice));
    cudaMemcpy3DParms put = {.srcArray = a,
                             .dstArray = b,
                             .dstPos = {1, 0, 1},
                             .extent = {3, 3, 1},
                             .kind = cudaMemcpyDeviceToDevice};
    cudaMemcpy3DParms get = {.srcArray = b,
                             .srcPos = {0, 0, 1},
                             .dstPtr = {to, 32, 32, 3},
                             .extent = {4, 3, 1},
                             .kind = cudaMemcpyDeviceToHost};
    OK(cudaMemcpy3D(&put));
    OK(cudaMemcpy3D(&get));
    CHECK(to[0][0] == 0 && to[0][2] == 0 && to[0][3] == 1 && to[2][7] == 5 && to[1][2] == 8);
    put.srcPtr.ptr = to;
    BAD_VALUE(cudaMemcpy3D(&put)); /* from two places */
    OK(cudaMallocMipmappedArray(&mipmap, &two, (cudaExtent){4, 4, 0}, 2, 0));
    OK(cudaGetMipmappedArrayLevel(&level, mipmap, 1));
    OK(cudaArrayGetInfo(NULL, &extent, NULL, level));
    CHECK(extent.width == 2 && extent.height == 2);
    OK(cudaFreeMipmappedArray(mipmap));
    CHECK_RT(cudaMallocArray(&a, &odd, 4, 3, 0), cudaErrorInvalidChannelDescriptor);
    BAD_VALUE(cudaMallocArray(&a, NULL, 4, 3, 0));
    BAD_VALUE(cudaGetChannelDesc(NULL, a));
    BAD_HANDLE(cudaGetChannelDesc(&seen, WILD));
    CHECK_RT(cudaMemcpy2DToArray(a, 0, 0, from, 8, 32, 3, cudaMemcpyHostToDevice),
             cudaErrorInvalidPitchValue);
    OK(cudaFreeArray(a));
    OK(cudaFreeArray(b));
    OK(cudaFreeArray(NULL));
}

static void check_pointers(void)
{
    cudaPointerAttributes a;
    int own;
    void *p = NULL;
    OK(cudaMalloc(&p, 64));
    OK(cudaPointerGetAttributes(&a, (char *)p + 8));
    CHECK(a.type == cudaMemoryTypeDevice && a.device == 0 && a.devicePointer == (char *)p + 8);
    BAD_VALUE(cudaPointerGetAttributes(NULL, p));
    OK(cudaFree(p));
    OK(cudaPointerGetAttributes(&a, &own));
    CHECK(a.type == cudaMemoryTypeUnregistered && a.hostPointer == &own && !a.devicePointer);
    OK(cudaPointerGetAttributes(&a, WILD));
    CHECK_INT(a.type, cudaMemoryTypeUnregistered);
    OK(cudaMallocHost(&p, 64));
    OK(cudaPointerGetAttributes(&a, p));
    CHECK(a.type == cudaMemoryTypeHost && a.hostPointer == p);
    OK(cudaFreeHost(p));
    OK(cudaMallocManaged(&p, 64, CU_MEM_ATTACH_GLOBAL));
    OK(cudaPointerGetAttributes(&a, p));
    CHECK(a.type == cudaMemoryTypeManaged && a.devicePointer == p && a.hostPointer == p);
    OK(cudaFree(p));
}

static void check_pools(void)
{
    cudaMemPool_t pool = NULL, own = NULL;
    CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    uint64_t bytes = 1;
    void *p = NULL;
    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    BAD_VALUE(cudaDeviceGetDefaultMemPool(NULL, 0));
    CHECK_RT(cudaDeviceGetDefaultMemPool(&pool, 7), cudaErrorInvalidDevice);
    OK(cudaMallocAsync(&p, 256, NULL));
    OK(cudaFreeAsync(p, NULL));
    OK(cudaMemPoolCreate(&own, &properties));
    BAD_VALUE(cudaMemPoolCreate(NULL, &properties));
    BAD_VALUE(cudaMemPoolCreate(&own, NULL));
    OK(cudaMallocFromPoolAsync(&p, 256, own, NULL));
    OK(cudaFreeAsync(p, NULL));
    OK(cudaDeviceSynchronize());
    OK(cudaMemPoolTrimTo(own, 0));
    OK(cudaMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &bytes));
    CHECK_INT(bytes, 0);
    BAD_VALUE(cudaMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, NULL));
    BAD_VALUE(cudaMemPoolGetAttribute(WILD, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &bytes));
    OK(cudaMemPoolDestroy(own));
    BAD_VALUE(cudaMemPoolDestroy(own));
    BAD_VALUE(cudaMemPoolDestroy(NULL));
    BAD_VALUE(cudaMallocAsync(NULL, 256, NULL));
    BAD_HANDLE(cudaMallocAsync(&p, 256, WILD));
    BAD_VALUE(cudaFreeAsync(WILD, NULL));
}

/* What copies with an array count in is its elements, in memory, too. As an H100 has it. */
static void check_elements(void)
{
    cudaArray_t a;
    const cudaChannelFormatDesc word = {32, 0, 0, 0, 1};
    uint32_t from[32], to[32] = {0};
    for (uint32_t i = 0; i < 32; i++)
        from[i] = i + 1;
    OK(cudaMallocArray(&a, &word, 8, 4, 0));
    cudaMemcpy3DParms copy = {.srcPtr = {from, 32, 0, 4},
                              .srcPos = {1, 1, 0},
                              .dstArray = a,
                              .extent = {2, 2, 1},
                              .kind = cudaMemcpyHostToDevice};
    OK(cudaMemcpy3D(&copy));
    cudaMemcpy3DParms back = {.srcArray = a,
                              .dstPtr = {to, 32, 0, 4},
                              .dstPos = {3, 0, 0},
                              .extent = {2, 2, 1},
                              .kind = cudaMemcpyDeviceToHost};
    OK(cudaMemcpy3D(&back));
    CHECK(!to[2] && to[3] == 10 && to[4] == 11 && to[11] == 18 && to[12] == 19 && !to[13]);
    copy.srcPtr.pitch = 1;
    CHECK_RT(cudaMemcpy3D(&copy), cudaErrorInvalidPitchValue);
    OK(cudaFreeArray(a));
}

/* Of blocks of 4 x 4 texels whole ones are copied; other copies count in them. As an H100 has
 * it. */
static void check_blocks(void)
{
    enum { BC1 = 17, COLUMNS = 4, ROWS = 3 };
    cudaArray_t a;
    const cudaChannelFormatDesc bc1 = {8, 8, 8, 8, BC1};
    uint64_t from[ROWS][COLUMNS], to[ROWS][COLUMNS];
    for (uint64_t i = 0; i < ROWS * COLUMNS; i++)
        from[i / COLUMNS][i % COLUMNS] = i + 1;
    OK(cudaMallocArray(&a, &bc1, 13, 9, 0));
    cudaMemcpy3DParms all = {.srcPtr = {from, sizeof *from, 0, ROWS},
                             .dstArray = a,
                             .extent = {13, 9, 1},
                             .kind = cudaMemcpyHostToDevice};
    OK(cudaMemcpy3D(&all));
    memset(to, 0, sizeof to);
    cudaMemcpy3DParms part = {.srcArray = a,
                              .srcPos = {5, 7, 0},
                              .dstPtr = {to, sizeof *to, 0, ROWS},
                              .dstPos = {1, 0, 0},
                              .extent = {5, 5, 1},
                              .kind = cudaMemcpyDeviceToHost};
    OK(cudaMemcpy3D(&part));
    CHECK(!to[0][0] && to[0][1] == 6 && to[0][2] == 7 && !to[0][3] && to[1][1] == 10 &&
          to[1][2] == 11 && !to[2][1]);
    all.extent.width = 17;
    BAD_VALUE(cudaMemcpy3D(&all));
    all.extent = (cudaExtent){13, 9, 1};
    all.srcPtr.ysize = ROWS - 1;
    BAD_VALUE(cudaMemcpy3D(&all));
    OK(cudaMemcpyToArray(a, 24, 0, from, 16, cudaMemcpyHostToDevice)); /* on to the next row */
    OK(cudaMemcpyFromArray(to, a, 0, 0, 48, cudaMemcpyDeviceToHost));
    CHECK(to[0][2] == 3 && to[0][3] == 1 && to[1][0] == 2 && to[1][1] == 6);
    BAD_VALUE(cudaMemcpyToArray(a, 0, 0, from, 4, cudaMemcpyHostToDevice));
    OK(cudaFreeArray(a));
}

int main(void)
{
    check_device_memory();
    check_host_memory();
    check_managed_memory();
    check_copies();
    check_planes();
    check_arrays();
    check_elements();
    check_blocks();
    check_pointers();
    check_pools();
    return CHECK_DONE("memory");
}
