/* Arrays: making them, what they are, copies between them and memory. */
#include "runtime/cudart/array.h"
#include "runtime/cudart/rt.h"

#include <string.h>

/* ---- elements -------------------------------------------------------------------------------- */

/* cudaChannelFormatKind; those from NORMALIZED on are of one number of channels. */
enum { SIGNED, UNSIGNED, FLOATING, NORMALIZED = 5, BLOCKS = 17, TEN_TEN_TEN_TWO = 31 };

/* `channels`: 0 for one, two or four. */
static const struct {
    uint8_t kind, bits, channels, format;
} formats[] = {{UNSIGNED, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8},
               {SIGNED, 8, 0, CU_AD_FORMAT_SIGNED_INT8},
               {UNSIGNED, 16, 0, CU_AD_FORMAT_UNSIGNED_INT16},
               {SIGNED, 16, 0, CU_AD_FORMAT_SIGNED_INT16},
               {UNSIGNED, 32, 0, CU_AD_FORMAT_UNSIGNED_INT32},
               {SIGNED, 32, 0, CU_AD_FORMAT_SIGNED_INT32},
               {FLOATING, 16, 0, CU_AD_FORMAT_HALF},
               {FLOATING, 32, 0, CU_AD_FORMAT_FLOAT},
               {4, 8, 3, PT_RT_ARRAY_NV12},
               {NORMALIZED, 8, 1, 0xc0},
               {NORMALIZED + 1, 8, 2, 0xc1},
               {NORMALIZED + 2, 8, 4, 0xc2},
               {NORMALIZED + 3, 16, 1, 0xc3},
               {NORMALIZED + 4, 16, 2, 0xc4},
               {NORMALIZED + 5, 16, 4, 0xc5},
               {NORMALIZED + 6, 8, 1, 0xc6}, /* from here on with a sign */
               {NORMALIZED + 7, 8, 2, 0xc7},
               {NORMALIZED + 8, 8, 4, 0xc8},
               {NORMALIZED + 9, 16, 1, 0xc9},
               {NORMALIZED + 10, 16, 2, 0xca},
               {NORMALIZED + 11, 16, 4, 0xcb},
               {BLOCKS, 8, 4, 0x91}, /* BC1 to BC3, each as sRGB, too */
               {BLOCKS + 1, 8, 4, 0x92},
               {BLOCKS + 2, 8, 4, 0x93},
               {BLOCKS + 3, 8, 4, 0x94},
               {BLOCKS + 4, 8, 4, 0x95},
               {BLOCKS + 5, 8, 4, 0x96},
               {BLOCKS + 6, 8, 1, 0x97}, /* BC4 to BC6H, without and with a sign */
               {BLOCKS + 7, 8, 1, 0x98},
               {BLOCKS + 8, 8, 2, 0x99},
               {BLOCKS + 9, 8, 2, 0x9a},
               {BLOCKS + 10, 16, 3, 0x9b},
               {BLOCKS + 11, 16, 3, 0x9c},
               {BLOCKS + 12, 8, 4, 0x9d}, /* BC7, and as sRGB */
               {BLOCKS + 13, 8, 4, 0x9e},
               {TEN_TEN_TEN_TWO, 10, 4, 0x50}};
enum { N_FORMATS = sizeof formats / sizeof *formats };

/* Channels are alike, and the first ones of four, but for the last of 10-10-10-2. */
static cudaChannelFormatDesc describe_channels(int format, unsigned n)
{
    int bits = formats[format].bits, kind = formats[format].kind,
        last = kind == TEN_TEN_TEN_TWO ? 2 : bits;
    return (cudaChannelFormatDesc){n > 0 ? bits : 0, n > 1 ? bits : 0, n > 2 ? bits : 0,
                                   n > 3 ? last : 0, kind};
}

bool pt_rt_array_read_channels(const cudaChannelFormatDesc *d, CUDA_ARRAY3D_DESCRIPTOR *to)
{
    for (int i = 0; i < N_FORMATS; i++)
        for (unsigned n = 1; n <= 4; n++) {
            bool is_number = formats[i].channels ? n == formats[i].channels : n != 3;
            cudaChannelFormatDesc c = describe_channels(i, n);
            if (!is_number || memcmp(&c, d, sizeof c) != 0)
                continue;
            to->NumChannels = n;
            to->Format = (CUarray_format)formats[i].format;
            return true;
        }
    return false;
}

