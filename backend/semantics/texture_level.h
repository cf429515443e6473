/* What is known of levels of anisotropic textures. */
#ifndef PTERA_BACKEND_SEMANTICS_TEXTURE_LEVEL_H
#define PTERA_BACKEND_SEMANTICS_TEXTURE_LEVEL_H

#include <stdbool.h>
#include <stdint.h>

/* Whether it is known what a sampler with a limit of anisotropy makes of a level's fraction. */
bool pt_texture_level_is_known(uint32_t anisotropy);

#endif
