/* The array and the texture of a case, made by the calls of any driver. The includer has the
 * driver's header, or Ptera's statement of it. */
#ifndef PTERA_TOOLS_CONFORM_TEXTURE_RESOURCE_H
#define PTERA_TOOLS_CONFORM_TEXTURE_RESOURCE_H

#include "tools/conform/texture_case.h"

enum { TEXEL_BYTES = 4 << 20 };

struct texture_calls {
    __typeof__(cuArray3DCreate_v2) *array_create;
    __typeof__(cuArrayDestroy) *array_destroy;
    __typeof__(cuMipmappedArrayCreate) *mipmap_create;
    __typeof__(cuMipmappedArrayGetLevel) *mipmap_level;
    __typeof__(cuMipmappedArrayDestroy) *mipmap_destroy;
    __typeof__(cuMemcpy3D_v2) *copy;
    __typeof__(cuMemcpyHtoD_v2) *copy_in;
    __typeof__(cuTexObjectCreate) *texture_create;
    __typeof__(cuTexObjectDestroy) *texture_destroy;
};

/* TEXEL_BYTES each. */
struct texture_memory {
    CUdeviceptr linear;
    unsigned char *texels;
};

struct texture_resource {
    CUarray array;
    CUmipmappedArray mipmap;
    CUDA_RESOURCE_DESC desc;
    CUtexObject texture;
};

/* Of a texel, or of a block of 4 x 4 of them. */
static inline unsigned texture_resource_element(const struct texture_case *c)
{
    switch (c->format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return c->channels;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2 * c->channels;
    case 0x50: /* 10-10-10-2 */
        return 4;
    case 0x91: /* BC1 */
    case 0x92:
    case 0x97: /* BC4 */
    case 0x98:
        return 8;
    }
    if (c->format >= 0xc0 && c->format <= 0xcb) /* normalised: 1, 2, 4 channels of 8, 16 bits */
        return (1u << (c->format - 0xc0) % 3) << ((c->format - 0xc0) / 3 & 1);
    return c->format >= 0x93 && c->format <= 0x9e ? 16 : 4 * c->channels;
}

static inline int texture_resource_is_compressed(const struct texture_case *c)
{
    return c->format >= 0x91 && c->format <= 0x9e;
}

static inline unsigned texture_resource_size(unsigned n, unsigned level)
{
    return n >> level ? n >> level : 1;
}

static inline CUresult texture_resource_fill(const struct texture_calls *d,
                                             const struct texture_case *c, unsigned char *texels,
                                             CUarray array, unsigned level)
{
    unsigned has_layers = (c->array_flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
    unsigned w = texture_resource_size(c->size[0], level),
             h = texture_resource_size(c->size[1], level),
             depth = has_layers ? c->size[2] : texture_resource_size(c->size[2], level);
    depth = depth ? depth : 1;
    if (texture_resource_is_compressed(c)) {
        w = (w + 3) / 4;
        h = (h + 3) / 4;
    }
    size_t pitch = (size_t)w * texture_resource_element(c);
    fill_texels(c, level, w, h, depth, pitch, texels);
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = texels,
                          .srcPitch = pitch,
                          .srcHeight = h,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = array,
                          .WidthInBytes = pitch,
                          .Height = h,
                          .Depth = depth};
    return d->copy(&copy);
}

static inline CUresult texture_resource_create(const struct texture_calls *d,
                                               const struct texture_case *c,
                                               const struct texture_memory *memory,
                                               struct texture_resource *r)
{
    CUDA_RESOURCE_DESC *res = &r->desc;
    CUDA_ARRAY3D_DESCRIPTOR shape = {c->size[0], c->size[1],  c->size[2],
                                     c->format,  c->channels, c->array_flags};
    CUresult e = CUDA_SUCCESS;
    if (c->resource == ARRAY) {
        e = d->array_create(&r->array, &shape);
        res->resType = CU_RESOURCE_TYPE_ARRAY;
        res->res.array.hArray = r->array;
        return e ? e : texture_resource_fill(d, c, memory->texels, r->array, 0);
    }
    if (c->resource == MIPMAP) {
        e = d->mipmap_create(&r->mipmap, &shape, c->levels);
        res->resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        res->res.mipmap.hMipmappedArray = r->mipmap;
        for (unsigned i = 0; !e && i < c->levels; i++) {
            CUarray level;
            e = d->mipmap_level(&level, r->mipmap, i);
            e = e ? e : texture_resource_fill(d, c, memory->texels, level, i);
        }
        return e;
    }
    unsigned h = c->size[1] ? c->size[1] : 1;
    size_t row = (size_t)c->size[0] * texture_resource_element(c),
           pitch = c->resource == LINEAR ? row : (row + 31) / 32 * 32;
    fill_texels(c, 0, c->size[0], h, 1, pitch, memory->texels);
    e = d->copy_in(memory->linear, memory->texels, pitch * h);
    if (c->resource == LINEAR) {
        res->resType = CU_RESOURCE_TYPE_LINEAR;
        res->res.linear.devPtr = memory->linear;
        res->res.linear.format = c->format;
        res->res.linear.numChannels = c->channels;
        res->res.linear.sizeInBytes = row;
    } else {
        res->resType = CU_RESOURCE_TYPE_PITCH2D;
        res->res.pitch2D.devPtr = memory->linear;
        res->res.pitch2D.format = c->format;
        res->res.pitch2D.numChannels = c->channels;
        res->res.pitch2D.width = c->size[0];
        res->res.pitch2D.height = h;
        res->res.pitch2D.pitchInBytes = pitch;
    }
    return e;
}

static inline CUresult texture_resource_sample(const struct texture_calls *d,
                                               const struct texture_case *c,
                                               struct texture_resource *r)
{
    CUDA_TEXTURE_DESC t = {.filterMode = c->filter,
                           .flags = c->flags,
                           .maxAnisotropy = c->anisotropy,
                           .mipmapFilterMode = c->mip_filter,
                           .mipmapLevelBias = c->bias,
                           .minMipmapLevelClamp = c->min_level,
                           .maxMipmapLevelClamp = c->max_level};
    for (unsigned i = 0; i < 3; i++)
        t.addressMode[i] = c->address[i];
    memcpy(t.borderColor, c->border, sizeof t.borderColor);
    CUDA_RESOURCE_VIEW_DESC view = {.format = c->view[0],
                                    .width = c->view[1],
                                    .height = c->view[2],
                                    .depth = c->view[3],
                                    .firstMipmapLevel = c->view[4],
                                    .lastMipmapLevel = c->view[5],
                                    .firstLayer = c->view[6],
                                    .lastLayer = c->view[7]};
    return d->texture_create(&r->texture, &r->desc, &t, c->has_view ? &view : NULL);
}

static inline void texture_resource_destroy(const struct texture_calls *d,
                                            const struct texture_resource *r)
{
    if (r->texture)
        d->texture_destroy(r->texture);
    if (r->array)
        d->array_destroy(r->array);
    if (r->mipmap)
        d->mipmap_destroy(r->mipmap);
}

#endif
