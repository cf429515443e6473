/* The array and the surface, or texture, of a case, made by the calls of any driver. The includer
 * has the driver's header, or Ptera's statement of it. */
#ifndef PTERA_TOOLS_CONFORM_SURFACE_RESOURCE_H
#define PTERA_TOOLS_CONFORM_SURFACE_RESOURCE_H

#include "tools/conform/surface_case.h"

enum { SURFACE_LEVELS = 3, SURFACE_LINEAR_BYTES = 4096 };
#define SURFACE_WILD_HANDLE UINT64_C(0x12345670)

struct surface_calls {
    __typeof__(cuArray3DCreate_v2) *array_create;
    __typeof__(cuArrayDestroy) *array_destroy;
    __typeof__(cuMipmappedArrayCreate) *mipmap_create;
    __typeof__(cuMipmappedArrayGetLevel) *mipmap_level;
    __typeof__(cuMipmappedArrayDestroy) *mipmap_destroy;
    __typeof__(cuMemcpy3D_v2) *copy;
    __typeof__(cuTexObjectCreate) *texture_create;
    __typeof__(cuTexObjectDestroy) *texture_destroy;
    __typeof__(cuSurfObjectCreate) *surface_create;
    __typeof__(cuSurfObjectDestroy) *surface_destroy;
};

struct surface_resource {
    CUarray array; /* what is filled and read back */
    CUmipmappedArray mipmap;
    unsigned size[3];          /* of the level */
    unsigned long long handle; /* of the object */
};

static inline int surface_resource_is_texture(const struct surface_case *c)
{
    return c->object >= TEXTURE && c->object <= TEXTURE_PITCHED;
}

/* The array's bytes, SURFACE_BYTES at most, into it or back. */
static inline CUresult surface_resource_copy(const struct surface_calls *d,
                                             const struct surface_case *c,
                                             const struct surface_resource *s, unsigned char *bytes,
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
    return d->copy(&m);
}

static inline unsigned surface_resource_bytes(const struct surface_case *c,
                                              const struct surface_resource *s)
{
    unsigned n = surface_channel_bytes(c) * c->channels;
    for (unsigned i = 0; i < 3; i++)
        n *= s->size[i] ? s->size[i] : 1;
    return n;
}

/* `bytes`: SURFACE_BYTES, of no meaning before and after. */
static inline CUresult surface_resource_create(const struct surface_calls *d,
                                               const struct surface_case *c,
                                               struct surface_resource *s, unsigned char *bytes)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = {c->size[0], c->size[1],  c->size[2],
                                     c->format,  c->channels, c->array_flags};
    int is_level = c->object == SURFACE_LEVEL || c->object == TEXTURE_LEVELS;
    unsigned level = is_level && !surface_resource_is_texture(c) ? c->level : 0;
    int has_layers = (c->array_flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
    if (c->object == PLAIN_ARRAY)
        shape.Flags &= ~(unsigned)CUDA_ARRAY3D_SURFACE_LDST;
    for (unsigned i = 0; i < 3; i++) {
        s->size[i] = i == 2 && has_layers ? c->size[i] : c->size[i] >> level;
        s->size[i] = c->size[i] && !s->size[i] ? 1 : s->size[i];
    }
    CUresult e = is_level ? d->mipmap_create(&s->mipmap, &shape, SURFACE_LEVELS)
                          : d->array_create(&s->array, &shape);
    if (!e && is_level)
        e = d->mipmap_level(&s->array, s->mipmap, level);
    uint64_t state = c->seed * 7919u;
    for (unsigned i = 0; i < surface_resource_bytes(c, s); i++)
        bytes[i] = (unsigned char)(texture_random(&state) >> 20);
    return e ? e : surface_resource_copy(d, c, s, bytes, 0);
}

static inline CUresult surface_resource_sample(const struct surface_calls *d,
                                               const struct surface_case *c, CUdeviceptr linear,
                                               struct surface_resource *s)
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
    return d->texture_create(&s->handle, &r, &t, NULL);
}

/* The object whose handle the kernel gets. `linear`: memory of SURFACE_LINEAR_BYTES. */
static inline CUresult surface_resource_object(const struct surface_calls *d,
                                               const struct surface_case *c, CUdeviceptr linear,
                                               struct surface_resource *s)
{
    CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_ARRAY};
    r.res.array.hArray = s->array;
    s->handle = c->object == WILD_OBJECT ? SURFACE_WILD_HANDLE : 0;
    if (c->object == WILD_OBJECT || c->object == NO_OBJECT)
        return CUDA_SUCCESS;
    CUresult e = surface_resource_is_texture(c) ? surface_resource_sample(d, c, linear, s)
                                                : d->surface_create(&s->handle, &r);
    if (c->object == DESTROYED_OBJECT)
        d->surface_destroy(s->handle);
    return e;
}

static inline void surface_resource_destroy(const struct surface_calls *d,
                                            const struct surface_case *c,
                                            const struct surface_resource *s)
{
    if (s->handle && surface_resource_is_texture(c))
        d->texture_destroy(s->handle);
    else if (s->handle && c->object <= SURFACE_LEVEL)
        d->surface_destroy(s->handle);
    if (s->mipmap)
        d->mipmap_destroy(s->mipmap);
    else if (s->array)
        d->array_destroy(s->array);
}

/* FNV-1a over the lanes' words, four each, and the array's bytes. */
static inline uint64_t surface_resource_hash(const struct surface_case *c,
                                             const struct surface_result *r, const uint32_t *words,
                                             const unsigned char *bytes)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (unsigned i = 0; i < c->lanes * 4; i++)
        hash = (hash ^ words[i]) * 0x100000001b3u;
    for (unsigned i = 0; i < r->bytes; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

#endif
