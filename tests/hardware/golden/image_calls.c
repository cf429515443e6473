/* What the driver's calls on arrays, surfaces and references of modules return: a line for each
 * call, with its CUresult and what it wrote. The same program runs on a GPU (with NVIDIA's header
 * and library: cc -DON_GPU image_calls.c -lcuda) and here; image_calls.txt is what an H100's driver
 * made of it.
 *
 *     image_calls [part N | probe N]
 *
 * Without an argument it runs itself once more for each part of it, and for each of the probes,
 * which may end the process. */
#ifdef ON_GPU
#include <cuda.h>
#else
#include "runtime/cuda/abi.h"
#include "tests/hardware/golden/versions.h"
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAY(call) printf("%s: %d\n", #call, (int)(call))
#define WILD(type) ((type)(uintptr_t)0x123450)

static const char module_text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".global .texref t; .global .surfref s; .global .u32 number;\n"
    ".global .texref initial = {filter_mode = linear, addr_mode_0 = mirror,"
    " normalized_coords = 1, channel_data_type = 0x10DE, channel_order = 0x10B5};\n"
    ".visible .entry k(.param .u64 to) { .reg .b32 %r<4>; .reg .b64 %p; .reg .b32 %z;\n"
    "ld.param.u64 %p, [to]; mov.u32 %z, 0;\n"
    "tex.2d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [t, {%z, %z}]; st.v4.u32 [%p], {%r0, %r1, %r2, %r3};\n"
    "suld.b.2d.b32.zero %r0, [s, {%z, %z}]; st.u32 [%p+16], %r0;\n"
    "tex.2d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [initial, {%z, %z}]; st.u32 [%p+20], %r0; ret; }\n";

static CUmodule module;
static CUdeviceptr memory;

/* ---- arrays ---------------------------------------------------------------------------------- */

static void describe(CUarray a)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {0};
    CUDA_ARRAY_DESCRIPTOR flat = {0};
    int r = cuArray3DGetDescriptor(&d, a);
    printf("  3d %d: %zu %zu %zu %x %u %x;", r, d.Width, d.Height, d.Depth, d.Format, d.NumChannels,
           d.Flags);
    r = cuArrayGetDescriptor(&flat, a);
    printf(" 2d %d: %zu %zu %x %u\n", r, flat.Width, flat.Height, flat.Format, flat.NumChannels);
}

static void make(size_t w, size_t h, size_t d, unsigned format, unsigned channels, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR whole = {w, h, d, (CUarray_format)format, channels, flags};
    CUarray a = NULL;
    int r = cuArray3DCreate(&a, &whole);
    printf("array %zu %zu %zu %x %u %x: %d\n", w, h, d, format, channels, flags, r);
    if (r == CUDA_SUCCESS) {
        describe(a);
        cuArrayDestroy(a);
    }
}

static void make_levels(size_t w, size_t h, size_t d, unsigned flags, unsigned levels)
{
    CUDA_ARRAY3D_DESCRIPTOR whole = {w, h, d, CU_AD_FORMAT_FLOAT, 1, flags};
    CUmipmappedArray m = NULL;
    CUarray a = NULL;
    int r = cuMipmappedArrayCreate(&m, &whole, levels);
    printf("levels %zu %zu %zu %x %u: %d\n", w, h, d, flags, levels, r);
    for (unsigned i = 0; r == CUDA_SUCCESS && i < 19; i++) {
        int got = cuMipmappedArrayGetLevel(&a, m, i);
        printf("  %u: %d\n", i, got);
        if (got != CUDA_SUCCESS)
            break;
        describe(a);
    }
    if (r == CUDA_SUCCESS)
        cuMipmappedArrayDestroy(m);
}

