/* Texture and surface objects. */
#include "runtime/cudart/array.h"
#include "runtime/cudart/rt.h"

/* ---- resources ------------------------------------------------------------------------------- */

static cudaError_t to_format(const cudaChannelFormatDesc *from, CUarray_format *format,
                             unsigned *channels)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    if (!pt_rt_array_read_channels(from, &d))
        return cudaErrorInvalidChannelDescriptor;
    *format = d.Format;
    *channels = d.NumChannels;
    return cudaSuccess;
}

static cudaError_t to_resource(const cudaResourceDesc *from, CUDA_RESOURCE_DESC *to)
{
    *to = (CUDA_RESOURCE_DESC){.resType = from->resType};
#if PT_RT_MAJOR >= 13
    to->flags = from->flags;
#endif
    switch (from->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        to->res.array.hArray = from->res.array;
        return from->res.array ? cudaSuccess : cudaErrorInvalidResourceHandle;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        to->res.mipmap.hMipmappedArray = from->res.mipmap;
        return from->res.mipmap ? cudaSuccess : cudaErrorInvalidResourceHandle;
    case CU_RESOURCE_TYPE_LINEAR:
        to->res.linear.devPtr = (CUdeviceptr)from->res.linear.devPtr;
        to->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        return to_format(&from->res.linear.desc, &to->res.linear.format,
                         &to->res.linear.numChannels);
    case CU_RESOURCE_TYPE_PITCH2D:
        to->res.pitch2D.devPtr = (CUdeviceptr)from->res.pitch2D.devPtr;
        to->res.pitch2D.width = from->res.pitch2D.width;
        to->res.pitch2D.height = from->res.pitch2D.height;
        to->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
        return to_format(&from->res.pitch2D.desc, &to->res.pitch2D.format,
                         &to->res.pitch2D.numChannels);
    }
    return cudaErrorInvalidValue;
}

static cudaChannelFormatDesc to_channels(CUarray_format format, unsigned channels)
{
    const CUDA_ARRAY3D_DESCRIPTOR d = {.Format = format, .NumChannels = channels};
    return pt_rt_array_channels(&d);
}

static void from_resource(const CUDA_RESOURCE_DESC *from, cudaResourceDesc *to)
{
    *to = (cudaResourceDesc){.resType = from->resType};
    switch (from->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        to->res.array = from->res.array.hArray;
        break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        to->res.mipmap = from->res.mipmap.hMipmappedArray;
        break;
    case CU_RESOURCE_TYPE_LINEAR:
        to->res.linear.devPtr = (void *)from->res.linear.devPtr;
        to->res.linear.desc = to_channels(from->res.linear.format, from->res.linear.numChannels);
        to->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        break;
    case CU_RESOURCE_TYPE_PITCH2D:
        to->res.pitch2D.devPtr = (void *)from->res.pitch2D.devPtr;
        to->res.pitch2D.desc = to_channels(from->res.pitch2D.format, from->res.pitch2D.numChannels);
        to->res.pitch2D.width = from->res.pitch2D.width;
        to->res.pitch2D.height = from->res.pitch2D.height;
        to->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
        break;
    }
}

/* What the texels are; false: nothing that can be told. */
static bool format_of(const CUDA_RESOURCE_DESC *r, CUarray_format *format)
{
    CUarray a = r->res.array.hArray;
    CUDA_ARRAY3D_DESCRIPTOR d;
    if (r->resType == CU_RESOURCE_TYPE_LINEAR || r->resType == CU_RESOURCE_TYPE_PITCH2D) {
        *format =
            r->resType == CU_RESOURCE_TYPE_LINEAR ? r->res.linear.format : r->res.pitch2D.format;
        return true;
    }
    if (r->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY &&
        cuMipmappedArrayGetLevel(&a, r->res.mipmap.hMipmappedArray, 0) != CUDA_SUCCESS)
        return false;
    if (cuArray3DGetDescriptor_v2(&d, a) != CUDA_SUCCESS)
        return false;
    *format = d.Format;
    return true;
}

/* ---- textures -------------------------------------------------------------------------------- */

enum { READ_AS_THEY_ARE, READ_NORMALIZED }; /* cudaTextureReadMode */

/* What are no numbers of one, two or four alike channels is normalised by itself, but NV12. */
static cudaError_t check_reading(const cudaTextureDesc *d, CUarray_format format)
{
    bool is_float = format == CU_AD_FORMAT_HALF || format == CU_AD_FORMAT_FLOAT ||
                    pt_rt_array_is_float(format),
         is_wide = format == CU_AD_FORMAT_UNSIGNED_INT32 || format == CU_AD_FORMAT_SIGNED_INT32,
         is_number = (unsigned)format <= CU_AD_FORMAT_FLOAT || is_float,
         is_planes = (unsigned)format == PT_RT_ARRAY_NV12,
         is_normalized = d->readMode == READ_NORMALIZED;
    if (is_number && !is_float && (is_wide || !is_normalized) &&
        d->filterMode == CU_TR_FILTER_MODE_LINEAR)
        return cudaErrorInvalidFilterSetting;
    bool is_wrong =
        is_number ? is_normalized && (is_float || is_wide) : !is_normalized && !is_planes;
    return is_wrong ? cudaErrorInvalidNormSetting : cudaSuccess;
}

