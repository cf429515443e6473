/* Textures and surfaces of the driver API: handles that are none, or another context's. */
#include "tests/hardware/driver/image.h"

#define WILD(type) ((type)(uintptr_t)0x123450)

void part_image_handles(void)
{
    CUDA_RESOURCE_DESC r;
    CUDA_TEXTURE_DESC t;
    CUDA_RESOURCE_VIEW_DESC v;
    CUsurfObject s;
    begin_images();
    printf("kinds\n");
    SAY(cuTexObjectGetResourceDesc(&r, surface));
    SAY(cuTexObjectGetTextureDesc(&t, surface));
    SAY(cuTexObjectGetResourceViewDesc(&v, surface));
    SAY(cuSurfObjectGetResourceDesc(&r, texture));
    SAY(cuSurfObjectDestroy(texture));
    SAY(cuTexObjectDestroy(surface));
    printf("freed\n");
    SAY(cuTexObjectGetResourceDesc(&r, freed_texture));
    SAY(cuTexObjectGetTextureDesc(&t, freed_texture));
    SAY(cuTexObjectGetResourceViewDesc(&v, freed_texture));
    SAY(cuSurfObjectGetResourceDesc(&r, freed_surface));
    SAY(cuTexObjectDestroy(freed_texture));
    SAY(cuSurfObjectDestroy(freed_surface));
    printf("wild\n");
    SAY(cuTexObjectGetResourceDesc(&r, 0x123450));
    SAY(cuTexObjectGetTextureDesc(&t, 0x123450));
    SAY(cuTexObjectGetResourceViewDesc(&v, 0x123450));
    SAY(cuSurfObjectGetResourceDesc(&r, 0x123450));
    SAY(cuTexObjectDestroy(0x123450));
    SAY(cuSurfObjectDestroy(0x123450));
    SAY(cuTexObjectDestroy(~0ull));
    SAY(cuSurfObjectDestroy(~0ull));
    SAY(cuTexObjectGetResourceDesc(&r, memory));
    SAY(cuTexObjectGetResourceDesc(&r, (CUtexObject)(uintptr_t)&r));
    printf("surfaces\n");
    r = of_array(plane);
    for (unsigned flags = 1; flags < 8; flags *= 2) {
        r.flags = flags;
        printf("%u: %d\n", flags, cuSurfObjectCreate(&s, &r));
    }
    r = of_mipmap(mipmap);
    SAY(cuSurfObjectCreate(&s, &r));
    r = of_linear(memory, 256);
    SAY(cuSurfObjectCreate(&s, &r));
    r = of_pitched(memory, 16, 4, 64);
    SAY(cuSurfObjectCreate(&s, &r));
    const CUarray_format formats[] = {(CUarray_format)0x50, (CUarray_format)0xc0,
                                      (CUarray_format)0xc5, (CUarray_format)0xcb};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        for (unsigned n = 1; n < 5; n *= 2) {
            CUarray a = new_array(8, 8, 0, formats[i], n, CUDA_ARRAY3D_SURFACE_LDST);
            r = of_array(a);
            if (a)
                printf("%x %u: %d\n", formats[i], n, cuSurfObjectCreate(&s, &r));
        }
}