static void arrays(void)
{
    static const unsigned formats[] = {0,    1,    2,    3,    4,    7,    8,    9,    10,
                                       0x10, 0x11, 0x20, 0x21, 0x50, 0x91, 0xb0, 0xc0, 0x7fffffff};
    static const unsigned sides[] = {1024,  16384, 16385,  32768, 32769,
                                     65536, 65537, 131072, 131073};
    for (unsigned i = 0; i < sizeof formats / sizeof *formats; i++)
        for (unsigned channels = 0; channels <= 5; channels++)
            if (formats[i] < 0x50 || formats[i] > 0xffff)
                make(64, 64, 0, formats[i], channels, 0);
    for (unsigned i = 0; i < sizeof sides / sizeof *sides; i++)
        for (unsigned flags = 0; flags < 16; flags++) {
            make(sides[i], 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, flags);
            make(sides[i], 1, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, flags);
            make(1, sides[i], 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, flags);
            make(1, 1, sides[i], CU_AD_FORMAT_UNSIGNED_INT8, 1, flags);
            make(sides[i], 1, 1, CU_AD_FORMAT_UNSIGNED_INT8, 1, flags);
            make(sides[i], 0, 1, CU_AD_FORMAT_UNSIGNED_INT8, 1, flags);
            make(1, sides[i], 1, CU_AD_FORMAT_UNSIGNED_INT8, 1, flags);
        }
    for (unsigned flags = 0; flags <= 32; flags++) {
        make(8, 0, 0, CU_AD_FORMAT_FLOAT, 1, flags);
        make(8, 8, 0, CU_AD_FORMAT_FLOAT, 1, flags);
        make(8, 8, 6, CU_AD_FORMAT_FLOAT, 1, flags);
        make(8, 8, 12, CU_AD_FORMAT_FLOAT, 1, flags);
        make(8, 8, 7, CU_AD_FORMAT_FLOAT, 1, flags);
        make(8, 4, 6, CU_AD_FORMAT_FLOAT, 1, flags);
        make(8, 0, 6, CU_AD_FORMAT_FLOAT, 1, flags);
        make(0, 0, 0, CU_AD_FORMAT_FLOAT, 1, flags);
        make(0, 8, 0, CU_AD_FORMAT_FLOAT, 1, flags);
    }
    for (unsigned layers = 2046; layers < 2052; layers++) {
        make(4, 0, layers, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED);
        make(4, 4, layers, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED);
        make(4, 4, layers, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    }
    for (unsigned flags = 0; flags < 16; flags++)
        for (unsigned levels = 0; levels < 7; levels++) {
            make_levels(16, 0, 0, flags, levels);
            make_levels(16, 6, 0, flags, levels);
            make_levels(16, 16, 6, flags, levels);
            make_levels(4, 8, 20, flags, levels);
            make_levels(8, 0, 3, flags, levels);
        }
    make_levels(4, 4, 0, 0, 1000);
    make_levels(16384, 1, 0, 0, 20);
    make_levels(16385, 1, 0, 0, 2);
    make_levels(32768, 1, 0, 0, 2);
    make_levels(32769, 1, 0, 0, 2);
}

static CUarray new_array(size_t w, size_t h, size_t d, unsigned format, unsigned channels,
                         unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR whole = {w, h, d, (CUarray_format)format, channels, flags};
    CUarray a = NULL;
    cuArray3DCreate(&a, &whole);
    return a;
}

static void array_arguments(void)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {8, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0}, got;
    CUDA_ARRAY_DESCRIPTOR flat = {8, 8, CU_AD_FORMAT_FLOAT, 1};
    CUDA_ARRAY_MEMORY_REQUIREMENTS need;
    CUDA_ARRAY_SPARSE_PROPERTIES sparse;
    CUarray a = new_array(8, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0), plane = NULL;
    CUmipmappedArray m = NULL;
    SAY(cuArrayCreate(NULL, &flat));
    SAY(cuArrayCreate(&plane, NULL));
    SAY(cuArray3DCreate(NULL, &d));
    SAY(cuArray3DCreate(&plane, NULL));
    SAY(cuArrayGetDescriptor(NULL, a));
    SAY(cuArrayGetDescriptor(&flat, NULL));
    SAY(cuArray3DGetDescriptor(NULL, a));
    SAY(cuArray3DGetDescriptor(&got, NULL));
    SAY(cuArrayDestroy(NULL));
    SAY(cuMipmappedArrayCreate(NULL, &d, 1));
    SAY(cuMipmappedArrayCreate(&m, NULL, 1));
    SAY(cuMipmappedArrayCreate(&m, &d, 3));
    SAY(cuMipmappedArrayGetLevel(NULL, m, 0));
    SAY(cuMipmappedArrayGetLevel(&plane, NULL, 0));
    SAY(cuMipmappedArrayGetLevel(&plane, m, 2));
    SAY(cuMipmappedArrayGetLevel(&plane, m, 3));
    SAY(cuArrayDestroy(plane));
    SAY(cuMipmappedArrayDestroy(NULL));
    SAY(cuArrayGetPlane(&plane, a, 0));
    SAY(cuArrayGetPlane(&plane, a, 1));
    SAY(cuArrayGetPlane(NULL, a, 0));
    SAY(cuArrayGetPlane(&plane, NULL, 0));
    SAY(cuArrayGetMemoryRequirements(&need, a, 0));
    SAY(cuArrayGetMemoryRequirements(&need, a, 1));
    SAY(cuArrayGetMemoryRequirements(NULL, a, 0));
    SAY(cuArrayGetMemoryRequirements(&need, NULL, 0));
    SAY(cuArrayGetSparseProperties(&sparse, a));
    SAY(cuArrayGetSparseProperties(NULL, a));
    SAY(cuArrayGetSparseProperties(&sparse, NULL));
    SAY(cuMipmappedArrayGetMemoryRequirements(&need, m, 0));
    SAY(cuMipmappedArrayGetMemoryRequirements(&need, NULL, 0));
    SAY(cuMipmappedArrayGetMemoryRequirements(NULL, m, 0));
    SAY(cuMipmappedArrayGetSparseProperties(&sparse, m));
    SAY(cuMipmappedArrayGetSparseProperties(&sparse, NULL));
    SAY(cuMipmappedArrayGetSparseProperties(NULL, m));
    SAY(cuMipmappedArrayDestroy(m));
    SAY(cuArrayDestroy(a));
}

