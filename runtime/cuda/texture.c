/* Texture objects. A handle is the address of what backend/semantics/texture.h describes, in device
 * memory; behind it stands what the program gave. Which arguments are refused is what the driver of
 * an H100 refuses; what is not there yet is CUDA_ERROR_NOT_SUPPORTED. */
#include "runtime/cuda/texture.h"

#include <math.h>
#include <string.h>

#include "backend/semantics/texture_layout.h"
#include "backend/semantics/texture_tile.h"
#include "runtime/cuda/array.h"
#include "runtime/cuda/block.h"
#include "runtime/cuda/current.h"
#include "runtime/cuda/descriptor.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"

enum { VIEW_WORDS = 0x18, VIEW_LAST = 0x22 }; /* the last view of channels, and of blocks */

#define LEVEL_MOST (4095 / 256.f)

enum {
    ALIGNMENT = 512,
    PITCH_ALIGNMENT = 32,
    PITCH_MAX = 2097120,
    WIDTH_MAX = 131072,
    HEIGHT_MAX = 65000,
    LAYERS_MOST = 2048 /* of an array */
};

struct object {
    struct pt_texture texture;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC sampler;
    CUDA_RESOURCE_VIEW_DESC view;
    bool has_view;
};

/* ---- resources ------------------------------------------------------------------------------- */

static CUresult set_format(struct pt_texture *t, CUarray_format format, unsigned channels,
                           bool is_integer)
{
    static const uint8_t texels[][2] = {
        /* normalised, as integers */
        [CU_AD_FORMAT_UNSIGNED_INT8] = {PT_TEXEL_UNORM8, PT_TEXEL_U8},
        [CU_AD_FORMAT_UNSIGNED_INT16] = {PT_TEXEL_UNORM16, PT_TEXEL_U16},
        [CU_AD_FORMAT_UNSIGNED_INT32] = {PT_TEXEL_U32, PT_TEXEL_U32},
        [CU_AD_FORMAT_SIGNED_INT8] = {PT_TEXEL_SNORM8, PT_TEXEL_S8},
        [CU_AD_FORMAT_SIGNED_INT16] = {PT_TEXEL_SNORM16, PT_TEXEL_S16},
        [CU_AD_FORMAT_SIGNED_INT32] = {PT_TEXEL_S32, PT_TEXEL_S32},
        [CU_AD_FORMAT_HALF] = {PT_TEXEL_F16, PT_TEXEL_F16},
        [CU_AD_FORMAT_FLOAT] = {PT_TEXEL_F32, PT_TEXEL_F32}};
    static const uint8_t normalized[] = {PT_TEXEL_UNORM8, PT_TEXEL_UNORM16, PT_TEXEL_SNORM8,
                                         PT_TEXEL_SNORM16};
    size_t bytes = pt_cu_array_channel_bytes(format);
    bool is_packed = (unsigned)format == PT_CU_ARRAY_10_10_10_2;
    unsigned number = pt_cu_array_is_normalized(format);
    if (!bytes || (channels != 1 && channels != 2 && channels != 4) || (is_packed && channels != 4))
        return CUDA_ERROR_INVALID_VALUE;
    t->texel = is_packed ? PT_TEXEL_UNORM10
               : number  ? normalized[(number - 1) / 3]
                         : texels[format][is_integer];
    t->n_channels = (uint8_t)channels;
    t->texel_bytes = (uint8_t)(bytes * channels);
    return CUDA_SUCCESS;
}

static void set_blocks(struct pt_texture *t, const struct pt_cu_array_blocks *blocks)
{
    t->texel = blocks->texel;
    t->n_channels = blocks->channels;
    t->texel_bytes = blocks->bytes;
    t->block = blocks->kind;
}

