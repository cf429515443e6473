/* Arrays: making them, what they are, copies between them and memory. */
#include "runtime/cudart/array.h"
#include "runtime/cudart/rt.h"

/* ---- elements -------------------------------------------------------------------------------- */

enum { SIGNED, UNSIGNED, FLOATING }; /* cudaChannelFormatKind */

static const struct {
    int bits, kind;
    CUarray_format format;
} formats[] = {{8, UNSIGNED, CU_AD_FORMAT_UNSIGNED_INT8},   {8, SIGNED, CU_AD_FORMAT_SIGNED_INT8},
               {16, UNSIGNED, CU_AD_FORMAT_UNSIGNED_INT16}, {16, SIGNED, CU_AD_FORMAT_SIGNED_INT16},
               {32, UNSIGNED, CU_AD_FORMAT_UNSIGNED_INT32}, {32, SIGNED, CU_AD_FORMAT_SIGNED_INT32},
               {16, FLOATING, CU_AD_FORMAT_HALF},           {32, FLOATING, CU_AD_FORMAT_FLOAT}};
enum { N_FORMATS = sizeof formats / sizeof *formats };

/* Channels are alike, and the first ones of four. */
bool pt_rt_array_read_channels(const cudaChannelFormatDesc *d, CUDA_ARRAY3D_DESCRIPTOR *to)
{
    const int bits[] = {d->x, d->y, d->z, d->w};
    unsigned n = 0;
    while (n < 4 && bits[n])
        n++;
    for (unsigned i = 0; i < 4; i++)
        if (bits[i] != (i < n ? d->x : 0))
            return false;
    to->NumChannels = n;
    for (int i = 0; i < N_FORMATS; i++) {
        if (formats[i].bits != d->x || formats[i].kind != d->f)
            continue;
        to->Format = formats[i].format;
        return true;
    }
    return false;
}

cudaChannelFormatDesc pt_rt_array_channels(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    cudaChannelFormatDesc c = {0};
    for (int i = 0; i < N_FORMATS; i++)
        if (formats[i].format == d->Format)
            c = (cudaChannelFormatDesc){formats[i].bits, 0, 0, 0, formats[i].kind};
    c.y = d->NumChannels > 1 ? c.x : 0;
    c.z = c.w = d->NumChannels > 2 ? c.x : 0;
    return c;
}

cudaError_t pt_rt_array_element(cudaArray_t array, size_t *bytes)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    CUresult r = cuArray3DGetDescriptor_v2(&d, array);
    if (r == CUDA_SUCCESS)
        *bytes = (size_t)pt_rt_array_channels(&d).x / 8 * d.NumChannels;
    return (cudaError_t)r;
}

/* ---- making them ----------------------------------------------------------------------------- */

static cudaError_t describe(const cudaChannelFormatDesc *channels, cudaExtent extent,
                            unsigned flags, CUDA_ARRAY3D_DESCRIPTOR *d)
{
    *d = (CUDA_ARRAY3D_DESCRIPTOR){
        .Width = extent.width, .Height = extent.height, .Depth = extent.depth, .Flags = flags};
    return channels && pt_rt_array_read_channels(channels, d) ? cudaSuccess : cudaErrorInvalidValue;
}

static cudaError_t make(cudaArray_t *array, const cudaChannelFormatDesc *channels,
                        cudaExtent extent, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    return describe(channels, extent, flags, &d) ?: (cudaError_t)cuArray3DCreate_v2(array, &d);
}

cudaError_t cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *channels, size_t width,
                            size_t height, unsigned flags)
{
    return RT_API(make(array, channels, (cudaExtent){width, height, 0}, flags));
}

cudaError_t cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *channels,
                              cudaExtent extent, unsigned flags)
{
    return RT_API(make(array, channels, extent, flags));
}

cudaError_t cudaFreeArray(cudaArray_t array)
{
    return RT_API(array ? cuArrayDestroy(array) : CUDA_SUCCESS);
}

static cudaError_t make_mipmap(CUmipmappedArray *mipmap, const cudaChannelFormatDesc *channels,
                               cudaExtent extent, unsigned levels, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    return describe(channels, extent, flags, &d)
               ?: (cudaError_t)cuMipmappedArrayCreate(mipmap, &d, levels);
}

cudaError_t cudaMallocMipmappedArray(CUmipmappedArray *mipmap,
                                     const cudaChannelFormatDesc *channels, cudaExtent extent,
                                     unsigned levels, unsigned flags)
{
    return RT_API(make_mipmap(mipmap, channels, extent, levels, flags));
}

cudaError_t cudaFreeMipmappedArray(CUmipmappedArray mipmap)
{
    return RT_API(mipmap ? cuMipmappedArrayDestroy(mipmap) : CUDA_SUCCESS);
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *array, CUmipmappedArray mipmap, unsigned level)
{
    return RT_API(cuMipmappedArrayGetLevel(array, mipmap, level));
}

/* ---- what they are --------------------------------------------------------------------------- */