/* ---- copies ---------------------------------------------------------------------------------- */

static void copies(void)
{
    static unsigned char host[4096];
    CUarray line = new_array(64, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0),
            plane = new_array(16, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0),
            box = new_array(8, 4, 3, CU_AD_FORMAT_FLOAT, 1, 0),
            bytes = new_array(16, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0),
            layers = new_array(8, 0, 3, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED);
    SAY(cuMemcpyHtoA(line, 0, host, 256));
    SAY(cuMemcpyHtoA(line, 0, host, 257));
    SAY(cuMemcpyHtoA(line, 4, host, 252));
    SAY(cuMemcpyHtoA(line, 4, host, 256));
    SAY(cuMemcpyHtoA(line, 1, host, 4));
    SAY(cuMemcpyHtoA(line, 0, host, 3));
    SAY(cuMemcpyHtoA(line, 256, host, 0));
    SAY(cuMemcpyHtoA(line, 0, host, 0));
    SAY(cuMemcpyHtoA(line, 0, NULL, 4));
    SAY(cuMemcpyHtoA(NULL, 0, host, 4));
    SAY(cuMemcpyHtoA(plane, 0, host, 512));
    SAY(cuMemcpyHtoA(plane, 0, host, 513));
    SAY(cuMemcpyHtoA(plane, 64, host, 64));
    SAY(cuMemcpyHtoA(plane, 32, host, 64));
    SAY(cuMemcpyHtoA(plane, 448, host, 64));
    SAY(cuMemcpyHtoA(plane, 512, host, 4));
    SAY(cuMemcpyHtoA(box, 0, host, 32));
    SAY(cuMemcpyHtoA(box, 0, host, 128));
    SAY(cuMemcpyHtoA(box, 0, host, 384));
    SAY(cuMemcpyHtoA(layers, 0, host, 32));
    SAY(cuMemcpyHtoA(layers, 0, host, 64));
    SAY(cuMemcpyAtoH(host, line, 0, 256));
    SAY(cuMemcpyAtoH(host, line, 4, 256));
    SAY(cuMemcpyAtoH(host, plane, 32, 100));
    SAY(cuMemcpyAtoH(NULL, line, 0, 4));
    SAY(cuMemcpyAtoH(host, NULL, 0, 4));
    SAY(cuMemcpyAtoD(memory, line, 0, 256));
    SAY(cuMemcpyAtoD(memory, line, 0, 300));
    SAY(cuMemcpyAtoD(0, line, 0, 4));
    SAY(cuMemcpyAtoD(memory, NULL, 0, 4));
    SAY(cuMemcpyDtoA(line, 0, memory, 256));
    SAY(cuMemcpyDtoA(line, 8, memory, 256));
    SAY(cuMemcpyDtoA(line, 8, 0, 8));
    SAY(cuMemcpyDtoA(NULL, 8, memory, 8));
    SAY(cuMemcpyAtoA(line, 0, plane, 0, 64));
    SAY(cuMemcpyAtoA(line, 0, plane, 0, 256));
    SAY(cuMemcpyAtoA(line, 0, line, 128, 128));
    SAY(cuMemcpyAtoA(line, 0, bytes, 0, 16));
    SAY(cuMemcpyAtoA(line, 0, bytes, 0, 15));
    SAY(cuMemcpyAtoA(NULL, 0, line, 0, 4));
    SAY(cuMemcpyAtoA(line, 0, NULL, 0, 4));
    SAY(cuMemcpyHtoAAsync(line, 0, host, 256, 0));
    SAY(cuMemcpyHtoAAsync(line, 0, host, 257, 0));
    SAY(cuMemcpyAtoHAsync(host, line, 0, 256, 0));
    SAY(cuMemcpyAtoHAsync(host, line, 4, 256, 0));
    for (unsigned i = 0; i < 24; i++) {
        CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                           .srcHost = host,
                           .srcPitch = 64,
                           .srcHeight = 8,
                           .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                           .dstArray = box,
                           .WidthInBytes = 32,
                           .Height = 4,
                           .Depth = 3};
        i == 1    ? c.dstXInBytes = 4
        : i == 2  ? c.dstXInBytes = 2
        : i == 3  ? c.dstY = 1
        : i == 4  ? c.dstZ = 1
        : i == 5  ? c.WidthInBytes = 30
        : i == 6  ? c.WidthInBytes = 36
        : i == 7  ? c.Height = 5
        : i == 8  ? c.Depth = 4
        : i == 9  ? c.srcPitch = 16
        : i == 10 ? c.srcPitch = 0
        : i == 11 ? c.srcHeight = 2
        : i == 12 ? c.srcHeight = 0
        : i == 13 ? c.srcLOD = 1
        : i == 14 ? c.dstLOD = 1
        : i == 15 ? c.Height = 0
        : i == 16 ? c.Depth = 0
        : i == 17 ? c.WidthInBytes = 0
                  : 0;
        c.srcMemoryType = i == 18 ? (CUmemorytype)0 : i == 19 ? (CUmemorytype)5 : c.srcMemoryType;
        c.dstArray = i == 20 ? layers : i == 21 ? plane : i == 22 ? line : i == 23 ? NULL : box;
        printf("copy 3d %u: %d\n", i, cuMemcpy3D(&c));
    }
    for (unsigned i = 0; i < 14; i++) {
        CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                           .srcArray = plane,
                           .dstMemoryType = CU_MEMORYTYPE_HOST,
                           .dstHost = host,
                           .dstPitch = 64,
                           .WidthInBytes = 64,
                           .Height = 8};
        i == 1    ? c.srcXInBytes = 4
        : i == 2  ? c.srcXInBytes = 2
        : i == 3  ? c.srcY = 1
        : i == 4  ? c.WidthInBytes = 62
        : i == 5  ? c.WidthInBytes = 68
        : i == 6  ? c.Height = 9
        : i == 7  ? c.dstPitch = 63
        : i == 8  ? c.dstPitch = 0
        : i == 9  ? c.Height = 0
        : i == 10 ? c.WidthInBytes = 0
                  : 0;
        c.srcArray = i == 11 ? box : i == 12 ? line : i == 13 ? layers : plane;
        printf("copy 2d %u: %d %d %d\n", i, cuMemcpy2D(&c), cuMemcpy2DUnaligned(&c),
               cuMemcpy2DAsync(&c, 0));
    }
    SAY(cuMemcpy3D(NULL));
    SAY(cuMemcpy2D(NULL));
    SAY(cuCtxSynchronize());
}

