#include "backend/semantics/texture_block.h"

#include <stdbool.h>
#include <string.h>

#include "backend/semantics/texture_bptc.h"

enum { COLOUR_BITS = 2, VALUE_BITS = 3, SIGNED_LEAST = -127 };

static uint64_t half_of(const uint32_t *block)
{
    return block[0] | (uint64_t)block[1] << 32;
}

/* ---- colours --------------------------------------------------------------------------------- */

/* Between ends of 6 bits, n / 256 of the way. */
static int between_green(int a, int b, int n)
{
    a = a << 2 | a >> 4;
    b = b << 2 | b >> 4;
    return (256 * a + ((b - a) >> 2) + 128 + (b - a) * n) >> 8;
}

static int wide_five(int a)
{
    return a << 3 | a >> 2;
}

/* A colour of an index: two ends, then thirds, or a half and, transparent, nothing. */
static void decode_colour(uint64_t block, unsigned at, bool has_thirds, uint8_t *colour)
{
    unsigned ends[] = {block & 0xffff, block >> 16 & 0xffff};
    unsigned index = block >> (32 + COLOUR_BITS * at) & 3;
    has_thirds |= ends[0] > ends[1];
    /* the end that is nearer, and the other one */
    unsigned a = ends[index & 1], b = ends[~index & 1];
    bool is_end = index < 2, is_none = index == 3 && !has_thirds;
    for (unsigned k = 0; k < 3; k++) {
        int shift = k == 0 ? 11 : k == 1 ? 5 : 0, bits = k == 1 ? 63 : 31;
        int x = (int)(a >> shift) & bits, y = (int)(b >> shift) & bits;
        int n = is_end ? 0 : has_thirds ? 80 : 128;
        colour[k] = (uint8_t)(is_none      ? 0
                              : k == 1     ? between_green(x, y, n)
                              : is_end     ? wide_five(x)
                              : has_thirds ? (2 * x + y) * 22 >> 3
                                           : (x + y) * 33 >> 3);
    }
    colour[3] = is_none ? 0 : UINT8_MAX;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Where a value lies: at an end, or some way to the other one. */
struct place {
    int from, to;
    unsigned way; /* 0: at `from`; else which of `sevenths` and `fifths` */
    bool is_limit, is_most;
};

/* In 64ths, and as BC3 has them in 2048ths; seven first, then five. */
static const uint16_t ways[][2] = {{0, 0}, {9, 289}, {18, 578}, {36, 1156}, {12, 385}, {24, 770}};

static struct place place_of(int a, int b, unsigned index)
{
    static const uint8_t sevenths[] = {0, 0, 1, 2, 3, 3, 2, 1}, fifths[] = {0, 0, 4, 5, 5, 4, 0, 0};
    bool has_sevenths = a > b;
    bool is_near_b = has_sevenths ? index == 1 || index == 4 || index > 5
                                  : index == 1 || index == 4 || index == 5;
    struct place p = {.from = is_near_b ? b : a,
                      .to = is_near_b ? a : b,
                      .way = (has_sevenths ? sevenths : fifths)[index],
                      .is_limit = !has_sevenths && index > 5,
                      .is_most = index == 7};
    return p;
}

static unsigned index_of(uint64_t block, unsigned at)
{
    return block >> (16 + VALUE_BITS * at) & 7;
}

static uint8_t decode_alpha(uint64_t block, unsigned at)
{
    struct place p = place_of(block & 0xff, block >> 8 & 0xff, index_of(block, at));
    int rounded = ((p.to - p.from) * ways[p.way][1] + 1024) >> 11;
    return (uint8_t)(p.is_limit ? p.is_most * UINT8_MAX : p.from + rounded);
}

static uint16_t decode_unsigned(uint64_t block, unsigned at)
{
    struct place p = place_of(block & 0xff, block >> 8 & 0xff, index_of(block, at));
    return (uint16_t)(p.is_limit ? p.is_most * UINT16_MAX
                                 : 257 * p.from + 4 * ways[p.way][0] * (p.to - p.from));
}

static int signed_end(uint64_t byte)
{
    int end = (int8_t)(uint8_t)byte;
    return end < SIGNED_LEAST ? SIGNED_LEAST : end;
}

static uint16_t decode_signed(uint64_t block, unsigned at)
{
    struct place p = place_of(signed_end(block), signed_end(block >> 8), index_of(block, at));
    int from = 258 * p.from + (p.from >= 64) - (p.from <= -64);
    int value = p.is_limit ? (p.is_most ? INT16_MAX : -INT16_MAX)
                           : from + 4 * ways[p.way][0] * (p.to - p.from);
    return (uint16_t)(value < -INT16_MAX ? -INT16_MAX : value);
}

/* ---- texels ---------------------------------------------------------------------------------- */

static void decode_values(const uint32_t *block, unsigned at, bool is_signed, unsigned n,
                          uint32_t *texel)
{
    for (unsigned i = 0; i < n; i++) {
        uint64_t half = half_of(block + 2 * i);
        *texel |= (uint32_t)(is_signed ? decode_signed : decode_unsigned)(half, at) << 16 * i;
    }
}

void pt_texture_block_decode(enum pt_texture_block kind, const uint32_t *block, unsigned at,
                             uint32_t *texel)
{
    uint8_t colour[4];
    bool has_alpha = kind != PT_TEXTURE_BC1;
    memset(texel, 0, 4 * sizeof *texel);
    switch (kind) {
    case PT_TEXTURE_BC1:
    case PT_TEXTURE_BC2:
    case PT_TEXTURE_BC3:
        decode_colour(half_of(block + 2 * has_alpha), at, has_alpha, colour);
        if (kind == PT_TEXTURE_BC2)
            colour[3] = (uint8_t)((half_of(block) >> 4 * at & 0xf) * 17);
        if (kind == PT_TEXTURE_BC3)
            colour[3] = decode_alpha(half_of(block), at);
        memcpy(texel, colour, sizeof colour);
        break;
    case PT_TEXTURE_BC4_UNSIGNED:
    case PT_TEXTURE_BC4_SIGNED:
        decode_values(block, at, kind == PT_TEXTURE_BC4_SIGNED, 1, texel);
        break;
    case PT_TEXTURE_BC5_UNSIGNED:
    case PT_TEXTURE_BC5_SIGNED:
        decode_values(block, at, kind == PT_TEXTURE_BC5_SIGNED, 2, texel);
        break;
    case PT_TEXTURE_BC6_UNSIGNED:
    case PT_TEXTURE_BC6_SIGNED:
        pt_texture_bptc_decode_halves(block, at, kind == PT_TEXTURE_BC6_SIGNED, texel);
        break;
    case PT_TEXTURE_BC7:
        pt_texture_bptc_decode_bytes(block, at, texel);
        break;
    case PT_TEXTURE_NO_BLOCK:
        break;
    }
}
