/* Textures and surfaces of the driver API: what their calls refuse. What arrays and references say
 * besides is in tests/hardware/golden/image_calls.c. */
#include "tests/hardware/driver/image.h"
#include <math.h>

CUarray line, plane, box, layers, cube, whole, bytes, gather, freed;
CUmipmappedArray mipmap, freed_mipmap;
CUdeviceptr memory;
CUtexObject texture, freed_texture;
CUsurfObject surface, freed_surface;

CUarray new_array(size_t w, size_t h, size_t d, CUarray_format format, unsigned channels,
                  unsigned flags)
{
    const CUDA_ARRAY3D_DESCRIPTOR all = {w, h, d, format, channels, flags};
    CUarray a = NULL;
    cuArray3DCreate(&a, &all);
    return a;
}

static CUmipmappedArray levels(size_t w, size_t h, unsigned n)
{
    const CUDA_ARRAY3D_DESCRIPTOR all = {w, h, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    CUmipmappedArray m = NULL;
    cuMipmappedArrayCreate(&m, &all, n);
    return m;
}

CUDA_RESOURCE_DESC of_array(CUarray a)
{
    CUDA_RESOURCE_DESC r;
    memset(&r, 0, sizeof r);
    r.resType = CU_RESOURCE_TYPE_ARRAY;
    r.res.array.hArray = a;
    return r;
}

CUDA_RESOURCE_DESC of_mipmap(CUmipmappedArray m)
{
    CUDA_RESOURCE_DESC r;
    memset(&r, 0, sizeof r);
    r.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    r.res.mipmap.hMipmappedArray = m;
    return r;
}

CUDA_RESOURCE_DESC of_linear(CUdeviceptr p, size_t n)
{
    CUDA_RESOURCE_DESC r;
    memset(&r, 0, sizeof r);
    r.resType = CU_RESOURCE_TYPE_LINEAR;
    r.res.linear.devPtr = p;
    r.res.linear.format = CU_AD_FORMAT_FLOAT;
    r.res.linear.numChannels = 1;
    r.res.linear.sizeInBytes = n;
    return r;
}

CUDA_RESOURCE_DESC of_pitched(CUdeviceptr p, size_t w, size_t h, size_t pitch)
{
    CUDA_RESOURCE_DESC r;
    memset(&r, 0, sizeof r);
    r.resType = CU_RESOURCE_TYPE_PITCH2D;
    r.res.pitch2D.devPtr = p;
    r.res.pitch2D.format = CU_AD_FORMAT_FLOAT;
    r.res.pitch2D.numChannels = 1;
    r.res.pitch2D.width = w;
    r.res.pitch2D.height = h;
    r.res.pitch2D.pitchInBytes = pitch;
    return r;
}

CUresult make(const CUDA_RESOURCE_DESC *r, const CUDA_TEXTURE_DESC *t,
              const CUDA_RESOURCE_VIEW_DESC *v)
{
    CUtexObject o = 0;
    CUresult result = cuTexObjectCreate(&o, r, t, v);
    if (result == CUDA_SUCCESS)
        cuTexObjectDestroy(o);
    return result;
}

void begin_images(void)
{
    CUDA_TEXTURE_DESC t;
    CUDA_RESOURCE_DESC r;
    memset(&t, 0, sizeof t);
    say_begin();
    line = new_array(64, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0);
    plane = new_array(16, 8, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST);
    box = new_array(8, 4, 3, CU_AD_FORMAT_FLOAT, 1, 0);
    layers = new_array(8, 8, 4, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED);
    cube = new_array(8, 8, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP);
    whole = new_array(16, 8, 0, CU_AD_FORMAT_SIGNED_INT32, 1, 0);
    bytes = new_array(16, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0);
    gather = new_array(16, 8, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_TEXTURE_GATHER);
    freed = new_array(8, 8, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST);
    mipmap = levels(32, 16, 4);
    freed_mipmap = levels(8, 8, 2);
    cuMemAlloc(&memory, 1 << 20);
    r = of_array(plane);
    cuTexObjectCreate(&texture, &r, &t, NULL);
    cuTexObjectCreate(&freed_texture, &r, &t, NULL);
    cuSurfObjectCreate(&surface, &r);
    cuSurfObjectCreate(&freed_surface, &r);
    cuTexObjectDestroy(freed_texture);
    cuSurfObjectDestroy(freed_surface);
    cuMipmappedArrayDestroy(freed_mipmap);
    cuArrayDestroy(freed);
}

/* ---- textures: resources --------------------------------------------------------------------- */

void part_texture(void)
{
    CUDA_RESOURCE_DESC r, got;
    CUDA_TEXTURE_DESC t, got_t;
    CUDA_RESOURCE_VIEW_DESC got_v;
    CUtexObject o;
    begin_images();
    memset(&t, 0, sizeof t);
    r = of_array(plane);
    MAKE(o, cuTexObjectCreate(&o, &r, &t, NULL));
    SAY(cuTexObjectCreate(NULL, &r, &t, NULL));
    SAY(cuTexObjectCreate(&o, NULL, &t, NULL));
    SAY(cuTexObjectCreate(&o, &r, NULL, NULL));
    SAY(cuTexObjectGetResourceDesc(&got, texture));
    printf("%d %d\n", got.resType, got.res.array.hArray == plane);
    SAY(cuTexObjectGetResourceDesc(NULL, texture));
    SAY(cuTexObjectGetTextureDesc(&got_t, texture));
    printf("%u %u %u\n", got_t.flags, got_t.maxAnisotropy, got_t.filterMode);
    SAY(cuTexObjectGetTextureDesc(NULL, texture));
    SAY(cuTexObjectGetResourceViewDesc(&got_v, texture));
    SAY(cuTexObjectGetResourceViewDesc(NULL, texture));
    for (int type = -1; type < 6; type++) {
        r.resType = (CUresourcetype)type;
        if (type != CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) /* with an array it ends a GPU's driver */
            printf("type %d: %d\n", type, make(&r, &t, NULL));
    }
    r = of_array(plane);
    for (unsigned flags = 1; flags < 8; flags *= 2) {
        r.flags = flags;
        printf("resource flags %u: %d\n", flags, make(&r, &t, NULL));
    }
    const struct {
        const char *name;
        CUarray a;
    } arrays[] = {{"null", NULL}, {"line", line},   {"box", box},     {"layers", layers},
                  {"cube", cube}, {"whole", whole}, {"bytes", bytes}, {"gather", gather}};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        for (unsigned flags = 0; flags < 4; flags++)
            for (int filter = 0; filter < 2; filter++) {
                t.flags = flags;
                t.filterMode = (CUfilter_mode)filter;
                r = of_array(arrays[i].a);
                printf("%s %u %d: %d\n", arrays[i].name, flags, filter, make(&r, &t, NULL));
            }
    memset(&t, 0, sizeof t);
    r = of_mipmap(NULL);
    SAY(make(&r, &t, NULL));
    for (unsigned flags = 0; flags < 4; flags++) {
        t.flags = flags;
        r = of_mipmap(mipmap);
        printf("levels %u: %d\n", flags, make(&r, &t, NULL));
    }
    SAY(cuTexObjectDestroy(0));
    SAY(cuTexObjectDestroy(o));
    SAY(cuTexObjectDestroy(o));
    SAY(cuTexObjectGetResourceDesc(&got, o));
    SAY(cuTexObjectGetTextureDesc(&got_t, o));
    SAY(cuTexObjectGetResourceViewDesc(&got_v, o));
    SAY(cuArrayDestroy(plane));
    SAY(cuTexObjectGetResourceDesc(&got, texture));
    SAY(cuTexObjectDestroy(texture));
}

void part_texture_memory(void)
{
    static const size_t sizes[] = {0,
                                   1,
                                   3,
                                   4,
                                   5,
                                   1 << 20,
                                   (1 << 20) + 4,
                                   (size_t)1 << 29,
                                   ((size_t)1 << 29) + 4,
                                   (size_t)1 << 31,
                                   (size_t)1 << 40};
    static const size_t offsets[] = {1, 4, 16, 32, 64, 128, 256, 511, 512, 1 << 20};
    static const size_t shapes[][3] = {
        {16, 4, 64},     {16, 4, 32},     {16, 4, 63},     {16, 4, 65},         {16, 4, 96},
        {0, 4, 64},      {16, 0, 64},     {16, 4, 0},      {131072, 2, 524288}, {131073, 2, 524320},
        {16, 65000, 64}, {16, 65001, 64}, {1, 1, 2097120}, {1, 1, 2097152},     {1, 1, 32},
        {17, 4, 64},     {1, 100000, 32}, {1, 65536, 32}};
    CUDA_RESOURCE_DESC r;
    CUDA_TEXTURE_DESC t;
    begin_images();
    memset(&t, 0, sizeof t);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        r = of_linear(memory, sizes[i]);
        printf("linear %zu: %d\n", sizes[i], make(&r, &t, NULL));
    }
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        r = of_linear(memory + offsets[i], 64);
        printf("linear at %zu: %d\n", offsets[i], make(&r, &t, NULL));
        r = of_pitched(memory + offsets[i], 16, 4, 64);
        printf("pitched at %zu: %d\n", offsets[i], make(&r, &t, NULL));
    }
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        r = of_pitched(memory, shapes[i][0], shapes[i][1], shapes[i][2]);
        printf("pitched %zu %zu %zu: %d\n", shapes[i][0], shapes[i][1], shapes[i][2],
               make(&r, &t, NULL));
    }
    static const unsigned formats[] = {0,    1,    2,    3,    4,    8,    9,    10,
                                       0x10, 0x20, 0x30, 0x50, 0x91, 0xb0, 0xc0, 0xc5};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        for (unsigned n = 0; n < 6; n++) {
            r = of_linear(memory, 256);
            r.res.linear.format = (CUarray_format)formats[i];
            r.res.linear.numChannels = n;
            printf("linear %x %u: %d\n", formats[i], n, make(&r, &t, NULL));
            r = of_pitched(memory, 4, 4, 64);
            r.res.pitch2D.format = (CUarray_format)formats[i];
            r.res.pitch2D.numChannels = n;
            printf("pitched %x %u: %d\n", formats[i], n, make(&r, &t, NULL));
        }
    r = of_linear(0, 64);
    SAY(make(&r, &t, NULL));
    r = of_linear(512, 64);
    SAY(make(&r, &t, NULL));
    r = of_pitched(0, 16, 4, 64);
    SAY(make(&r, &t, NULL));
    r = of_pitched(512, 16, 4, 64);
    SAY(make(&r, &t, NULL));
    SAY(cuMemFree(memory));
    r = of_linear(memory, 64);
    SAY(make(&r, &t, NULL));
    for (unsigned n = 0; n < 6; n++) {
        size_t most = 77;
        int result = cuDeviceGetTexture1DLinearMaxWidth(&most, CU_AD_FORMAT_FLOAT, n, device);
        printf("widest %u: %d %zu\n", n, result, most);
    }
    size_t most;
    GET(most, cuDeviceGetTexture1DLinearMaxWidth(&most, (CUarray_format)5, 1, device));
    GET(most, cuDeviceGetTexture1DLinearMaxWidth(&most, CU_AD_FORMAT_HALF, 2, 99));
    GET(most, cuDeviceGetTexture1DLinearMaxWidth(&most, CU_AD_FORMAT_UNSIGNED_INT8, 1, device));
    SAY(cuDeviceGetTexture1DLinearMaxWidth(NULL, CU_AD_FORMAT_HALF, 2, device));
}

