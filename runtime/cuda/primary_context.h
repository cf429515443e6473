/* Primary contexts: one for each device, made when it is first retained. */
#ifndef PTERA_CUDA_PRIMARY_CONTEXT_H
#define PTERA_CUDA_PRIMARY_CONTEXT_H

#include "runtime/cuda/abi.h"

CUresult pt_cu_primary_context_retain(CUcontext *out, CUdevice device);
CUresult pt_cu_primary_context_release(CUdevice device);

#endif