cudaChannelFormatDesc pt_rt_array_channels(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    for (int i = 0; i < N_FORMATS; i++)
        if (formats[i].format == (unsigned)d->Format)
            return describe_channels(i, d->NumChannels);
    return (cudaChannelFormatDesc){0};
}

bool pt_rt_array_is_float(CUarray_format format)
{
    enum { TEN = 0x50, BC6H = 0x9b, BC6H_SIGNED };
    return (unsigned)format == TEN || (unsigned)format == BC6H || (unsigned)format == BC6H_SIGNED;
}

/* Blocks have the bytes of their four rows; three channels of ten bits and one of two are a word,
 * too. */
static struct pt_rt_element element_of(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    enum { BC1 = BLOCKS, BC1_SRGB, BC4 = BLOCKS + 6, BC4_SIGNED, SIDE = 4 };
    const cudaChannelFormatDesc c = pt_rt_array_channels(d);
    bool is_small = c.f == BC1 || c.f == BC1_SRGB || c.f == BC4 || c.f == BC4_SIGNED;
    if (c.f >= BLOCKS && c.f < TEN_TEN_TEN_TWO)
        return (struct pt_rt_element){is_small ? 8 : 16, SIDE};
    return (struct pt_rt_element){(size_t)c.x / 8 * d->NumChannels, 1};
}

cudaError_t pt_rt_array_element(cudaArray_t array, struct pt_rt_element *element)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    CUresult r = cuArray3DGetDescriptor_v2(&d, array);
    if (r == CUDA_SUCCESS)
        *element = element_of(&d);
    return (cudaError_t)r;
}

static cudaError_t widest_linear(size_t *most, const cudaChannelFormatDesc *channels, int device)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {0};
    if (!channels)
        return cudaErrorInvalidValue;
    if (!pt_rt_array_read_channels(channels, &d))
        return cudaErrorInvalidChannelDescriptor;
    return (cudaError_t)cuDeviceGetTexture1DLinearMaxWidth(most, d.Format, d.NumChannels, device);
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *most,
                                                 const cudaChannelFormatDesc *channels, int device)
{
    return RT_API(widest_linear(most, channels, device));
}

/* ---- making them ----------------------------------------------------------------------------- */

