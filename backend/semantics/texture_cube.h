/* Which face of a cube a direction meets, and where. */
#ifndef PTERA_BACKEND_SEMANTICS_TEXTURE_CUBE_H
#define PTERA_BACKEND_SEMANTICS_TEXTURE_CUBE_H

#include <stdint.h>

/* Where a direction (three f32, as bits) meets a cube: the face, +x, -x, +y and so on, and the
 * direction itself, divided by its longest axis. */
struct pt_cube_place {
    uint32_t face;
    float at[3];
};
struct pt_cube_place pt_texture_cube_place(const uint32_t *direction);

/* The face that a direction meets; `at` are the coordinates on it, from -1 to 1. */
uint32_t pt_texture_cube_face(const uint32_t *direction, double *at);

/* The texel beyond one edge of a face, by one: on which face it is, and where. */
void pt_texture_cube_fold(uint32_t size, uint32_t *face, int32_t *at);

/* Makes a way on a face, along the cube's axes, one along the face's. */
void pt_texture_cube_flatten(uint32_t face, double way[3]);

#endif
