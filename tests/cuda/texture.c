/* Texture objects: what is refused, as the driver of an H100 refuses it; what comes back; sampling,
 * with gradients at whole coordinates, too; handles that are none. */
#include "tests/cuda/image.h"

enum { SIDE = 8 };

#define KERNEL(name, fetch)                                   \
    ".visible .entry " name "(.param .u64 t, .param .f32 x, " \
    ".param .f32 y, .param .u64 to) {\n"                      \
    ".reg .b64 %p<2>; .reg .f32 %f<6>; .reg .s32 %r<2>;\n"    \
    "ld.param.u64 %p0, [t];\n"                                \
    "ld.param.u64 %p1, [to];\n"                               \
    "ld.param.f32 %f4, [x];\n"                                \
    "ld.param.f32 %f5, [y];\n"                                \
    "mov.b32 %r0, %f4;\n"                                     \
    "mov.b32 %r1, %f5;\n"                                     \
    "tex." fetch ";\n"                                        \
    "st.v4.f32 [%p1], {%f0, %f1, %f2, %f3};\n"                \
    "ret; }\n"
#define SAMPLE "2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%p0, {%f4, %f5}]"
#define ALONG                                                      \
    "grad.2d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%p0, {%r0, %r1}], " \
    "{%f4, %f5}, {%f4, %f5}, {1, 1}"
#define ALONG_LINE "grad.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%p0, {%r0}], {%f4}, {%f5}, {1}"

