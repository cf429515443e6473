#include "backend/semantics/texture_bptc.h"

#include <string.h>

#include "backend/semantics/texture_bptc_table.h"

enum { BLOCK_BITS = 128, TEXELS = 16, PARTS = 3, ENDS = 2 * PARTS, WHOLE = 64, HALF_MOST = 31 };

struct reader {
    const uint32_t *block;
    unsigned at; /* of the next bit */
};

static uint32_t take(struct reader *r, unsigned n)
{
    unsigned word = r->at / 32, shift = r->at % 32;
    uint64_t two = r->block[word] | (word < 3 ? (uint64_t)r->block[word + 1] << 32 : 0);
    r->at += n;
    return (uint32_t)(two >> shift) & ((1u << n) - 1);
}

/* ---- partitions and indices ------------------------------------------------------------------ */

static unsigned part_of(unsigned parts, uint32_t partition, unsigned at)
{
    return parts == 1 ? 0 : parts == 2 ? two[partition] >> at & 1 : three[partition] >> 2 * at & 3;
}

static bool is_anchor(unsigned parts, uint32_t partition, unsigned at)
{
    return !at || (parts == 2 && at == anchor[partition]) ||
           (parts == 3 &&
            (at == (anchors[partition] & 0xfu) || at == (unsigned)anchors[partition] >> 4));
}

/* Of one of indices of `bits` bits that begin with the reader, of which anchors have one less. */
static uint32_t index_of(struct reader r, unsigned bits, unsigned parts, uint32_t partition,
                         unsigned at)
{
    for (unsigned i = 0; i < at; i++)
        r.at += bits - is_anchor(parts, partition, i);
    return take(&r, bits - is_anchor(parts, partition, at));
}

static int32_t between(int32_t a, int32_t b, uint32_t index, unsigned bits)
{
    int32_t most = (1 << bits) - 1, n = (WHOLE * (int32_t)index + most / 2) / most;
    return (a * (WHOLE - n) + b * n + WHOLE / 2) >> 6;
}

/* ---- BC7 ------------------------------------------------------------------------------------- */

struct byte_ends {
    uint32_t value[ENDS][4], partition, rotation, selection;
};

/* All that stands before the indices. */
static struct byte_ends read_byte_ends(struct reader *r, const struct byte_mode *m)
{
    struct byte_ends e = {0};
    unsigned n = 2 * m->parts;
    e.partition = take(r, m->partition);
    e.rotation = take(r, m->rotation);
    e.selection = take(r, m->selection);
    for (unsigned k = 0; k < 4; k++)
        for (unsigned i = 0; i < n; i++)
            e.value[i][k] = take(r, k < 3 ? m->colour : m->alpha);
    for (unsigned i = 0; i < n && (m->end_bits || m->part_bits); i++) {
        uint32_t last = m->end_bits || i % 2 == 0 ? take(r, 1) : e.value[i - 1][0] & 1;
        for (unsigned k = 0; k < 4; k++)
            e.value[i][k] = e.value[i][k] << 1 | last;
    }
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < 4; k++) {
            unsigned bits = (k < 3 ? m->colour : m->alpha) + m->end_bits + m->part_bits;
            uint32_t v = e.value[i][k] << (8 - bits);
            e.value[i][k] = k == 3 && !m->alpha ? UINT8_MAX : v | v >> bits;
        }
    return e;
}

