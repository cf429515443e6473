/* Arrays: memory of textures and surfaces, in rows of elements with up to four channels; mipmapped
 * ones with a level for each size. */
#include "runtime/cuda/array.h"

#include "backend/semantics/texture_layout.h"
#include "runtime/cuda/block.h"
#include "runtime/cuda/command.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/current.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/ipc.h"
#include "runtime/cuda/range.h"

enum { LEVELS_MAX = 17 };

struct CUmipmappedArray_st {
    struct pt_cu_object object;
    unsigned n_levels;
    CUarray levels[LEVELS_MAX]; /* the first has the memory */
};

unsigned pt_cu_array_is_normalized(CUarray_format format)
{
    const unsigned first = 0xc0, n = 12;
    return (unsigned)format - first < n ? (unsigned)format - first + 1 : 0;
}

const struct pt_cu_array_blocks *pt_cu_array_blocks(CUarray_format format)
{
    enum { FIRST = 0x91 };
    static const struct pt_cu_array_blocks blocks[] = {
        {PT_TEXTURE_BC1, 8, 4, PT_TEXEL_UNORM8, false},
        {PT_TEXTURE_BC1, 8, 4, PT_TEXEL_UNORM8, true},
        {PT_TEXTURE_BC2, 16, 4, PT_TEXEL_UNORM8, false},
        {PT_TEXTURE_BC2, 16, 4, PT_TEXEL_UNORM8, true},
        {PT_TEXTURE_BC3, 16, 4, PT_TEXEL_UNORM8, false},
        {PT_TEXTURE_BC3, 16, 4, PT_TEXEL_UNORM8, true},
        {PT_TEXTURE_BC4_UNSIGNED, 8, 1, PT_TEXEL_UNORM16, false},
        {PT_TEXTURE_BC4_SIGNED, 8, 1, PT_TEXEL_SNORM16, false},
        {PT_TEXTURE_BC5_UNSIGNED, 16, 2, PT_TEXEL_UNORM16, false},
        {PT_TEXTURE_BC5_SIGNED, 16, 2, PT_TEXEL_SNORM16, false},
        {PT_TEXTURE_BC6_UNSIGNED, 16, 3, PT_TEXEL_F16, false},
        {PT_TEXTURE_BC6_SIGNED, 16, 3, PT_TEXEL_F16, false},
        {PT_TEXTURE_BC7, 16, 4, PT_TEXEL_UNORM8, false},
        {PT_TEXTURE_BC7, 16, 4, PT_TEXEL_UNORM8, true}};
    unsigned i = (unsigned)format - FIRST;
    return i < sizeof blocks / sizeof *blocks ? &blocks[i] : NULL;
}

size_t pt_cu_array_channel_bytes(CUarray_format format)
{
    unsigned normalized = pt_cu_array_is_normalized(format);
    if (normalized)
        return 1 + (normalized - 1) / 3 % 2;
    if ((unsigned)format == PT_CU_ARRAY_10_10_10_2)
        return 1;
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 4;
    }
    return 0;
}

static size_t at_least_one(size_t n)
{
    return n ? n : 1;
}

/* As large as an H100's may be. */
static bool is_within(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    const size_t layers = 2048, layered = 32768, box = 16384, thin = 8192, deep = 32768,
                 gathered = 32768, line = 131072, short_line = 32768, rows = 65536;
    bool is_surface = (d->Flags & CUDA_ARRAY3D_SURFACE_LDST) != 0;
    if (d->Flags & CUDA_ARRAY3D_TEXTURE_GATHER)
        return d->Height && !d->Depth && d->Width <= gathered && d->Height <= gathered;
    if (d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP))
        return d->Width <= layered && d->Height <= layered && d->Depth <= layers;
    if (d->Depth && !is_surface && d->Width <= thin && d->Height <= thin)
        return d->Depth <= deep;
    if (d->Depth)
        return d->Width <= box && d->Height <= box && d->Depth <= box;
    return d->Width <= (d->Height || !is_surface ? line : short_line) && d->Height <= rows;
}

static bool has_channels(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    const struct pt_cu_array_blocks *blocks = pt_cu_array_blocks(d->Format);
    unsigned normalized = pt_cu_array_is_normalized(d->Format);
    if (blocks || (unsigned)d->Format == PT_CU_ARRAY_10_10_10_2)
        return d->NumChannels == (blocks ? blocks->channels : PT_TEXTURE_CHANNELS);
    return normalized ? d->NumChannels == 1u << (normalized - 1) % 3
                      : d->NumChannels == 1 || d->NumChannels == 2 || d->NumChannels == 4;
}

