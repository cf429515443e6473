/* Shadow memory: who accessed each word of memory last, in 7.75 bytes for each byte. A page begins
 * with lines instead, in one byte for each (lines.h), which are split into cells where that does
 * not do: one on its own, else all of the page.
 *
 * Both lie in *blocks* of one size, that of a page's cells, which are never given back before the
 * launch ends: a block has the cells of one page, or the lines of six. It is free again when all of
 * those have become cells. So no order of accesses takes more than one block a page: six pages, of
 * which k < 6 have become cells, take 1 + k blocks, and six that have take six. The table of pages
 * adds 0.04 bytes a byte at most.
 *
 * A *stamp* is an access: when, by which lanes of which warp, how strong. A cell has that of the
 * last write to a word, and of two reads since: the first, and the last that is not ordered behind
 * it. What else read in between is forgotten. Of strong writes in no order, which are no race, the
 * first is kept in the place of a read.
 */
#ifndef PTERA_BACKEND_INTERP_CELLS_H
#define PTERA_BACKEND_INTERP_CELLS_H

#include "backend/interp/clock.h"

/* Fields of a stamp: the low bit, and how many. Time 0: no access. */
enum {
    PT_STAMP_TIME_BITS = 27,
    PT_STAMP_WARP = 27,
    PT_STAMP_WARP_BITS = 20,
    PT_STAMP_LOW = 47,  /* lanes: the lowest, */
    PT_STAMP_HIGH = 52, /* and the highest */
    PT_STAMP_LANE_BITS = 5,
    PT_STAMP_IS_SPREAD = 57, /* each byte is of one lane between these; else of both */
    PT_STAMP_SCOPE = 58,     /* enum pt_scope */
    PT_STAMP_SCOPE_BITS = 3,
    PT_STAMP_IS_ATOMIC = 61,
    PT_STAMP_IS_WRITE = 62 /* in the place of a read */
};
_Static_assert(1 << PT_STAMP_WARP_BITS == PT_CLOCK_WARPS, "as many as clocks have numbers for");

#define PT_STAMP_LANES (UINT64_C(0x3ff) << PT_STAMP_LOW)
/* Fields that are equal in stamps of one thread. */
#define PT_STAMP_THREAD                                                            \
    (((UINT64_C(1) << PT_STAMP_WARP_BITS) - 1) << PT_STAMP_WARP | PT_STAMP_LANES | \
     UINT64_C(1) << PT_STAMP_IS_SPREAD)

static inline uint32_t pt_stamp_field(uint64_t stamp, uint32_t at, uint32_t bits)
{
    return (uint32_t)(stamp >> at) & ((UINT32_C(1) << bits) - 1);
}
static inline uint32_t pt_stamp_time(uint64_t stamp)
{
    return pt_stamp_field(stamp, 0, PT_STAMP_TIME_BITS);
}
static inline uint32_t pt_stamp_warp(uint64_t stamp)
{
    return pt_stamp_field(stamp, PT_STAMP_WARP, PT_STAMP_WARP_BITS);
}
static inline uint32_t pt_stamp_low(uint64_t stamp)
{
    return pt_stamp_field(stamp, PT_STAMP_LOW, PT_STAMP_LANE_BITS);
}
static inline uint32_t pt_stamp_high(uint64_t stamp)
{
    return pt_stamp_field(stamp, PT_STAMP_HIGH, PT_STAMP_LANE_BITS);
}

enum pt_cell_stamp { PT_CELL_WRITE, PT_CELL_READ, PT_CELL_READ_LAST, PT_CELL_STAMPS };

/* What more is known of the stamps of a word: of each its site, and which of the word's 4 bytes it
 * is about. */
struct pt_cell_more {
    uint16_t tags[PT_CELL_STAMPS]; /* sites, above the lower 2 bits of the bytes */
    uint8_t high;                  /* the higher 2 bits of each stamp's bytes */
} __attribute__((packed));

/* The cells of PT_LINE_WORDS words: each of their stamps in an array. */
enum { PT_LINE_WORDS = 32 };
struct pt_cells_line {
    uint64_t stamps[PT_CELL_STAMPS][PT_LINE_WORDS];
    struct pt_cell_more more[PT_LINE_WORDS];
};
_Static_assert(4 * sizeof(struct pt_cells_line) == 31 * 4 * PT_LINE_WORDS, "7.75 bytes a byte");

enum { PT_TAG_SITE = 2, PT_SITES = 1 << (16 - PT_TAG_SITE) };

struct pt_cell {
    struct pt_cells_line *line; /* NULL: there is none */
    uint32_t word;
};

static inline struct pt_cell pt_cells_at(struct pt_cells_line *lines, size_t word)
{
    return (struct pt_cell){&lines[word / PT_LINE_WORDS], (uint32_t)(word % PT_LINE_WORDS)};
}