static const char sampler[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n" KERNEL("sample", SAMPLE)
        KERNEL("along", ALONG) KERNEL("along_line", ALONG_LINE);

static CUarray array;
static CUdeviceptr memory;
static CUDA_RESOURCE_DESC whole;
static const CUDA_TEXTURE_DESC clamped = {.addressMode = {1, 1, 1}};

static void make_array(void)
{
    float texels[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++)
        texels[i] = (float)i;
    array = new_square(SIDE, CU_AD_FORMAT_FLOAT, 0, texels);
    whole.res.array.hArray = array;
    OK(cuMemAlloc_v2(&memory, 1 << 20));
}

static CUresult create(CUDA_RESOURCE_DESC resource, CUDA_TEXTURE_DESC texture)
{
    CUtexObject t = 77;
    CUresult r = cuTexObjectCreate(&t, &resource, &texture, NULL);
    CHECK_INT(t == 77, r != CUDA_SUCCESS);
    if (r == CUDA_SUCCESS)
        OK(cuTexObjectDestroy(t));
    return r;
}

#define CREATE(resource, change, want)       \
    do {                                     \
        CUDA_RESOURCE_DESC r = resource;     \
        CUDA_TEXTURE_DESC t = clamped;       \
        change;                              \
        CHECK_CU(create(r, t), CUDA_##want); \
    } while (0)

static void refuse_samplers(void)
{
    CREATE(whole, (void)0, SUCCESS);
    CREATE(whole, r.res.array.hArray = NULL, ERROR_INVALID_VALUE);
    CREATE(whole, r.res.array.hArray = WILD, ERROR_INVALID_VALUE);
    CREATE(whole, r.resType = 4, ERROR_INVALID_VALUE);
    CREATE(whole, r.flags = 1, ERROR_INVALID_VALUE);
    CREATE(whole, t.addressMode[1] = 4, ERROR_INVALID_VALUE);
    CREATE(whole, t.addressMode[2] = 99, SUCCESS);
    CREATE(whole, t.filterMode = 2, ERROR_INVALID_VALUE);
    CREATE(whole, t.mipmapFilterMode = 2, ERROR_INVALID_VALUE);
    CREATE(whole, t.flags = 0x23, SUCCESS);
    CREATE(whole, t.flags = 0x40, ERROR_INVALID_VALUE);
    CREATE(whole, t.flags = 0x80, ERROR_INVALID_VALUE);
    CREATE(whole, t.maxAnisotropy = 1000, SUCCESS);
    CREATE(whole, t.reserved[0] = 1, ERROR_INVALID_VALUE);
    CREATE(whole, t.flags = CU_TRSF_SRGB, SUCCESS);
}

static void refuse_memory(void)
{
    CUDA_RESOURCE_DESC linear = {.resType = CU_RESOURCE_TYPE_LINEAR}, pitched = linear;
    linear.res.linear.devPtr = memory;
    linear.res.linear.format = CU_AD_FORMAT_FLOAT;
    linear.res.linear.numChannels = 1;
    linear.res.linear.sizeInBytes = 4096;
    CREATE(linear, (void)0, SUCCESS);
    CREATE(linear, r.res.linear.devPtr = 0, ERROR_INVALID_VALUE);
    CREATE(linear, r.res.linear.devPtr = (uintptr_t)&linear, ERROR_INVALID_VALUE);
    CREATE(linear, r.res.linear.devPtr += 256, ERROR_INVALID_VALUE);
    CREATE(linear, r.res.linear.devPtr += 512, SUCCESS);
    CREATE(linear, r.res.linear.sizeInBytes = 4097, SUCCESS);
    CREATE(linear, r.res.linear.numChannels = 3, ERROR_INVALID_VALUE);
    CREATE(linear, r.res.linear.format = 5, ERROR_INVALID_VALUE);
    pitched.resType = CU_RESOURCE_TYPE_PITCH2D;
    pitched.res.pitch2D.devPtr = memory;
    pitched.res.pitch2D.format = CU_AD_FORMAT_FLOAT;
    pitched.res.pitch2D.numChannels = 1;
    pitched.res.pitch2D.width = 33;
    pitched.res.pitch2D.height = 9;
    pitched.res.pitch2D.pitchInBytes = 160;
    CREATE(pitched, (void)0, SUCCESS);
    CREATE(pitched, r.res.pitch2D.devPtr += 32, ERROR_INVALID_VALUE);
    CREATE(pitched, r.res.pitch2D.pitchInBytes = 144, ERROR_INVALID_VALUE);
    CREATE(pitched, r.res.pitch2D.pitchInBytes = 128, SUCCESS);
    CREATE(pitched, r.res.pitch2D.pitchInBytes = 1 << 21, ERROR_INVALID_VALUE);
    CREATE(pitched, r.res.pitch2D.height = 65001, ERROR_INVALID_VALUE);
    CREATE(pitched, r.res.pitch2D.width = 131073, ERROR_INVALID_VALUE);
}

static CUresult view(CUDA_RESOURCE_VIEW_DESC v)
{
    CUtexObject t = 77;
    CUDA_RESOURCE_VIEW_DESC back = {0};
    CUresult r = cuTexObjectCreate(&t, &whole, &clamped, &v);
    if (r == CUDA_SUCCESS) {
        OK(cuTexObjectGetResourceViewDesc(&back, t));
        CHECK_INT(back.width == v.width && back.format == v.format, 1);
        OK(cuTexObjectDestroy(t));
    }
    return r;
}

#define VIEW(change, want)                                                            \
    do {                                                                              \
        CUDA_RESOURCE_VIEW_DESC v = {.format = FLOAT, .width = SIDE, .height = SIDE}; \
        change;                                                                       \
        CHECK_CU(view(v), CUDA_##want);                                               \
    } while (0)

static void refuse_views(void)
{
    enum { WORD = 13, FLOAT = 22, TWO_FLOATS = 23, BLOCK = 25 };
    VIEW((void)0, SUCCESS);
    VIEW(v.format = WORD, SUCCESS);
    VIEW(v.format = TWO_FLOATS, ERROR_INVALID_VALUE);
    VIEW(v.format = 0, ERROR_INVALID_VALUE);
    VIEW(v.format = 99, ERROR_INVALID_VALUE);
    VIEW(v.width = SIDE / 2, ERROR_INVALID_VALUE);
    VIEW(v.depth = 1, ERROR_INVALID_VALUE);
    VIEW(v.firstMipmapLevel = v.lastMipmapLevel = 1, ERROR_INVALID_VALUE);
    VIEW(v.lastLayer = 1, ERROR_INVALID_VALUE);
    VIEW(v.format = BLOCK, ERROR_INVALID_VALUE); /* of words alone */
    VIEW((v.format = BLOCK, v.width *= 4, v.height *= 4), ERROR_INVALID_VALUE);
}

enum { BC1 = 0x91, BC1_SRGB = 0x92, BC1_CHANNELS = 4 };

/* An array of 13 x 9 texels, which are 4 x 3 blocks of 8 bytes. As an H100's driver has it. */
static void copy_blocks(void)
{
    enum { COLUMNS = 4, ROWS = 3, BYTES = 8 };
    uint64_t blocks[ROWS][COLUMNS + 1], back[ROWS][COLUMNS];
    CUarray a, words, floats;
    CUDA_ARRAY_DESCRIPTOR d = {13, 9, (CUarray_format)BC1, BC1_CHANNELS};
    CUDA_ARRAY_DESCRIPTOR w = {COLUMNS, ROWS, CU_AD_FORMAT_UNSIGNED_INT32, 2};
    for (unsigned i = 0; i < ROWS * (COLUMNS + 1); i++)
        blocks[i / (COLUMNS + 1)][i % (COLUMNS + 1)] = 0x0123456789abcdefu * i;
    OK(cuArrayCreate_v2(&a, &d));
    OK(cuArrayCreate_v2(&words, &w));
    w.Format = CU_AD_FORMAT_FLOAT;
    w.NumChannels = 1;
    OK(cuArrayCreate_v2(&floats, &w));
    CUDA_MEMCPY2D to = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = blocks,
                        .srcPitch = sizeof *blocks,
                        .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                        .dstArray = a,
                        .WidthInBytes = COLUMNS * BYTES,
                        .Height = ROWS};
    CUDA_MEMCPY2D from = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcArray = words,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = back,
                          .WidthInBytes = COLUMNS * BYTES,
                          .Height = ROWS};
    CUDA_MEMCPY2D between = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                             .srcArray = a,
                             .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                             .dstArray = words,
                             .WidthInBytes = COLUMNS * BYTES,
                             .Height = ROWS};
    OK(cuMemcpy2D_v2(&to));
    OK(cuMemcpy2D_v2(&between));
    OK(cuMemcpy2D_v2(&from));
    for (int y = 0; y < ROWS; y++)
        CHECK_INT(memcmp(back[y], blocks[y], sizeof back[y]), 0);
    to.Height = ROWS + 1;
    CHECK_CU(cuMemcpy2D_v2(&to), CUDA_ERROR_INVALID_VALUE);
    to.Height = 1;
    to.WidthInBytes = BYTES / 2;
    CHECK_CU(cuMemcpy2D_v2(&to), CUDA_ERROR_INVALID_VALUE);
    between.dstArray = floats;
    between.WidthInBytes = BYTES;
    CHECK_CU(cuMemcpy2D_v2(&between), CUDA_ERROR_INVALID_VALUE);
    OK(cuArrayDestroy(a));
    OK(cuArrayDestroy(words));
    OK(cuArrayDestroy(floats));
}

