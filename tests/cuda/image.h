/* Arrays that tests of textures and surfaces share. */
#ifndef PTERA_TESTS_CUDA_IMAGE_H
#define PTERA_TESTS_CUDA_IMAGE_H

#include "tests/cuda/support.h"

/* A square of words: one channel of 4 bytes. */
static inline CUarray new_square(size_t side, CUarray_format format, unsigned flags,
                                 const void *texels)
{
    const CUDA_ARRAY3D_DESCRIPTOR d = {side, side, 0, format, 1, flags};
    CUarray array = NULL;
    OK(cuArray3DCreate_v2(&array, &d));
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                .srcHost = texels,
                                .srcPitch = 4 * side,
                                .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                .dstArray = array,
                                .WidthInBytes = 4 * side,
                                .Height = side};
    OK(cuMemcpy2D_v2(&copy));
    return array;
}

#endif
