/* Gradients of a texture with anisotropy, in one dimension without layers, two, and on a cube's
 * face: a sample is as many probes along the longest axis as that is longer than the other, of each
 * level that it is of.
 *
 * The axis is the longest of the derivatives, their sum and their difference (texture_length.h).
 * The level is log2(area) - log2(axis), between log2(axis) and that less the limit's; the ratio is
 * log2(axis) less the level, which counts as 0 at least. 255 in its last 8 bits are 256.
 *
 * With a ratio of 0 or less there is one probe. With one of 256 e + r and t = 2^(8 - r / 256),
 * rounded, the probes have t / 2^(e - 2) of 1,024 each (of 512 if e is below 2; half of all if it
 * is 0), and the two outermost what is left. They stand at 1/2, 3/2 and so on of a step to either
 * side: a vector of 64 units, in 64ths of a texel, along the axis, of which 4 bits count and a half
 * more; with e = 0 it is that by (256 - t) / 128.
 *
 * Of two levels with a fraction of f / 256 the lower one's steps are as much longer as 2^(f / 256)
 * says, of the upper one the ratio is 256 - f less. What a probe of a level counts is the
 * difference of the sums up to it, from the left, times 256 - f, or f, rounded; that is split
 * between its texels as 256 is otherwise. */
#ifndef PTERA_BACKEND_SEMANTICS_TEXTURE_PROBE_H
#define PTERA_BACKEND_SEMANTICS_TEXTURE_PROBE_H

#include "backend/semantics/texture_length.h"

/* Sets a sample's probes. Returns the level. */
int32_t pt_texture_probe_set(unsigned limit, const struct pt_texture_axis *major, double area,
                             struct pt_sample *s);

/* All weights together are 2 to that power. */
enum { PT_TEXTURE_PROBE_WEIGHT_BITS = 10 };

struct pt_texture_probes {
    unsigned n, lost_bits; /* the weights are as many bits shorter */
    int32_t at[PT_TEXTURE_PROBES][2];
    uint32_t weight[PT_TEXTURE_PROBES];
};

/* Those of the lower one of two levels, whose fraction is `upper` / 256, or of the upper one. */
void pt_texture_probe_place(const struct pt_sample *s, uint32_t upper, bool is_upper,
                            struct pt_texture_probes *probes);

#endif
