/* CUDA arrays. */
#ifndef PTERA_CUDART_ARRAY_H
#define PTERA_CUDART_ARRAY_H

#include "runtime/cudart/abi.h"

/* The bytes of an array's element. */
cudaError_t pt_rt_array_element(cudaArray_t array, size_t *bytes);

#endif
