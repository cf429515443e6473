/* What a surface is, of an array. */
#ifndef PTERA_CUDA_SURFACE_H
#define PTERA_CUDA_SURFACE_H

#include "backend/semantics/surface.h"
#include "runtime/cuda/abi.h"

/* All but the key; formats that are normalised by themselves are not supported. */
CUresult pt_cu_surface_describe(struct pt_surface *s, const struct CUarray_st *a);

#endif
