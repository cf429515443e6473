/* Blocks: 4 x 4 texels in 8 or 16 bytes, BC1 to BC7 as the driver API numbers them. What a block
 * means is the formats' published definition, but where that leaves precision open; there it is
 * what an H100 makes of every pair of ends:
 *
 *   - Colours of BC1 to BC3 become 8 bits a channel. With ends a and b of 5 bits a third is
 *     (2 a + b) * 22 / 8 and a half (a + b) * 33 / 8; of the 6 bits of green, widened to 8, they
 *     are a + ((b - a) / 4 + 128 + (b - a) * n) / 256 with n = 80 or 128 (all floors).
 *   - Values between two ends go from the nearer one of sevenths and fifths: 1/7, 2/7, 4/7, 1/5 and
 *     2/5 are 9, 18, 36, 12 and 24 64ths. BC4 and BC5 give 65,535ths: 257 a + 4 n (b - a);
 *     signed ones 32,767ths: 258 a, one more in magnitude from 64 on, + 4 n (b - a), and -128 is
 *     -127 before the ends are compared. The alpha of BC3 is of 8 bits: n is a 2048th there, 289,
 *     578, 1156, 385 and 770, and the sum is rounded.
 *   - BC6H becomes halves, BC7 8 bits; modes that are none are 0.
 *
 * tests/hardware/golden/README.md tells of the experiments. */
#ifndef PTERA_BACKEND_SEMANTICS_TEXTURE_BLOCK_H
#define PTERA_BACKEND_SEMANTICS_TEXTURE_BLOCK_H

#include <stdint.h>

enum { PT_TEXTURE_BLOCK_SIDE_LOG = 2 };

enum pt_texture_block {
    PT_TEXTURE_NO_BLOCK, /* texels lie there as they are */
    PT_TEXTURE_BC1,
    PT_TEXTURE_BC2,
    PT_TEXTURE_BC3,
    PT_TEXTURE_BC4_UNSIGNED,
    PT_TEXTURE_BC4_SIGNED,
    PT_TEXTURE_BC5_UNSIGNED,
    PT_TEXTURE_BC5_SIGNED,
    PT_TEXTURE_BC6_UNSIGNED,
    PT_TEXTURE_BC6_SIGNED,
    PT_TEXTURE_BC7
};

/* Texel `at` (x + 4 y) of a block, as channels of 8 or 16 bits. */
void pt_texture_block_decode(enum pt_texture_block kind, const uint32_t *block, unsigned at,
                             uint32_t *texel);

#endif
