/* The tables of BC6H and BC7: an H100's, read from blocks with one part black and one white
 * (partitions) and with all bits of the indices set (anchors); they are the published ones. */
#ifndef PTERA_BACKEND_SEMANTICS_TEXTURE_BPTC_TABLE_H
#define PTERA_BACKEND_SEMANTICS_TEXTURE_BPTC_TABLE_H

#include <stdint.h>

/* A bit a texel: its part of two. */
static const uint16_t two[] = {
    0xcccc, 0x8888, 0xeeee, 0xecc8, 0xc880, 0xfeec, 0xfec8, 0xec80, 0xc800, 0xffec, 0xfe80,
    0xe800, 0xffe8, 0xff00, 0xfff0, 0xf000, 0xf710, 0x008e, 0x7100, 0x08ce, 0x008c, 0x7310,
    0x3100, 0x8cce, 0x088c, 0x3110, 0x6666, 0x366c, 0x17e8, 0x0ff0, 0x718e, 0x399c, 0xaaaa,
    0xf0f0, 0x5a5a, 0x33cc, 0x3c3c, 0x55aa, 0x9696, 0xa55a, 0x73ce, 0x13c8, 0x324c, 0x3bdc,
    0x6996, 0xc33c, 0x9966, 0x0660, 0x0272, 0x04e4, 0x4e40, 0x2720, 0xc936, 0x936c, 0x39c6,
    0x639c, 0x9336, 0x9cc6, 0x817e, 0xe718, 0xccf0, 0x0fcc, 0x7744, 0xee22};

/* Two bits a texel, of three. */
static const uint32_t three[] = {
    0xaa685050, 0x6a5a5040, 0x5a5a4200, 0x5450a0a8, 0xa5a50000, 0xa0a05050, 0x5555a0a0, 0x5a5a5050,
    0xaa550000, 0xaa555500, 0xaaaa5500, 0x90909090, 0x94949494, 0xa4a4a4a4, 0xa9a59450, 0x2a0a4250,
    0xa5945040, 0x0a425054, 0xa5a5a500, 0x55a0a0a0, 0xa8a85454, 0x6a6a4040, 0xa4a45000, 0x1a1a0500,
    0x0050a4a4, 0xaaa59090, 0x14696914, 0x69691400, 0xa08585a0, 0xaa821414, 0x50a4a450, 0x6a5a0200,
    0xa9a58000, 0x5090a0a8, 0xa8a09050, 0x24242424, 0x00aa5500, 0x24924924, 0x24499224, 0x50a50a50,
    0x500aa550, 0xaaaa4444, 0x66660000, 0xa5a0a5a0, 0x50a050a0, 0x69286928, 0x44aaaa44, 0x66666600,
    0xaa444444, 0x54a854a8, 0x95809580, 0x96969600, 0xa85454a8, 0x80959580, 0xaa141414, 0x96960000,
    0xaaaa1414, 0xa05050a0, 0xa0a5a5a0, 0x96000000, 0x40804080, 0xa9a8a9a8, 0xaaaaaa44, 0x2a4a5254};

/* The texel of the second of two parts whose index has a bit less; of three, those of the second
 * and (upper bits) the third. The first one's is texel 0. */
static const uint8_t anchor[] = {15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
                                 15, 2,  8,  2,  2,  8,  8,  15, 2,  8,  2,  2,  8,  8,  2,  2,
                                 15, 15, 6,  8,  2,  8,  15, 15, 2,  8,  2,  2,  2,  15, 15, 6,
                                 6,  2,  6,  8,  15, 15, 2,  2,  15, 15, 15, 15, 15, 2,  2,  15};
static const uint8_t anchors[] = {
    0xf3, 0x83, 0x8f, 0x3f, 0xf8, 0xf3, 0x3f, 0x8f, 0xf8, 0xf8, 0xf6, 0xf6, 0xf6, 0xf5, 0xf3, 0x83,
    0xf3, 0x83, 0xf8, 0x3f, 0xf3, 0x83, 0xf6, 0x8a, 0x35, 0xf8, 0x68, 0xa6, 0xf8, 0xf5, 0xaf, 0x8f,
    0xf8, 0x3f, 0xf3, 0xa5, 0xa6, 0x8a, 0x98, 0xaf, 0x6f, 0xf3, 0x8f, 0xf5, 0x3f, 0x6f, 0x6f, 0x8f,
    0xf3, 0x3f, 0xf5, 0xf5, 0xf5, 0xf8, 0xf5, 0xfa, 0xf5, 0xfa, 0xf8, 0xfd, 0x3f, 0xfc, 0xf3, 0x83};

/* ---- BC7 ------------------------------------------------------------------------------------- */