/* ---- surface objects ------------------------------------------------------------------------- */

static void surfaces(void)
{
    CUDA_RESOURCE_DESC r, got;
    CUsurfObject s = 77, other;
    CUarray plain = new_array(8, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0);
    memset(&r, 0, sizeof r);
    SAY(cuSurfObjectCreate(&s, &r));
    r.res.array.hArray = plain;
    SAY(cuSurfObjectCreate(&s, &r));
    r.res.array.hArray = new_array(8, 8, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST);
    r.flags = 1;
    SAY(cuSurfObjectCreate(&s, &r));
    r.flags = 0;
    for (unsigned type = 1; type < 5; type++) {
        r.resType = (CUresourcetype)type;
        SAY(cuSurfObjectCreate(&s, &r));
    }
    r.resType = CU_RESOURCE_TYPE_ARRAY;
    printf("unchanged: %d\n", s == 77);
    SAY(cuSurfObjectCreate(&s, &r));
    SAY(cuSurfObjectCreate(&other, &r));
    printf("different: %d\n", s != other);
    SAY(cuSurfObjectGetResourceDesc(&got, s));
    printf("same: %d\n", got.resType == r.resType && got.res.array.hArray == r.res.array.hArray);
    SAY(cuSurfObjectGetResourceDesc(&got, 0));
    SAY(cuTexObjectGetResourceDesc(&got, s));
    SAY(cuTexObjectDestroy(s));
    SAY(cuSurfObjectGetResourceDesc(&got, s));
    SAY(cuSurfObjectDestroy(s));
    SAY(cuSurfObjectGetResourceDesc(&got, s));
    SAY(cuSurfObjectDestroy(s));
    SAY(cuSurfObjectDestroy(0));
    SAY(cuSurfObjectGetResourceDesc(&got, 0x123450));
    SAY(cuSurfObjectDestroy(0x123450));
    SAY(cuArrayDestroy(r.res.array.hArray));
    SAY(cuSurfObjectGetResourceDesc(&got, other));
    SAY(cuSurfObjectDestroy(other));
    for (unsigned i = 0; i < 8; i++) {
        r.res.array.hArray = new_array(8, i & 1 ? 8 : 0, i & 2 ? 6 : 0, CU_AD_FORMAT_FLOAT, 1,
                                       CUDA_ARRAY3D_SURFACE_LDST | (i & 4   ? 5u
                                                                    : i & 2 ? 1u
                                                                            : 0));
        if (r.res.array.hArray)
            printf("surface of %u: %d\n", i, cuSurfObjectCreate(&s, &r));
    }
}

