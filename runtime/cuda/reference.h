/* References of modules to textures and surfaces. */
#ifndef PTERA_CUDA_REFERENCE_H
#define PTERA_CUDA_REFERENCE_H

#include "runtime/cuda/module.h"

/* The module's, which ends. */
void pt_cu_reference_delete_all(CUmodule module);

#endif