/* In bits, as they follow each other: partition, rotation, index selection, colour, alpha; a lowest
 * bit for each end or for each part; an index, a second one. */
struct byte_mode {
    uint8_t parts, partition, rotation, selection, colour, alpha, end_bits, part_bits, index,
        second;
};
static const struct byte_mode byte_modes[] = {
    {3, 4, 0, 0, 4, 0, 1, 0, 3, 0}, {2, 6, 0, 0, 6, 0, 0, 1, 3, 0}, {3, 6, 0, 0, 5, 0, 0, 0, 2, 0},
    {2, 6, 0, 0, 7, 0, 1, 0, 2, 0}, {1, 0, 2, 1, 5, 6, 0, 0, 2, 3}, {1, 0, 2, 0, 7, 8, 0, 0, 2, 2},
    {1, 0, 0, 0, 7, 7, 1, 0, 4, 0}, {2, 6, 0, 0, 5, 5, 1, 0, 2, 0}};

/* ---- BC6H ------------------------------------------------------------------------------------ */

/* Bits of an end's channel: `n` of them from bit `low` on. */
struct field {
    uint8_t end, channel, low, n;
};
#define R(end, low, n) {end, 0, low, n}
#define G(end, low, n) {end, 1, low, n}
#define B(end, low, n) {end, 2, low, n}

/* By the five bits that a block begins with (of 0 and 1 two alone): how many an end has, how many
 * of them differences to the first end have (0: all are ends), and where they lie. */