/* ---- references ------------------------------------------------------------------------------ */

static void show_reference(CUtexref t)
{
    CUdeviceptr address = 1;
    CUaddress_mode mode[3] = {9, 9, 9};
    CUarray a = WILD(CUarray);
    CUmipmappedArray m = WILD(CUmipmappedArray);
    CUfilter_mode filter = 9, mip = 9;
    CUarray_format format = 9;
    float bias = 9, low = 9, high = 9, border[4] = {9, 9, 9, 9};
    unsigned flags = 9;
    int channels = 9, anisotropy = 9;
    printf("  address %d", cuTexRefGetAddress(&address, t));
    printf(" %d; array %d", address == memory ? 2 : address != 0, cuTexRefGetArray(&a, t));
    printf(" %d; levels %d", a != NULL, cuTexRefGetMipmappedArray(&m, t));
    printf(" %d\n", m != NULL);
    for (int i = 0; i < 4; i++)
        printf("  mode %d: %d", i, cuTexRefGetAddressMode(&mode[i % 3], t, i));
    printf(" %d %d %d\n", mode[0], mode[1], mode[2]);
    printf("  filter %d", cuTexRefGetFilterMode(&filter, t));
    printf(" %d; mip %d", filter, cuTexRefGetMipmapFilterMode(&mip, t));
    printf(" %d; format %d", mip, cuTexRefGetFormat(&format, &channels, t));
    printf(" %d %d; flags %d", format, channels, cuTexRefGetFlags(&flags, t));
    printf(" %u; anisotropy %d", flags, cuTexRefGetMaxAnisotropy(&anisotropy, t));
    printf(" %d; bias %d", anisotropy, cuTexRefGetMipmapLevelBias(&bias, t));
    printf(" %g; clamp %d", bias, cuTexRefGetMipmapLevelClamp(&low, &high, t));
    printf(" %g %g; border %d", low, high, cuTexRefGetBorderColor(border, t));
    printf(" %g %g %g %g\n", border[0], border[1], border[2], border[3]);
}

