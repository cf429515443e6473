/* Multicast objects, for those who map them. */
#ifndef PTERA_CUDA_MULTICAST_H
#define PTERA_CUDA_MULTICAST_H

#include "runtime/cuda/mappable.h"

/* Waits until all devices have been added. An error if it is released meanwhile. */
CUresult pt_cu_multicast_wait(CUmemGenericAllocationHandle handle);
/* Kernels find the range, of PT_CU_MULTICAST memory, from now on, or no longer. */
void pt_cu_multicast_enter(struct pt_cu_range *range);
void pt_cu_multicast_leave(struct pt_cu_range *range);
void pt_cu_multicast_protect(struct pt_cu_range *range, unsigned flags);

#endif
