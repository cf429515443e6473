/* Surface objects. A handle is the address of what backend/semantics/surface.h describes, in device
 * memory; behind it stands what the program gave. What is refused is what the driver of an H100
 * refuses: it takes arrays that were not made for surfaces. */
#include "runtime/cuda/surface.h"

#include "runtime/cuda/array.h"
#include "runtime/cuda/block.h"
#include "runtime/cuda/current.h"
#include "runtime/cuda/descriptor.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"

struct object {
    struct pt_surface surface;
    CUDA_RESOURCE_DESC resource;
};

static enum pt_texel texel_of(CUarray_format format)
{
    static const uint8_t texels[] = {
        [CU_AD_FORMAT_UNSIGNED_INT8] = PT_TEXEL_U8,   [CU_AD_FORMAT_SIGNED_INT8] = PT_TEXEL_S8,
        [CU_AD_FORMAT_UNSIGNED_INT16] = PT_TEXEL_U16, [CU_AD_FORMAT_SIGNED_INT16] = PT_TEXEL_S16,
        [CU_AD_FORMAT_UNSIGNED_INT32] = PT_TEXEL_U32, [CU_AD_FORMAT_SIGNED_INT32] = PT_TEXEL_S32,
        [CU_AD_FORMAT_HALF] = PT_TEXEL_F16,           [CU_AD_FORMAT_FLOAT] = PT_TEXEL_F32};
    return (enum pt_texel)texels[format];
}

CUresult pt_cu_surface_describe(struct pt_surface *s, const struct CUarray_st *a)
{
    const CUDA_ARRAY3D_DESCRIPTOR *d = &a->descriptor;
    if (d->Format > CU_AD_FORMAT_FLOAT)
        return CUDA_ERROR_NOT_SUPPORTED;
    s->texels = (uint64_t)(uintptr_t)a->data;
    s->pitch = a->pitch;
    s->slice = a->slice;
    s->size[0] = (uint32_t)d->Width;
    s->size[1] = (uint32_t)d->Height;
    s->size[2] = (uint32_t)d->Depth;
    s->texel = (uint8_t)texel_of(d->Format);
    s->n_channels = (uint8_t)d->NumChannels;
    s->texel_bytes = (uint8_t)a->element_bytes;
    s->is_layered = (d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
    return CUDA_SUCCESS;
}

static CUresult create(CUsurfObject *out, const CUDA_RESOURCE_DESC *resource)
{
    CUcontext ctx;
    struct pt_cu_range *range;
    struct object o = {0};
    CUresult r = pt_cu_current_get(&ctx);
    if (r == CUDA_SUCCESS &&
        (!out || !resource || resource->flags || resource->resType != CU_RESOURCE_TYPE_ARRAY ||
         !pt_cu_handle_is(resource->res.array.hArray, PT_CU_ARRAY)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = pt_cu_surface_describe(&o.surface, resource->res.array.hArray);
    if (r == CUDA_SUCCESS && resource->res.array.hArray->ctx != ctx)
        r = CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    if (r == CUDA_SUCCESS)
        r = pt_cu_block_alloc(ctx, sizeof o, PT_CU_SURFACE, &range);
    if (r != CUDA_SUCCESS)
        return r;
    o.surface.key = pt_surface_key(range->first);
    o.resource = *resource;
    *(struct object *)(uintptr_t)range->first = o;
    *out = range->first;
    return CUDA_SUCCESS;
}

CUresult cuSurfObjectCreate(CUsurfObject *surface, const CUDA_RESOURCE_DESC *resource)
{
    return API(create(surface, resource));
}

CUresult cuSurfObjectDestroy(CUsurfObject surface)
{
    return API(pt_cu_descriptor_free(surface, PT_CU_SURFACE));
}

static CUresult get_resource(CUDA_RESOURCE_DESC *d, CUsurfObject surface)
{
    CUresult r = pt_cu_descriptor_check(surface, PT_CU_SURFACE);
    if (r == CUDA_SUCCESS && !d)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *d = ((const struct object *)(uintptr_t)surface)->resource;
    return r;
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *descriptor, CUsurfObject surface)
{
    return API(get_resource(descriptor, surface));
}