/* What the driver of an H100 refuses; a depth texture and a picture that is drawn have formats of
 * their own, which there are not yet. That driver takes sparse arrays, such whose memory comes
 * later, and a video's. */
static CUresult check_descriptor(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    const unsigned known = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP |
                           CUDA_ARRAY3D_TEXTURE_GATHER;
    const unsigned missing =
        CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING | CUDA_ARRAY3D_VIDEO_ENCODE_DECODE;
    bool is_layered = (d->Flags & CUDA_ARRAY3D_LAYERED) != 0,
         is_cube = (d->Flags & CUDA_ARRAY3D_CUBEMAP) != 0;
    bool is_block = pt_cu_array_blocks(d->Format);
    if (!d->Width || !is_within(d) || (!pt_cu_array_channel_bytes(d->Format) && !is_block) ||
        !has_channels(d) || (is_block && !d->Height))
        return CUDA_ERROR_INVALID_VALUE;
    if (is_block && d->Flags & CUDA_ARRAY3D_SURFACE_LDST)
        return CUDA_ERROR_NOT_SUPPORTED; /* by an H100, too */
    if (is_layered ? !d->Depth : d->Depth && !d->Height)
        return CUDA_ERROR_INVALID_VALUE;
    if (is_cube && (d->Width != d->Height || (is_layered ? d->Depth % 6 : d->Depth != 6)))
        return CUDA_ERROR_INVALID_VALUE;
    if (d->Flags & (CUDA_ARRAY3D_DEPTH_TEXTURE | CUDA_ARRAY3D_COLOR_ATTACHMENT))
        return CUDA_ERROR_INVALID_VALUE;
    if (d->Flags & ~(known | missing))
        return CUDA_ERROR_INVALID_VALUE;
    return d->Flags & missing ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

static void lay_out(CUarray a)
{
    const CUDA_ARRAY3D_DESCRIPTOR *d = &a->descriptor;
    const struct pt_cu_array_blocks *blocks = pt_cu_array_blocks(d->Format);
    size_t side = blocks ? 1u << PT_TEXTURE_BLOCK_SIDE_LOG : 1;
    a->element_bytes =
        blocks ? blocks->bytes : pt_cu_array_channel_bytes(d->Format) * d->NumChannels;
    struct pt_texture t = {.size = {(uint32_t)d->Width, (uint32_t)at_least_one(d->Height)},
                           .texel_bytes = (uint8_t)a->element_bytes,
                           .block = blocks ? blocks->kind : PT_TEXTURE_NO_BLOCK};
    pt_texture_layout_set(&t);
    a->columns = (d->Width + side - 1) / side;
    a->rows = (at_least_one(d->Height) + side - 1) / side;
    a->pitch = t.pitch;
    a->slice = t.slice;
}

static size_t bytes_of(const struct CUarray_st *a)
{
    return a->slice * at_least_one(a->descriptor.Depth);
}

static CUarray new_array(CUcontext ctx, const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    CUarray a = pt_cu_handle_new(PT_CU_ARRAY, sizeof *a);
    if (!a)
        return NULL;
    a->ctx = ctx;
    a->descriptor = *descriptor;
    lay_out(a);
    a->next = ctx->arrays;
    ctx->arrays = a;
    return a;
}

void pt_cu_array_delete(CUarray array)
{
    CUarray *place = &array->ctx->arrays;
    while (*place != array)
        place = &(*place)->next;
    *place = array->next;
    if (array->texels && array->texels->memory == PT_CU_EXTERNAL)
        pt_cu_ipc_close(array->texels);
    else if (array->texels)
        pt_cu_block_free(array->texels);
    if (array->mipmap && array->mipmap->levels[0] == array)
        pt_cu_handle_delete(array->mipmap);
    pt_cu_handle_delete(array);
}

static CUresult create(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    if (r == CUDA_SUCCESS)
        r = out && descriptor ? check_descriptor(descriptor) : CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    CUarray a = new_array(ctx, descriptor);
    if (!a)
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = pt_cu_block_alloc(ctx, bytes_of(a), PT_CU_TEXELS, &a->texels);
    if (r != CUDA_SUCCESS) {
        pt_cu_array_delete(a);
        return r;
    }
    a->data = (uint8_t *)(uintptr_t)a->texels->first;
    *out = a;
    return CUDA_SUCCESS;
}

static CUresult create_2d(CUarray *out, const CUDA_ARRAY_DESCRIPTOR *d)
{
    if (!d)
        return CUDA_ERROR_INVALID_VALUE;
    const CUDA_ARRAY3D_DESCRIPTOR whole = {d->Width, d->Height, 0, d->Format, d->NumChannels, 0};
    return create(out, &whole);
}

CUresult cuArrayCreate_v2(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *descriptor)
{
    return API(create_2d(array, descriptor));
}

CUresult cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    return API(create(array, descriptor));
}