void pt_texture_bptc_decode_bytes(const uint32_t *block, unsigned at, uint32_t *texel)
{
    uint8_t colour[4];
    if (!(block[0] & 0xff))
        return;
    unsigned mode = (unsigned)__builtin_ctz(block[0]);
    const struct byte_mode *m = &byte_modes[mode];
    struct reader r = {block, mode + 1};
    struct byte_ends e = read_byte_ends(&r, m);
    unsigned part = part_of(m->parts, e.partition, at), bits[] = {m->index, m->second};
    uint32_t index[2] = {index_of(r, m->index, m->parts, e.partition, at), 0};
    r.at += TEXELS * m->index - m->parts;
    if (m->second)
        index[1] = index_of(r, m->second, 1, 0, at);
    for (unsigned k = 0; k < 4; k++) {
        unsigned set = m->second ? (k == 3) != e.selection : 0;
        colour[k] = (uint8_t)between((int32_t)e.value[2 * part][k],
                                     (int32_t)e.value[2 * part + 1][k], index[set], bits[set]);
    }
    if (e.rotation) {
        uint8_t alpha = colour[3];
        colour[3] = colour[e.rotation - 1];
        colour[e.rotation - 1] = alpha;
    }
    memcpy(texel, colour, sizeof colour);
}

/* ---- BC6H ------------------------------------------------------------------------------------ */

static int32_t sign_extended(int32_t v, unsigned bits)
{
    return (int32_t)((uint32_t)v << (32 - bits)) >> (32 - bits);
}

/* As they stand there, in all bits. */
static void read_half_ends(struct reader *r, const struct half_mode *m, bool is_signed,
                           int32_t end[ENDS][3])
{
    for (const struct field *f = m->fields; f < m->fields + 24 && f->n; f++)
        end[f->end][f->channel] |= (int32_t)(take(r, f->n) << f->low);
    for (unsigned k = 0; k < 3; k++) {
        unsigned n = m->difference[k];
        for (unsigned i = 1; i < 2u * m->parts && n; i++)
            end[i][k] = (end[0][k] + sign_extended(end[i][k], n)) & ((1 << m->bits) - 1);
        for (unsigned i = 0; i < 2u * m->parts && is_signed; i++)
            end[i][k] = sign_extended(end[i][k], m->bits);
    }
}

/* To 16 bits, or to 15 and a sign. */
static int32_t widened(int32_t v, unsigned bits, bool is_signed)
{
    int32_t magnitude = v < 0 ? -v : v, most = (1 << (bits - is_signed)) - 1;
    if (bits >= 16 || !v)
        return v;
    if (magnitude >= most)
        magnitude = is_signed ? INT16_MAX : UINT16_MAX;
    else
        magnitude = ((magnitude << 15) + (1 << 14)) >> (bits - 1);
    return v < 0 ? -magnitude : magnitude;
}

/* 31/32 of it, or of an unsigned one 31/64, are a half's bits; no zero is negative. */
static uint16_t half_of(int32_t v, bool is_signed)
{
    if (!is_signed)
        return (uint16_t)(v * HALF_MOST >> 6);
    int32_t magnitude = (v < 0 ? -v : v) * HALF_MOST >> 5;
    return (uint16_t)(v < 0 && magnitude ? 0x8000 | magnitude : magnitude);
}

void pt_texture_bptc_decode_halves(const uint32_t *block, unsigned at, bool is_signed,
                                   uint32_t *texel)
{
    uint16_t half[4] = {0};
    int32_t end[ENDS][3] = {{0}};
    unsigned code = block[0] & 3, code_bits = 2;
    if (code > 1) {
        code = block[0] & 31;
        code_bits = 5;
    }
    const struct half_mode *m = &half_modes[code];
    if (!m->bits)
        return;
    struct reader r = {block, code_bits};
    read_half_ends(&r, m, is_signed, end);
    unsigned bits = m->parts == 2 ? 3 : 4;
    uint32_t partition = m->parts == 2 ? take(&r, 5) : 0;
    uint32_t index = index_of(r, bits, m->parts, partition, at);
    unsigned part = part_of(m->parts, partition, at);
    for (unsigned k = 0; k < 3; k++)
        half[k] = half_of(between(widened(end[2 * part][k], m->bits, is_signed),
                                  widened(end[2 * part + 1][k], m->bits, is_signed), index, bits),
                          is_signed);
    memcpy(texel, half, sizeof half);
}
