/* Textures and surfaces of the runtime library: what its calls refuse. */
#include "tests/hardware/driver/channels.h"

#define WILD(type) ((type)(uintptr_t)0x123450)

static cudaArray_t plane, freed;
static cudaMipmappedArray_t mipmap, freed_mipmap;
static cudaTextureObject_t texture, freed_texture;
static cudaSurfaceObject_t surface, freed_surface;
static void *memory;

static struct cudaResourceDesc of_array(cudaArray_t a)
{
    struct cudaResourceDesc r;
    memset(&r, 0, sizeof r);
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    return r;
}

static struct cudaResourceDesc of_mipmap(cudaMipmappedArray_t m)
{
    struct cudaResourceDesc r;
    memset(&r, 0, sizeof r);
    r.resType = cudaResourceTypeMipmappedArray;
    r.res.mipmap.mipmap = m;
    return r;
}

static struct cudaResourceDesc of_linear(void *p, size_t n, struct cudaChannelFormatDesc d)
{
    struct cudaResourceDesc r;
    memset(&r, 0, sizeof r);
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = p;
    r.res.linear.desc = d;
    r.res.linear.sizeInBytes = n;
    return r;
}

static struct cudaResourceDesc of_pitched(void *p, size_t w, size_t h, size_t pitch,
                                          struct cudaChannelFormatDesc d)
{
    struct cudaResourceDesc r;
    memset(&r, 0, sizeof r);
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D.devPtr = p;
    r.res.pitch2D.desc = d;
    r.res.pitch2D.width = w;
    r.res.pitch2D.height = h;
    r.res.pitch2D.pitchInBytes = pitch;
    return r;
}

static cudaError_t make(const struct cudaResourceDesc *r, const struct cudaTextureDesc *t,
                        const struct cudaResourceViewDesc *v)
{
    cudaTextureObject_t o = 0;
    cudaError_t result = cudaCreateTextureObject(&o, r, t, v);
    if (result == cudaSuccess)
        cudaDestroyTextureObject(o);
    return result;
}

static void begin(void)
{
    struct cudaChannelFormatDesc d = floats();
    struct cudaTextureDesc t;
    struct cudaResourceDesc r;
    memset(&t, 0, sizeof t);
    cudaMallocArray(&plane, &d, 16, 8, cudaArraySurfaceLoadStore);
    cudaMallocArray(&freed, &d, 8, 8, cudaArraySurfaceLoadStore);
    cudaMallocMipmappedArray(&mipmap, &d, extent(32, 16, 0), 4, 0);
    cudaMallocMipmappedArray(&freed_mipmap, &d, extent(8, 8, 0), 2, 0);
    cudaMalloc(&memory, 1 << 20);
    r = of_array(plane);
    cudaCreateTextureObject(&texture, &r, &t, NULL);
    cudaCreateTextureObject(&freed_texture, &r, &t, NULL);
    cudaCreateSurfaceObject(&surface, &r);
    cudaCreateSurfaceObject(&freed_surface, &r);
    cudaFreeMipmappedArray(freed_mipmap);
    cudaFreeArray(freed);
}

/* ---- textures -------------------------------------------------------------------------------- */

static void texture_formats(void)
{
    static const int bits[][2] = {{8, 1},  {8, 4}, {16, 1}, {16, 2}, {32, 1},
                                  {32, 4}, {8, 3}, {32, 3}, {64, 1}, {0, 0}};
    struct cudaTextureDesc t;
    for (int kind = 0; kind < 9; kind++)
        for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
            for (int mode = 0; mode < 2; mode++)
                for (int filter = 0; filter < 2; filter++) {
                    int b = bits[i][0], n = bits[i][1];
                    struct cudaChannelFormatDesc d =
                        channels(b, n > 1 ? b : 0, n > 2 ? b : 0, n > 3 ? b : 0,
                                 (enum cudaChannelFormatKind)kind);
                    struct cudaResourceDesc flat = of_linear(memory, 256, d),
                                            rows = of_pitched(memory, 4, 4, 64, d);
                    memset(&t, 0, sizeof t);
                    t.readMode = (enum cudaTextureReadMode)mode;
                    t.filterMode = (enum cudaTextureFilterMode)filter;
                    printf("format %d %d x %d, %d %d: %d %d\n", kind, b, n, mode, filter,
                           (int)make(&flat, &t, NULL), (int)make(&rows, &t, NULL));
                }
}