static cudaError_t describe(const cudaChannelFormatDesc *channels, cudaExtent extent,
                            unsigned flags, CUDA_ARRAY3D_DESCRIPTOR *d)
{
    *d = (CUDA_ARRAY3D_DESCRIPTOR){
        .Width = extent.width, .Height = extent.height, .Depth = extent.depth, .Flags = flags};
    if (!channels)
        return cudaErrorInvalidValue;
    return pt_rt_array_read_channels(channels, d) ? cudaSuccess : cudaErrorInvalidChannelDescriptor;
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

static cudaError_t make_external(CUmipmappedArray *mipmap, CUexternalMemory memory,
                                 const cudaExternalMemoryMipmappedArrayDesc *given)
{
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC d = {0};
    if (!given)
        return (cudaError_t)CUDA_ERROR_INVALID_VALUE;
    d.offset = given->offset;
    d.numLevels = given->numLevels;
    return describe(&given->formatDesc, given->extent, given->flags, &d.arrayDesc)
               ?: (cudaError_t)cuExternalMemoryGetMappedMipmappedArray(mipmap, memory, &d);
}

cudaError_t
cudaExternalMemoryGetMappedMipmappedArray(CUmipmappedArray *mipmap, CUexternalMemory memory,
                                          const cudaExternalMemoryMipmappedArrayDesc *desc)
{
    return RT_API(make_external(mipmap, memory, desc));
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

/* ---- copies ---------------------------------------------------------------------------------- */

/* One end of a copy: an array, from `x` bytes and `y` rows, or memory. */
struct end {
    bool is_array;
    cudaArray_t array;
    size_t x, y;
    const void *memory;
    size_t pitch;
};
#define ARRAY(array, x, y) ((struct end){true, (array), (x), (y), NULL, 0})
#define MEMORY(p, pitch) ((struct end){false, NULL, 0, 0, (p), (pitch)})

/* Arrays are the device's; what memory is, is found out, but for copies that say so. */
static bool is_direction(struct end to, struct end from, cudaMemcpyKind kind)
{
    return kind == cudaMemcpyDefault || kind == cudaMemcpyDeviceToDevice ||
           (kind == cudaMemcpyHostToDevice && !from.is_array) ||
           (kind == cudaMemcpyDeviceToHost && !to.is_array);
}

static CUmemorytype type_of(struct end end, cudaMemcpyKind kind)
{
    return end.is_array                       ? CU_MEMORYTYPE_ARRAY
           : kind == cudaMemcpyDeviceToDevice ? CU_MEMORYTYPE_DEVICE
                                              : CU_MEMORYTYPE_UNIFIED;
}

static cudaError_t submit(struct end to, struct end from, size_t width, size_t height,
                          cudaMemcpyKind kind, CUstream stream)
{
    CUDA_MEMCPY2D c = {.srcXInBytes = from.x,
                       .srcY = from.y,
                       .srcMemoryType = type_of(from, kind),
                       .srcDevice = (CUdeviceptr)from.memory,
                       .srcArray = from.array,
                       .srcPitch = from.pitch,
                       .dstXInBytes = to.x,
                       .dstY = to.y,
                       .dstMemoryType = type_of(to, kind),
                       .dstDevice = (CUdeviceptr)to.memory,
                       .dstArray = to.array,
                       .dstPitch = to.pitch,
                       .WidthInBytes = width,
                       .Height = height};
    return (cudaError_t)cuMemcpy2DAsync_v2(&c, stream);
}

/* Copies a rectangle through a stream; `waits`: until it is done. */
static cudaError_t copy(struct end to, struct end from, size_t width, size_t height,
                        cudaMemcpyKind kind, CUstream stream, bool waits)
{
    if (!is_direction(to, from, kind))
        return cudaErrorInvalidMemcpyDirection;
    bool is_narrow = (!to.is_array && width > to.pitch) || (!from.is_array && width > from.pitch);
    if (is_narrow && height > 1)
        return cudaErrorInvalidPitchValue;
    if (!width || !height)
        return cudaSuccess;
    if ((to.is_array && !to.array) || (from.is_array && !from.array))
        return cudaErrorInvalidResourceHandle;
    if (is_narrow)
        return cudaErrorInvalidValue;
    cudaError_t error = submit(to, from, width, height, kind, stream);
    return error || !waits ? error : (cudaError_t)cuStreamSynchronize(stream);
}

/* Copies a run of bytes that goes on from row to row of the array at one end: the rest of a row,
 * whole rows together, what is left. */
static cudaError_t submit_run(struct end to, struct end from, size_t bytes, cudaMemcpyKind kind,
                              CUstream stream)
{
    struct end *array = to.is_array ? &to : &from, *memory = to.is_array ? &from : &to;
    CUDA_ARRAY3D_DESCRIPTOR d;
    cudaError_t error = (cudaError_t)cuArray3DGetDescriptor_v2(&d, array->array);
    const struct pt_rt_element e = error ? (struct pt_rt_element){0, 1} : element_of(&d);
    const size_t row = error ? 0 : (d.Width + e.side - 1) / e.side * e.bytes;
    while (bytes && !error) {
        if (array->x == row) {
            array->x = 0;
            array->y++;
        }
        size_t left = array->x < row ? row - array->x : bytes; /* outside: the driver refuses it */
        size_t width = left < bytes ? left : bytes, height = width == row ? bytes / row : 1;
        memory->pitch = width;
        error = submit(to, from, width, height, kind, stream);
        if (error)
            break;
        memory->memory = (const uint8_t *)memory->memory + width * height;
        array->y += height - 1;
        array->x += width;
        bytes -= width * height;
    }
    return error;
}

static cudaError_t copy_run(struct end to, struct end from, size_t bytes, cudaMemcpyKind kind,
                            CUstream stream, bool waits)
{
    if (!bytes || (unsigned)kind > cudaMemcpyDefault)
        return cudaSuccess; /* as in NVIDIA's library */
    if (!is_direction(to, from, kind))
        return cudaErrorInvalidMemcpyDirection;
    cudaError_t error = submit_run(to, from, bytes, kind, stream);
    return error || !waits ? error : (cudaError_t)cuStreamSynchronize(stream);
}

/* Between arrays a run goes through memory, as in NVIDIA's library: ends may overlap, and where the
 * source is too short nothing is written. */
static cudaError_t copy_between(struct end to, struct end from, size_t bytes, cudaMemcpyKind kind,
                                CUstream stream, bool waits)
{
    CUdeviceptr memory;
    if (!bytes)
        return cudaSuccess;
    if (!is_direction(to, from, kind))
        return cudaErrorInvalidMemcpyDirection;
    cudaError_t error = (cudaError_t)cuMemAlloc_v2(&memory, bytes);
    if (error)
        return error;
    const struct end middle = MEMORY((const void *)memory, 0);
    error = copy_run(middle, from, bytes, kind, stream, waits)
                ?: copy_run(to, middle, bytes, kind, stream, waits);
    cuMemFree_v2(memory);
    return error;
}

/* A copy, by copy or copy_run, in its forms: in the default stream, in a stream, and both where
 * the default stream is one for each thread. */
#define COPY(name, parameters, how, ...)                                   \
    cudaError_t name parameters                                            \
    {                                                                      \
        return RT_API(how(__VA_ARGS__, kind, NULL, true));                 \
    }                                                                      \
    cudaError_t name##_ptds parameters                                     \
    {                                                                      \
        return RT_API(how(__VA_ARGS__, kind, CU_STREAM_PER_THREAD, true)); \
    }
#define COPY_ASYNC(name, parameters, how, ...)                                  \
    cudaError_t name parameters                                                 \
    {                                                                           \
        return RT_API(how(__VA_ARGS__, kind, stream, false));                   \
    }                                                                           \
    cudaError_t name##_ptsz parameters                                          \
    {                                                                           \
        return RT_API(how(__VA_ARGS__, kind, pt_rt_per_thread(stream), false)); \
    }

COPY(cudaMemcpy2DToArray,
     (cudaArray_t array, size_t x, size_t y, const void *from, size_t pitch, size_t width,
      size_t height, cudaMemcpyKind kind),
     copy, ARRAY(array, x, y), MEMORY(from, pitch), width, height)
COPY_ASYNC(cudaMemcpy2DToArrayAsync,
           (cudaArray_t array, size_t x, size_t y, const void *from, size_t pitch, size_t width,
            size_t height, cudaMemcpyKind kind, cudaStream_t stream),
           copy, ARRAY(array, x, y), MEMORY(from, pitch), width, height)
COPY(cudaMemcpy2DFromArray,
     (void *to, size_t pitch, cudaArray_t array, size_t x, size_t y, size_t width, size_t height,
      cudaMemcpyKind kind),
     copy, MEMORY(to, pitch), ARRAY(array, x, y), width, height)
COPY_ASYNC(cudaMemcpy2DFromArrayAsync,
           (void *to, size_t pitch, cudaArray_t array, size_t x, size_t y, size_t width,
            size_t height, cudaMemcpyKind kind, cudaStream_t stream),
           copy, MEMORY(to, pitch), ARRAY(array, x, y), width, height)
COPY(cudaMemcpy2DArrayToArray,
     (cudaArray_t to, size_t to_x, size_t to_y, cudaArray_t from, size_t from_x, size_t from_y,
      size_t width, size_t height, cudaMemcpyKind kind),
     copy, ARRAY(to, to_x, to_y), ARRAY(from, from_x, from_y), width, height)

COPY(cudaMemcpyToArray,
     (cudaArray_t array, size_t x, size_t y, const void *from, size_t bytes, cudaMemcpyKind kind),
     copy_run, ARRAY(array, x, y), MEMORY(from, 0), bytes)
COPY_ASYNC(cudaMemcpyToArrayAsync,
           (cudaArray_t array, size_t x, size_t y, const void *from, size_t bytes,
            cudaMemcpyKind kind, cudaStream_t stream),
           copy_run, ARRAY(array, x, y), MEMORY(from, 0), bytes)
COPY(cudaMemcpyFromArray,
     (void *to, cudaArray_t array, size_t x, size_t y, size_t bytes, cudaMemcpyKind kind), copy_run,
     MEMORY(to, 0), ARRAY(array, x, y), bytes)
COPY_ASYNC(cudaMemcpyFromArrayAsync,
           (void *to, cudaArray_t array, size_t x, size_t y, size_t bytes, cudaMemcpyKind kind,
            cudaStream_t stream),
           copy_run, MEMORY(to, 0), ARRAY(array, x, y), bytes)
COPY(cudaMemcpyArrayToArray,
     (cudaArray_t to, size_t to_x, size_t to_y, cudaArray_t from, size_t from_x, size_t from_y,
      size_t bytes, cudaMemcpyKind kind),
     copy_between, ARRAY(to, to_x, to_y), ARRAY(from, from_x, from_y), bytes)
