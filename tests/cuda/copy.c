/* Copies and sets: rows, boxes, arrays, between all kinds of memory. */
#include <stdatomic.h>
#include <unistd.h>

#include "tests/cuda/support.h"

enum { N = 1 << 16 };
static unsigned char in[N], out[N];

static void check_rows(void)
{
    CUdeviceptr p, q;
    void *h;
    CUstream stream;
    OK(cuStreamCreate(&stream, 0));
    OK(cuMemAlloc_v2(&p, N));
    OK(cuMemAlloc_v2(&q, N));
    OK(cuMemHostAlloc(&h, N, 0));
    OK(cuMemcpyHtoD_v2(p, in, N));
    OK(cuMemcpyDtoD_v2(q, p, N));
    OK(cuMemcpyDtoH_v2(out, q, N));
    CHECK(memcmp(in, out, N) == 0);
    memset(out, 0, N);
    OK(cuMemsetD8_v2(q, 0, N));
    OK(cuMemcpyHtoDAsync_v2(p, in, N, stream));
    OK(cuMemcpyDtoDAsync_v2(q, p, N, stream));
    OK(cuMemcpyDtoHAsync_v2(h, q, N, stream));
    OK(cuMemcpyAsync((uintptr_t)out, (uintptr_t)h, N, stream));
    OK(cuStreamSynchronize(stream));
    CHECK(memcmp(in, out, N) == 0);
    OK(cuMemcpy((uintptr_t)out, (uintptr_t)in + 1, N - 1)); /* two addresses of the host */
    CHECK(memcmp(in + 1, out, N - 1) == 0);
    OK(cuMemcpyHtoD_v2(p, in, 0));
    CHECK_CU(cuMemcpyHtoD_v2(p, in, N + 1), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemcpyHtoD_v2(p + 1, in, N), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemcpyHtoD_v2((uintptr_t)out, in, 4), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemcpyHtoD_v2(0, in, 4), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemcpyHtoD_v2(p, NULL, 4), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemcpyDtoH_v2(NULL, p, 4), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemcpyDtoH_v2(out, (uintptr_t)WILD, 4), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemcpyDtoD_v2(p, (uintptr_t)WILD, 4), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemcpy(p, 0, 4), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemcpyHtoDAsync_v2(p, in, 4, WILD), CUDA_ERROR_INVALID_HANDLE);
    OK(cuMemFree_v2(p));
    OK(cuMemFree_v2(q));
    OK(cuMemFreeHost(h));
    OK(cuStreamDestroy_v2(stream));
}

static void check_peers(void)
{
    CUcontext here, there;
    CUdeviceptr p, q;
    CUDA_MEMCPY3D_PEER box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                              .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                              .srcPitch = 16,
                              .dstPitch = 16,
                              .WidthInBytes = 16,
                              .Height = 4,
                              .Depth = 1};
    OK(cuCtxGetCurrent(&here));
    OK(cuMemAlloc_v2(&p, N));
    OK(cuCtxCreate_v2(&there, 0, 1));
    OK(cuMemAlloc_v2(&q, N));
    OK(cuCtxSetCurrent(here));
    OK(cuMemcpyHtoD_v2(p, in, N));
    OK(cuMemcpyPeer(q, there, p, here, N));
    OK(cuMemcpyPeerAsync(q, there, p, here, N, NULL));
    OK(cuMemcpyDtoH_v2(out, q, N));
    CHECK(memcmp(in, out, N) == 0);
    box.srcDevice = p + 256;
    box.srcContext = here;
    box.dstDevice = q;
    box.dstContext = there;
    OK(cuMemcpy3DPeer(&box));
    OK(cuMemcpyDtoH_v2(out, q, 64));
    CHECK(memcmp(in + 256, out, 64) == 0);
    CHECK_CU(cuMemcpyPeer(q, WILD, p, here, N), CUDA_ERROR_INVALID_CONTEXT);
    CHECK_CU(cuMemcpy3DPeer(NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree_v2(p));
    OK(cuCtxDestroy_v2(there));
}

static void wait_for(void *flag)
{
    while (!atomic_load((atomic_uint *)flag))
        usleep(1000);
}

/* In the default stream, a copy from another device waits for what that was given before, and what
 * it is given next waits for the copy. */
