/* Surfaces: what a handle leads to, and where an access of one lies, as an H100 does it.
 *
 * The x of suld, sust.b and sured.b counts bytes, that of sust.p texels, that of sured.p elements
 * of the reduction: a texel's size does not matter to it. An access lies in the surface if all of
 * it lies in the row; with .clamp the first or the last multiple of its size is taken that does,
 * and if a row is too short for any, or without .clamp, nothing is stored and zero is loaded
 * (.zero), or it is an illegal address (.trap). A layer has 16 bits, without a sign.
 *
 * One dimension is for surfaces without rows, two for those with rows: the first layer or slice is
 * meant where none is given, and where there are none. Three are for those alone.
 * What does not fit lies outside.
 *
 * sust.p: integers of 8 and 16 bits saturate, as signed as the format is; f32 becomes f16 toward
 * zero, so that there is no infinity but of one, and a NaN keeps its highest bits, even if those
 * are zero; 32 bits stay. What a vector lacks is zero. sured.p compares as signed as the format is.
 *
 * tests/hardware/golden/README.md tells of the data. */
#ifndef PTERA_BACKEND_SEMANTICS_SURFACE_H
#define PTERA_BACKEND_SEMANTICS_SURFACE_H

#include "backend/semantics/texture.h"

struct pt_surface {
    uint64_t key;    /* pt_surface_key of its own address */
    uint64_t texels; /* their address */
    uint64_t pitch, slice;
    uint32_t size[PT_TEXTURE_AXES]; /* texels; 0 where there is no such axis; z: depth or layers */
    uint8_t texel, n_channels, texel_bytes;
    bool is_layered;
};
_Static_assert(sizeof(struct pt_surface) == 48, "read in whole vectors, without padding");

/* As pt_texture_key: a texture is no surface. */
static inline uint64_t pt_surface_key(uint64_t handle)
{
    return pt_texture_key(handle) ^ 1;
}

/* What an instruction asks of a surface. */
struct pt_surface_access {
    uint32_t axes;  /* 1 to 3 */
    uint32_t bytes; /* of an access; 0: a texel */
    uint32_t unit;  /* that x counts, in bytes; 0: a texel */
    bool is_layered, is_clamped;
};

/* The address of an access of a lane at x, y, z (or layer); 0: it is outside. */
uint64_t pt_surface_locate(const struct pt_surface *s, const struct pt_surface_access *access,
                           const uint32_t *coordinate, uint32_t layer);
/* A texel of `n` words. */
void pt_surface_convert(const struct pt_surface *s, const uint32_t *words, uint32_t n,
                        uint32_t *texel);

#endif
