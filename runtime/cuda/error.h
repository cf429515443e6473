/* CUDA's errors: their names and texts, and which one a result of the engine is. */
#ifndef PTERA_CUDA_ERROR_H
#define PTERA_CUDA_ERROR_H

#include "ptera.h"
#include "runtime/cuda/abi.h"

/* The error of a context after a result of the engine; what a kernel did stays its error. */
CUresult pt_cu_error_of(ptera_result result);

#endif