static void run_references(const char *what)
{
    CUfunction k;
    uint32_t words[6] = {0};
    CUresult r = cuModuleGetFunction(&k, module, "k");
    cuMemsetD8(memory + 1024, 0xcd, 24);
    r = r ? r
          : cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&(CUdeviceptr){memory + 1024}},
                           NULL);
    r = r ? r : cuMemcpyDtoH(words, memory + 1024, sizeof words);
    printf("run %s: %d %x %x %x %x %x %x\n", what, r, words[0], words[1], words[2], words[3],
           words[4], words[5]);
}

static void texture_references(void)
{
    static const uint32_t texels[64] = {0x3f800000, 0x40000000, 0x11223344};
    CUtexref t = NULL, again = NULL, own = NULL;
    CUarray a = new_array(8, 8, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST);
    CUarray bytes = new_array(8, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0);
    CUDA_ARRAY_DESCRIPTOR d = {8, 8, CU_AD_FORMAT_FLOAT, 1};
    size_t offset = 77, n;
    float border[4] = {1, 2, 3, 4};
    cuMemcpyHtoA(a, 0, texels, 32);
    cuMemcpyHtoA(bytes, 0, texels, 32);
    cuMemcpyHtoD(memory, texels, sizeof texels);
    SAY(cuModuleGetTexRef(&t, module, "t"));
    SAY(cuModuleGetTexRef(&again, module, "t"));
    printf("same: %d\n", t == again);
    SAY(cuModuleGetTexRef(&again, module, "s"));
    SAY(cuModuleGetTexRef(&again, module, "number"));
    SAY(cuModuleGetTexRef(&again, module, "none"));
    SAY(cuModuleGetTexRef(NULL, module, "t"));
    SAY(cuModuleGetTexRef(&again, module, NULL));
    SAY(cuModuleGetTexRef(&again, NULL, "t"));
    SAY(cuModuleGetGlobal(&(CUdeviceptr){0}, &n, module, "t"));
    SAY(cuModuleGetTexRef(&again, module, "initial"));
    show_reference(t);
    show_reference(again);
    run_references("unbound");
    SAY(cuTexRefSetArray(t, a, 0));
    SAY(cuTexRefSetArray(t, a, CU_TRSA_OVERRIDE_FORMAT));
    SAY(cuTexRefSetArray(t, a, 2));
    SAY(cuTexRefSetArray(t, NULL, CU_TRSA_OVERRIDE_FORMAT));
    SAY(cuTexRefSetArray(NULL, a, CU_TRSA_OVERRIDE_FORMAT));
    SAY(cuTexRefSetArray(t, a, CU_TRSA_OVERRIDE_FORMAT));
    show_reference(t);
    run_references("array");
    for (int i = -1; i < 5; i++) {
        printf("format %d: %d\n", i, cuTexRefSetFormat(t, CU_AD_FORMAT_FLOAT, i));
        printf("address mode %d: %d", i, cuTexRefSetAddressMode(t, 0, (CUaddress_mode)i));
        printf(" %d", cuTexRefSetAddressMode(t, i, CU_TR_ADDRESS_MODE_MIRROR));
        printf(" filter %d", cuTexRefSetFilterMode(t, (CUfilter_mode)i));
        printf(" mip %d\n", cuTexRefSetMipmapFilterMode(t, (CUfilter_mode)i));
    }
    for (unsigned i = 1; i < 0x200; i *= 2)
        printf("flags %x: %d\n", i, cuTexRefSetFlags(t, i));
    show_reference(t);
    SAY(cuTexRefSetFlags(t, CU_TRSF_READ_AS_INTEGER));
    SAY(cuTexRefSetFilterMode(t, CU_TR_FILTER_MODE_POINT));
    SAY(cuTexRefSetFormat(t, CU_AD_FORMAT_UNSIGNED_INT8, 4));
    SAY(cuTexRefSetFormat(t, (CUarray_format)0, 4));
    SAY(cuTexRefSetFormat(NULL, CU_AD_FORMAT_UNSIGNED_INT8, 4));
    run_references("other format");
    SAY(cuTexRefSetArray(t, bytes, CU_TRSA_OVERRIDE_FORMAT));
    run_references("bytes");
    SAY(cuTexRefSetFlags(t, 0));
    run_references("bytes as fractions");
    SAY(cuTexRefSetMaxAnisotropy(t, 0));
    SAY(cuTexRefSetMaxAnisotropy(t, 16));
    SAY(cuTexRefSetMaxAnisotropy(t, 17));
    SAY(cuTexRefSetMipmapLevelBias(t, 2.5f));
    SAY(cuTexRefSetMipmapLevelClamp(t, 1, 3));
    SAY(cuTexRefSetBorderColor(t, border));
    show_reference(t);
    SAY(cuTexRefSetFormat(t, CU_AD_FORMAT_FLOAT, 1));
    SAY(cuTexRefSetAddress(&offset, t, memory, 256));
    printf("offset %zu\n", offset);
    SAY(cuTexRefSetAddress(&offset, t, memory + 4, 252));
    printf("offset %zu\n", offset);
    SAY(cuTexRefSetAddress(NULL, t, memory, 256));
    SAY(cuTexRefSetAddress(NULL, t, memory + 4, 256));
    SAY(cuTexRefSetAddress(&offset, t, 0, 256));
    SAY(cuTexRefSetAddress(&offset, t, memory, 0));
    SAY(cuTexRefSetAddress(&offset, NULL, memory, 256));
    SAY(cuTexRefSetAddress2D(t, &d, memory, 32));
    show_reference(t);
    run_references("pitched");
    SAY(cuTexRefSetAddress2D(t, &d, memory, 36));
    SAY(cuTexRefSetAddress2D(t, &d, memory, 16));
    SAY(cuTexRefSetAddress2D(t, &d, memory + 4, 32));
    SAY(cuTexRefSetAddress2D(t, &d, 0, 32));
    SAY(cuTexRefSetAddress2D(NULL, &d, memory, 32));
    SAY(cuTexRefSetArray(t, a, CU_TRSA_OVERRIDE_FORMAT));
    SAY(cuArrayDestroy(a));
    show_reference(t);
    SAY(cuTexRefCreate(&own));
    if (own)
        show_reference(own);
    SAY(cuTexRefSetArray(own, bytes, CU_TRSA_OVERRIDE_FORMAT));
    SAY(cuTexRefDestroy(own));
}