/* Arrays of formats with one number of channels. */
static void array_formats(void)
{
    static const int bits[][4] = {{8, 0, 0, 0},     {8, 8, 0, 0},   {8, 8, 8, 8},
                                  {16, 0, 0, 0},    {16, 16, 0, 0}, {16, 16, 16, 0},
                                  {16, 16, 16, 16}, {32, 0, 0, 0},  {10, 10, 10, 2}};
    struct cudaTextureDesc t;
    for (int kind = 0; kind < 32; kind++)
        for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
            struct cudaChannelFormatDesc d = channels(bits[i][0], bits[i][1], bits[i][2],
                                                      bits[i][3], (enum cudaChannelFormatKind)kind);
            cudaArray_t a = NULL;
            if (cudaMallocArray(&a, &d, 16, 16, 0) != cudaSuccess)
                continue;
            struct cudaResourceDesc r = of_array(a);
            printf("array %d %d %d %d %d:", kind, d.x, d.y, d.z, d.w);
            for (int how = 0; how < 8; how++) {
                memset(&t, 0, sizeof t);
                t.readMode = (enum cudaTextureReadMode)(how & 1);
                t.filterMode = (enum cudaTextureFilterMode)(how >> 1 & 1);
                t.sRGB = how >> 2;
                printf(" %d", (int)make(&r, &t, NULL));
            }
            printf("\n");
            cudaFreeArray(a);
        }
}

void part_rt_formats(void)
{
    begin();
    array_formats();
}

