/* Shadow memory: who accessed each word of memory last, in 8 bytes for each byte. A page begins
 * with lines instead, in one byte for each (lines.h), which are split into cells where that does
 * not do: one on its own, else all of the page.
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

/* A cell, in arrays of each of its stamps, and of what more is known of them: of each 16 bits of
 * its site, and above all 4 of its bytes. Those of PT_LINE_WORDS words lie together. */
struct pt_cell {
    uint64_t *at;
    size_t stride; /* from array to array */
};
enum { PT_CELL_BYTES = (PT_CELL_STAMPS + 1) * sizeof(uint64_t) };
_Static_assert(PT_CELL_BYTES == 32, "8 bytes for each byte of a word");

enum { PT_LINE_WORDS = 32 };
static inline struct pt_cell pt_cells_at(uint64_t *cells, size_t word)
{
    size_t in_line = word % PT_LINE_WORDS;
    return (struct pt_cell){&cells[(word - in_line) * (PT_CELL_BYTES / 8) + in_line],
                            PT_LINE_WORDS};
}

static inline uint64_t *pt_cell_stamps(struct pt_cell c, enum pt_cell_stamp which)
{
    return c.at + which * c.stride;
}
static inline uint64_t *pt_cell_more(struct pt_cell c)
{
    return c.at + PT_CELL_STAMPS * c.stride;
}
static inline uint64_t pt_cell_stamp(struct pt_cell c, enum pt_cell_stamp which)
{
    return *pt_cell_stamps(c, which);
}
/* Where a stamp's site and bytes are in the rest. */
static inline uint32_t pt_cell_site_at(enum pt_cell_stamp which)
{
    return 16 * which;
}
static inline uint32_t pt_cell_bytes_at(enum pt_cell_stamp which)
{
    return 16 * PT_CELL_STAMPS + 4 * which;
}
static inline uint64_t pt_cell_fields(enum pt_cell_stamp which, uint32_t site, uint32_t bytes)
{
    return (uint64_t)site << pt_cell_site_at(which) | (uint64_t)bytes << pt_cell_bytes_at(which);
}
static inline uint32_t pt_cell_site(struct pt_cell c, enum pt_cell_stamp which)
{
    return (uint32_t)(*pt_cell_more(c) >> pt_cell_site_at(which)) & 0xffff;
}
static inline uint32_t pt_cell_bytes(struct pt_cell c, enum pt_cell_stamp which)
{
    return (uint32_t)(*pt_cell_more(c) >> pt_cell_bytes_at(which)) & 15;
}
static inline void pt_cell_set(struct pt_cell c, enum pt_cell_stamp which, uint64_t stamp,
                               uint32_t site, uint32_t bytes)
{
    uint64_t *more = pt_cell_more(c);
    *pt_cell_stamps(c, which) = stamp;
    *more = (*more & ~pt_cell_fields(which, 0xffff, 15)) | pt_cell_fields(which, site, bytes);
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

enum {
    PT_SITES = 1 << 15,
    PT_PAGE_SHIFT = 12,
    PT_PAGE_CELLS = 1 << (PT_PAGE_SHIFT - 2),
    PT_RECENT_PAGES = 256
};

/* A place in the program; the first is none. */
struct pt_site {
    uint32_t func, insn; /* func is one more, 0: none */
};

struct pt_page {
    uint64_t number; /* the address above PT_PAGE_SHIFT, one more; 0: free */
    uint64_t *cells; /* NULL: it has lines so far */
    char *lines;
    uint32_t n_split; /* of the lines */
};

/* Cells of memory by its address, and the sites that stamps name. */
struct pt_cells {
    const struct pt_allocator *allocator;
    struct pt_page *pages; /* a hash table */
    uint32_t n, room;      /* of it */
    struct pt_site *sites; /* by number */
    uint16_t *site_slots;  /* a hash table of their numbers; 0: free */
    uint32_t n_sites, room_sites, n_site_slots;
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
/* The line of an address has cells from now on. Returns the word's; at NULL: there is no memory. */
struct pt_cell pt_cells_split(struct pt_cells *cells, uint64_t address);
#define pt_cells_cell PT_LEVEL_NAME(pt_cells_cell)
/* The cell of the word at an address; at NULL: there is no memory. */
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