static inline uint64_t *pt_cell_stamps(struct pt_cell c, enum pt_cell_stamp which)
{
    return &c.line->stamps[which][c.word];
}
static inline uint64_t pt_cell_stamp(struct pt_cell c, enum pt_cell_stamp which)
{
    return *pt_cell_stamps(c, which);
}
static inline uint16_t pt_cell_tag(uint32_t site, uint32_t bytes)
{
    return (uint16_t)(site << PT_TAG_SITE | (bytes & 3));
}
/* The bits of a stamp's bytes in `high`. */
static inline uint8_t pt_cell_high(enum pt_cell_stamp which, uint32_t bytes)
{
    return (uint8_t)(bytes >> 2 << 2 * which);
}
static inline uint32_t pt_cell_site(struct pt_cell c, enum pt_cell_stamp which)
{
    return c.line->more[c.word].tags[which] >> PT_TAG_SITE;
}
static inline uint32_t pt_cell_bytes(struct pt_cell c, enum pt_cell_stamp which)
{
    const struct pt_cell_more *more = &c.line->more[c.word];
    return (more->tags[which] & 3) | (more->high >> 2 * which & 3) << 2;
}
static inline void pt_cell_set(struct pt_cell c, enum pt_cell_stamp which, uint64_t stamp,
                               uint32_t site, uint32_t bytes)
{
    struct pt_cell_more *more = &c.line->more[c.word];
    c.line->stamps[which][c.word] = stamp;
    more->tags[which] = pt_cell_tag(site, bytes);
    more->high = (uint8_t)((more->high & ~pt_cell_high(which, 15)) | pt_cell_high(which, bytes));
}

/* Of the same instruction, or one at the same time: the lanes between the lowest and the highest
 * of both, if the stamps differ in nothing else. False: they do. */
static inline bool pt_cell_widen(struct pt_cell c, enum pt_cell_stamp which, uint64_t stamp,
                                 uint32_t site, uint32_t bytes)
{
    const uint64_t lanes = PT_STAMP_LANES | UINT64_C(1) << PT_STAMP_IS_SPREAD;
    uint64_t old = pt_cell_stamp(c, which);
    uint32_t old_bytes = pt_cell_bytes(c, which);
    if ((old ^ stamp) & ~lanes || pt_cell_site(c, which) != site)
        return false;
    uint32_t low = pt_stamp_low(old), high = pt_stamp_high(old);
    bool is_spread = (old | stamp) >> PT_STAMP_IS_SPREAD & 1 || old_bytes != bytes;
    low = pt_stamp_low(stamp) < low ? pt_stamp_low(stamp) : low;
    high = pt_stamp_high(stamp) > high ? pt_stamp_high(stamp) : high;
    stamp = (stamp & ~lanes) | (uint64_t)low << PT_STAMP_LOW | (uint64_t)high << PT_STAMP_HIGH |
            (uint64_t)(is_spread && low != high) << PT_STAMP_IS_SPREAD;
    pt_cell_set(c, which, stamp, site, old_bytes | bytes);
    return true;
}

enum { PT_PAGE_SHIFT = 12, PT_PAGE_CELLS = 1 << (PT_PAGE_SHIFT - 2), PT_RECENT_PAGES = 256 };

/* A place in the program; the first is none. */
struct pt_site {
    uint32_t func, insn; /* func is one more, 0: none */
};

struct pt_page_lines;
struct pt_cells_block;

struct pt_page {
    uint64_t number;             /* the address above PT_PAGE_SHIFT, one more; 0: free */
    struct pt_cells_line *cells; /* NULL: it has lines so far */
    struct pt_page_lines *lines;
};

/* Cells of memory by its address, and the sites that stamps name. */
struct pt_cells {
    const struct pt_allocator *allocator;
    struct pt_page *pages; /* a hash table */
    uint32_t n, room;      /* of it */
    struct pt_site *sites; /* by number */
    uint16_t *site_slots;  /* a hash table of their numbers; 0: free */
    uint32_t n_sites, room_sites, n_site_slots;
    struct pt_cells_block *blocks;     /* all of them */
    struct pt_cells_block *free_block; /* the first of those that are free again */
    struct pt_cells_block *line_block; /* has room for the lines of more pages, or NULL */
    struct pt_page recent[PT_RECENT_PAGES];
    bool is_out_of_memory;
};

#define pt_cells_find_page PT_LEVEL_NAME(pt_cells_find_page)
/* A page, until the next is looked for; NULL: there is no memory. */
const struct pt_page *pt_cells_find_page(struct pt_cells *cells, uint64_t number);
/* NULL: it was not looked for recently. */
static inline const struct pt_page *pt_cells_recent(const struct pt_cells *cells, uint64_t address)
{
    uint64_t number = (address >> PT_PAGE_SHIFT) + 1;
    const struct pt_page *recent = &cells->recent[number % PT_RECENT_PAGES];
    return recent->number == number ? recent : NULL;
}
static inline const struct pt_page *pt_cells_page(struct pt_cells *cells, uint64_t address)
{
    const struct pt_page *recent = pt_cells_recent(cells, address);
    return recent ? recent : pt_cells_find_page(cells, (address >> PT_PAGE_SHIFT) + 1);
}
#define pt_cells_split PT_LEVEL_NAME(pt_cells_split)
/* The line of an address has cells from now on. Returns the word's, without a line if there is no
 * memory. */
struct pt_cell pt_cells_split(struct pt_cells *cells, uint64_t address);
#define pt_cells_cell PT_LEVEL_NAME(pt_cells_cell)
/* The cell of the word at an address, without a line if there is no memory. */
struct pt_cell pt_cells_cell(struct pt_cells *cells, uint64_t address);
#define pt_cells_site PT_LEVEL_NAME(pt_cells_site)
/* The number of a place; 0: there are too many. */
uint32_t pt_cells_site(struct pt_cells *cells, uint32_t func, uint32_t insn);
#define pt_cells_begin PT_LEVEL_NAME(pt_cells_begin)
/* False: there is no memory. */
bool pt_cells_begin(struct pt_cells *cells, const struct pt_allocator *allocator);
#define pt_cells_end PT_LEVEL_NAME(pt_cells_end)
void pt_cells_end(struct pt_cells *cells);

#endif
