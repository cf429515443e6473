/* The 128 bytes of a tensor map (PTX ISA 5.5.8), laid out as an H100's driver encodes them and its
 * tensormap.replace changes them. Numbers are bits, counted from the first byte's lowest:
 *
 *     0    address                               224  strides: bits 36 to 39 of each, 4 bits
 *     64   1: im2col                             256  sizes - 1, 32 bits each
 *     68   rank - 1, 3 bits                      416  element strides - 1, 3 bits each
 *     71   element type, 4 bits                  440  tile: box sizes - 1, 8 bits each
 *     75   interleave, 2 bits                    440  im2col: channels - 1, 8 bits
 *     77   swizzle, 2 bits                       448  im2col: corners, see pt_tensormap_corner
 *     79   1: NaN where out of bounds            480  im2col: pixels - 1, 10 bits
 *     80   1: elements are rounded to tf32       512  bytes of a box, for the encoder, 32 bits
 *     81   L2 promotion, 2 bits                  576  alignment of a tile, by swizzle, 32 bits
 *     96   strides / 16, low 32 bits each
 */
#ifndef PTERA_BACKEND_SEMANTICS_TENSORMAP_H
#define PTERA_BACKEND_SEMANTICS_TENSORMAP_H

#include <string.h>

#include "backend/semantics/lane.h"

enum {
    PT_TENSORMAP_BYTES = 128,
    PT_TENSORMAP_ALIGN = 64,
    PT_TILE_ALIGN = 128,           /* of a tile in shared memory */
    PT_TILE_BYTES_MAX = 227 << 10, /* the shared memory that a CTA may have */
    PT_TENSORMAP_ADDRESS = 0,
    PT_TENSORMAP_IM2COL = 64,
    PT_TENSORMAP_RANK = 68,
    PT_TENSORMAP_TYPE = 71,
    PT_TENSORMAP_INTERLEAVE = 75,
    PT_TENSORMAP_SWIZZLE = 77,
    PT_TENSORMAP_FILL = 79,
    PT_TENSORMAP_TF32 = 80,
    PT_TENSORMAP_L2 = 81,
    PT_TENSORMAP_SWIZZLE_HIGH = 86, /* 0: the swizzles that sm_90 has */
    PT_TENSORMAP_STRIDE_LOW = 96,
    PT_TENSORMAP_STRIDE_HIGH = 224,
    PT_TENSORMAP_SIZE = 256,
    PT_TENSORMAP_STEP = 416,
    PT_TENSORMAP_BOX = 440,
    PT_TENSORMAP_CORNERS = 448,
    PT_TENSORMAP_PIXELS = 480,
    PT_TENSORMAP_BOX_BYTES = 512,
    PT_TENSORMAP_TILE_ALIGN = 576
};

/* Element types, as the map has them and tensormap.replace numbers them. */
enum pt_element {
    PT_ELEMENT_U8,
    PT_ELEMENT_U16,
    PT_ELEMENT_U32,
    PT_ELEMENT_S32,
    PT_ELEMENT_U64,
    PT_ELEMENT_S64,
    PT_ELEMENT_F16,
    PT_ELEMENT_F32,
    PT_ELEMENT_F32_FTZ,
    PT_ELEMENT_F64,
    PT_ELEMENT_BF16,
    PT_ELEMENT_COUNT,
    /* in tensormap.replace alone: F32 and F32_FTZ with the bit TF32 */
    PT_ELEMENT_TF32 = 11,
    PT_ELEMENT_TF32_FTZ = 12
};

enum pt_interleave { PT_INTERLEAVE_NONE, PT_INTERLEAVE_16B, PT_INTERLEAVE_32B };

PT_LANE uint32_t pt_element_bytes(uint32_t element)
{
    return element == PT_ELEMENT_U8 ? 1
           : element == PT_ELEMENT_U16 || element == PT_ELEMENT_F16 || element == PT_ELEMENT_BF16
               ? 2
           : element == PT_ELEMENT_U64 || element == PT_ELEMENT_S64 || element == PT_ELEMENT_F64
               ? 8
               : 4;
}

/* `n` bits, at most 32, from bit `at` on; none crosses a multiple of 64 bits. */
PT_LANE uint32_t pt_tensormap_get(const uint64_t *map, uint32_t at, uint32_t n)
{
    return (uint32_t)(map[at / 64] >> at % 64 & (UINT64_MAX >> (64 - n)));
}

PT_LANE void pt_tensormap_put(uint64_t *map, uint32_t at, uint32_t n, uint32_t value)
{
    uint64_t mask = UINT64_MAX >> (64 - n) << at % 64;
    map[at / 64] = (map[at / 64] & ~mask) | ((uint64_t)value << at % 64 & mask);
}

/* Stride `i` in bytes: of dimension i + 1. */
PT_LANE uint64_t pt_tensormap_stride(const uint64_t *map, uint32_t i)
{
    uint64_t high = pt_tensormap_get(map, PT_TENSORMAP_STRIDE_HIGH + 4 * i, 4);
    return (high << 32 | pt_tensormap_get(map, PT_TENSORMAP_STRIDE_LOW + 32 * i, 32)) << 4;
}

