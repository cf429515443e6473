/* Textures: what a handle leads to, and what sampling one computes, as an H100 does it.
 *
 * A coordinate becomes a fixed-point position with 8 fraction bits, in units of texels, before
 * anything else is done with it; half a texel less is where linear filtering begins.
 *
 *   - Not normalised: floor(x * 256 + 1/2).
 *   - Normalised: x loses all but F fraction bits (floor), then times the size, rounded as above. F
 *     is 21 where no side is longer than 2^13, 22 up to 2^16, in three dimensions 2^14, else 23.
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
 * Of two planes and of two levels each is such a sum, in units of its own; before they are added
 * both lose (floor) what is below 2^(4 * floor(e / 4) - 35) with e the largest E as it is stored,
 * bias included; of halves 2^(4 * floor(e / 4) - 22). Of more planes, as anisotropic textures have,
 * two at a time are added so to what there is.
 *
 * Filtering normalised texels: the weighted sum is exact, in 1/65535 (unsigned) or 1/32767
 * (signed), rounded to a whole number of these, halves upwards, at least -1, and divided in f32.
 * How eight bits signed become 1/32767: widen_s8 in texture.c.
 *
 * Of 10-10-10-2 each channel is widened to 16 bits, by its upper bits again, to be filtered or
 * gathered; the border's colour has 16 bits, of which ten are left where there is no filter.
 *
 * Integers are filtered, too: of 8 and 16 bits the sum is rounded, halves upwards, of 32 it loses
 * its fraction.
 *
 * Levels: a level loses all but 8 fraction bits, toward zero (NaN is 0), as the sampler's bias
 * does; with that it is at most the upper limit, then at least the lower one, and at last one that
 * there is. Of an anisotropic texture fewer levels are mixed, unless the sampler says otherwise:
 * the fraction is 12/8 (below a limit of 4), 14/8 (below 8) or 2 as steep about its middle, by a
 * bias that is part of the sampler's. Without a linear filter a level is rounded, halves upwards.
 * With one, the fraction is what the upper level has of the 256 that weights are split from. An
 * instruction that names no level asks for level -32. Mipmapped arrays have normalised coordinates
 * whatever the sampler says, but wrap and mirror only if it says so.
 *
 * Whole coordinates outside are none; where a level is named they are the nearest texel's, and so
 * is the layer.
 *
 * Gradients: of numbers 10 digits count. A derivative is multiplied by the size, of which 10 digits
 * count, too, line by line: each loses what is below 1/8, and the sum gets 7/8. The length of one
 * is its longest axis, 11/32 of the next and 1/4 of the third; the longest of the two, and of 11/16
 * of their sum and difference, has the level log2, by a table of 8 bits behind the leading one. In
 * three dimensions, for cubes and with a depth reference derivatives are differences of
 * coordinates, rounded. In one dimension without layers a depth reference gives 0, and so do whole
 * coordinates, which in others count as the numbers that their bits are. Where derivatives
 * lead to another face, the way is that to the edge and on, and sum and difference do not count.
 *
 * Of anisotropic textures: texture_probe.h.
 *
 * Cubes: the assembler multiplies by an approximate reciprocal of the longest axis; z goes before y
 * before x where they are equal. A coordinate on a face has F fraction bits as normalised ones do.
 * Seamless, a texel beyond an edge is the next face's; at a corner the weight of the missing one
 * is split by thirds (rounded) to the two beside it, and the rest to the one across.
 *
 * Gathers take level 0, and clamp each texel by itself; signed bytes are widened as for sums.
 *
 * sRGB: 256 numbers, of 8 bits precision; of one and two channels the first is converted, of four
 * the first three. They are kept as eight at a time, with one exponent: the last one's. In sums
 * all lose what is below 8 bits at the largest exponent among those with a weight; the sum is
 * exact, and rounded to a half, halves upwards. Of two planes or levels both lose what is below
 * 2^(4 * floor(e / 4) - 30) with e the largest exponent as a half stores it.
 *
 * Offsets are added to texels before they are addressed. They have four bits, in gathers six; in
 * one dimension y is moved by the next four, which tells where a border is.
 *
 * In one dimension without layers there is a y, too, which is 0: with a border, half of a filtered
 * sample is it.
 *
 * Blocks: texture_block.h. Their texels are filtered as such texels of arrays are. Arrays of blocks
 * with fewer than four channels have 1 for the fourth, also where there is no texel; views of words
 * as such blocks have 0. Where such a view's levels lie: texture_tile.h.
 *
 * tests/hardware/golden/README.md tells of the experiments. */