static void surface_references(void)
{
    static const uint32_t texels[8] = {0x12345678};
    CUsurfref s = NULL, again = NULL;
    CUarray a = new_array(8, 8, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST), got = NULL;
    CUarray plain = new_array(8, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0);
    cuMemcpyHtoA(a, 0, texels, 32);
    SAY(cuModuleGetSurfRef(&s, module, "s"));
    SAY(cuModuleGetSurfRef(&again, module, "s"));
    printf("same: %d\n", s == again);
    SAY(cuModuleGetSurfRef(&again, module, "t"));
    SAY(cuModuleGetSurfRef(&again, module, "none"));
    SAY(cuModuleGetSurfRef(NULL, module, "s"));
    SAY(cuModuleGetSurfRef(&again, module, NULL));
    SAY(cuModuleGetSurfRef(&again, NULL, "s"));
    SAY(cuSurfRefGetArray(&got, s));
    printf("array: %d\n", got != NULL);
    run_references("no surface");
    SAY(cuSurfRefSetArray(s, plain, 0));
    SAY(cuSurfRefSetArray(s, a, 1));
    SAY(cuSurfRefSetArray(s, NULL, 0));
    SAY(cuSurfRefSetArray(NULL, a, 0));
    SAY(cuSurfRefSetArray(s, a, 0));
    SAY(cuSurfRefGetArray(&got, s));
    printf("array: %d\n", got == a);
    run_references("surface");
    SAY(cuArrayDestroy(a));
    SAY(cuSurfRefGetArray(&got, s));
}

