/* Textures: what a handle leads to, and what sampling one computes, as an H100 does it.
 *
 * A coordinate becomes a fixed-point position with 8 fraction bits, in units of texels, before
 * anything else is done with it; half a texel less is where linear filtering begins.
 *
 *   - Not normalised: floor(x * 256 + 1/2). Wrapping and mirroring are clamping then.
 *   - Normalised: x loses all but F fraction bits (floor), then times the size, rounded as above. F
 *     is 21 where no side is longer than 2^13, 22 up to 2^16, else 23.
 *   - NaN is 0, and subnormal numbers are.
 *
 * Point sampling takes the floor of the exact number, or of the one with F bits times the size.
 *
 * Weights are integers of which those of a footprint have the sum 256. With fractions a, b, c in x,
 * y, z, r(n) = n / 256 rounded, halves upwards: z is split first (256 - c, c), then each part by x
 * (r(part * a) to the upper texel, the rest to the lower one), then by y (the upper x gives
 * r(part * b) to the upper y; the lower x gives r(part * (256 - b)) to the lower y).
 *
 * Filtering f32 texels: subnormals are zero; all texels with a weight are aligned to the largest
 * exponent E among them, in units of 2^(E - 27), truncated toward zero; the weighted sum is exact
 * and rounded once, to nearest, halves away from zero; subnormal results are zero. NaN, and
 * infinities of both signs, give 0x7fffffff, also of a texel whose weight is rounded to 0. Half
 * texels are the same with units of 2^(E - 14) and a half as result, subnormal ones included.
 *
 * Filtering normalised texels: the weighted sum is exact, in 1/65535 (unsigned) or 1/32767
 * (signed), rounded to a whole number of these, halves upwards, at least -1, and divided in f32.
 * How eight bits signed become 1/32767: widen_s8 in texture.c.
 *
 * In one dimension without layers there is a y, too, which is 0: with a border, half of a filtered
 * sample is it.
 *
 * tests/hardware/golden/README.md tells of the experiments. */
#ifndef PTERA_BACKEND_SEMANTICS_TEXTURE_H
#define PTERA_BACKEND_SEMANTICS_TEXTURE_H

#include <stdbool.h>
#include <stdint.h>

enum { PT_TEXTURE_CHANNELS = 4, PT_TEXTURE_AXES = 3, PT_TEXTURE_TEXELS = 8 };

/* What a texel's channel is, and what sampling makes of it. */
enum pt_texel {
    PT_TEXEL_U8,
    PT_TEXEL_U16,
    PT_TEXEL_U32,
    PT_TEXEL_S8,
    PT_TEXEL_S16,
    PT_TEXEL_S32,
    PT_TEXEL_F16,
    PT_TEXEL_F32,
    PT_TEXEL_UNORM8,
    PT_TEXEL_UNORM16,
    PT_TEXEL_SNORM8,
    PT_TEXEL_SNORM16
};

/* As the driver API numbers them. */
enum pt_texture_address { PT_TEXTURE_WRAP, PT_TEXTURE_CLAMP, PT_TEXTURE_MIRROR, PT_TEXTURE_BORDER };

/* The memory that it lies in: linear memory has integer coordinates only, arrays of one dimension
 * have none. */
enum pt_texture_memory { PT_TEXTURE_ARRAY, PT_TEXTURE_LINEAR, PT_TEXTURE_PITCHED };

struct pt_texture {
    uint64_t key;    /* pt_texture_key of its own address */
    uint64_t texels; /* their address */
    uint64_t pitch, slice;
    uint32_t size[PT_TEXTURE_AXES]; /* 1 where there is no such axis */
    uint32_t layers;                /* 0: it has none */
    uint8_t axes, memory, texel, n_channels;
    uint8_t texel_bytes;
    bool is_normalized, is_linear;
    uint8_t address[PT_TEXTURE_AXES], unused[2];
    uint32_t border[PT_TEXTURE_CHANNELS]; /* a texel of the border's colour */
};
_Static_assert(sizeof(struct pt_texture) == 80, "read in whole vectors, without padding");

/* A handle is the address of a texture; by this, wild ones and those of destroyed textures are
 * told. Handle 0 is no texture: all that is read there is 0. */
static inline uint64_t pt_texture_key(uint64_t handle)
{
    return ~handle * 0x9e3779b97f4a7c15u;
}

/* Sets the border's colour, given as f32: normalised formats have the nearest value that they can,
 * half ones the next toward zero; others have the lowest bits of the number's. */
void pt_texture_set_border(struct pt_texture *t, const float *colour);

/* The bits of a normalised coordinate's fraction that count, on any axis: the longest one says. */
int pt_texture_fraction_bits(const struct pt_texture *t);
/* How an axis is addressed, as it is in effect. */
enum pt_texture_address pt_texture_address_of(const struct pt_texture *t, int axis);

/* Where a sample's texels lie, and what each one counts. */
struct pt_footprint {
    uint64_t address[PT_TEXTURE_TEXELS]; /* 0: the border's colour */
    uint32_t weight[PT_TEXTURE_TEXELS];
    uint32_t present; /* the texels that there are, as bits; none: the result is 0 */
    bool is_filtered; /* else it is the first one as it is */
};

/* The texels that a sample at a lane's coordinates (f32, as bits) is made of; behind the last layer
 * that one's. */
void pt_texture_locate(const struct pt_texture *t, const uint32_t *coordinate, uint32_t layer,
                       struct pt_footprint *footprint);
/* The texel at whole coordinates; outside, or behind the last layer, there is none. */
void pt_texture_locate_whole(const struct pt_texture *t, const uint32_t *coordinate, uint32_t layer,
                             struct pt_footprint *footprint);
/* What becomes of the texels, read as they lie in memory. */
void pt_texture_filter(const struct pt_texture *t, const struct pt_footprint *footprint,
                       uint32_t texel[PT_TEXTURE_TEXELS][PT_TEXTURE_CHANNELS], uint32_t *result);

#endif
