/* CUDA arrays. */
#ifndef PTERA_CUDART_ARRAY_H
#define PTERA_CUDART_ARRAY_H

#include <stdbool.h>

#include "runtime/cudart/abi.h"

/* A format of two planes, of which there are no arrays. */
enum { PT_RT_ARRAY_NV12 = 0xb0 };

/* What an array has of `side` x `side` texels together: blocks that are compressed, or single
 * texels. */
struct pt_rt_element {
    size_t bytes, side;
};
cudaError_t pt_rt_array_element(cudaArray_t array, struct pt_rt_element *element);
/* Blocks of floats and 10-10-10-2, which are read as they are, as floats. */
bool pt_rt_array_is_float(CUarray_format format);
/* Sets format and channels; false: there is no such format. */
bool pt_rt_array_read_channels(const cudaChannelFormatDesc *d, CUDA_ARRAY3D_DESCRIPTOR *to);
cudaChannelFormatDesc pt_rt_array_channels(const CUDA_ARRAY3D_DESCRIPTOR *d);

#endif