#ifndef PTERA_BACKEND_SEMANTICS_TEXTURE_H
#define PTERA_BACKEND_SEMANTICS_TEXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "backend/semantics/texture_block.h"

enum {
    PT_TEXTURE_CHANNELS = 4,
    PT_TEXTURE_AXES = 3,
    PT_TEXTURE_TEXELS = 8, /* of a level, where there is one probe */
    PT_TEXTURE_PLANE = 4,
    PT_TEXTURE_PROBES = 16,
    PT_TEXTURE_PLANES = 2 * PT_TEXTURE_PROBES,                   /* of a sample */
    PT_TEXTURE_FOOTPRINT = PT_TEXTURE_PLANES * PT_TEXTURE_PLANE, /* its texels */
    PT_TEXTURE_TOLD = 16, /* of those, what an observer is told at a time */
    PT_TEXTURE_ROW_ALIGN = 32,
    PT_TEXTURE_FACES = 6
};

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
    PT_TEXEL_SNORM16,
    PT_TEXEL_UNORM10 /* three of ten bits and one of two, in a word */
};

/* As the driver API numbers them. */
enum pt_texture_address { PT_TEXTURE_WRAP, PT_TEXTURE_CLAMP, PT_TEXTURE_MIRROR, PT_TEXTURE_BORDER };

/* The memory that it lies in: linear memory has integer coordinates only, arrays of one dimension
 * have none. */
enum pt_texture_memory { PT_TEXTURE_ARRAY, PT_TEXTURE_LINEAR, PT_TEXTURE_PITCHED };

/* What native code samples by itself, as it takes so little: textures of less than 2 GiB without
 * layers and levels, whose texels are a word. Bits: what a texel is, and the ways to sample it. */
enum pt_texture_direct {
    PT_TEXTURE_DIRECT_WORD = 1,  /* one channel of 32 bits, as it is */
    PT_TEXTURE_DIRECT_BYTES = 2, /* four of 8 bits, as fractions */
    PT_TEXTURE_DIRECT_POINT = 4, /* by two numbers in texels, clamped, without a filter */
    PT_TEXTURE_DIRECT_WHOLE = 8  /* by whole coordinates, one for each axis */
};

struct pt_texture {
    uint64_t key;    /* pt_texture_key of its own address */
    uint64_t texels; /* their address: of the first level, which the others follow */
    uint64_t pitch, slice;
    uint32_t size[PT_TEXTURE_AXES]; /* 1 where there is no such axis */
    uint32_t layers;                /* slices that are layers or faces; 0: it has none */
    uint8_t axes, memory, texel, n_channels;
    uint8_t texel_bytes; /* or those of a block of them */
    bool is_normalized, is_linear;
    uint8_t address[PT_TEXTURE_AXES];
    bool is_cube, is_layered; /* faces; layers, of cubes too */
    uint8_t n_levels;
    bool is_mip_linear, is_srgb;
    bool is_seamless;
    int16_t bias, min_level, max_level; /* in 1/256 of a level */
    uint16_t anisotropy;
    uint32_t border[PT_TEXTURE_CHANNELS]; /* a texel of the border's colour */
    uint8_t block;  /* enum pt_texture_block: `texel` is what its texels become */
    bool is_opaque; /* the fourth channel is 1 whatever lies there */
    uint8_t slope;  /* of a level's fraction between two levels, in eighths */
    uint8_t direct; /* enum pt_texture_direct */
    /* of a view of words as blocks that lie elsewhere (texture_tile.h); n_word_levels: 0, of any
     * other */
    uint8_t n_word_levels, level; /* which level this is */
    uint8_t unused[2];
    uint32_t words[PT_TEXTURE_AXES]; /* the words' size */
    uint16_t slices, first_slice;    /* that there are of a level, and which is the first layer */
};
_Static_assert(sizeof(struct pt_texture) == 112, "read in whole vectors, without padding");

/* A handle is the address of a texture; by this, wild ones and those of destroyed textures are
 * told. Handle 0 is no texture: all that is read there is 0. */
#define PT_TEXTURE_KEY_FACTOR UINT64_C(0x9e3779b97f4a7c15)
static inline uint64_t pt_texture_key(uint64_t handle)
{
    return ~handle * PT_TEXTURE_KEY_FACTOR;
}

/* Sets the border's colour, given as f32: normalised formats have the nearest value that they can,
 * half ones the next toward zero; others have the lowest bits of the number's. */
void pt_texture_set_border(struct pt_texture *t, const float *colour);