static void check_order_of_devices(void)
{
    CUcontext here, there;
    CUdeviceptr p, q;
    CUstream stream;
    atomic_uint is_open = 0;
    OK(cuCtxGetCurrent(&here));
    OK(cuMemAlloc_v2(&p, N));
    OK(cuCtxCreate_v2(&there, 0, 1));
    OK(cuMemAlloc_v2(&q, N));
    OK(cuStreamCreate(&stream, 0));
    OK(cuMemsetD8_v2(q, 1, N));
    OK(cuLaunchHostFunc(stream, wait_for, &is_open));
    OK(cuMemsetD8Async(q, 2, N, stream));
    OK(cuCtxSetCurrent(here));
    OK(cuMemcpyDtoDAsync_v2(p, q, N, NULL));
    OK(cuCtxSetCurrent(there));
    OK(cuMemsetD8Async(q, 3, N, stream));
    CHECK_CU(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
    atomic_store(&is_open, 1);
    OK(cuCtxSynchronize());
    OK(cuMemcpyDtoH_v2(out, q, N));
    CHECK_INT(out[0], 3);
    CHECK_INT(out[N - 1], 3);
    OK(cuStreamDestroy_v2(stream));
    OK(cuCtxSetCurrent(here));
    OK(cuMemcpyDtoH_v2(out, p, N));
    CHECK_INT(out[0], 2);
    CHECK_INT(out[N - 1], 2);
    OK(cuCtxDestroy_v2(there));
    OK(cuMemFree_v2(p));
}

/* All forms of a copy, but those that name contexts, come to the same. */
static void check_copies(CUdeviceptr to, CUdeviceptr from, CUresult want)
{
    CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = from,
                          .srcPitch = 32,
                          .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                          .dstDevice = to,
                          .dstPitch = 32,
                          .WidthInBytes = 16,
                          .Height = 2};
    CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                         .srcDevice = from,
                         .srcPitch = 32,
                         .srcHeight = 2,
                         .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                         .dstDevice = to,
                         .dstPitch = 32,
                         .dstHeight = 2,
                         .WidthInBytes = 16,
                         .Height = 2,
                         .Depth = 2};
    CHECK_CU(cuMemcpyDtoD_v2(to, from, 16), want);
    CHECK_CU(cuMemcpy2D_v2(&rows), want);
    CHECK_CU(cuMemcpy2DUnaligned_v2(&rows), want);
    CHECK_CU(cuMemcpy2DAsync_v2(&rows, NULL), want);
    CHECK_CU(cuMemcpy3D_v2(&box), want);
    CHECK_CU(cuMemcpy3DAsync_v2(&box, NULL), want);
}

/* Memory of another device's pool is copied where the pool grants the current context's device
 * access, in whichever stream, and by calls that name contexts. */
static void check_pool_access(void)
{
    CUcontext here, there;
    CUmemoryPool pool;
    CUstream stream;
    CUdeviceptr p, q;
    CUmemAccessDesc access = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUDA_MEMCPY3D_PEER box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                              .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                              .WidthInBytes = 16,
                              .Height = 1,
                              .Depth = 1};
    OK(cuCtxGetCurrent(&here));
    OK(cuMemAlloc_v2(&q, 256));
    OK(cuCtxCreate_v2(&there, 0, 1));
    OK(cuDeviceGetDefaultMemPool(&pool, 1));
    OK(cuMemAllocFromPoolAsync(&p, 256, pool, NULL));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuCtxSynchronize());
    OK(cuCtxSetCurrent(here));
    CHECK_CU(cuMemcpyHtoDAsync_v2(p, in, 16, stream), CUDA_ERROR_INVALID_VALUE);
    check_copies(q, p, CUDA_ERROR_INVALID_VALUE);
    check_copies(p, q, CUDA_ERROR_INVALID_VALUE);
    box.srcDevice = p;
    box.srcContext = there;
    box.dstDevice = q;
    box.dstContext = here;
    OK(cuMemcpy3DPeer(&box));
    OK(cuMemPoolSetAccess(pool, &access, 1));
    check_copies(q, p, CUDA_SUCCESS);
    check_copies(p, q, CUDA_SUCCESS);
    OK(cuMemFree_v2(q));
    OK(cuCtxDestroy_v2(there));
}

