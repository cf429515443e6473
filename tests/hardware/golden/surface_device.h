/* Runs a case of the surface group through the driver API. The includer has the driver's header, or
 * Ptera's statement of it. */
#ifndef PTERA_TESTS_GOLDEN_SURFACE_DEVICE_H
#define PTERA_TESTS_GOLDEN_SURFACE_DEVICE_H

#include <stdlib.h>

#include "read_file.h"
#include "surface_case.h"

enum { LEVELS = 4, LINEAR_BYTES = 4096 };
static const uint64_t wild_handle = 0x12345670;
static CUdeviceptr in, out, linear;

struct surface {
    CUarray array; /* what is filled and read back */
    CUmipmappedArray mipmap;
    unsigned size[3]; /* of the level */
    unsigned long long handle;
};

static int is_texture(const struct surface_case *c)
{
    return c->object >= TEXTURE && c->object <= TEXTURE_PITCHED;
}

static CUresult copy(const struct surface_case *c, const struct surface *s, unsigned char *bytes,
                     int is_back)
{
    unsigned texel = surface_channel_bytes(c) * c->channels;
    CUDA_MEMCPY3D m = {.WidthInBytes = (size_t)s->size[0] * texel,
                       .Height = s->size[1] ? s->size[1] : 1,
                       .Depth = s->size[2] ? s->size[2] : 1};
    m.srcMemoryType = is_back ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
    m.dstMemoryType = is_back ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
    m.srcArray = m.dstArray = s->array;
    m.srcHost = m.dstHost = bytes;
    m.srcPitch = m.dstPitch = m.WidthInBytes;
    m.srcHeight = m.dstHeight = m.Height;
    return cuMemcpy3D(&m);
}

static unsigned surface_bytes(const struct surface_case *c, const struct surface *s)
{
    unsigned n = surface_channel_bytes(c) * c->channels;
    for (unsigned i = 0; i < 3; i++)
        n *= s->size[i] ? s->size[i] : 1;
    return n;
}

static CUresult create_array(const struct surface_case *c, struct surface *s)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {c->size[0], c->size[1],  c->size[2],
                                 c->format,  c->channels, c->array_flags};
    int is_level = c->object == SURFACE_LEVEL || c->object == TEXTURE_LEVELS;
    unsigned level = is_level && !is_texture(c) ? c->level : 0;
    int has_layers = (c->array_flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
    static unsigned char bytes[SURFACE_BYTES];
    if (c->object == PLAIN_ARRAY)
        d.Flags &= ~(unsigned)CUDA_ARRAY3D_SURFACE_LDST;
    for (unsigned i = 0; i < 3; i++) {
        s->size[i] = i == 2 && has_layers ? c->size[i] : c->size[i] >> level;
        s->size[i] = c->size[i] && !s->size[i] ? 1 : s->size[i];
    }
    CUresult e =
        is_level ? cuMipmappedArrayCreate(&s->mipmap, &d, 3) : cuArray3DCreate(&s->array, &d);
    if (!e && is_level)
        e = cuMipmappedArrayGetLevel(&s->array, s->mipmap, level);
    uint64_t state = c->seed * 7919u;
    for (unsigned i = 0; i < surface_bytes(c, s); i++)
        bytes[i] = (unsigned char)(texture_random(&state) >> 20);
    return e ? e : copy(c, s, bytes, 0);
}

static CUresult create_texture(const struct surface_case *c, const struct surface *s,
                               unsigned long long *handle)
{
    CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CUDA_TEXTURE_DESC t = {.flags = c->level & 3, .filterMode = c->level & 1};
    for (unsigned i = 0; i < 3; i++)
        t.addressMode[i] = (c->level + i) % 4;
    r.res.array.hArray = s->array;
    if (c->object == TEXTURE_LEVELS) {
        r.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        r.res.mipmap.hMipmappedArray = s->mipmap;
    } else if (c->object == TEXTURE_LINEAR) {
        r.resType = CU_RESOURCE_TYPE_LINEAR;
        r.res.linear.devPtr = linear;
        r.res.linear.format = c->format;
        r.res.linear.numChannels = c->channels;
        r.res.linear.sizeInBytes = 1000;
    } else if (c->object == TEXTURE_PITCHED) {
        r.resType = CU_RESOURCE_TYPE_PITCH2D;
        r.res.pitch2D.devPtr = linear;
        r.res.pitch2D.format = c->format;
        r.res.pitch2D.numChannels = c->channels;
        r.res.pitch2D.width = 23;
        r.res.pitch2D.height = 9;
        r.res.pitch2D.pitchInBytes = 128;
    }
    return cuTexObjectCreate(handle, &r, &t, NULL);
}