static CUresult set_array(struct pt_texture *t, CUarray a, bool is_integer)
{
    if (!pt_cu_handle_is(a, PT_CU_ARRAY))
        return CUDA_ERROR_INVALID_VALUE;
    if (a->descriptor.Flags & CUDA_ARRAY3D_DEPTH_TEXTURE)
        return CUDA_ERROR_NOT_SUPPORTED;
    t->memory = PT_TEXTURE_ARRAY;
    t->texels = (uint64_t)(uintptr_t)a->data;
    t->pitch = a->pitch;
    t->slice = a->slice;
    t->is_layered = (a->descriptor.Flags & CUDA_ARRAY3D_LAYERED) != 0;
    t->is_cube = (a->descriptor.Flags & CUDA_ARRAY3D_CUBEMAP) != 0;
    t->layers = t->is_layered || t->is_cube ? (uint32_t)a->descriptor.Depth : 0;
    t->slices = (uint16_t)t->layers;
    t->axes = a->descriptor.Depth && !t->layers ? 3 : a->descriptor.Height ? 2 : 1;
    t->size[0] = (uint32_t)a->descriptor.Width;
    t->size[1] = t->axes > 1 ? (uint32_t)a->descriptor.Height : 1;
    t->size[2] = t->axes > 2 ? (uint32_t)a->descriptor.Depth : 1;
    const struct pt_cu_array_blocks *blocks = pt_cu_array_blocks(a->descriptor.Format);
    if (!blocks)
        return set_format(t, a->descriptor.Format, a->descriptor.NumChannels, is_integer);
    set_blocks(t, blocks);
    t->is_opaque = blocks->channels < PT_TEXTURE_CHANNELS;
    t->is_srgb = blocks->is_srgb;
    return CUDA_SUCCESS;
}

static CUresult set_mipmap(struct pt_texture *t, CUmipmappedArray m, bool is_integer)
{
    if (!pt_cu_handle_is(m, PT_CU_MIPMAP))
        return CUDA_ERROR_INVALID_VALUE;
    t->is_normalized = true; /* whatever the sampler says */
    t->n_levels = (uint8_t)pt_cu_array_n_levels(m);
    return set_array(t, pt_cu_array_level(m, 0), is_integer);
}

/* Memory has texels of words and 10-10-10-2, none that are normalised by themselves, nor blocks. */
static CUresult set_memory_format(struct pt_texture *t, CUarray_format format, unsigned channels,
                                  bool is_integer)
{
    return pt_cu_array_is_normalized(format) ? CUDA_ERROR_INVALID_VALUE
                                             : set_format(t, format, channels, is_integer);
}

static bool is_address(CUdeviceptr address)
{
    return address && address % ALIGNMENT == 0 && pt_cu_range_is_usable(address, 1);
}

