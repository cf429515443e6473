/* Arrays of the runtime library, and copies of them. */
#include "tests/hardware/driver/channels.h"

static cudaArray_t plane;
static cudaMipmappedArray_t mipmap;
static void *memory;

static void begin(void)
{
    struct cudaChannelFormatDesc d = floats();
    cudaMallocArray(&plane, &d, 16, 8, cudaArraySurfaceLoadStore);
    cudaMallocMipmappedArray(&mipmap, &d, extent(32, 16, 0), 4, 0);
    cudaMalloc(&memory, 1 << 20);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static void show(cudaArray_t a)
{
    struct cudaChannelFormatDesc d = {77, 77, 77, 77, cudaChannelFormatKindNone};
    struct cudaExtent e = {77, 77, 77};
    unsigned flags = 77;
    int result = (int)cudaArrayGetInfo(&d, &e, &flags, a);
    printf("  %d: %d %d %d %d %d, %zu %zu %zu, %x\n", result, d.x, d.y, d.z, d.w, (int)d.f, e.width,
           e.height, e.depth, flags);
}

static void array_kinds(void)
{
    static const int bits[][4] = {
        {8, 0, 0, 0},     {8, 8, 0, 0},     {8, 8, 8, 0},  {8, 8, 8, 8},   {16, 0, 0, 0},
        {16, 16, 0, 0},   {16, 16, 16, 16}, {32, 0, 0, 0}, {32, 32, 0, 0}, {32, 32, 32, 0},
        {32, 32, 32, 32}, {8, 16, 0, 0},    {0, 8, 0, 0},  {0, 0, 0, 0},   {64, 0, 0, 0},
        {4, 4, 4, 4},     {10, 10, 10, 2},  {8, 0, 8, 0},  {-8, 0, 0, 0},  {16, 16, 16, 0}};
    for (int kind = -1; kind < 33; kind++)
        for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
            struct cudaChannelFormatDesc d = channels(bits[i][0], bits[i][1], bits[i][2],
                                                      bits[i][3], (enum cudaChannelFormatKind)kind);
            cudaArray_t a = NULL;
            int result = (int)cudaMallocArray(&a, &d, 16, 16, 0);
            printf("kind %d of %d %d %d %d: %d\n", kind, d.x, d.y, d.z, d.w, result);
            if (a)
                show(a);
            else
                printf("  none\n");
            cudaFreeArray(a);
        }
}

