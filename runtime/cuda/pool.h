/* Memory pools, and memory that is allocated and freed in the order of a stream. */
#ifndef PTERA_CUDA_POOL_H
#define PTERA_CUDA_POOL_H

#include "runtime/cuda/abi.h"

/* What is a device's synchronisation: its pools give back what is above their thresholds. */
void pt_cu_pool_trim_all(CUdevice device);
/* Pools give back what they keep of a context that goes. */
void pt_cu_pool_forget(CUcontext ctx);

#endif