/* A rectangle inside each side, of rows with other pitches. */
static void check_2d(void)
{
    CUdeviceptr p;
    size_t pitch;
    OK(cuMemAllocPitch_v2(&p, &pitch, 200, 50, 4));
    OK(cuMemsetD8_v2(p, 0xee, pitch * 50));
    CUDA_MEMCPY2D to = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = in,
                        .srcPitch = 256,
                        .srcXInBytes = 8,
                        .srcY = 3,
                        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                        .dstDevice = p,
                        .dstPitch = pitch,
                        .dstXInBytes = 16,
                        .dstY = 5,
                        .WidthInBytes = 100,
                        .Height = 20};
    OK(cuMemcpy2D_v2(&to));
    CUDA_MEMCPY2D back = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                          .srcDevice = p,
                          .srcPitch = pitch,
                          .srcXInBytes = 15,
                          .srcY = 5,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = out,
                          .dstPitch = 128,
                          .WidthInBytes = 102,
                          .Height = 20};
    OK(cuMemcpy2DUnaligned_v2(&back));
    OK(cuMemcpy2DAsync_v2(&back, NULL));
    unsigned wrong = 0;
    for (int y = 0; y < 20; y++) {
        wrong += memcmp(&out[y * 128 + 1], &in[(y + 3) * 256 + 8], 100) != 0;
        wrong += out[y * 128] != 0xee || out[y * 128 + 101] != 0xee;
    }
    CHECK_INT(wrong, 0);
    to.WidthInBytes = 300; /* over its row */
    CHECK_CU(cuMemcpy2D_v2(&to), CUDA_ERROR_INVALID_VALUE);
    to.WidthInBytes = 100;
    to.Height = 60; /* past the end */
    CHECK_CU(cuMemcpy2D_v2(&to), CUDA_ERROR_INVALID_VALUE);
    to.Height = 0;
    OK(cuMemcpy2D_v2(&to));
    to.Height = 1;
    CUDA_MEMCPY2D wild = to; /* a row of no bytes, if sums are let overflow */
    wild.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    wild.dstPitch = 0;
    wild.dstXInBytes = (size_t)0 - wild.WidthInBytes;
    CHECK_CU(cuMemcpy2D_v2(&wild), CUDA_ERROR_INVALID_VALUE);
    to.dstMemoryType = (CUmemorytype)9;
    CHECK_CU(cuMemcpy2D_v2(&to), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemcpy2D_v2(NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree_v2(p));
}

static void check_arrays(void)
{
    CUarray flat, box;
    CUmipmappedArray levels;
    CUDA_ARRAY_DESCRIPTOR d2 = {
        .Width = 100, .Height = 0, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
    CUDA_ARRAY3D_DESCRIPTOR d3 = {
        .Width = 10, .Height = 8, .Depth = 6, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 2};
    CUDA_ARRAY3D_DESCRIPTOR have;
    CUdeviceptr p = new_memory(4096);
    OK(cuArrayCreate_v2(&flat, &d2));
    OK(cuMemcpyHtoA_v2(flat, 10, in, 50));
    OK(cuMemcpyAtoD_v2(p, flat, 10, 50));
    OK(cuMemcpyDtoA_v2(flat, 50, p, 50));
    OK(cuMemcpyAtoA_v2(flat, 0, flat, 50, 10));
    OK(cuMemcpyAtoH_v2(out, flat, 0, 100));
    CHECK(memcmp(out, in, 10) == 0 && memcmp(out + 50, in, 50) == 0 &&
          memcmp(out + 10, in, 40) == 0);
    OK(cuMemcpyHtoAAsync_v2(flat, 0, in, 100, NULL));
    OK(cuMemcpyAtoHAsync_v2(out, flat, 0, 100, NULL));
    CHECK(memcmp(out, in, 100) == 0);
    CHECK_CU(cuMemcpyHtoA_v2(flat, 60, in, 50), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemcpyHtoA_v2(WILD, 0, in, 50), CUDA_ERROR_INVALID_HANDLE);
    OK(cuArray3DCreate_v2(&box, &d3));
    OK(cuArray3DGetDescriptor_v2(&have, box));
    CHECK(have.Width == 10 && have.Depth == 6 && have.NumChannels == 2);
    OK(cuArrayGetDescriptor_v2(&d2, box));
    CHECK_INT(d2.Height, 8);
    CUDA_MEMCPY3D to = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = in,
                        .srcPitch = 80,
                        .srcHeight = 8,
                        .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                        .dstArray = box,
                        .WidthInBytes = 80,
                        .Height = 8,
                        .Depth = 6};
    OK(cuMemcpy3D_v2(&to));
    CUDA_MEMCPY3D back = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcArray = box,
                          .srcXInBytes = 8,
                          .srcY = 1,
                          .srcZ = 2,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = p,
                          .dstPitch = 64,
                          .dstHeight = 4,
                          .WidthInBytes = 64,
                          .Height = 4,
                          .Depth = 3};
    OK(cuMemcpy3DAsync_v2(&back, NULL));
    OK(cuMemcpyDtoH_v2(out, p, 64 * 4 * 3));
    unsigned wrong = 0;
    for (int z = 0; z < 3; z++)
        for (int y = 0; y < 4; y++)
            wrong += memcmp(&out[(z * 4 + y) * 64], &in[((z + 2) * 8 + y + 1) * 80 + 8], 64) != 0;
    CHECK_INT(wrong, 0);
    back.srcXInBytes = 4; /* inside an element, as GPUs take it */
    OK(cuMemcpy3D_v2(&back));
    back.srcXInBytes = 24;
    CHECK_CU(cuMemcpy3D_v2(&back), CUDA_ERROR_INVALID_VALUE);
    d3.Depth = 0;
    OK(cuMipmappedArrayCreate(&levels, &d3, 10));
    CUarray level, none;
    OK(cuMipmappedArrayGetLevel(&level, levels, 3));
    OK(cuArray3DGetDescriptor_v2(&have, level));
    CHECK(have.Width == 1 && have.Height == 1);
    CHECK_CU(cuMipmappedArrayGetLevel(&none, levels, 4), CUDA_ERROR_INVALID_VALUE);
    OK(cuArrayDestroy(level)); /* which stays */
    OK(cuArray3DGetDescriptor_v2(&have, level));
    OK(cuMipmappedArrayDestroy(levels));
    CHECK_CU(cuMipmappedArrayDestroy(levels), CUDA_ERROR_INVALID_HANDLE);
    OK(cuArrayDestroy(flat));
    CHECK_CU(cuArrayDestroy(flat), CUDA_ERROR_INVALID_HANDLE);
    d3.NumChannels = 3;
    CHECK_CU(cuArray3DCreate_v2(&none, &d3), CUDA_ERROR_INVALID_VALUE);
    d3.NumChannels = 1;
    d3.Format = (CUarray_format)0x55;
    CHECK_CU(cuArray3DCreate_v2(&none, &d3), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuArray3DCreate_v2(&none, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree_v2(p));
    /* the box and levels that are not destroyed go with the context */
}