static CUresult check_array(CUarray array)
{
    CUresult r = pt_cu_driver_check();
    return r == CUDA_SUCCESS && !pt_cu_handle_is(array, PT_CU_ARRAY) ? CUDA_ERROR_INVALID_HANDLE
                                                                     : r;
}

/* A level goes with its mipmapped array. */
static CUresult destroy(CUarray array)
{
    CUresult r = check_array(array);
    if (r != CUDA_SUCCESS || array->mipmap)
        return r;
    r = pt_cu_command_drain(array->ctx);
    if (pt_cu_handle_is(array, PT_CU_ARRAY))
        pt_cu_array_delete(array);
    return r;
}

CUresult cuArrayDestroy(CUarray array)
{
    return API(destroy(array));
}

static CUresult get_descriptor(CUDA_ARRAY3D_DESCRIPTOR *descriptor, CUarray array)
{
    CUresult r = check_array(array);
    if (r == CUDA_SUCCESS && !descriptor)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *descriptor = array->descriptor;
    return r;
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *descriptor, CUarray array)
{
    return API(get_descriptor(descriptor, array));
}

static CUresult get_descriptor_2d(CUDA_ARRAY_DESCRIPTOR *descriptor, CUarray array)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    CUresult r = descriptor ? get_descriptor(&d, array) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *descriptor = (CUDA_ARRAY_DESCRIPTOR){d.Width, d.Height, d.Format, d.NumChannels};
    return r;
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *descriptor, CUarray array)
{
    return API(get_descriptor_2d(descriptor, array));
}

/* No array has planes; those whose memory is not there yet, or is sparse, are refused. */
static CUresult get_plane(CUarray array)
{
    CUresult r = check_array(array);
    return r == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : r;
}

CUresult cuArrayGetPlane(CUarray *plane, CUarray array, unsigned index)
{
    (void)plane, (void)index;
    return API(get_plane(array));
}

static CUresult refuse(void)
{
    CUresult r = pt_cu_driver_check();
    return r == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : r;
}

CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *requirements, CUarray array,
                                      CUdevice device)
{
    (void)requirements, (void)array, (void)device;
    return API(refuse());
}

CUresult cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *properties, CUarray array)
{
    (void)properties, (void)array;
    return API(refuse());
}

CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *requirements,
                                               CUmipmappedArray array, CUdevice device)
{
    (void)requirements, (void)array, (void)device;
    return API(refuse());
}

CUresult cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *properties,
                                             CUmipmappedArray array)
{
    (void)properties, (void)array;
    return API(refuse());
}

/* ---- mipmapped arrays ------------------------------------------------------------------------ */

static size_t halve(size_t n, bool layered)
{
    return n && !layered ? (n > 1 ? n / 2 : 1) : n;
}