static void refuse_blocks(void)
{
    CUarray a;
    CUtexObject t;
    CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CUDA_ARRAY3D_DESCRIPTOR d = {16, 16, 0, (CUarray_format)BC1, BC1_CHANNELS, 0};
    d.Flags = CUDA_ARRAY3D_SURFACE_LDST;
    CHECK_CU(cuArray3DCreate_v2(&a, &d), CUDA_ERROR_NOT_SUPPORTED);
    d.Flags = 0;
    d.NumChannels = 1;
    CHECK_CU(cuArray3DCreate_v2(&a, &d), CUDA_ERROR_INVALID_VALUE);
    d = (CUDA_ARRAY3D_DESCRIPTOR){16, 0, 0, (CUarray_format)BC1, BC1_CHANNELS, 0};
    CHECK_CU(cuArray3DCreate_v2(&a, &d), CUDA_ERROR_INVALID_VALUE);
    d = (CUDA_ARRAY3D_DESCRIPTOR){16, 16, 0, (CUarray_format)BC1_SRGB, BC1_CHANNELS, 0};
    OK(cuArray3DCreate_v2(&a, &d));
    r.res.array.hArray = a;
    CHECK_CU(cuTexObjectCreate(&t, &r, &clamped, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuArrayDestroy(a));
}

static void describe(void)
{
    CUtexObject t;
    CUDA_RESOURCE_DESC r;
    CUDA_TEXTURE_DESC d;
    CUDA_RESOURCE_VIEW_DESC view;
    CHECK_CU(cuTexObjectCreate(NULL, &whole, &clamped, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuTexObjectCreate(&t, NULL, &clamped, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuTexObjectCreate(&t, &whole, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuTexObjectCreate(&t, &whole, &clamped, NULL));
    OK(cuTexObjectGetResourceDesc(&r, t));
    CHECK_INT(r.res.array.hArray == array, 1);
    OK(cuTexObjectGetTextureDesc(&d, t));
    CHECK_INT(d.addressMode[1], CU_TR_ADDRESS_MODE_CLAMP);
    OK(cuTexObjectGetResourceViewDesc(&view, t));
    CHECK_CU(cuTexObjectGetResourceDesc(NULL, t), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuTexObjectGetTextureDesc(NULL, t), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuTexObjectGetResourceViewDesc(NULL, t), CUDA_ERROR_INVALID_VALUE);
    OK(cuTexObjectDestroy(t));
    CHECK_CU(cuTexObjectGetResourceDesc(&r, t), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuTexObjectGetResourceDesc(&r, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuTexObjectGetTextureDesc(&d, 0x123450), CUDA_ERROR_INVALID_VALUE);
    OK(cuTexObjectDestroy(t));
    OK(cuTexObjectDestroy(0));
    OK(cuTexObjectDestroy(0x123450));
}

static CUresult sample(CUfunction kernel, CUtexObject t, float x, float y, float *value)
{
    float out[4] = {0};
    CUresult r =
        cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&t, &x, &y, &memory}, NULL);
    if (r == CUDA_SUCCESS)
        r = cuMemcpyDtoH_v2(out, memory, sizeof out);
    *value = out[0];
    return r;
}

static void sample_all(void)
{
    CUmodule module;
    CUfunction kernel, along, along_line;
    CUtexObject point, linear;
    CUDA_TEXTURE_DESC d = clamped;
    float value;
    OK(cuModuleLoadData(&module, sampler));
    OK(cuModuleGetFunction(&kernel, module, "sample"));
    OK(cuModuleGetFunction(&along, module, "along"));
    OK(cuModuleGetFunction(&along_line, module, "along_line"));
    OK(cuTexObjectCreate(&point, &whole, &d, NULL));
    d.filterMode = CU_TR_FILTER_MODE_LINEAR;
    OK(cuTexObjectCreate(&linear, &whole, &d, NULL));
    OK(sample(kernel, point, 2.9f, 3.1f, &value));
    CHECK_INT(value == 3 * SIDE + 2, 1);
    OK(sample(kernel, point, -5, 1000, &value));
    CHECK_INT(value == 7 * SIDE, 1);
    OK(sample(kernel, linear, 3, 4, &value)); /* between four texels */
    CHECK_INT(value == 3 * SIDE + 2 + (SIDE + 1) / 2.f, 1);
    OK(sample(along, point, 2.9f, 3.1f, &value)); /* bits of numbers, and offsets */
    CHECK_INT(value == 4 * SIDE + 3, 1);
    CHECK_CU(sample(along_line, point, 2.9f, 3.1f, &value), CUDA_ERROR_NOT_SUPPORTED);
    OK(sample(kernel, 0, 3, 4, &value));
    CHECK_INT(value == 0, 1);
    OK(cuTexObjectDestroy(point));
    CHECK_CU(sample(kernel, point, 3, 4, &value), CUDA_ERROR_ILLEGAL_ADDRESS);
}

int main(void)
{
    CUcontext context;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    make_array();
    refuse_samplers();
    refuse_memory();
    refuse_views();
    copy_blocks();
    refuse_blocks();
    describe();
    sample_all();
    return CHECK_DONE("cuda_texture");
}