static CUresult create_object(const struct surface_case *c, struct surface *s)
{
    CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_ARRAY};
    r.res.array.hArray = s->array;
    s->handle = c->object == WILD_OBJECT ? wild_handle : 0;
    if (c->object == WILD_OBJECT || c->object == NO_OBJECT)
        return CUDA_SUCCESS;
    CUresult e =
        is_texture(c) ? create_texture(c, s, &s->handle) : cuSurfObjectCreate(&s->handle, &r);
    if (c->object == DESTROYED_OBJECT)
        cuSurfObjectDestroy(s->handle);
    return e;
}

static CUresult launch(CUmodule module, const struct surface_case *c, const struct surface *s,
                       uint32_t *words)
{
    CUfunction kernel;
    for (unsigned i = 0; i < c->lanes; i++)
        surface_fill_lane(c, i, s->size[0], s->size[1], s->size[2], words + i * SURFACE_LANE_WORDS);
    CUresult e = cuMemcpyHtoD(in, words, c->lanes * SURFACE_LANE_WORDS * 4);
    e = e ? e : cuMemsetD8(out, 0xcd, c->lanes * 16);
    e = e ? e : cuModuleGetFunction(&kernel, module, c->kernel);
    e = e ? e
          : cuLaunchKernel(kernel, c->lanes / 32, 1, 1, 32, 1, 1, 0, NULL,
                           (void *[]){(void *)&s->handle, &in, &out}, NULL);
    return e ? e : cuMemcpyDtoH(words, out, c->lanes * 16);
}

/* The words of the lanes, four each, what the array holds then, and what came of the steps. */
static struct surface_result run_case(CUmodule module, const struct surface_case *c,
                                      uint32_t *words, unsigned char *bytes)
{
    struct surface_result result = {0};
    struct surface s = {0};
    memset(words, 0, c->lanes * SURFACE_LANE_WORDS * sizeof *words);
    result.created = create_array(c, &s);
    if (!result.created)
        result.object = create_object(c, &s);
    if (!result.created && !result.object)
        result.launched = launch(module, c, &s, words);
    if (!result.created && !result.launched && !copy(c, &s, bytes, 1))
        result.bytes = surface_bytes(c, &s);
    if (s.handle && is_texture(c))
        cuTexObjectDestroy(s.handle);
    else if (s.handle && c->object <= SURFACE_LEVEL)
        cuSurfObjectDestroy(s.handle);
    if (s.mipmap)
        cuMipmappedArrayDestroy(s.mipmap);
    else if (s.array)
        cuArrayDestroy(s.array);
    return result;
}

static uint64_t hash_result(const struct surface_case *c, const struct surface_result *r,
                            const uint32_t *words, const unsigned char *bytes)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (unsigned i = 0; i < c->lanes * 4; i++)
        hash = (hash ^ words[i]) * 0x100000001b3u;
    for (unsigned i = 0; i < r->bytes; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

/* The kernels, and memory for cases. False: it failed. */
static int prepare(const char *folder, CUmodule *module)
{
    CUcontext context;
    size_t bytes;
    char *ptx = read_file(folder, "surface.ptx", &bytes);
    int is_ready = !cuInit(0) && !cuDevicePrimaryCtxRetain(&context, 0) &&
                   !cuCtxSetCurrent(context) && !cuModuleLoadData(module, ptx) &&
                   !cuMemAlloc(&in, SURFACE_LANES * SURFACE_LANE_WORDS * 4) &&
                   !cuMemAlloc(&out, SURFACE_LANES * 16) && !cuMemAlloc(&linear, LINEAR_BYTES);
    free(ptx);
    return is_ready;
}

#endif