static CUresult set_linear(struct pt_texture *t, const CUDA_RESOURCE_DESC *d, bool is_integer)
{
    if (!is_address(d->res.linear.devPtr))
        return CUDA_ERROR_INVALID_VALUE;
    t->memory = PT_TEXTURE_LINEAR;
    t->texels = d->res.linear.devPtr;
    t->axes = 1;
    CUresult r = set_memory_format(t, d->res.linear.format, d->res.linear.numChannels, is_integer);
    if (r != CUDA_SUCCESS)
        return r;
    size_t n = d->res.linear.sizeInBytes / t->texel_bytes;
    if (n > UINT32_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    t->size[0] = (uint32_t)n;
    t->size[1] = t->size[2] = 1;
    return CUDA_SUCCESS;
}

static CUresult set_pitched(struct pt_texture *t, const CUDA_RESOURCE_DESC *d, bool is_integer)
{
    if (!is_address(d->res.pitch2D.devPtr) || d->res.pitch2D.width > WIDTH_MAX ||
        d->res.pitch2D.height > HEIGHT_MAX || d->res.pitch2D.pitchInBytes > PITCH_MAX ||
        d->res.pitch2D.pitchInBytes % PITCH_ALIGNMENT)
        return CUDA_ERROR_INVALID_VALUE;
    if (!d->res.pitch2D.width || !d->res.pitch2D.height)
        return CUDA_ERROR_NOT_SUPPORTED;
    t->memory = PT_TEXTURE_PITCHED;
    t->texels = d->res.pitch2D.devPtr;
    t->pitch = d->res.pitch2D.pitchInBytes;
    t->axes = 2;
    t->size[0] = (uint32_t)d->res.pitch2D.width;
    t->size[1] = (uint32_t)d->res.pitch2D.height;
    t->size[2] = 1;
    return set_memory_format(t, d->res.pitch2D.format, d->res.pitch2D.numChannels, is_integer);
}

static CUresult set_resource(struct pt_texture *t, const CUDA_RESOURCE_DESC *d, bool is_integer)
{
    if (d->flags)
        return CUDA_ERROR_INVALID_VALUE;
    t->n_levels = 1;
    switch (d->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        return set_array(t, d->res.array.hArray, is_integer);
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        return set_mipmap(t, d->res.mipmap.hMipmappedArray, is_integer);
    case CU_RESOURCE_TYPE_LINEAR:
        return set_linear(t, d, is_integer);
    case CU_RESOURCE_TYPE_PITCH2D:
        return set_pitched(t, d, is_integer);
    }
    return CUDA_ERROR_INVALID_VALUE;
}

/* ---- views ----------------------------------------------------------------------------------- */

/* The format that a view's number is, for one, two and four channels: from 1 on, in threes. */
static CUarray_format view_format(unsigned number)
{
    static const uint8_t formats[] = {CU_AD_FORMAT_UNSIGNED_INT8,  CU_AD_FORMAT_SIGNED_INT8,
                                      CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_SIGNED_INT16,
                                      CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT32,
                                      CU_AD_FORMAT_HALF,           CU_AD_FORMAT_FLOAT};
    return (CUarray_format)formats[(number - 1) / 3];
}

/* The format of arrays that a view of blocks is as. */
static CUarray_format view_blocks(unsigned number)
{
    static const uint8_t formats[] = {0x91, 0x93, 0x95, 0x97, 0x98, 0x99, 0x9a, 0x9b, 0x9c, 0x9d};
    return (CUarray_format)formats[number - VIEW_WORDS - 1];
}

static bool is_block_view(const CUDA_RESOURCE_VIEW_DESC *v)
{
    return v->format > VIEW_WORDS;
}

/* Of a layer. */
static uint32_t faces_of(const struct pt_texture *t)
{
    return t->is_cube ? PT_TEXTURE_FACES : 1;
}

/* Layers behind the last one are taken: they are 0. Which number of a layer is too large was not
 * measured. */
static CUresult check_view(const struct pt_texture *t, const CUDA_RESOURCE_VIEW_DESC *v)
{
    uint32_t depth = t->layers ? t->layers : t->axes > 2 ? t->size[2] : 0;
    uint32_t layers = t->is_layered ? t->layers / faces_of(t) : 0;
    if (!v->format || (unsigned)v->format > VIEW_LAST)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < sizeof v->reserved / sizeof *v->reserved; i++)
        if (v->reserved[i])
            return CUDA_ERROR_INVALID_VALUE;
    unsigned side = is_block_view(v) ? PT_TEXTURE_BLOCK_SIDE_LOG : 0;
    if (v->width != (size_t)t->size[0] << side ||
        v->height != (t->axes > 1 ? (size_t)t->size[1] << side : 0) || v->depth != depth ||
        v->firstMipmapLevel > v->lastMipmapLevel || v->firstLayer > v->lastLayer)
        return CUDA_ERROR_INVALID_VALUE;
    if (v->firstMipmapLevel >= t->n_levels || (v->lastMipmapLevel && t->n_levels == 1) ||
        v->firstLayer > (layers ? layers - 1 : 0) || (v->lastLayer && !layers))
        return CUDA_ERROR_INVALID_VALUE;
    return v->lastLayer < LAYERS_MOST ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

/* Makes blocks of words. */
static CUresult set_block_view(struct pt_texture *t, const CUDA_RESOURCE_VIEW_DESC *v)
{
    unsigned bytes = t->texel_bytes;
    if (pt_texture_tile_is_moved(t->size, t->axes, t->n_levels)) {
        if (t->layers)
            return CUDA_ERROR_NOT_SUPPORTED; /* where a GPU finds those is not known */
        t->n_word_levels = t->n_levels;
        memcpy(t->words, t->size, sizeof t->words);
    }
    for (int i = 0; i < 2; i++)
        t->size[i] <<= PT_TEXTURE_BLOCK_SIDE_LOG;
    set_blocks(t, pt_cu_array_blocks(view_blocks(v->format)));
    return t->texel_bytes == bytes ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Of cubes the first one is counted by faces. Of one level the others are as if they were not
 * there. */
static void set_layers(struct pt_texture *t, uint32_t first, uint32_t layers)
{
    t->layers = layers;
    t->first_slice = (uint16_t)first;
    if (t->n_levels > 1)
        return;
    t->texels += first * t->slice;
    t->slices -= t->first_slice;
    t->first_slice = 0;
}

/* The same memory as texels of another kind and the same size, some of its levels and layers. Of
 * linear and pitched memory there are no views: none is looked at. */
static CUresult set_view(struct pt_texture *t, const CUDA_RESOURCE_VIEW_DESC *v, bool is_integer)
{
    unsigned bytes = t->texel_bytes;
    if (t->memory != PT_TEXTURE_ARRAY)
        return CUDA_SUCCESS;
    CUresult r = check_view(t, v);
    if (r == CUDA_SUCCESS && (t->block || (is_block_view(v) && t->texel != PT_TEXEL_U32)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = is_block_view(v)
                ? set_block_view(t, v)
                : set_format(t, view_format(v->format), 1u << (v->format - 1) % 3, is_integer);
    if (r == CUDA_SUCCESS && t->texel_bytes != bytes)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    unsigned last = v->lastMipmapLevel < t->n_levels ? v->lastMipmapLevel : t->n_levels - 1u;
    *t = pt_texture_layout_find(t, v->firstMipmapLevel);
    t->n_levels = (uint8_t)(last - v->firstMipmapLevel + 1);
    if (t->is_layered)
        set_layers(t, v->firstLayer, (v->lastLayer - v->firstLayer + 1) * faces_of(t));
    return CUDA_SUCCESS;
}

/* ---- samplers -------------------------------------------------------------------------------- */

static CUresult check_sampler(const CUDA_TEXTURE_DESC *d, unsigned axes, bool is_cube)
{
    unsigned known = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | 4 | 8 |
                     CU_TRSF_SRGB | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
    if (is_cube)
        known |= CU_TRSF_SEAMLESS_CUBEMAP;
    for (unsigned i = 0; i < axes; i++)
        if ((unsigned)d->addressMode[i] > CU_TR_ADDRESS_MODE_BORDER)
            return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < sizeof d->reserved / sizeof *d->reserved; i++)
        if (d->reserved[i])
            return CUDA_ERROR_INVALID_VALUE;
    return (unsigned)d->filterMode > CU_TR_FILTER_MODE_LINEAR ||
                   (unsigned)d->mipmapFilterMode > CU_TR_FILTER_MODE_LINEAR || d->flags & ~known
               ? CUDA_ERROR_INVALID_VALUE
               : CUDA_SUCCESS;
}

/* A level in 1/256, downwards. */
static int16_t level(float l)
{
    return (int16_t)(256 * fmaxf(fminf(l, LEVEL_MOST), 0));
}

/* Wrapping and mirroring need coordinates that are said to be normalised, or a cube. */
static uint8_t address(const struct pt_texture *t, const CUDA_TEXTURE_DESC *d, unsigned axis)
{
    bool is_kept = d->flags & CU_TRSF_NORMALIZED_COORDINATES || t->is_cube ||
                   d->addressMode[axis] == CU_TR_ADDRESS_MODE_BORDER;
    return is_kept && !t->is_seamless ? (uint8_t)d->addressMode[axis] : PT_TEXTURE_CLAMP;
}

static CUresult set_sampler(struct pt_texture *t, const CUDA_TEXTURE_DESC *d)
{
    CUresult r = check_sampler(d, t->axes, t->is_cube);
    if (r == CUDA_SUCCESS && t->is_srgb && !(d->flags & CU_TRSF_SRGB))
        r = CUDA_ERROR_INVALID_VALUE; /* of an sRGB format, which must be said here, too */
    if (r != CUDA_SUCCESS)
        return r;
    t->is_normalized |= (d->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    t->is_linear = d->filterMode == CU_TR_FILTER_MODE_LINEAR;
    t->is_seamless = (d->flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
    for (unsigned i = 0; i < PT_TEXTURE_AXES; i++)
        t->address[i] = address(t, d, i);
    t->is_srgb = (d->flags & CU_TRSF_SRGB) != 0;
    t->anisotropy = (uint16_t)(d->maxAnisotropy < UINT16_MAX ? d->maxAnisotropy : UINT16_MAX);
    t->is_mip_linear = d->mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR;
    pt_texture_set_levels(t, d->mipmapLevelBias,
                          !(d->flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION));
    t->min_level = level(d->minMipmapLevelClamp);
    t->max_level = level(d->maxMipmapLevelClamp);
    pt_texture_set_border(t, d->borderColor);
    return CUDA_SUCCESS;
}

/* The context that has the texels' array; NULL: there is none. */
static CUcontext context_of(const CUDA_RESOURCE_DESC *d)
{
    if (d->resType == CU_RESOURCE_TYPE_ARRAY)
        return d->res.array.hArray->ctx;
    return d->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY
               ? pt_cu_array_level(d->res.mipmap.hMipmappedArray, 0)->ctx
               : NULL;
}

/* ---- calls ----------------------------------------------------------------------------------- */

CUresult pt_cu_texture_describe(struct pt_texture *t, const CUDA_RESOURCE_DESC *resource,
                                const CUDA_TEXTURE_DESC *sampler,
                                const CUDA_RESOURCE_VIEW_DESC *view)
{
    bool is_integer = (sampler->flags & CU_TRSF_READ_AS_INTEGER) != 0;
    CUresult r = set_resource(t, resource, is_integer);
    if (r == CUDA_SUCCESS && view)
        r = set_view(t, view, is_integer);
    if (r == CUDA_SUCCESS)
        r = set_sampler(t, sampler);
    pt_texture_set_direct(t);
    return r;
}

static CUresult create(CUtexObject *out, const CUDA_RESOURCE_DESC *resource,
                       const CUDA_TEXTURE_DESC *sampler, const CUDA_RESOURCE_VIEW_DESC *view)
{
    CUcontext ctx;
    struct pt_cu_range *range;
    struct object o = {0};
    CUresult r = pt_cu_current_get(&ctx);
    if (r == CUDA_SUCCESS && (!out || !resource || !sampler))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = pt_cu_texture_describe(&o.texture, resource, sampler, view);
    if (r == CUDA_SUCCESS && context_of(resource) && context_of(resource) != ctx)
        r = CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    if (r == CUDA_SUCCESS)
        r = pt_cu_block_alloc(ctx, sizeof o, PT_CU_TEXTURE, &range);
    if (r != CUDA_SUCCESS)
        return r;
    o.texture.key = pt_texture_key(range->first);
    o.resource = *resource;
    o.sampler = *sampler;
    o.has_view = view != NULL;
    if (view)
        o.view = *view;
    *(struct object *)(uintptr_t)range->first = o;
    *out = range->first;
    return CUDA_SUCCESS;
}

CUresult cuTexObjectCreate(CUtexObject *texture, const CUDA_RESOURCE_DESC *resource,
                           const CUDA_TEXTURE_DESC *sampler, const CUDA_RESOURCE_VIEW_DESC *view)
{
    return API(create(texture, resource, sampler, view));
}

CUresult cuTexObjectDestroy(CUtexObject texture)
{
    return API(pt_cu_descriptor_free(texture, PT_CU_TEXTURE));
}

static CUresult check(const void *out, CUtexObject texture)
{
    CUresult r = pt_cu_descriptor_check(texture, PT_CU_TEXTURE);
    return r == CUDA_SUCCESS && !out ? CUDA_ERROR_INVALID_VALUE : r;
}

static CUresult get_resource(CUDA_RESOURCE_DESC *d, CUtexObject texture)
{
    CUresult r = check(d, texture);
    if (r == CUDA_SUCCESS)
        *d = ((const struct object *)(uintptr_t)texture)->resource;
    return r;
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *descriptor, CUtexObject texture)
{
    return API(get_resource(descriptor, texture));
}

static CUresult get_sampler(CUDA_TEXTURE_DESC *d, CUtexObject texture)
{
    CUresult r = check(d, texture);
    if (r == CUDA_SUCCESS)
        *d = ((const struct object *)(uintptr_t)texture)->sampler;
    return r;
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *descriptor, CUtexObject texture)
{
    return API(get_sampler(descriptor, texture));
}

/* Of one without a view, what is given stays as it is. */
static CUresult get_view(CUDA_RESOURCE_VIEW_DESC *d, CUtexObject texture)
{
    CUresult r = check(d, texture);
    const struct object *o = (const struct object *)(uintptr_t)texture;
    if (r == CUDA_SUCCESS && o->has_view)
        *d = o->view;
    return r;
}

CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *descriptor, CUtexObject texture)
{
    return API(get_view(descriptor, texture));
}

/* ---- what textures of linear memory can be --------------------------------------------------- */

enum { LINEAR_MOST = 4, LINEAR_BYTES = 16 }; /* by MAXIMUM_TEXTURE1D_LINEAR_WIDTH */

/* As an H100 tells it: four times the attribute's width, as long as that is 16 bytes for each. */
static CUresult texture_width(size_t *most, CUarray_format format, unsigned channels,
                              CUdevice device)
{
    CUresult r = pt_cu_driver_check();
    size_t texel = pt_cu_array_channel_bytes(format) * channels;
    if (r == CUDA_SUCCESS && (!most || !texel || channels == 3 || channels > 4))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && !pt_cu_device_is_valid(device))
        r = CUDA_ERROR_INVALID_DEVICE;
    if (r != CUDA_SUCCESS)
        return r;
    size_t width =
        (size_t)pt_cu_device_attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, device);
    size_t by_bytes = width * LINEAR_BYTES / texel;
    *most = by_bytes < width * LINEAR_MOST ? by_bytes : width * LINEAR_MOST;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *most, CUarray_format format, unsigned channels,
                                            CUdevice device)
{
    return API(texture_width(most, format, channels, device));
}
