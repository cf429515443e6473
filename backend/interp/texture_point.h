/* What is sampled most and takes least, in one piece: texels of a word, as they are. */
#ifndef PTERA_BACKEND_INTERP_TEXTURE_POINT_H
#define PTERA_BACKEND_INTERP_TEXTURE_POINT_H

#include "backend/interp/interp.h"
#include "backend/semantics/texture.h"

/* Samples for native code where it can, as pt_engine.sample does; false: nothing is done, be it a
 * handle of another kind, or none. */
#define pt_texture_point_sample PT_LEVEL_NAME(pt_texture_point_sample)
bool pt_texture_point_sample(struct pt_sampled *s, uint32_t sampling, uint32_t lanes);

#endif
