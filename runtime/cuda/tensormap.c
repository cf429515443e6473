/* Tensor maps. */
#include "backend/semantics/tensormap.h"
#include "backend/semantics/tensormap_encode.h"
#include "runtime/cuda/entry.h"
#include "runtime/device.h"

/* A tile fits the shared memory of some device. */
_Static_assert((int)PT_TILE_BYTES_MAX == (int)PT_DEVICE_SHARED_MOST, "runtime/device.def");

/* A map is at a multiple of 64 bytes. */
static bool is_map(const CUtensorMap *map)
{
    return map && (uintptr_t)map % 64 == 0;
}

static CUresult result_of(bool is_done)
{
    return is_done ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult encode_tiled(CUtensorMap *map, const struct pt_tensormap_arguments *a,
                             const cuuint32_t *box)
{
    bool is_given =
        is_map(map) && a->address && a->size && (a->stride || a->rank < 2) && a->step && box;
    return result_of(is_given && pt_tensormap_encode_tiled(map, a, box));
}

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                void *address, const cuuint64_t *size, const cuuint64_t *stride,
                                const cuuint32_t *box, const cuuint32_t *step,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion l2, CUtensorMapFloatOOBfill fill)
{
    struct pt_tensormap_arguments a = {
        type, rank, (uint64_t)(uintptr_t)address, size, stride, step, interleave, swizzle,
        l2,   fill};
    return API(encode_tiled(map, &a, box));
}

static CUresult encode_im2col(CUtensorMap *map, const struct pt_tensormap_arguments *a,
                              const int *lower, const int *upper, cuuint32_t channels,
                              cuuint32_t pixels)
{
    bool is_given = is_map(map) && a->address && a->size && a->stride && a->step && lower && upper;
    return result_of(is_given &&
                     pt_tensormap_encode_im2col(map, a, lower, upper, channels, pixels));
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                 void *address, const cuuint64_t *size, const cuuint64_t *stride,
                                 const int *lower, const int *upper, cuuint32_t channels,
                                 cuuint32_t pixels, const cuuint32_t *step,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion l2, CUtensorMapFloatOOBfill fill)
{
    struct pt_tensormap_arguments a = {
        type, rank, (uint64_t)(uintptr_t)address, size, stride, step, interleave, swizzle,
        l2,   fill};
    return API(encode_im2col(map, &a, lower, upper, channels, pixels));
}

static CUresult encode_im2col_wide(CUtensorMap *map, const struct pt_tensormap_arguments *a,
                                   int lower, int upper, cuuint32_t channels, cuuint32_t pixels,
                                   CUtensorMapIm2ColWideMode mode)
{
    bool is_given = is_map(map) && a->address && a->size && a->stride && a->step;
    return result_of(is_given &&
                     pt_tensormap_encode_im2col_wide(map, a, lower, upper, channels, pixels, mode));
}

CUresult cuTensorMapEncodeIm2colWide(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                     void *address, const cuuint64_t *size,
                                     const cuuint64_t *stride, int lower, int upper,
                                     cuuint32_t channels, cuuint32_t pixels, const cuuint32_t *step,
                                     CUtensorMapInterleave interleave,
                                     CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle,
                                     CUtensorMapL2promotion l2, CUtensorMapFloatOOBfill fill)
{
    struct pt_tensormap_arguments a = {
        type, rank, (uint64_t)(uintptr_t)address, size, stride, step, interleave, swizzle,
        l2,   fill};
    return API(encode_im2col_wide(map, &a, lower, upper, channels, pixels, mode));
}

static CUresult replace_address(CUtensorMap *map, void *address)
{
    return result_of(is_map(map) && address &&
                     pt_tensormap_replace_address(map, (uint64_t)(uintptr_t)address));
}

CUresult cuTensorMapReplaceAddress(CUtensorMap *map, void *address)
{
    return API(replace_address(map, address));
}