/* ---- textures: samplers and views ------------------------------------------------------------ */

void part_sampler(void)
{
    static const float numbers[] = {-1e30f, -17, -1, 0, 1, 15.99f, 16, 1e30f, INFINITY, NAN};
    CUDA_RESOURCE_DESC r[] = {of_array(NULL), of_array(NULL), of_mipmap(NULL), of_linear(0, 0)};
    CUDA_TEXTURE_DESC t;
    begin_images();
    r[0] = of_array(plane);
    r[1] = of_array(cube);
    r[2] = of_mipmap(mipmap);
    r[3] = of_linear(memory, 256);
    for (int i = 0; i < 4; i++) {
        printf("resource %d\n", i);
        for (int mode = -1; mode < 6; mode++)
            for (int axis = 0; axis < 3; axis++) {
                memset(&t, 0, sizeof t);
                t.addressMode[axis] = (CUaddress_mode)mode;
                printf("mode %d of %d: %d\n", mode, axis, make(&r[i], &t, NULL));
            }
        for (int mode = -1; mode < 4; mode++) {
            memset(&t, 0, sizeof t);
            t.filterMode = (CUfilter_mode)mode;
            printf("filter %d: %d\n", mode, make(&r[i], &t, NULL));
            memset(&t, 0, sizeof t);
            t.mipmapFilterMode = (CUfilter_mode)mode;
            printf("of levels %d: %d\n", mode, make(&r[i], &t, NULL));
        }
        for (unsigned flag = 1; flag; flag *= 2) {
            memset(&t, 0, sizeof t);
            t.flags = flag;
            printf("flag %x: %d\n", flag, make(&r[i], &t, NULL));
        }
        for (unsigned most = 0; most < 20; most++) {
            memset(&t, 0, sizeof t);
            t.maxAnisotropy = most < 19 ? most : ~0u;
            printf("anisotropy %u: %d\n", t.maxAnisotropy, make(&r[i], &t, NULL));
        }
        for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
            memset(&t, 0, sizeof t);
            t.mipmapLevelBias = numbers[n];
            printf("bias %g: %d", numbers[n], make(&r[i], &t, NULL));
            memset(&t, 0, sizeof t);
            t.minMipmapLevelClamp = numbers[n];
            printf(" from %d", make(&r[i], &t, NULL));
            t.maxMipmapLevelClamp = numbers[n];
            t.minMipmapLevelClamp = 0;
            printf(" to %d", make(&r[i], &t, NULL));
            memset(&t, 0, sizeof t);
            t.borderColor[1] = numbers[n];
            printf(" border %d\n", make(&r[i], &t, NULL));
        }
        for (unsigned n = 0; n < sizeof t.reserved / sizeof *t.reserved; n++) {
            memset(&t, 0, sizeof t);
            t.reserved[n] = 1;
            printf("reserved %u: %d\n", n, make(&r[i], &t, NULL));
        }
    }
}