void part_rt_texture(void)
{
    struct cudaResourceDesc r, got;
    struct cudaTextureDesc t, got_t;
    struct cudaResourceViewDesc v, got_v;
    cudaTextureObject_t o;
    begin();
    memset(&t, 0, sizeof t);
    memset(&v, 0, sizeof v);
    r = of_array(plane);
    MAKE(o, cudaCreateTextureObject(&o, &r, &t, NULL));
    SAY(cudaCreateTextureObject(NULL, &r, &t, NULL));
    SAY(cudaCreateTextureObject(&o, NULL, &t, NULL));
    SAY(cudaCreateTextureObject(&o, &r, NULL, NULL));
    SAY(cudaCreateTextureObject(&o, &r, &t, &v));
    for (int type = -1; type < 6; type++) {
        r.resType = (enum cudaResourceType)type;
        printf("type %d: %d\n", type, (int)make(&r, &t, NULL));
    }
    r = of_array(NULL);
    SAY(make(&r, &t, NULL));
    r = of_mipmap(NULL);
    SAY(make(&r, &t, NULL));
    r = of_mipmap(mipmap);
    SAY(make(&r, &t, NULL));
    r = of_linear(NULL, 64, floats());
    SAY(make(&r, &t, NULL));
    r = of_linear((char *)memory + 4, 64, floats());
    SAY(make(&r, &t, NULL));
    r = of_linear(memory, 0, floats());
    SAY(make(&r, &t, NULL));
    r = of_linear(memory, (size_t)1 << 31, floats());
    SAY(make(&r, &t, NULL));
    r = of_pitched(memory, 16, 4, 63, floats());
    SAY(make(&r, &t, NULL));
    r = of_pitched(memory, 16, 4, 32, floats());
    SAY(make(&r, &t, NULL));
    r = of_pitched(memory, 131073, 1, 524320, floats());
    SAY(make(&r, &t, NULL));
    r = of_pitched(NULL, 16, 4, 64, floats());
    SAY(make(&r, &t, NULL));
    texture_formats();
    r = of_array(plane);
    for (int n = -1; n < 6; n++) {
        memset(&t, 0, sizeof t);
        t.addressMode[0] = (enum cudaTextureAddressMode)n;
        printf("%d: mode %d", n, (int)make(&r, &t, NULL));
        memset(&t, 0, sizeof t);
        t.filterMode = (enum cudaTextureFilterMode)n;
        printf(" filter %d", (int)make(&r, &t, NULL));
        memset(&t, 0, sizeof t);
        t.mipmapFilterMode = (enum cudaTextureFilterMode)n;
        printf(" of levels %d", (int)make(&r, &t, NULL));
        memset(&t, 0, sizeof t);
        t.readMode = (enum cudaTextureReadMode)n;
        printf(" reading %d", (int)make(&r, &t, NULL));
        memset(&t, 0, sizeof t);
        t.sRGB = n;
        printf(" sRGB %d", (int)make(&r, &t, NULL));
        memset(&t, 0, sizeof t);
        t.normalizedCoords = n;
        printf(" normalized %d", (int)make(&r, &t, NULL));
        memset(&t, 0, sizeof t);
        t.seamlessCubemap = n;
        printf(" seamless %d", (int)make(&r, &t, NULL));
        memset(&t, 0, sizeof t);
        t.disableTrilinearOptimization = n;
        printf(" trilinear %d\n", (int)make(&r, &t, NULL));
    }
    memset(&t, 0, sizeof t);
    SAY(cudaGetTextureObjectResourceDesc(&got, texture));
    SAY(cudaGetTextureObjectResourceDesc(NULL, texture));
    SAY(cudaGetTextureObjectTextureDesc(&got_t, texture));
    SAY(cudaGetTextureObjectTextureDesc(NULL, texture));
    SAY(cudaGetTextureObjectResourceViewDesc(&got_v, texture));
    SAY(cudaGetTextureObjectResourceViewDesc(NULL, texture));
    for (int format = -1; format < 40; format++) {
        v.format = (enum cudaResourceViewFormat)format;
        v.width = 16;
        v.height = 8;
        printf("view %d: %d\n", format, (int)make(&r, &t, &v));
    }
    cudaDestroyTextureObject(freed_texture); /* now: what is made later may have its handle */
    const cudaTextureObject_t wrong[] = {0, freed_texture, surface, 0x123450, ~0ull};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        printf("handle %zu: %d %d %d %d\n", i,
               (int)cudaGetTextureObjectResourceDesc(&got, wrong[i]),
               (int)cudaGetTextureObjectTextureDesc(&got_t, wrong[i]),
               (int)cudaGetTextureObjectResourceViewDesc(&got_v, wrong[i]),
               i == 2 ? 0 : (int)cudaDestroyTextureObject(wrong[i]));
    SAY(cudaDestroyTextureObject(surface));
    SAY(cudaDestroyTextureObject(texture));
    SAY(cudaDestroyTextureObject(texture));
}

void part_rt_surface(void)
{
    struct cudaResourceDesc r, got;
    cudaSurfaceObject_t s;
    begin();
    r = of_array(plane);
    MAKE(s, cudaCreateSurfaceObject(&s, &r));
    SAY(cudaCreateSurfaceObject(NULL, &r));
    SAY(cudaCreateSurfaceObject(&s, NULL));
    for (int type = -1; type < 6; type++) {
        r.resType = (enum cudaResourceType)type;
        printf("type %d: %d\n", type, (int)cudaCreateSurfaceObject(&s, &r));
    }
    r = of_array(NULL);
    SAY(cudaCreateSurfaceObject(&s, &r));
    r = of_mipmap(mipmap);
    SAY(cudaCreateSurfaceObject(&s, &r));
    r = of_linear(memory, 256, floats());
    SAY(cudaCreateSurfaceObject(&s, &r));
    r = of_linear(memory, 256, channels(8, 8, 8, 0, cudaChannelFormatKindSigned));
    SAY(cudaCreateSurfaceObject(&s, &r));
    r = of_pitched(memory, 16, 4, 64, floats());
    SAY(cudaCreateSurfaceObject(&s, &r));
    SAY(cudaGetSurfaceObjectResourceDesc(&got, surface));
    SAY(cudaGetSurfaceObjectResourceDesc(NULL, surface));
    cudaDestroySurfaceObject(freed_surface); /* now, as above */
    const cudaSurfaceObject_t wrong[] = {0, freed_surface, texture, 0x123450, ~0ull};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        printf("handle %zu: %d %d\n", i, (int)cudaGetSurfaceObjectResourceDesc(&got, wrong[i]),
               (int)cudaDestroySurfaceObject(wrong[i]));
    SAY(cudaDestroySurfaceObject(surface));
    SAY(cudaDestroySurfaceObject(surface));
}

