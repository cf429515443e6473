#include "backend/semantics/texture_tile.h"

#include "backend/semantics/texture_layout.h"

enum { LINE_LOG = 6, LINES_LOG = 3, TILE_LOG = LINE_LOG + LINES_LOG, HIGH_MOST = 4, DEEP_MOST = 5 };

/* Of a level: elements (words, or blocks), tiles beside each other, blocks of tiles above each
 * other, their height and depth as logarithms. */
struct level {
    uint32_t size[PT_TEXTURE_AXES], across, above;
    unsigned high, deep;
    uint64_t at, bytes;
};

static uint32_t divide_up(uint32_t n, unsigned log)
{
    return (n + (1u << log) - 1) >> log;
}

static unsigned log_up(uint32_t n)
{
    return n > 1 ? 32 - (unsigned)__builtin_clz(n - 1) : 0;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Level `level` of elements that are 2^side texels wide and high, of a texture of that size in
 * texels. */
static struct level level_of(const struct pt_texture *t, unsigned side, unsigned level)
{
    struct level l = {.high = HIGH_MOST, .deep = DEEP_MOST};
    for (unsigned n = 0; n <= level; n++) {
        l.at += l.bytes;
        for (unsigned i = 0; i < PT_TEXTURE_AXES; i++) {
            uint32_t size = t->words[i] << (i < 2 ? side : 0) >> (i < t->axes ? n : 0);
            l.size[i] = divide_up(size ? size : 1, i < 2 ? side : 0);
        }
        uint32_t tiles = divide_up(l.size[1], LINES_LOG);
        l.high = least(l.high, log_up(tiles));
        l.deep = least(l.deep, log_up(l.size[2]));
        l.across = divide_up(l.size[0] * t->texel_bytes, LINE_LOG);
        l.above = divide_up(tiles, l.high);
        l.bytes = (uint64_t)l.across * l.above * divide_up(l.size[2], l.deep)
                  << (TILE_LOG + l.high + l.deep);
    }
    return l;
}

/* ---- places in a level ----------------------------------------------------------------------- */

static uint64_t offset_of(const struct level *l, uint32_t bytes, const uint32_t *at)
{
    uint64_t x = (uint64_t)at[0] * bytes, tile_y = at[1] >> LINES_LOG,
             block = ((uint64_t)(at[2] >> l->deep) * l->above + (tile_y >> l->high)) * l->across +
                     (x >> LINE_LOG);
    uint64_t tile = (((block << l->deep) + (at[2] & ((1u << l->deep) - 1))) << l->high) +
                    (tile_y & ((1u << l->high) - 1));
    return (tile << TILE_LOG) + ((at[1] & ((1u << LINES_LOG) - 1)) << LINE_LOG) +
           (x & ((1u << LINE_LOG) - 1));
}

/* False: no element lies there. */
static bool find_place(const struct level *l, uint32_t bytes, uint64_t offset, uint32_t *at)
{
    uint32_t x = (uint32_t)offset & ((1u << LINE_LOG) - 1),
             y = (uint32_t)(offset >> LINE_LOG) & ((1u << LINES_LOG) - 1);
    uint64_t tile = offset >> TILE_LOG, block = tile >> (l->high + l->deep);
    uint32_t across = (uint32_t)(block % l->across),
             above = (uint32_t)(block / l->across % l->above),
             behind = (uint32_t)(block / l->across / l->above);
    at[0] = ((across << LINE_LOG) + x) / bytes;
    at[1] = (((above << l->high) + (uint32_t)(tile & ((1u << l->high) - 1))) << LINES_LOG) + y;
    at[2] = (behind << l->deep) + (uint32_t)(tile >> l->high & ((1u << l->deep) - 1));
    return at[0] < l->size[0] && at[1] < l->size[1] && at[2] < l->size[2];
}

/* ---- views ----------------------------------------------------------------------------------- */

bool pt_texture_tile_is_moved(const uint32_t *words, unsigned axes, unsigned n_levels)
{
    bool is_moved = false;
    for (unsigned i = 0; i < axes && i < 2; i++)
        is_moved |= words[i] % (1u << (n_levels - 1)) != 0;
    return is_moved;
}

/* The words' texture: each level as it is allocated. */
static uint64_t address_of(const struct pt_texture *t, unsigned level, const uint32_t *at)
{
    struct pt_texture words = {.texels = t->texels,
                               .axes = t->axes,
                               .texel_bytes = t->texel_bytes,
                               .size = {t->words[0], t->words[1], t->words[2]}};
    pt_texture_layout_set(&words);
    words = pt_texture_layout_find(&words, level);
    return words.texels + at[2] * words.slice + at[1] * words.pitch +
           (uint64_t)at[0] * words.texel_bytes;
}

uint64_t pt_texture_tile_find(const struct pt_texture *t, uint32_t x, uint32_t y, uint32_t z)
{
    struct level blocks = level_of(t, PT_TEXTURE_BLOCK_SIDE_LOG, t->level);
    uint32_t at[] = {x, y, z};
    uint64_t offset = blocks.at + offset_of(&blocks, t->texel_bytes, at);
    for (unsigned n = 0; n < t->n_word_levels; n++) {
        struct level words = level_of(t, 0, n);
        if (offset - words.at < words.bytes)
            return find_place(&words, t->texel_bytes, offset - words.at, at) ? address_of(t, n, at)
                                                                             : PT_TEXTURE_NOTHING;
    }
    return PT_TEXTURE_NOTHING;
}