/* The bits of a normalised coordinate's fraction that count, on any axis: the longest one says. */
int pt_texture_fraction_bits(const struct pt_texture *t);
/* Sets what becomes of levels: their bias, and how steep they are. `is_optimized`: an anisotropic
 * texture mixes fewer of them. */
void pt_texture_set_levels(struct pt_texture *t, float bias, bool is_optimized);
/* A coordinate's value: NaN and subnormal numbers are 0. */
double pt_texture_flushed(uint32_t bits);

/* What one lane asks for: coordinates as bits (of f32, or integers), which an offset in 1/256 of a
 * texel is added to, and a level: in 1/256, pt_texture_level's, or of whole coordinates a whole
 * one. */
struct pt_sample {
    uint32_t coordinate[PT_TEXTURE_AXES], layer;
    int32_t offset[PT_TEXTURE_AXES], level;
    bool is_clamped; /* whole coordinates outside are at the edge: where a level is named */
    bool has_probes;
    int32_t ratio, step[2]; /* of those: texture_probe.h */
};

/* The address of a texel behind the last layer, and of no word: all its bits are 0. */
enum { PT_TEXTURE_BORDER_COLOUR, PT_TEXTURE_NOTHING };

/* Where a sample's texels lie, and what each one counts. They are by planes of four: of a level two
 * in three dimensions, else one for each probe. */
struct pt_footprint {
    uint64_t address[PT_TEXTURE_FOOTPRINT]; /* or PT_TEXTURE_BORDER_COLOUR, PT_TEXTURE_NOTHING */
    uint32_t weight[PT_TEXTURE_FOOTPRINT];
    uint8_t at[PT_TEXTURE_FOOTPRINT];   /* of blocks: which of its texels */
    uint8_t present[PT_TEXTURE_PLANES]; /* of a plane: the texels that there are, as bits */
    uint8_t n_planes;                   /* 0: the result is 0 */
    uint8_t weight_bits;                /* all weights together are 2 to that power */
    bool is_filtered;                   /* else it is the first one as it is */
};

static inline bool pt_texture_has(const struct pt_footprint *footprint, unsigned i)
{
    return footprint->present[i / PT_TEXTURE_PLANE] >> i % PT_TEXTURE_PLANE & 1;
}

/* Sets `direct`, which follows from all the rest. */
void pt_texture_set_direct(struct pt_texture *t);

/* n / most, rounded, is fma(n, first, n * rest): of 127, 255, 32767 and 65535, n no less than
 * -most (tests). */
struct pt_texture_ratio {
    float first, rest;
};
static inline struct pt_texture_ratio pt_texture_ratio_of(uint32_t most)
{
    const float first = 1 / (float)most;
    return (struct pt_texture_ratio){first, (float)(1 / (double)most - first)};
}

/* The level of an instruction that names none: -32, in f32. */
#define PT_TEXTURE_BASE_LEVEL 0xc2000000u
/* The level that a number of one (f32, as bits) means, with the sampler's bias and limits. */
int32_t pt_texture_level(const struct pt_texture *t, uint32_t lod);
/* Sets the one that two derivatives of the coordinates mean, and the probes. */
void pt_texture_set_gradient(const struct pt_texture *t, uint32_t derivative[2][PT_TEXTURE_AXES],
                             bool has_depth, struct pt_sample *s);

/* The texels that a sample at numbers is made of; behind the last layer that one's. */
void pt_texture_locate(const struct pt_texture *t, const struct pt_sample *s,
                       struct pt_footprint *footprint);
/* The texel at whole coordinates; outside, behind the last layer or level, there is none. */
void pt_texture_locate_whole(const struct pt_texture *t, const struct pt_sample *s,
                             struct pt_footprint *footprint);
/* The four texels that bilinear filtering would have: at (0, 1), (1, 1), (1, 0), (0, 0). */
void pt_texture_locate_gather(const struct pt_texture *t, const struct pt_sample *s,
                              struct pt_footprint *footprint);
/* What becomes of the texels, read as they lie in memory. */
void pt_texture_filter(const struct pt_texture *t, const struct pt_footprint *footprint,
                       uint32_t texel[PT_TEXTURE_FOOTPRINT][PT_TEXTURE_CHANNELS], uint32_t *result);
/* One component of four texels. */
void pt_texture_gather(const struct pt_texture *t, const struct pt_footprint *footprint,
                       uint32_t component,
                       uint32_t texel[PT_TEXTURE_FOOTPRINT][PT_TEXTURE_CHANNELS], uint32_t *result);

#endif