/* ---- handles that are none ------------------------------------------------------------------- */

static int wild(int which)
{
    int n = 0;
    struct cudaChannelFormatDesc d;
    struct cudaExtent e;
    struct cudaResourceDesc r;
    struct cudaTextureDesc t;
    struct cudaArrayMemoryRequirements need;
    struct cudaArraySparseProperties sparse;
    struct cudaMemcpy3DParms p;
    cudaSurfaceObject_t s;
    cudaArray_t a;
    unsigned flags;
    static char host[256];
    memset(&t, 0, sizeof t);
    memset(&p, 0, sizeof p);
    p.srcPtr = (struct cudaPitchedPtr){host, 16, 4, 1};
    p.extent = extent(4, 1, 1);
    p.kind = cudaMemcpyHostToDevice;
    ALONE(cudaFreeArray(WILD(cudaArray_t)));
    ALONE(cudaFreeArray(freed));
    ALONE(cudaFreeArray((cudaArray_t)mipmap));
    ALONE(cudaFreeMipmappedArray(WILD(cudaMipmappedArray_t)));
    ALONE(cudaFreeMipmappedArray(freed_mipmap));
    ALONE(cudaFreeMipmappedArray((cudaMipmappedArray_t)plane));
    ALONE(cudaArrayGetInfo(&d, &e, &flags, WILD(cudaArray_t)));
    ALONE(cudaArrayGetInfo(&d, &e, &flags, freed));
    ALONE(cudaGetChannelDesc(&d, WILD(cudaArray_t)));
    ALONE(cudaGetChannelDesc(&d, freed));
    ALONE(cudaArrayGetPlane(&a, WILD(cudaArray_t), 0));
    ALONE(cudaArrayGetMemoryRequirements(&need, WILD(cudaArray_t), 0));
    ALONE(cudaArrayGetMemoryRequirements(&need, freed, 0));
    ALONE(cudaArrayGetSparseProperties(&sparse, freed));
    ALONE(cudaGetMipmappedArrayLevel(&a, WILD(cudaMipmappedArray_t), 0));
    ALONE(cudaGetMipmappedArrayLevel(&a, freed_mipmap, 0));
    ALONE(cudaGetMipmappedArrayLevel(&a, (cudaMipmappedArray_t)plane, 0));
    ALONE((r = of_array(WILD(cudaArray_t)), make(&r, &t, NULL)));
    ALONE((r = of_array(freed), make(&r, &t, NULL)));
    ALONE((r = of_mipmap(WILD(cudaMipmappedArray_t)), make(&r, &t, NULL)));
    ALONE((r = of_mipmap(freed_mipmap), make(&r, &t, NULL)));
    ALONE((r = of_array(WILD(cudaArray_t)), cudaCreateSurfaceObject(&s, &r)));
    ALONE((r = of_array(freed), cudaCreateSurfaceObject(&s, &r)));
    ALONE(cudaMemcpy2DToArray(WILD(cudaArray_t), 0, 0, host, 16, 16, 1, cudaMemcpyHostToDevice));
    ALONE(cudaMemcpy2DToArray(freed, 0, 0, host, 16, 16, 1, cudaMemcpyHostToDevice));
    ALONE(cudaMemcpyToArray(freed, 0, 0, host, 16, cudaMemcpyHostToDevice));
    ALONE(cudaMemcpyFromArray(host, freed, 0, 0, 16, cudaMemcpyDeviceToHost));
    ALONE((p.dstArray = WILD(cudaArray_t), cudaMemcpy3D(&p)));
    ALONE((p.dstArray = freed, cudaMemcpy3D(&p)));
    ALONE(cudaArrayGetInfo(NULL, NULL, NULL, WILD(cudaArray_t)));
    return n;
}

void part_rt_image_wild(void)
{
    say_alone(begin, wild);
}
