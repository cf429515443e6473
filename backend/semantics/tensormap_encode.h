/* Tensor maps as the driver API makes them: the arguments of cuTensorMapEncodeTiled,
 * cuTensorMapEncodeIm2col and cuTensorMapEncodeIm2colWide, whose enumerations are numbers here, in
 * the driver's order. What is not allowed is what the driver of an H100 refuses. */
#ifndef PTERA_BACKEND_SEMANTICS_TENSORMAP_ENCODE_H
#define PTERA_BACKEND_SEMANTICS_TENSORMAP_ENCODE_H

#include <stdbool.h>
#include <stdint.h>

struct pt_tensormap_arguments {
    uint32_t type; /* CUtensorMapDataType */
    uint32_t rank;
    uint64_t address;       /* of the tensor */
    const uint64_t *size;   /* `rank` of them, the fastest dimension first, in elements */
    const uint64_t *stride; /* rank - 1 of them, from the second dimension on, in bytes */
    const uint32_t *step;   /* `rank` element strides */
    uint32_t interleave, swizzle, l2,
        fill; /* CUtensorMapInterleave, ...Swizzle, ...L2promotion, ...FloatOOBfill */
};

/* Writes the 128 bytes at `map`. Returns false, and writes nothing, if the arguments are not
 * allowed. `box` has `rank` sizes. */
bool pt_tensormap_encode_tiled(void *map, const struct pt_tensormap_arguments *arguments,
                               const uint32_t *box);
/* The same for im2col: corners of the bounding box, rank - 2 each; channels and pixels of a
 * tile. */
bool pt_tensormap_encode_im2col(void *map, const struct pt_tensormap_arguments *arguments,
                                const int *lower, const int *upper, uint32_t channels,
                                uint32_t pixels);
/* The same for im2col::w and im2col::w::128 (mode 0 and 1): corners of the bounding box's width. */
bool pt_tensormap_encode_im2col_wide(void *map, const struct pt_tensormap_arguments *arguments,
                                     int lower, int upper, uint32_t channels, uint32_t pixels,
                                     uint32_t mode);
/* Another address for the map: cuTensorMapReplaceAddress. False: it is not aligned as the map
 * asks. */
bool pt_tensormap_replace_address(void *map, uint64_t address);

#endif