static void check_sets(void)
{
    CUdeviceptr p = new_memory(4096);
    unsigned *words = (unsigned *)out;
    OK(cuMemsetD32_v2(p, 0x01020304, 1024));
    OK(cuMemsetD16_v2(p + 4, 0xabcd, 2));
    OK(cuMemsetD8Async(p + 8, 0x77, 4, NULL));
    OK(cuMemsetD2D8_v2(p + 64, 64, 1, 2, 3));
    OK(cuMemsetD2D16Async(p + 68, 64, 2, 2, 3, NULL));
    OK(cuMemsetD2D32_v2(p + 72, 64, 3, 2, 3));
    OK(cuMemcpyDtoH_v2(out, p, 4096));
    CHECK(words[0] == 0x01020304 && words[1] == 0xabcdabcd && words[2] == 0x77777777 &&
          words[3] == 0x01020304);
    for (int y = 0; y < 3; y++) {
        const unsigned *row = &words[(64 + 64 * y) / 4];
        CHECK(row[0] == 0x01020101 && row[1] == 0x00020002 && row[2] == 3 && row[3] == 3 &&
              row[4] == 0x01020304);
    }
    OK(cuMemsetD32_v2(p, 1, 0));
    CHECK_CU(cuMemsetD32_v2(p, 1, 1025), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemsetD32_v2(p + 2, 1, 1), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemsetD8_v2(0, 1, 1), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemsetD8_v2((uintptr_t)WILD, 1, 1), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemsetD2D8_v2(p, 1, 1, 2, 3), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemsetD8Async(p, 1, 1, WILD), CUDA_ERROR_INVALID_HANDLE);
    OK(cuMemFree_v2(p));
}

/* More than any piece that setting may be done in. */
static void check_long_sets(void)
{
    enum { MANY = 20001 };
    static uint16_t halves[MANY];
    static uint32_t words[MANY];
    int is_right = 1;
    CUdeviceptr p = new_memory(sizeof words);
    OK(cuMemsetD16_v2(p, 0x1234, MANY));
    OK(cuMemcpyDtoH_v2(halves, p, sizeof halves));
    OK(cuMemsetD32_v2(p, 0x12345678, MANY));
    OK(cuMemcpyDtoH_v2(words, p, sizeof words));
    for (int i = 0; i < MANY; i++)
        is_right = is_right && halves[i] == 0x1234 && words[i] == 0x12345678;
    CHECK(is_right);
    OK(cuMemFree_v2(p));
}

int main(void)
{
    setenv("PTERA_DEVICES", "2", 1);
    for (int i = 0; i < N; i++)
        in[i] = (unsigned char)(i * 7 + i / 251);
    CUcontext ctx = begin();
    check_rows();
    check_peers();
    check_order_of_devices();
    check_pool_access();
    check_2d();
    check_arrays();
    check_sets();
    check_long_sets();
    OK(cuCtxDestroy_v2(ctx));
    return CHECK_DONE("cuda_copy");
}