static void null_references(void)
{
    CUtexref t = NULL;
    CUsurfref s = NULL;
    CUarray got;
    unsigned flags;
    SAY(cuModuleGetTexRef(&t, module, "t"));
    SAY(cuModuleGetSurfRef(&s, module, "s"));
    SAY(cuTexRefGetArray(NULL, t));
    SAY(cuTexRefGetArray(&got, NULL));
    SAY(cuTexRefSetBorderColor(t, NULL));
    SAY(cuTexRefSetMipmappedArray(t, NULL, CU_TRSA_OVERRIDE_FORMAT));
    SAY(cuTexRefSetAddress2D(t, NULL, memory, 32));
    SAY(cuTexRefGetFlags(NULL, t));
    SAY(cuTexRefGetFlags(&flags, NULL));
    SAY(cuTexRefGetFormat(NULL, NULL, t));
    SAY(cuTexRefGetAddressMode(NULL, t, 0));
    SAY(cuTexRefGetFilterMode(NULL, t));
    SAY(cuTexRefGetAddress(NULL, t));
    SAY(cuTexRefCreate(NULL));
    SAY(cuTexRefDestroy(NULL));
    SAY(cuTexRefDestroy(t));
    SAY(cuSurfRefGetArray(NULL, s));
    SAY(cuSurfRefGetArray(&got, NULL));
}

/* ---- calls that may end the process ---------------------------------------------------------- */

static CUarray freed_array(void)
{
    CUarray a = new_array(8, 8, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST);
    cuArrayDestroy(a);
    return a;
}

static CUmipmappedArray freed_levels(void)
{
    CUDA_ARRAY3D_DESCRIPTOR whole = {8, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    CUmipmappedArray m = NULL;
    cuMipmappedArrayCreate(&m, &whole, 3);
    cuMipmappedArrayDestroy(m);
    return m;
}

static int probe(int number)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    CUarray a = number % 2 ? WILD(CUarray) : freed_array();
    CUmipmappedArray m = number % 2 ? WILD(CUmipmappedArray) : freed_levels();
    CUDA_RESOURCE_DESC r;
    CUsurfObject s;
    char host[64] = {0};
    memset(&r, 0, sizeof r);
    r.res.array.hArray = a;
    switch (number / 2) {
    case 0:
        return cuArrayDestroy(a);
    case 1:
        return cuArray3DGetDescriptor(&d, a);
    case 2:
        return cuArrayGetPlane(&a, a, 0);
    case 3:
        return cuMipmappedArrayDestroy(m);
    case 4:
        return cuMipmappedArrayGetLevel(&a, m, 0);
    case 5:
        return cuMemcpyHtoA(a, 0, host, 32);
    case 6:
        return cuMemcpyAtoH(host, a, 0, 32);
    case 7:
        return cuSurfObjectCreate(&s, &r);
    case 8:
        return number % 2 ? cuSurfObjectCreate(&s, NULL) : cuSurfObjectCreate(NULL, &r);
    }
    return -1;
}

/* ---- running --------------------------------------------------------------------------------- */

static void (*const parts[])(void) = {arrays,         array_arguments,    copies,
                                      surfaces,       texture_references, surface_references,
                                      null_references};
enum { N_PARTS = sizeof parts / sizeof *parts, N_PROBES = 18 };

static int prepare(void)
{
    CUcontext context;
    return !cuInit(0) && !cuDevicePrimaryCtxRetain(&context, 0) && !cuCtxSetCurrent(context) &&
           !cuMemAlloc(&memory, 4096) && !cuModuleLoadData(&module, module_text);
}

static void run_all(char *program, const char *what, int n)
{
    for (int i = 0; i < n; i++) {
        char number[16];
        int status = 0;
        snprintf(number, sizeof number, "%d", i);
        fflush(stdout);
        if (fork() == 0) {
            execl(program, program, what, number, NULL);
            _exit(9);
        }
        wait(&status);
        if (!WIFEXITED(status))
            printf("%s %d: ended\n", what, i);
    }
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc < 3) {
        run_all(argv[0], "part", N_PARTS);
        run_all(argv[0], "probe", N_PROBES);
        return 0;
    }
    if (!prepare())
        return 2;
    int number = atoi(argv[2]);
    if (strcmp(argv[1], "part") == 0)
        parts[number % N_PARTS]();
    else
        printf("probe %d: %d\n", number, probe(number));
    return 0;
}
