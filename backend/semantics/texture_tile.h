/* Where an H100 keeps texels. Lines of 64 bytes are by eights in tiles of 512 bytes, those by up to
 * 16 above each other and up to 32 behind each other in blocks, as many as the first level fills;
 * of a level with fewer they are halved until it fills them. Levels follow each other. What no
 * texel fills is 0. Where layers begin was not found, so that those are left out.
 *
 * It shows where a view of words as blocks has levels: those of blocks are as many as half of the
 * texels need, which may be one more than half of the words. */
#ifndef PTERA_BACKEND_SEMANTICS_TEXTURE_TILE_H
#define PTERA_BACKEND_SEMANTICS_TEXTURE_TILE_H

#include <stdbool.h>

#include "backend/semantics/texture.h"

/* True if a view of words of that size as blocks has texels elsewhere than the words have them. */
bool pt_texture_tile_is_moved(const uint32_t *words, unsigned axes, unsigned n_levels);
/* The word, or PT_TEXTURE_NOTHING, that is block x, y, z of such a view's level. */
uint64_t pt_texture_tile_find(const struct pt_texture *t, uint32_t x, uint32_t y, uint32_t z);

#endif
