/* Who accessed the words of a line, 128 bytes, while that is simple: lanes that lie one behind the
 * other, or at one place, are one access, of many words. What is not so simple is kept in cells,
 * word by word (cells.h), which a line becomes then.
 *
 * A line says of accesses only that they surely race with none before. Where that is not sure it
 * becomes cells, which know.
 */
#ifndef PTERA_BACKEND_INTERP_LINES_H
#define PTERA_BACKEND_INTERP_LINES_H

#include "backend/interp/cells.h"

enum {
    PT_LINE_SHIFT = 7,
    PT_LINE_ALL = 7 /* log of an access: each of its lanes accesses all of its words */
};

_Static_assert(PT_LINE_WORDS == 1 << (PT_LINE_SHIFT - 2), "words of 4 bytes");

struct pt_line_access {
    uint64_t stamp; /* as a cell's, but LOW is the lane of the first word, and HIGH how many more
                     * lanes do the same, 16 if it is the other half of the warp */
    uint32_t words; /* a set of the line's */
    uint16_t site;
    uint8_t first, log; /* word of that lane; of the bytes of each lane */
};

struct pt_line {
    uint32_t newest, written; /* time of the last access, and of the last write */
    uint32_t words;           /* of all accesses, or more */
    uint8_t n, n_writes;      /* writes come first, then reads as they came */
    uint8_t is_split, unused; /* into cells */
    struct pt_line_access accesses[];
};

/* How many accesses a line has room for: there are few lines of shared memory. */
enum { PT_LINE_ROOM = 7, PT_LINE_ROOM_SHARED = 48 };
enum {
    PT_LINE_BYTES = sizeof(struct pt_line) + PT_LINE_ROOM * sizeof(struct pt_line_access),
    PT_LINE_BYTES_SHARED =
        sizeof(struct pt_line) + PT_LINE_ROOM_SHARED * sizeof(struct pt_line_access)
};
_Static_assert(PT_LINE_BYTES == 1 << PT_LINE_SHIFT, "a byte for each byte");

/* A page's lines, of which one may be split into cells on its own. */
struct pt_page_lines {
    struct pt_cells_block *block; /* that they lie in */
    bool has_split;
    struct pt_cells_line alone;
    char lines[1 << PT_PAGE_SHIFT];
};

static inline struct pt_line *pt_line_of(const struct pt_page *page, uint64_t address)
{
    size_t in_page = address & ((1u << PT_PAGE_SHIFT) - 1);
    return (struct pt_line *)(void *)&page->lines->lines[in_page / PT_LINE_BYTES * PT_LINE_BYTES];
}
/* The cell of the word at an address, without a line if that is not split. */
static inline struct pt_cell pt_line_cell(const struct pt_page *page, uint64_t address)
{
    if (page->cells)
        return pt_cells_at(page->cells, address >> 2 & (PT_PAGE_CELLS - 1));
    if (pt_line_of(page, address)->is_split)
        return pt_cells_at(&page->lines->alone, address >> 2 & (PT_LINE_WORDS - 1));
    return (struct pt_cell){NULL, 0};
}

/* What is surely before all that the lanes do. */
struct pt_line_bounds {
    uint32_t born;
    uint32_t first, n_warps, cta_time; /* the CTA's warps, and up to when they are known */
    uint32_t warp, warp_time;
    bool is_constant; /* no write is safe */
    bool is_alone;    /* only the CTA can access it: what all of it knows, reads as well, is over */
};

#define pt_line_see PT_LEVEL_NAME(pt_line_see)
/* Compares an access with the line's, and notes it. False: it may race, or there is no room. */
bool pt_line_see(struct pt_line *line, uint32_t room, const struct pt_line_bounds *b,
                 const struct pt_line_access *e);
#define pt_line_split PT_LEVEL_NAME(pt_line_split)
/* Writes what the line knows to the cells of its words. */
void pt_line_split(const struct pt_line *line, struct pt_cells_line *cells);
/* The lowest lane of a word; as if it went on to words before the first. */
static inline uint32_t pt_line_lane(const struct pt_line_access *e, uint32_t word)
{
    uint32_t low = pt_stamp_low(e->stamp);
    return e->log == PT_LINE_ALL ? low : low + (word * 4 >> e->log) - (e->first * 4u >> e->log);
}
/* The stamp that a word of an access has in its cell. */
static inline uint64_t pt_line_stamp(const struct pt_line_access *e, uint32_t word)
{
    uint32_t low = pt_line_lane(e, word), high;
    bool is_spread = e->log < 2;
    high = low + pt_stamp_high(e->stamp) + (is_spread ? (4u >> e->log) - 1 : 0);
    return (e->stamp & ~PT_STAMP_LANES) | (uint64_t)low << PT_STAMP_LOW |
           (uint64_t)high << PT_STAMP_HIGH | (uint64_t)is_spread << PT_STAMP_IS_SPREAD;
}

#endif