PT_LANE void pt_tensormap_put_stride(uint64_t *map, uint32_t i, uint64_t bytes)
{
    pt_tensormap_put(map, PT_TENSORMAP_STRIDE_LOW + 32 * i, 32, (uint32_t)(bytes >> 4));
    pt_tensormap_put(map, PT_TENSORMAP_STRIDE_HIGH + 4 * i, 4, (uint32_t)(bytes >> 36));
}

/* Bits of a corner's coordinate, and where that of spatial dimension `i` lies: lower corners in the
 * low half of the word, upper ones in the high half. */
PT_LANE uint32_t pt_tensormap_corner_bits(uint32_t rank)
{
    return rank == 3 ? 16 : rank == 4 ? 8 : 5;
}

PT_LANE uint32_t pt_tensormap_corner(uint32_t rank, uint32_t i, bool is_upper)
{
    return PT_TENSORMAP_CORNERS + 16 * is_upper + i * pt_tensormap_corner_bits(rank);
}

/* A map's fields. */
struct pt_tensor {
    uint64_t address;
    uint32_t rank;
    bool is_im2col, is_nan_filled, is_tf32;
    uint32_t element; /* enum pt_element */
    uint32_t interleave, swizzle;
    uint64_t
        stride[5]; /* bytes from one element, or interleaved slice, to the next in each dimension */
    uint64_t size[5];
    uint32_t box[5]; /* im2col: box[0] channels */
    uint32_t step[5];
    int32_t lower[3], upper[3];
    uint32_t pixels;
};

static inline void pt_tensormap_read(const uint64_t *map, struct pt_tensor *t)
{
    t->address = map[0];
    t->is_im2col = pt_tensormap_get(map, PT_TENSORMAP_IM2COL, 1);
    t->rank = pt_tensormap_get(map, PT_TENSORMAP_RANK, 3) + 1;
    t->element = pt_tensormap_get(map, PT_TENSORMAP_TYPE, 4);
    t->interleave = pt_tensormap_get(map, PT_TENSORMAP_INTERLEAVE, 2);
    t->swizzle = pt_tensormap_get(map, PT_TENSORMAP_SWIZZLE, 2);
    t->is_nan_filled = pt_tensormap_get(map, PT_TENSORMAP_FILL, 1);
    t->is_tf32 = pt_tensormap_get(map, PT_TENSORMAP_TF32, 1);
    t->pixels = pt_tensormap_get(map, PT_TENSORMAP_PIXELS, 10) + 1;
    t->stride[0] = t->interleave ? 8u << t->interleave : pt_element_bytes(t->element);
    for (uint32_t i = 0; i < 5; i++) {
        t->size[i] = (uint64_t)pt_tensormap_get(map, PT_TENSORMAP_SIZE + 32 * i, 32) + 1;
        t->step[i] = pt_tensormap_get(map, PT_TENSORMAP_STEP + 3 * i, 3) + 1;
        t->box[i] = pt_tensormap_get(map, PT_TENSORMAP_BOX + 8 * i, 8) + 1;
        if (i)
            t->stride[i] = pt_tensormap_stride(map, i - 1);
    }
    uint32_t unused = 32 - pt_tensormap_corner_bits(t->rank);
    for (uint32_t i = 0; i < 3; i++) {
        t->lower[i] = t->upper[i] = 0;
        if (!t->is_im2col || i + 2 >= t->rank)
            continue;
        uint32_t lower = pt_tensormap_get(map, pt_tensormap_corner(t->rank, i, false), 32 - unused);
        uint32_t upper = pt_tensormap_get(map, pt_tensormap_corner(t->rank, i, true), 32 - unused);
        t->lower[i] = (int32_t)(lower << unused) >> unused;
        t->upper[i] = (int32_t)(upper << unused) >> unused;
    }
}

/* Where the byte at shared address `a` of a tile lies: the swizzle exchanges pieces of 16 bytes
 * within 128. */
PT_LANE uint64_t pt_tensor_swizzle(uint32_t swizzle, uint64_t a)
{
    return a ^ ((a >> 7 & ((1u << swizzle) - 1)) << 4);
}

/* What a tile's row takes in shared memory if it has `bytes`. */
PT_LANE uint32_t pt_tensor_pitch(const struct pt_tensor *t, uint32_t bytes)
{
    return t->swizzle && !t->interleave ? 16u << t->swizzle : bytes;
}

/* A tf32 that a load makes of an f32. */
PT_LANE uint32_t pt_tensor_tf32(uint32_t a)
{
    uint32_t magnitude = a & 0x7fffffff;
    if (magnitude > 0x7f800000)
        return 0x7fffe000;
    return magnitude == 0x7f800000 ? a : (a + 0xfff + (a >> 13 & 1)) & ~0x1fffu;
}

#endif