static void to_sampler(const cudaTextureDesc *from, CUDA_TEXTURE_DESC *to)
{
    *to = (CUDA_TEXTURE_DESC){.filterMode = from->filterMode,
                              .maxAnisotropy = from->maxAnisotropy,
                              .mipmapFilterMode = from->mipmapFilterMode,
                              .mipmapLevelBias = from->mipmapLevelBias,
                              .minMipmapLevelClamp = from->minMipmapLevelClamp,
                              .maxMipmapLevelClamp = from->maxMipmapLevelClamp};
    for (int i = 0; i < 3; i++)
        to->addressMode[i] = from->addressMode[i];
    for (int i = 0; i < 4; i++)
        to->borderColor[i] = from->borderColor[i];
    to->flags = (from->readMode == READ_AS_THEY_ARE ? CU_TRSF_READ_AS_INTEGER : 0) |
                (from->normalizedCoords ? CU_TRSF_NORMALIZED_COORDINATES : 0) |
                (from->sRGB ? CU_TRSF_SRGB : 0) |
                (from->disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0);
#if PT_RT_MAJOR >= 12
    to->flags |= from->seamlessCubemap ? CU_TRSF_SEAMLESS_CUBEMAP : 0;
#endif
}

static void from_sampler(const CUDA_TEXTURE_DESC *from, cudaTextureDesc *to)
{
    *to = (cudaTextureDesc){.filterMode = from->filterMode,
                            .readMode = from->flags & CU_TRSF_READ_AS_INTEGER ? READ_AS_THEY_ARE
                                                                              : READ_NORMALIZED,
                            .sRGB = (from->flags & CU_TRSF_SRGB) != 0,
                            .normalizedCoords = (from->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0,
                            .maxAnisotropy = from->maxAnisotropy,
                            .mipmapFilterMode = from->mipmapFilterMode,
                            .mipmapLevelBias = from->mipmapLevelBias,
                            .minMipmapLevelClamp = from->minMipmapLevelClamp,
                            .maxMipmapLevelClamp = from->maxMipmapLevelClamp,
                            .disableTrilinearOptimization =
                                (from->flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0};
    for (int i = 0; i < 3; i++)
        to->addressMode[i] = from->addressMode[i];
    for (int i = 0; i < 4; i++)
        to->borderColor[i] = from->borderColor[i];
#if PT_RT_MAJOR >= 12
    to->seamlessCubemap = (from->flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
#endif
}

static cudaError_t create_texture(CUtexObject *texture, const cudaResourceDesc *resource,
                                  const cudaTextureDesc *sampler,
                                  const CUDA_RESOURCE_VIEW_DESC *view)
{
    CUDA_RESOURCE_DESC r;
    CUDA_TEXTURE_DESC t;
    CUarray_format format;
    if (!texture || !resource)
        return cudaErrorInvalidValue;
    if (!sampler)
        return cudaErrorInvalidResourceHandle; /* as NVIDIA's library */
    cudaError_t error = to_resource(resource, &r);
    if (!error && format_of(&r, &format))
        error = check_reading(sampler, format);
    if (error)
        return error;
    to_sampler(sampler, &t);
    return (cudaError_t)cuTexObjectCreate(texture, &r, &t, view);
}

cudaError_t cudaCreateTextureObject(CUtexObject *texture, const cudaResourceDesc *resource,
                                    const cudaTextureDesc *sampler,
                                    const CUDA_RESOURCE_VIEW_DESC *view)
{
    return RT_API(create_texture(texture, resource, sampler, view));
}

cudaError_t cudaDestroyTextureObject(CUtexObject texture)
{
    return RT_API(cuTexObjectDestroy(texture));
}

typedef CUresult get_call(CUDA_RESOURCE_DESC *, unsigned long long);

static cudaError_t get_resource(cudaResourceDesc *d, unsigned long long handle, get_call *get)
{
    CUDA_RESOURCE_DESC r;
    CUresult error = d ? get(&r, handle) : CUDA_ERROR_INVALID_VALUE;
    if (error == CUDA_SUCCESS)
        from_resource(&r, d);
    return (cudaError_t)error;
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc *d, CUtexObject texture)
{
    return RT_API(get_resource(d, texture, cuTexObjectGetResourceDesc));
}

static cudaError_t get_sampler(cudaTextureDesc *d, CUtexObject texture)
{
    CUDA_TEXTURE_DESC t;
    cudaError_t error = d ? (cudaError_t)cuTexObjectGetTextureDesc(&t, texture)
                          : cudaErrorInvalidResourceHandle; /* as NVIDIA's library */
    if (!error)
        from_sampler(&t, d);
    return error;
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc *d, CUtexObject texture)
{
    return RT_API(get_sampler(d, texture));
}

cudaError_t cudaGetTextureObjectResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *d, CUtexObject texture)
{
    return RT_API(d ? cuTexObjectGetResourceViewDesc(d, texture) : CUDA_SUCCESS);
}

/* ---- surfaces -------------------------------------------------------------------------------- */

static cudaError_t create_surface(CUsurfObject *surface, const cudaResourceDesc *resource)
{
    CUDA_RESOURCE_DESC r;
    cudaError_t error = resource ? to_resource(resource, &r) : cudaErrorInvalidValue;
    return error ?: (cudaError_t)cuSurfObjectCreate(surface, &r);
}

cudaError_t cudaCreateSurfaceObject(CUsurfObject *surface, const cudaResourceDesc *resource)
{
    return RT_API(create_surface(surface, resource));
}

cudaError_t cudaDestroySurfaceObject(CUsurfObject surface)
{
    return RT_API(cuSurfObjectDestroy(surface));
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc *d, CUsurfObject surface)
{
    return RT_API(d ? get_resource(d, surface, cuSurfObjectGetResourceDesc)
                    : cudaErrorInvalidDevice); /* as NVIDIA's library */
}