struct half_mode {
    uint8_t bits, difference[3], parts;
    struct field fields[24];
};
static const struct half_mode half_modes[32] = {
    [0x00] = {10,
              {5, 5, 5},
              2,
              {G(2, 4, 1), B(2, 4, 1), B(3, 4, 1), R(0, 0, 10), G(0, 0, 10), B(0, 0, 10),
               R(1, 0, 5), G(3, 4, 1), G(2, 0, 4), G(1, 0, 5), B(3, 0, 1), G(3, 0, 4), B(1, 0, 5),
               B(3, 1, 1), B(2, 0, 4), R(2, 0, 5), B(3, 2, 1), R(3, 0, 5), B(3, 3, 1)}},
    [0x01] = {7, {6, 6, 6}, 2, {G(2, 5, 1), G(3, 4, 1), G(3, 5, 1), R(0, 0, 7), B(3, 0, 1),
                                B(3, 1, 1), B(2, 4, 1), G(0, 0, 7), B(2, 5, 1), B(3, 2, 1),
                                G(2, 4, 1), B(0, 0, 7), B(3, 3, 1), B(3, 5, 1), B(3, 4, 1),
                                R(1, 0, 6), G(2, 0, 4), G(1, 0, 6), G(3, 0, 4), B(1, 0, 6),
                                B(2, 0, 4), R(2, 0, 6), R(3, 0, 6)}},
    [0x02] = {11,
              {5, 4, 4},
              2,
              {R(0, 0, 10), G(0, 0, 10), B(0, 0, 10), R(1, 0, 5), R(0, 10, 1), G(2, 0, 4),
               G(1, 0, 4), G(0, 10, 1), B(3, 0, 1), G(3, 0, 4), B(1, 0, 4), B(0, 10, 1), B(3, 1, 1),
               B(2, 0, 4), R(2, 0, 5), B(3, 2, 1), R(3, 0, 5), B(3, 3, 1)}},
    [0x06] = {11, {4, 5, 4}, 2, {R(0, 0, 10), G(0, 0, 10), B(0, 0, 10), R(1, 0, 4),  R(0, 10, 1),
                                 G(3, 4, 1),  G(2, 0, 4),  G(1, 0, 5),  G(0, 10, 1), G(3, 0, 4),
                                 B(1, 0, 4),  B(0, 10, 1), B(3, 1, 1),  B(2, 0, 4),  R(2, 0, 4),
                                 B(3, 0, 1),  B(3, 2, 1),  R(3, 0, 4),  G(2, 4, 1),  B(3, 3, 1)}},
    [0x0a] = {11, {4, 4, 5}, 2, {R(0, 0, 10), G(0, 0, 10), B(0, 0, 10), R(1, 0, 4),  R(0, 10, 1),
                                 B(2, 4, 1),  G(2, 0, 4),  G(1, 0, 4),  G(0, 10, 1), B(3, 0, 1),
                                 G(3, 0, 4),  B(1, 0, 5),  B(0, 10, 1), B(2, 0, 4),  R(2, 0, 4),
                                 B(3, 1, 1),  B(3, 2, 1),  R(3, 0, 4),  B(3, 4, 1),  B(3, 3, 1)}},
    [0x0e] = {9,
              {5, 5, 5},
              2,
              {R(0, 0, 9), B(2, 4, 1), G(0, 0, 9), G(2, 4, 1), B(0, 0, 9), B(3, 4, 1), R(1, 0, 5),
               G(3, 4, 1), G(2, 0, 4), G(1, 0, 5), B(3, 0, 1), G(3, 0, 4), B(1, 0, 5), B(3, 1, 1),
               B(2, 0, 4), R(2, 0, 5), B(3, 2, 1), R(3, 0, 5), B(3, 3, 1)}},
    [0x12] = {8,
              {6, 5, 5},
              2,
              {R(0, 0, 8), G(3, 4, 1), B(2, 4, 1), G(0, 0, 8), B(3, 2, 1), G(2, 4, 1), B(0, 0, 8),
               B(3, 3, 1), B(3, 4, 1), R(1, 0, 6), G(2, 0, 4), G(1, 0, 5), B(3, 0, 1), G(3, 0, 4),
               B(1, 0, 5), B(3, 1, 1), B(2, 0, 4), R(2, 0, 6), R(3, 0, 6)}},
    [0x16] = {8, {5, 6, 5}, 2, {R(0, 0, 8), B(3, 0, 1), B(2, 4, 1), G(0, 0, 8), G(2, 5, 1),
                                G(2, 4, 1), B(0, 0, 8), G(3, 5, 1), B(3, 4, 1), R(1, 0, 5),
                                G(3, 4, 1), G(2, 0, 4), G(1, 0, 6), G(3, 0, 4), B(1, 0, 5),
                                B(3, 1, 1), B(2, 0, 4), R(2, 0, 5), B(3, 2, 1), R(3, 0, 5),
                                B(3, 3, 1)}},
    [0x1a] = {8, {5, 5, 6}, 2, {R(0, 0, 8), B(3, 1, 1), B(2, 4, 1), G(0, 0, 8), B(2, 5, 1),
                                G(2, 4, 1), B(0, 0, 8), B(3, 5, 1), B(3, 4, 1), R(1, 0, 5),
                                G(3, 4, 1), G(2, 0, 4), G(1, 0, 5), B(3, 0, 1), G(3, 0, 4),
                                B(1, 0, 6), B(2, 0, 4), R(2, 0, 5), B(3, 2, 1), R(3, 0, 5),
                                B(3, 3, 1)}},
    [0x1e] = {6, {0, 0, 0}, 2, {R(0, 0, 6), G(3, 4, 1), B(3, 0, 1), B(3, 1, 1), B(2, 4, 1),
                                G(0, 0, 6), G(2, 5, 1), B(2, 5, 1), B(3, 2, 1), G(2, 4, 1),
                                B(0, 0, 6), G(3, 5, 1), B(3, 3, 1), B(3, 5, 1), B(3, 4, 1),
                                R(1, 0, 6), G(2, 0, 4), G(1, 0, 6), G(3, 0, 4), B(1, 0, 6),
                                B(2, 0, 4), R(2, 0, 6), R(3, 0, 6)}},
    [0x03] = {10,
              {0, 0, 0},
              1,
              {R(0, 0, 10), G(0, 0, 10), B(0, 0, 10), R(1, 0, 10), G(1, 0, 10), B(1, 0, 10)}},
    [0x07] = {11,
              {9, 9, 9},
              1,
              {R(0, 0, 10), G(0, 0, 10), B(0, 0, 10), R(1, 0, 9), R(0, 10, 1), G(1, 0, 9),
               G(0, 10, 1), B(1, 0, 9), B(0, 10, 1)}},
    [0x0b] = {12,
              {8, 8, 8},
              1,
              {R(0, 0, 10), G(0, 0, 10), B(0, 0, 10), R(1, 0, 8), R(0, 11, 1), R(0, 10, 1),
               G(1, 0, 8), G(0, 11, 1), G(0, 10, 1), B(1, 0, 8), B(0, 11, 1), B(0, 10, 1)}},
    [0x0f] = {16, {4, 4, 4}, 1, {R(0, 0, 10), G(0, 0, 10), B(0, 0, 10), R(1, 0, 4),  R(0, 15, 1),
                                 R(0, 14, 1), R(0, 13, 1), R(0, 12, 1), R(0, 11, 1), R(0, 10, 1),
                                 G(1, 0, 4),  G(0, 15, 1), G(0, 14, 1), G(0, 13, 1), G(0, 12, 1),
                                 G(0, 11, 1), G(0, 10, 1), B(1, 0, 4),  B(0, 15, 1), B(0, 14, 1),
                                 B(0, 13, 1), B(0, 12, 1), B(0, 11, 1), B(0, 10, 1)}},
};
#undef R
#undef G
#undef B

#endif