static int wild(int which)
{
    int n = 0;
    CUDA_ARRAY3D_DESCRIPTOR d;
    CUDA_ARRAY_DESCRIPTOR flat;
    CUDA_ARRAY_MEMORY_REQUIREMENTS need;
    CUDA_ARRAY_SPARSE_PROPERTIES sparse;
    CUDA_TEXTURE_DESC t;
    CUarray a;
    CUsurfObject s;
    CUtexref reference = NULL;
    CUDA_RESOURCE_DESC r;
    CUDA_MEMCPY2D copy;
    CUDA_MEMCPY3D deep;
    char host[256] = {0};
    memset(&t, 0, sizeof t);
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = host;
    copy.srcPitch = copy.WidthInBytes = 16;
    copy.Height = 1;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = WILD(CUarray);
    memset(&deep, 0, sizeof deep);
    deep.srcMemoryType = CU_MEMORYTYPE_HOST;
    deep.srcHost = host;
    deep.srcPitch = deep.WidthInBytes = 16;
    deep.Height = deep.Depth = 1;
    deep.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    deep.dstArray = WILD(CUarray);
    ALONE(cuArrayDestroy(WILD(CUarray)));
    ALONE(cuArrayDestroy((CUarray)mipmap));
    ALONE(cuArrayGetDescriptor(&flat, WILD(CUarray)));
    ALONE(cuArrayGetDescriptor(&flat, freed));
    ALONE(cuArray3DGetDescriptor(&d, (CUarray)mipmap));
    ALONE(cuArrayGetPlane(&a, WILD(CUarray), 0));
    ALONE(cuArrayGetMemoryRequirements(&need, WILD(CUarray), device));
    ALONE(cuArrayGetMemoryRequirements(&need, freed, device));
    ALONE(cuArrayGetSparseProperties(&sparse, WILD(CUarray)));
    ALONE(cuArrayGetSparseProperties(&sparse, freed));
    ALONE(cuMipmappedArrayGetLevel(&a, (CUmipmappedArray)plane, 0));
    ALONE(cuMipmappedArrayDestroy((CUmipmappedArray)plane));
    ALONE(cuMipmappedArrayGetMemoryRequirements(&need, WILD(CUmipmappedArray), device));
    ALONE(cuMipmappedArrayGetSparseProperties(&sparse, WILD(CUmipmappedArray)));
    ALONE(cuMipmappedArrayGetSparseProperties(&sparse, freed_mipmap));
    ALONE(cuMemcpyHtoA(WILD(CUarray), 0, host, 16));
    ALONE(cuMemcpyHtoA((CUarray)mipmap, 0, host, 16));
    ALONE(cuMemcpyAtoD(memory, freed, 0, 16));
    ALONE(cuMemcpyAtoA(plane, 0, freed, 0, 16));
    ALONE(cuMemcpyAtoA(WILD(CUarray), 0, plane, 0, 16));
    ALONE(cuMemcpyHtoAAsync(freed, 0, host, 16, 0));
    ALONE(cuMemcpy2D(&copy));
    ALONE((copy.dstArray = freed, cuMemcpy2D(&copy)));
    ALONE((copy.dstArray = (CUarray)mipmap, cuMemcpy2D(&copy)));
    ALONE(cuMemcpy3D(&deep));
    ALONE((deep.dstArray = freed, cuMemcpy3D(&deep)));
    ALONE((r = of_array(WILD(CUarray)), make(&r, &t, NULL)));
    ALONE((r = of_array(freed), make(&r, &t, NULL)));
    ALONE((r = of_array((CUarray)mipmap), make(&r, &t, NULL)));
    ALONE((r = of_mipmap(WILD(CUmipmappedArray)), make(&r, &t, NULL)));
    ALONE((r = of_mipmap(freed_mipmap), make(&r, &t, NULL)));
    ALONE((r = of_mipmap((CUmipmappedArray)plane), make(&r, &t, NULL)));
    ALONE((r = of_array(WILD(CUarray)), cuSurfObjectCreate(&s, &r)));
    ALONE((r = of_array((CUarray)mipmap), cuSurfObjectCreate(&s, &r)));
    ALONE(cuTexRefSetArray(WILD(CUtexref), plane, CU_TRSA_OVERRIDE_FORMAT));
    ALONE(cuTexRefSetFlags(WILD(CUtexref), 0));
    ALONE(cuTexRefSetFlags((CUtexref)plane, 0));
    ALONE(cuTexRefDestroy(WILD(CUtexref)));
    ALONE(cuSurfRefSetArray(WILD(CUsurfref), plane, 0));
    ALONE(cuSurfRefSetArray((CUsurfref)plane, plane, 0));
    ALONE((cuTexRefCreate(&reference), cuTexRefDestroy(reference), cuTexRefDestroy(reference)));
    ALONE((cuTexRefCreate(&reference), cuTexRefSetArray(reference, WILD(CUarray), 1)));
    ALONE((cuTexRefCreate(&reference), cuTexRefSetArray(reference, freed, 1)));
    ALONE((cuTexRefCreate(&reference), cuTexRefSetMipmappedArray(reference, freed_mipmap, 1)));
    ALONE((cuTexRefCreate(&reference),
           cuTexRefSetMipmappedArray(reference, WILD(CUmipmappedArray), 1)));
    ALONE(cuModuleGetTexRef(&reference, WILD(CUmodule), "t"));
    ALONE(cuTexRefSetBorderColor(NULL, (float *)host));
    ALONE(cuTexRefSetMaxAnisotropy(NULL, 2));
    ALONE(cuTexRefSetMipmapLevelBias(NULL, 2));
    ALONE(cuTexRefSetMipmapLevelClamp(NULL, 0, 2));
    ALONE(cuTexRefSetMipmapFilterMode(NULL, CU_TR_FILTER_MODE_POINT));
    ALONE(cuTexRefSetFilterMode(NULL, CU_TR_FILTER_MODE_POINT));
    ALONE(cuTexRefSetAddressMode(NULL, 0, CU_TR_ADDRESS_MODE_WRAP));
    ALONE(cuTexRefSetFlags(NULL, 0));
    ALONE(cuTexRefSetMipmappedArray(NULL, mipmap, 1));
    ALONE(cuTexRefGetAddress(&memory, NULL));
    ALONE(cuTexRefGetMipmappedArray(&mipmap, NULL));
    ALONE(cuParamSetTexRef(empty, CU_PARAM_TR_DEFAULT, NULL));
    ALONE(cuParamSetTexRef(NULL, CU_PARAM_TR_DEFAULT, NULL));
    return n;
}