static unsigned count_levels(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    bool layered = (d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
    size_t side = d->Width > d->Height ? d->Width : d->Height;
    if (!layered && d->Depth > side)
        side = d->Depth;
    unsigned n = 1;
    while (side >>= 1)
        n++;
    return n < LEVELS_MAX ? n : LEVELS_MAX;
}

/* Where memory for all levels is had, in one piece. */
typedef CUresult give_memory(void *ud, CUcontext ctx, size_t bytes, struct pt_cu_range **range);

static CUresult give_texels(void *ud, CUcontext ctx, size_t bytes, struct pt_cu_range **range)
{
    (void)ud;
    return pt_cu_block_alloc(ctx, bytes, PT_CU_TEXELS, range);
}

static CUresult make_levels(CUmipmappedArray m, CUcontext ctx, CUDA_ARRAY3D_DESCRIPTOR d,
                            unsigned n, give_memory *give, void *ud)
{
    bool layered = (d.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
    size_t bytes = 0;
    for (; m->n_levels < n; m->n_levels++) {
        CUarray a = new_array(ctx, &d);
        if (!a)
            return CUDA_ERROR_OUT_OF_MEMORY;
        a->mipmap = m;
        m->levels[m->n_levels] = a;
        bytes += bytes_of(a);
        d.Width = halve(d.Width, false);
        d.Height = halve(d.Height, false);
        d.Depth = halve(d.Depth, layered);
    }
    CUresult r = give(ud, ctx, bytes, &m->levels[0]->texels);
    if (r != CUDA_SUCCESS)
        return r;
    uint8_t *data = (uint8_t *)(uintptr_t)m->levels[0]->texels->first;
    for (unsigned i = 0; i < n; i++) {
        m->levels[i]->data = data;
        data += bytes_of(m->levels[i]);
    }
    return CUDA_SUCCESS;
}

/* It goes with its first level. */
static void delete_mipmap(CUmipmappedArray m)
{
    if (!m->n_levels)
        pt_cu_handle_delete(m);
    for (unsigned i = m->n_levels; i-- > 0;)
        pt_cu_array_delete(m->levels[i]);
}

static CUresult check_levels(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    const size_t side = 32768; /* of a plane */
    if (d->Height && (d->Width > side || d->Height > side))
        return CUDA_ERROR_INVALID_VALUE;
    return check_descriptor(d);
}

static CUresult new_mipmap(CUmipmappedArray *out, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                           unsigned levels, give_memory *give, void *ud)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    CUmipmappedArray m = r == CUDA_SUCCESS ? pt_cu_handle_new(PT_CU_MIPMAP, sizeof *m) : NULL;
    if (r == CUDA_SUCCESS)
        r = m ? make_levels(m, ctx, *descriptor, levels, give, ud) : CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS)
        *out = m;
    else if (m)
        delete_mipmap(m);
    return r;
}

/* 0 levels are one. */
static CUresult create_mipmap(CUmipmappedArray *out, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                              unsigned levels)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    if (r == CUDA_SUCCESS)
        r = out && descriptor ? check_levels(descriptor) : CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    unsigned most = count_levels(descriptor);
    levels = levels ? levels : 1;
    return new_mipmap(out, descriptor, levels < most ? levels : most, give_texels, NULL);
}

CUresult pt_cu_array_make_over(CUmipmappedArray *out, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                               unsigned levels, give_memory *give, void *ud)
{
    CUresult r = check_levels(descriptor);
    if (r == CUDA_SUCCESS && (!levels || levels > count_levels(descriptor)))
        r = CUDA_ERROR_INVALID_VALUE;
    return r == CUDA_SUCCESS ? new_mipmap(out, descriptor, levels, give, ud) : r;
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                                unsigned levels)
{
    return API(create_mipmap(array, descriptor, levels));
}

CUarray pt_cu_array_level(CUmipmappedArray mipmap, unsigned level)
{
    return mipmap->levels[level];
}

unsigned pt_cu_array_n_levels(CUmipmappedArray mipmap)
{
    return mipmap->n_levels;
}

static CUresult check_mipmap(CUmipmappedArray m)
{
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS && pt_cu_handle_is(m, PT_CU_ARRAY))
        return CUDA_ERROR_INVALID_VALUE;
    return r == CUDA_SUCCESS && !pt_cu_handle_is(m, PT_CU_MIPMAP) ? CUDA_ERROR_INVALID_HANDLE : r;
}

static CUresult get_level(CUarray *level, CUmipmappedArray m, unsigned index)
{
    CUresult r = check_mipmap(m);
    if (r == CUDA_SUCCESS && (!level || index >= m->n_levels))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *level = m->levels[index];
    return r;
}

CUresult cuMipmappedArrayGetLevel(CUarray *level, CUmipmappedArray array, unsigned index)
{
    return API(get_level(level, array, index));
}

static CUresult destroy_mipmap(CUmipmappedArray m)
{
    CUresult r = check_mipmap(m);
    if (r != CUDA_SUCCESS)
        return r;
    r = pt_cu_command_drain(m->levels[0]->ctx);
    if (pt_cu_handle_is(m, PT_CU_MIPMAP))
        delete_mipmap(m);
    return r;
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray array)
{
    return API(destroy_mipmap(array));
}
