/* Limits of a context, with the values, steps and bounds that an H100 has (driver 580). */
#ifndef PTERA_CUDA_LIMIT_H
#define PTERA_CUDA_LIMIT_H

#include "runtime/cuda/abi.h"

/* As they are in a new context. */
void pt_cu_limit_reset(CUcontext ctx);

#endif
