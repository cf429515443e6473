/* Textures as they lie in memory, and their samples without a warp. */
#ifndef PTERA_BACKEND_INTERP_TEXTURE_SAMPLE_H
#define PTERA_BACKEND_INTERP_TEXTURE_SAMPLE_H

#include "backend/interp/interp.h"
#include "backend/semantics/texture.h"

/* Makes `t` the texture of a handle that is not 0. Returns false with kind, address and detail of
 * *fault set where it is none, or of another geometry. */
#define pt_texture_find PT_LEVEL_NAME(pt_texture_find)
bool pt_texture_find(uint64_t handle, uint32_t axes, bool is_layered, bool is_cube,
                     struct pt_texture *t, struct pt_fault *fault);

/* Reads the texels of a footprint. */
#define pt_texture_read_texels PT_LEVEL_NAME(pt_texture_read_texels)
void pt_texture_read_texels(const struct pt_footprint *footprint, uint32_t bytes,
                            uint32_t texel[PT_TEXTURE_FOOTPRINT][PT_TEXTURE_CHANNELS]);

/* pt_engine.sample. */
#define pt_texture_sample PT_LEVEL_NAME(pt_texture_sample)
bool pt_texture_sample(struct pt_sampled *s, uint32_t sampling, uint32_t lanes,
                       struct pt_fault *fault);

#endif