static CUresult view(const CUDA_RESOURCE_DESC *r, unsigned format, size_t w, size_t h, size_t d,
                     unsigned first, unsigned last, unsigned layer, unsigned to)
{
    CUDA_TEXTURE_DESC t;
    CUDA_RESOURCE_VIEW_DESC v;
    memset(&t, 0, sizeof t);
    memset(&v, 0, sizeof v);
    v.format = (CUresourceViewFormat)format;
    v.width = w;
    v.height = h;
    v.depth = d;
    v.firstMipmapLevel = first;
    v.lastMipmapLevel = last;
    v.firstLayer = layer;
    v.lastLayer = to;
    return make(r, &t, &v);
}

void part_view(void)
{
    CUDA_RESOURCE_DESC r;
    CUDA_TEXTURE_DESC t;
    CUDA_RESOURCE_VIEW_DESC v, got;
    CUtexObject o;
    begin_images();
    r = of_array(plane);
    for (unsigned format = 0; format < 40; format++)
        printf("view %u: %d\n", format, view(&r, format, 16, 8, 0, 0, 0, 0, 0));
    r = of_array(whole);
    for (unsigned format = 0; format < 40; format++)
        printf("view of words %u: %d %d\n", format, view(&r, format, 16, 8, 0, 0, 0, 0, 0),
               view(&r, format, 64, 32, 0, 0, 0, 0, 0));
    r = of_array(bytes);
    for (unsigned format = 1; format < 25; format++)
        printf("view of bytes %u: %d\n", format, view(&r, format, 16, 8, 0, 0, 0, 0, 0));
    r = of_array(layers);
    for (unsigned first = 0; first < 5; first++)
        for (unsigned last = 0; last < 6; last++)
            printf("layers %u %u: %d\n", first, last, view(&r, 22, 8, 8, 4, 0, 0, first, last));
    SAY(view(&r, 22, 8, 8, 3, 0, 0, 0, 0));
    SAY(view(&r, 22, 8, 8, 0, 0, 0, 0, 3));
    r = of_array(cube);
    for (unsigned last = 0; last < 7; last++)
        printf("faces %u: %d\n", last, view(&r, 22, 8, 8, 6, 0, 0, 0, last));
    r = of_array(box);
    SAY(view(&r, 22, 8, 4, 3, 0, 0, 0, 0));
    SAY(view(&r, 22, 8, 4, 0, 0, 0, 0, 0));
    SAY(view(&r, 22, 8, 4, 3, 0, 0, 0, 1));
    r = of_array(line);
    SAY(view(&r, 22, 64, 0, 0, 0, 0, 0, 0));
    SAY(view(&r, 22, 64, 1, 0, 0, 0, 0, 0));
    r = of_mipmap(mipmap);
    for (unsigned first = 0; first < 5; first++)
        for (unsigned last = 0; last < 6; last++)
            printf("levels %u %u: %d %d\n", first, last, view(&r, 22, 32, 16, 0, first, last, 0, 0),
                   view(&r, 22, 32 >> first, 16 >> first, 0, first, last, 0, 0));
    r = of_linear(memory, 256);
    SAY(view(&r, 22, 64, 0, 0, 0, 0, 0, 0));
    SAY(view(&r, 0, 0, 0, 0, 0, 0, 0, 0));
    r = of_pitched(memory, 16, 4, 64);
    SAY(view(&r, 22, 16, 4, 0, 0, 0, 0, 0));
    r = of_array(plane);
    memset(&t, 0, sizeof t);
    memset(&v, 0, sizeof v);
    v.format = CU_RES_VIEW_FORMAT_FLOAT_1X32;
    v.width = 16;
    v.height = 8;
    MAKE(o, cuTexObjectCreate(&o, &r, &t, &v));
    SAY(cuTexObjectGetResourceViewDesc(&got, o));
    printf("%d %zu %zu\n", got.format, got.width, got.height);
    for (size_t i = 0; i < sizeof v.reserved / sizeof *v.reserved; i++) {
        v.reserved[i] = 1;
        printf("reserved %zu: %d\n", i, make(&r, &t, &v));
        v.reserved[i] = 0;
    }
}