void part_rt_array(void)
{
    struct cudaChannelFormatDesc d = floats(), got;
    struct cudaExtent e;
    cudaArray_t a, b;
    struct cudaArrayMemoryRequirements need;
    struct cudaArraySparseProperties sparse;
    unsigned flags;
    begin();
    SAY(cudaMallocArray(NULL, &d, 8, 8, 0));
    SAY(cudaMallocArray(&a, NULL, 8, 8, 0));
    SAY(cudaMalloc3DArray(NULL, &d, extent(8, 8, 8), 0));
    SAY(cudaMalloc3DArray(&a, NULL, extent(8, 8, 8), 0));
    MAKE(a, cudaMallocArray(&a, &d, 0, 0, 0));
    MAKE(a, cudaMallocArray(&a, &d, 0, 8, 0));
    MAKE(a, cudaMallocArray(&a, &d, 131073, 0, 0));
    MAKE(a, cudaMallocArray(&a, &d, 8, 65537, 0));
    for (unsigned flag = 1; flag; flag *= 2) {
        a = NULL;
        printf("flag %x: %d", flag, (int)cudaMallocArray(&a, &d, 8, 8, flag));
        cudaFreeArray(a);
        a = NULL;
        printf(" %d", (int)cudaMalloc3DArray(&a, &d, extent(8, 8, 6), flag));
        cudaFreeArray(a);
        a = NULL;
        printf(" %d\n", (int)cudaMalloc3DArray(&a, &d, extent(8, 0, 6), flag));
        cudaFreeArray(a);
    }
    array_kinds();
    SAY(cudaArrayGetInfo(NULL, NULL, NULL, plane));
    SAY(cudaArrayGetInfo(&got, &e, &flags, NULL));
    SAY(cudaGetChannelDesc(&got, plane));
    SAY(cudaGetChannelDesc(NULL, plane));
    SAY(cudaGetChannelDesc(&got, NULL));
    SAY(cudaFreeArray(NULL));
    SAY(cudaArrayGetPlane(&b, plane, 0));
    SAY(cudaArrayGetPlane(NULL, plane, 0));
    SAY(cudaArrayGetPlane(&b, NULL, 0));
    SAY(cudaArrayGetMemoryRequirements(&need, plane, 0));
    SAY(cudaArrayGetMemoryRequirements(NULL, plane, 0));
    SAY(cudaArrayGetMemoryRequirements(&need, NULL, 0));
    SAY(cudaArrayGetMemoryRequirements(&need, plane, 99));
    SAY(cudaArrayGetSparseProperties(&sparse, plane));
    SAY(cudaArrayGetSparseProperties(NULL, plane));
    SAY(cudaArrayGetSparseProperties(&sparse, NULL));
    for (int x = 0; x < 5; x++) {
        got = cudaCreateChannelDesc(8 * x, 8, 0, 0, cudaChannelFormatKindSigned);
        printf("description %d %d %d\n", got.x, got.y, (int)got.f);
    }
    size_t most;
    GET(most, cudaDeviceGetTexture1DLinearMaxWidth(&most, &d, 0));
    GET(most, cudaDeviceGetTexture1DLinearMaxWidth(&most, &d, 99));
    GET(most, cudaDeviceGetTexture1DLinearMaxWidth(&most, NULL, 0));
    SAY(cudaDeviceGetTexture1DLinearMaxWidth(NULL, &d, 0));
    d = channels(8, 8, 8, 0, cudaChannelFormatKindSigned);
    GET(most, cudaDeviceGetTexture1DLinearMaxWidth(&most, &d, 0));
}

void part_rt_mipmap(void)
{
    struct cudaChannelFormatDesc d = floats(),
                                 wrong = channels(8, 16, 0, 0, cudaChannelFormatKindSigned);
    cudaMipmappedArray_t m;
    cudaArray_t a;
    struct cudaArrayMemoryRequirements need;
    struct cudaArraySparseProperties sparse;
    begin();
    SAY(cudaMallocMipmappedArray(NULL, &d, extent(8, 8, 0), 2, 0));
    MAKE(m, cudaMallocMipmappedArray(&m, NULL, extent(8, 8, 0), 2, 0));
    MAKE(m, cudaMallocMipmappedArray(&m, &wrong, extent(8, 8, 0), 2, 0));
    MAKE(m, cudaMallocMipmappedArray(&m, &d, extent(0, 0, 0), 2, 0));
    for (unsigned n = 0; n < 7; n++)
        MAKE(m, cudaMallocMipmappedArray(&m, &d, extent(8, 8, 0), n, 0));
    for (unsigned flag = 1; flag; flag *= 2) {
        printf("%x\n", flag);
        MAKE(m, cudaMallocMipmappedArray(&m, &d, extent(8, 8, 6), 2, flag));
        MAKE(m, cudaMallocMipmappedArray(&m, &d, extent(8, 8, 0), 2, flag));
    }
    for (unsigned level = 0; level < 6; level++) {
        MAKE(a, cudaGetMipmappedArrayLevel(&a, mipmap, level));
        if (a)
            show(a);
    }
    SAY(cudaGetMipmappedArrayLevel(NULL, mipmap, 0));
    SAY(cudaGetMipmappedArrayLevel(&a, NULL, 0));
    SAY(cudaGetMipmappedArrayLevel(&a, mipmap, 1));
    SAY(cudaFreeArray(a));
    SAY(cudaFreeMipmappedArray(NULL));
    SAY(cudaMipmappedArrayGetMemoryRequirements(&need, mipmap, 0));
    SAY(cudaMipmappedArrayGetMemoryRequirements(NULL, mipmap, 0));
    SAY(cudaMipmappedArrayGetMemoryRequirements(&need, NULL, 0));
    SAY(cudaMipmappedArrayGetSparseProperties(&sparse, mipmap));
    SAY(cudaMipmappedArrayGetSparseProperties(NULL, mipmap));
    SAY(cudaMipmappedArrayGetSparseProperties(&sparse, NULL));
    SAY(cudaFreeMipmappedArray(mipmap));
}