static cudaError_t get_info(cudaChannelFormatDesc *channels, cudaExtent *extent, unsigned *flags,
                            cudaArray_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    CUresult r = cuArray3DGetDescriptor_v2(&d, array);
    if (r != CUDA_SUCCESS)
        return (cudaError_t)r;
    if (channels)
        *channels = pt_rt_array_channels(&d);
    if (extent)
        *extent = (cudaExtent){d.Width, d.Height, d.Depth};
    if (flags)
        *flags = d.Flags;
    return cudaSuccess;
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc *channels, cudaExtent *extent, unsigned *flags,
                             cudaArray_t array)
{
    return RT_API(get_info(channels, extent, flags, array));
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc *channels, cudaArray_t array)
{
    return RT_API(channels ? get_info(channels, NULL, NULL, array) : cudaErrorInvalidValue);
}

/* ---- copies of two dimensions ---------------------------------------------------------------- */

/* One end of a copy: an array, from `x` bytes and `y` rows, or memory. */
struct end {
    cudaArray_t array;
    size_t x, y;
    const void *memory;
    size_t pitch;
};

static bool is_kind(cudaMemcpyKind kind)
{
    return (unsigned)kind <= cudaMemcpyDefault;
}

static cudaError_t describe_copy(struct end to, struct end from, size_t width, size_t height,
                                 CUDA_MEMCPY2D *c)
{
    if ((!to.array && width > to.pitch) || (!from.array && width > from.pitch))
        return cudaErrorInvalidPitchValue;
    *c = (CUDA_MEMCPY2D){.srcXInBytes = from.x,
                         .srcY = from.y,
                         .srcMemoryType = from.array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED,
                         .srcDevice = (CUdeviceptr)from.memory,
                         .srcArray = from.array,
                         .srcPitch = from.pitch,
                         .dstXInBytes = to.x,
                         .dstY = to.y,
                         .dstMemoryType = to.array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED,
                         .dstDevice = (CUdeviceptr)to.memory,
                         .dstArray = to.array,
                         .dstPitch = to.pitch,
                         .WidthInBytes = width,
                         .Height = height};
    return cudaSuccess;
}

/* Copies through a stream; `waits`: until it is done. */
static cudaError_t copy(struct end to, struct end from, size_t width, size_t height,
                        cudaMemcpyKind kind, CUstream stream, bool waits)
{
    CUDA_MEMCPY2D c;
    cudaError_t error = is_kind(kind) ? describe_copy(to, from, width, height, &c)
                                      : cudaErrorInvalidMemcpyDirection;
    if (!error)
        error = (cudaError_t)cuMemcpy2DAsync_v2(&c, stream);
    return error || !waits ? error : (cudaError_t)cuStreamSynchronize(stream);
}

/* A copy in its four forms: in the default stream, in a stream, and both where the default
 * stream is one for each thread. */
#define COPY(name, parameters, async_parameters, to, from, width, height)                    \
    cudaError_t name parameters                                                              \
    {                                                                                        \
        return RT_API(copy(to, from, width, height, kind, NULL, true));                      \
    }                                                                                        \
    cudaError_t name##_ptds parameters                                                       \
    {                                                                                        \
        return RT_API(copy(to, from, width, height, kind, CU_STREAM_PER_THREAD, true));      \
    }                                                                                        \
    cudaError_t name##Async async_parameters                                                 \
    {                                                                                        \
        return RT_API(copy(to, from, width, height, kind, stream, false));                   \
    }                                                                                        \
    cudaError_t name##Async_ptsz async_parameters                                            \
    {                                                                                        \
        return RT_API(copy(to, from, width, height, kind, pt_rt_per_thread(stream), false)); \
    }
#define ARRAY(array, x, y) ((struct end){(array), (x), (y), NULL, 0})
#define MEMORY(p, pitch) ((struct end){NULL, 0, 0, (p), (pitch)})

COPY(cudaMemcpy2DToArray,
     (cudaArray_t array, size_t x, size_t y, const void *from, size_t pitch, size_t width,
      size_t height, cudaMemcpyKind kind),
     (cudaArray_t array, size_t x, size_t y, const void *from, size_t pitch, size_t width,
      size_t height, cudaMemcpyKind kind, cudaStream_t stream),
     ARRAY(array, x, y), MEMORY(from, pitch), width, height)
COPY(cudaMemcpy2DFromArray,
     (void *to, size_t pitch, cudaArray_t array, size_t x, size_t y, size_t width, size_t height,
      cudaMemcpyKind kind),
     (void *to, size_t pitch, cudaArray_t array, size_t x, size_t y, size_t width, size_t height,
      cudaMemcpyKind kind, cudaStream_t stream),
     MEMORY(to, pitch), ARRAY(array, x, y), width, height)

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_t from,
                                     size_t from_x, size_t from_y, size_t width, size_t height,
                                     cudaMemcpyKind kind)
{
    return RT_API(
        copy(ARRAY(to, to_x, to_y), ARRAY(from, from_x, from_y), width, height, kind, NULL, true));
}

cudaError_t cudaMemcpy2DArrayToArray_ptds(cudaArray_t to, size_t to_x, size_t to_y,
                                          cudaArray_t from, size_t from_x, size_t from_y,
                                          size_t width, size_t height, cudaMemcpyKind kind)
{
    return RT_API(copy(ARRAY(to, to_x, to_y), ARRAY(from, from_x, from_y), width, height, kind,
                       CU_STREAM_PER_THREAD, true));
}
