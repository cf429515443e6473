/* Runs a case of the texture group through the driver API. The includer has the driver's header, or
 * Ptera's statement of it. */
#ifndef PTERA_TESTS_GOLDEN_TEXTURE_DEVICE_H
#define PTERA_TESTS_GOLDEN_TEXTURE_DEVICE_H

#include <stdlib.h>

#include "read_file.h"
#include "texture_case.h"

struct texture_result {
    uint32_t created, object, launched, lanes; /* CUresult of three steps */
};

static CUdeviceptr in, out, linear;
static unsigned char *texels;
enum { TEXEL_BYTES = 4 << 20 };

/* Of a texel, or of a block of 4 x 4 of them. */
static unsigned element_bytes(const struct texture_case *c)
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

static int is_compressed(const struct texture_case *c)
{
    return c->format >= 0x91 && c->format <= 0x9e;
}

struct resources {
    CUarray array;
    CUmipmappedArray mipmap;
    CUtexObject texture;
};

static unsigned level_size(unsigned n, unsigned level)
{
    return n >> level ? n >> level : 1;
}

static CUresult fill_array(const struct texture_case *c, CUarray array, unsigned level)
{
    unsigned has_layers = (c->array_flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
    unsigned w = level_size(c->size[0], level), h = level_size(c->size[1], level),
             d = has_layers ? c->size[2] : level_size(c->size[2], level);
    d = d ? d : 1;
    if (is_compressed(c)) {
        w = (w + 3) / 4;
        h = (h + 3) / 4;
    }
    size_t pitch = (size_t)w * element_bytes(c);
    fill_texels(c, level, w, h, d, pitch, texels);
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = texels,
                          .srcPitch = pitch,
                          .srcHeight = h,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = array,
                          .WidthInBytes = pitch,
                          .Height = h,
                          .Depth = d};
    return cuMemcpy3D(&copy);
}

static CUresult create_resource(const struct texture_case *c, struct resources *r,
                                CUDA_RESOURCE_DESC *res)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {c->size[0], c->size[1],  c->size[2],
                                 c->format,  c->channels, c->array_flags};
    CUresult e = CUDA_SUCCESS;
    memset(res, 0, sizeof *res);
    if (c->resource == ARRAY) {
        e = cuArray3DCreate(&r->array, &d);
        res->resType = CU_RESOURCE_TYPE_ARRAY;
        res->res.array.hArray = r->array;
        return e ? e : fill_array(c, r->array, 0);
    }
    if (c->resource == MIPMAP) {
        e = cuMipmappedArrayCreate(&r->mipmap, &d, c->levels);
        res->resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        res->res.mipmap.hMipmappedArray = r->mipmap;
        for (unsigned i = 0; !e && i < c->levels; i++) {
            CUarray level;
            e = cuMipmappedArrayGetLevel(&level, r->mipmap, i);
            e = e ? e : fill_array(c, level, i);
        }
        return e;
    }
    unsigned h = c->size[1] ? c->size[1] : 1;
    size_t row = (size_t)c->size[0] * element_bytes(c),
           pitch = c->resource == LINEAR ? row : (row + 31) / 32 * 32;
    fill_texels(c, 0, c->size[0], h, 1, pitch, texels);
    e = cuMemcpyHtoD(linear, texels, pitch * h);
    if (c->resource == LINEAR) {
        res->resType = CU_RESOURCE_TYPE_LINEAR;
        res->res.linear.devPtr = linear;
        res->res.linear.format = c->format;
        res->res.linear.numChannels = c->channels;
        res->res.linear.sizeInBytes = row;
    } else {
        res->resType = CU_RESOURCE_TYPE_PITCH2D;
        res->res.pitch2D.devPtr = linear;
        res->res.pitch2D.format = c->format;
        res->res.pitch2D.numChannels = c->channels;
        res->res.pitch2D.width = c->size[0];
        res->res.pitch2D.height = h;
        res->res.pitch2D.pitchInBytes = pitch;
    }
    return e;
}

static CUresult create_texture(const struct texture_case *c, const CUDA_RESOURCE_DESC *res,
                               CUtexObject *texture)
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
    return cuTexObjectCreate(texture, res, &t, c->has_view ? &view : NULL);
}

static CUresult launch(CUmodule module, const struct texture_case *c, CUtexObject texture,
                       uint32_t *words)
{
    CUfunction kernel;
    for (unsigned i = 0; i < c->lanes; i++)
        fill_lane(c, i, words + i * LANE_WORDS);
    CUresult e = cuMemcpyHtoD(in, words, c->lanes * LANE_WORDS * 4);
    e = e ? e : cuMemsetD8(out, 0xcd, c->lanes * 16);
    e = e ? e : cuModuleGetFunction(&kernel, module, c->kernel);
    e = e ? e
          : cuLaunchKernel(kernel, c->lanes / 32, 1, 1, 32, 1, 1, 0, NULL,
                           (void *[]){&texture, &in, &out}, NULL);
    return e ? e : cuMemcpyDtoH(words, out, c->lanes * 16);
}

/* The words of the lanes, four each, and what came of the steps. */
static struct texture_result run_case(CUmodule module, const struct texture_case *c,
                                      uint32_t *words)
{
    struct texture_result result = {.lanes = c->lanes};
    struct resources r = {0};
    CUDA_RESOURCE_DESC res;
    memset(words, 0, c->lanes * LANE_WORDS * sizeof *words);
    result.created = create_resource(c, &r, &res);
    if (!result.created)
        result.object = create_texture(c, &res, &r.texture);
    if (!result.created && !result.object)
        result.launched = launch(module, c, r.texture, words);
    if (r.texture)
        cuTexObjectDestroy(r.texture);
    if (r.array)
        cuArrayDestroy(r.array);
    if (r.mipmap)
        cuMipmappedArrayDestroy(r.mipmap);
    return result;
}

static uint64_t hash_words(const struct texture_case *c, const uint32_t *words)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (unsigned i = 0; i < c->lanes * 4; i++)
        hash = (hash ^ words[i]) * 0x100000001b3u;
    return hash;
}

/* The kernels, and memory for cases. False: it failed. */
static int prepare(const char *folder, CUmodule *module)
{
    CUcontext context;
    size_t bytes;
    char *ptx = read_file(folder, "texture.ptx", &bytes);
    texels = malloc(TEXEL_BYTES);
    int is_ready = texels && !cuInit(0) && !cuDevicePrimaryCtxRetain(&context, 0) &&
                   !cuCtxSetCurrent(context) && !cuModuleLoadData(module, ptx) &&
                   !cuMemAlloc(&in, MAX_LANES * LANE_WORDS * 4) &&
                   !cuMemAlloc(&out, MAX_LANES * 16) && !cuMemAlloc(&linear, TEXEL_BYTES);
    free(ptx);
    return is_ready;
}

#endif