/* ---- copies ---------------------------------------------------------------------------------- */

void part_rt_image_copy(void)
{
    static char host[4096];
    struct cudaMemcpy3DParms p;
    begin();
    SAY(cudaMemcpy3D(NULL));
    for (int i = 0; i < 30; i++) {
        memset(&p, 0, sizeof p);
        p.srcPtr = (struct cudaPitchedPtr){host, 64, 16, 8};
        p.dstArray = plane;
        p.extent = extent(16, 8, 1);
        p.kind = cudaMemcpyHostToDevice;
        switch (i) {
        case 1:
            p.extent.depth = 0;
            break;
        case 2:
            p.extent.height = 0;
            break;
        case 3:
            p.extent.width = 0;
            break;
        case 4:
            p.extent.width = 17;
            break;
        case 5:
            p.extent.height = 9;
            break;
        case 6:
            p.extent.depth = 2;
            break;
        case 7:
            p.dstPos.x = 1;
            break;
        case 8:
            p.dstPos.z = 1;
            break;
        case 9:
            p.kind = cudaMemcpyDeviceToHost;
            break;
        case 10:
            p.kind = cudaMemcpyDefault;
            break;
        case 11:
            p.kind = (enum cudaMemcpyKind)9;
            break;
        case 12:
            p.srcPtr.ptr = NULL;
            break;
        case 13:
            p.srcPtr.pitch = 32;
            break;
        case 14:
            p.srcPtr.pitch = 0;
            break;
        case 15:
            p.dstArray = NULL;
            break;
        case 16:
            p.dstPtr = (struct cudaPitchedPtr){memory, 64, 16, 8};
            break;
        case 17:
            p.srcArray = plane;
            break;
        case 18:
            p.srcPtr.ysize = 1;
            break;
        case 19:
            p.kind = cudaMemcpyHostToHost;
            break;
        case 20:
            p.kind = cudaMemcpyDeviceToDevice;
            break;
        case 21:
            p.srcPtr.ptr = memory;
            break;
        case 22:
            p.srcPtr.ysize = 0;
            break;
        case 23:
            p.srcPtr.pitch = 0;
            p.extent.height = 1;
            break;
        case 24:
        case 25:
        case 26:
        case 27:
            p.srcPtr.ptr = NULL;
            p.srcArray = plane;
            p.dstArray = NULL;
            p.dstPtr = (struct cudaPitchedPtr){host,
                                               i == 24   ? 0
                                               : i == 25 ? 32
                                                         : 64,
                                               16,
                                               i == 26   ? 1
                                               : i == 27 ? 0
                                                         : 8};
            p.kind = cudaMemcpyDeviceToHost;
            break;
        case 28:
        case 29:
            p.dstArray = NULL;
            p.dstPtr = (struct cudaPitchedPtr){memory, 64, 16, i == 28 ? 1 : 8};
            p.srcPtr.ysize = i == 29 ? 1 : 8;
            break;
        }
        printf("copy %d: %d %d\n", i, (int)cudaMemcpy3D(&p), (int)cudaMemcpy3DAsync(&p, 0));
    }
    SAY(cudaMemcpy2DToArray(NULL, 0, 0, host, 64, 64, 8, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy2DToArray(plane, 0, 0, NULL, 64, 64, 8, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy2DFromArray(host, 64, NULL, 0, 0, 64, 8, cudaMemcpyDeviceToHost));
    SAY(cudaMemcpy2DFromArray(NULL, 64, plane, 0, 0, 64, 8, cudaMemcpyDeviceToHost));
    SAY(cudaMemcpy2DArrayToArray(plane, 0, 0, NULL, 0, 0, 64, 8, cudaMemcpyDeviceToDevice));
    SAY(cudaMemcpyToArray(NULL, 0, 0, host, 64, cudaMemcpyHostToDevice));
    SAY(cudaMemcpyFromArray(host, NULL, 0, 0, 64, cudaMemcpyDeviceToHost));
    SAY(cudaDeviceSynchronize());
}
