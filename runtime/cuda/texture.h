/* What a texture is, of what a program gives. */
#ifndef PTERA_CUDA_TEXTURE_H
#define PTERA_CUDA_TEXTURE_H

#include "backend/semantics/texture.h"
#include "runtime/cuda/abi.h"

/* All but the key; `view` may be NULL. */
CUresult pt_cu_texture_describe(struct pt_texture *t, const CUDA_RESOURCE_DESC *resource,
                                const CUDA_TEXTURE_DESC *sampler,
                                const CUDA_RESOURCE_VIEW_DESC *view);

#endif