void part_image_wild(void)
{
    say_alone(begin_images, wild);
}

/* ---- contexts -------------------------------------------------------------------------------- */

void part_image_contexts(void)
{
    CUcontext other;
    CUDA_RESOURCE_DESC r;
    CUDA_TEXTURE_DESC t;
    CUDA_ARRAY3D_DESCRIPTOR d = {8, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    CUarray a = NULL, foreign = NULL;
    CUmipmappedArray m;
    CUtexObject o, its = 0;
    CUsurfObject s, its_surface = 0;
    char host[64] = {0};
    begin_images();
    memset(&t, 0, sizeof t);
    printf("none current\n");
    SAY(cuCtxSetCurrent(NULL));
    r = of_array(plane);
    MAKE(a, cuArray3DCreate(&a, &d));
    SAY(cuArray3DGetDescriptor(&d, plane));
    MAKE(m, cuMipmappedArrayCreate(&m, &d, 2));
    SAY(cuMipmappedArrayGetLevel(&a, mipmap, 0));
    MAKE(o, cuTexObjectCreate(&o, &r, &t, NULL));
    MAKE(s, cuSurfObjectCreate(&s, &r));
    SAY(cuTexObjectGetResourceDesc(&r, texture));
    SAY(cuSurfObjectGetResourceDesc(&r, surface));
    SAY(cuMemcpyHtoA(plane, 0, host, 16));
    printf("another one's\n");
#if CUDA_VERSION >= 13000
    SAY(cuCtxCreate(&other, NULL, 0, device));
#else
    SAY(cuCtxCreate(&other, 0, device));
#endif
    r = of_array(plane);
    MAKE(o, cuTexObjectCreate(&o, &r, &t, NULL));
    MAKE(s, cuSurfObjectCreate(&s, &r));
    SAY(cuArray3DGetDescriptor(&d, plane));
    SAY(cuMipmappedArrayGetLevel(&a, mipmap, 0));
    SAY(cuMemcpyHtoA(plane, 0, host, 16));
    SAY(cuTexObjectGetResourceDesc(&r, texture));
    SAY(cuTexObjectGetTextureDesc(&t, texture));
    SAY(cuSurfObjectGetResourceDesc(&r, surface));
    MAKE(foreign, cuArray3DCreate(&foreign, &d));
    r = of_array(foreign);
    memset(&t, 0, sizeof t);
    MAKE(its, cuTexObjectCreate(&its, &r, &t, NULL));
    MAKE(its_surface, cuSurfObjectCreate(&its_surface, &r));
    printf("back\n");
    SAY(cuCtxSetCurrent(context));
    SAY(cuTexObjectGetResourceDesc(&r, its));
    SAY(cuSurfObjectGetResourceDesc(&r, its_surface));
    SAY(cuTexObjectDestroy(its));
    SAY(cuSurfObjectDestroy(its_surface));
    SAY(cuArrayDestroy(foreign));
}
