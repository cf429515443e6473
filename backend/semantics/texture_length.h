/* Lengths of derivatives, as a texture unit computes them: numbers of which ten digits count. */
#ifndef PTERA_BACKEND_SEMANTICS_TEXTURE_LENGTH_H
#define PTERA_BACKEND_SEMANTICS_TEXTURE_LENGTH_H

#include <stdbool.h>
#include <stdint.h>

#include "backend/semantics/texture.h"

/* No derivative is longer. */
#define PT_TEXTURE_LENGTH_MOST 0x1p127

/* A derivative in texels. */
double pt_texture_length_scale(double d, uint32_t size);
/* As exact as numbers of ten digits give it. */
double pt_texture_length_add(double a, double b);

/* A derivative, or the sum or difference of two, and how long it is. */
struct pt_texture_axis {
    double at[PT_TEXTURE_AXES], length;
};
/* The longest of two derivatives and, halfway between them, of their sum and difference: these do
 * not count without `has_both`. */
struct pt_texture_axis pt_texture_length_find_longest(double d[2][PT_TEXTURE_AXES], bool has_both);
/* Of what lies between two derivatives in two dimensions. */
double pt_texture_length_find_area(double d[2][PT_TEXTURE_AXES]);
/* log2 in 1/256. */
int32_t pt_texture_length_find_log(double length);

#endif
