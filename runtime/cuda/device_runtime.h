/* What kernels call of CUDA's device runtime library. */
#ifndef PTERA_CUDA_DEVICE_RUNTIME_H
#define PTERA_CUDA_DEVICE_RUNTIME_H

#include "ptera.h"

/* Modules of this engine find the functions when they declare them. */
ptera_result pt_cu_device_runtime_register(ptera_engine *engine);

#endif
