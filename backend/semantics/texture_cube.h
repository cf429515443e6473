/* Which face of a cube a direction meets, and where. */
#ifndef PTERA_BACKEND_SEMANTICS_TEXTURE_CUBE_H
#define PTERA_BACKEND_SEMANTICS_TEXTURE_CUBE_H

#include <stdint.h>

/* The face that a direction (three f32, as bits) meets, +x, -x, +y and so on; `at` are the
 * coordinates on it, from -1 to 1. */
uint32_t pt_texture_cube_face(const uint32_t *direction, double *at);

/* The texel beyond one edge of a face, by one: on which face it is, and where. */
void pt_texture_cube_fold(uint32_t size, uint32_t *face, int32_t *at);

#endif
