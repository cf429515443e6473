/* Arrays: memory of textures and surfaces, in rows of elements with up to four channels; mipmapped
 * ones with a level for each size. */
#ifndef PTERA_CUDA_ARRAY_H
#define PTERA_CUDA_ARRAY_H

#include "runtime/cuda/abi.h"
#include "runtime/cuda/handle.h"

struct pt_cu_range;

/* An array: elements of up to four channels in rows, rows in slices, layers or faces. */
struct CUarray_st {
    struct pt_cu_object object;
    CUcontext ctx;
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    size_t element_bytes, columns, rows, pitch, slice; /* elements are texels, or blocks of them */
    uint8_t *data;
    struct pt_cu_range *texels; /* the memory; of a mipmapped array the first level's */
    CUmipmappedArray mipmap;    /* whose level it is, or NULL */
    CUarray next;
};

/* Formats that are normalised numbers by themselves: their number among them, from 1 on; by threes
 * of 1, 2 and 4 channels, of 8 and 16 bits, without and with sign. 0: another. */
unsigned pt_cu_array_is_normalized(CUarray_format format);
/* Formats of blocks: what they are, of how many channels; their texels' format, which is one of
 * numbers. NULL: another. */
struct pt_cu_array_blocks {
    uint8_t kind, bytes, channels, texel; /* enum pt_texture_block, enum pt_texel */
    bool is_srgb;
};
const struct pt_cu_array_blocks *pt_cu_array_blocks(CUarray_format format);
/* Three channels of ten bits and one of two: as many bytes as four of one have. */
enum { PT_CU_ARRAY_10_10_10_2 = 0x50 };
/* 0: no format of numbers. */
size_t pt_cu_array_channel_bytes(CUarray_format format);
void pt_cu_array_delete(CUarray array);
/* One over memory that is given: all levels behind each other, in rows, each as it would be
 * allocated. */
CUresult pt_cu_array_make_over(
    CUmipmappedArray *out, const CUDA_ARRAY3D_DESCRIPTOR *descriptor, unsigned levels,
    CUresult (*give)(void *ud, CUcontext ctx, size_t bytes, struct pt_cu_range **range), void *ud);
/* A level of a mipmapped array, and how many there are. */
CUarray pt_cu_array_level(CUmipmappedArray mipmap, unsigned level);
unsigned pt_cu_array_n_levels(CUmipmappedArray mipmap);

#endif
