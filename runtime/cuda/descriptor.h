/* What the handles of textures and surfaces lead to: blocks of device memory that begin with the
 * key of their address, by which kernels tell wild handles. */
#ifndef PTERA_CUDA_DESCRIPTOR_H
#define PTERA_CUDA_DESCRIPTOR_H

#include "runtime/cuda/range.h"

/* NULL: there is none of this kind. */
struct pt_cu_range *pt_cu_descriptor_find(uint64_t handle, enum pt_cu_memory kind);
/* Whether it is one of the current context's. */
CUresult pt_cu_descriptor_check(uint64_t handle, enum pt_cu_memory kind);
/* Frees it when its context has nothing under way; of what is none of this kind, it is no error. */
CUresult pt_cu_descriptor_free(uint64_t handle, enum pt_cu_memory kind);

#endif
