/* Memory: copies and the places of variables. */
#ifndef PTERA_CUDART_MEMORY_H
#define PTERA_CUDART_MEMORY_H

#include "runtime/cudart/abi.h"

/* The driver's description of a copy, and back. */
cudaError_t pt_rt_memory_copy_3d(const cudaMemcpy3DParms *p, CUDA_MEMCPY3D *copy);
void pt_rt_memory_copy_3d_back(const CUDA_MEMCPY3D *copy, cudaMemcpy3DParms *p);
/* The place of `bytes` bytes from `offset` of a registered variable. */
cudaError_t pt_rt_memory_place(const void *symbol, size_t offset, size_t bytes, void **place);

#endif
