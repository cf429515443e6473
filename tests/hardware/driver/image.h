#pragma once
/* What the parts on textures and surfaces of the driver API begin with. */
#include "tests/hardware/driver/say.h"

extern CUarray line, plane, box, layers, cube, whole, bytes, gather, freed;
extern CUmipmappedArray mipmap, freed_mipmap;
extern CUdeviceptr memory;
extern CUtexObject texture, freed_texture;
extern CUsurfObject surface, freed_surface;

/* Makes all of these. */
void begin_images(void);
CUarray new_array(size_t w, size_t h, size_t d, CUarray_format format, unsigned channels,
                  unsigned flags);
CUDA_RESOURCE_DESC of_array(CUarray a);
CUDA_RESOURCE_DESC of_mipmap(CUmipmappedArray m);
CUDA_RESOURCE_DESC of_linear(CUdeviceptr p, size_t n);
CUDA_RESOURCE_DESC of_pitched(CUdeviceptr p, size_t w, size_t h, size_t pitch);
/* Makes a texture, which is destroyed at once. */
CUresult make(const CUDA_RESOURCE_DESC *r, const CUDA_TEXTURE_DESC *t,
              const CUDA_RESOURCE_VIEW_DESC *v);
