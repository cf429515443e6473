/* Cells by address: pages in a hash table. */
#include "backend/interp/cells.h"
#include "backend/interp/lines.h"

static uint32_t hash(uint64_t v)
{
    return (uint32_t)(v * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static void *resize(const struct pt_cells *cells, void *p, size_t bytes)
{
    return cells->allocator->resize(cells->allocator->ud, p, bytes);
}

static void *make_zeros(const struct pt_cells *cells, size_t bytes)
{
    void *p = resize(cells, NULL, bytes);
    if (p)
        memset(p, 0, bytes);
    return p;
}

static struct pt_page *place_of(const struct pt_cells *cells, uint64_t number)
{
    uint32_t i = hash(number) & (cells->room - 1);
    while (cells->pages[i].number && cells->pages[i].number != number)
        i = (i + 1) & (cells->room - 1);
    return &cells->pages[i];
}

static bool grow(struct pt_cells *cells)
{
    struct pt_cells larger = *cells;
    larger.room = cells->room ? 2 * cells->room : 64;
    larger.pages = make_zeros(cells, larger.room * sizeof *larger.pages);
    if (!larger.pages)
        return false;
    for (uint32_t i = 0; i < cells->room; i++)
        if (cells->pages[i].number)
            *place_of(&larger, cells->pages[i].number) = cells->pages[i];
    if (cells->pages)
        resize(cells, cells->pages, 0);
    cells->pages = larger.pages;
    cells->room = larger.room;
    return true;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

enum { PAGE_LINES = 1 << (PT_PAGE_SHIFT - PT_LINE_SHIFT), BLOCK_PAGES = 6 };

struct pt_cells_block {
    struct pt_cells_block *next, *next_free;
    uint32_t n, n_live; /* pages whose lines it was given to, and those that still have them */
    union {
        struct pt_cells_line cells[PAGE_LINES];
        struct pt_page_lines lines[BLOCK_PAGES];
    };
};
_Static_assert(sizeof(struct pt_page_lines) * BLOCK_PAGES <=
                   sizeof(struct pt_cells_line) * PAGE_LINES,
               "as large as the cells of a page");

static struct pt_cells_block *take_block(struct pt_cells *cells)
{
    struct pt_cells_block *b = cells->free_block;
    if (b) {
        cells->free_block = b->next_free;
        b->n = b->n_live = 0;
        return b;
    }
    b = resize(cells, NULL, sizeof *b);
    if (!b)
        return NULL;
    b->n = b->n_live = 0;
    b->next = cells->blocks;
    cells->blocks = b;
    return b;
}

static struct pt_page_lines *make_lines(struct pt_cells *cells)
{
    struct pt_cells_block *b = cells->line_block ? cells->line_block : take_block(cells);
    if (!b)
        return NULL;
    struct pt_page_lines *lines = &b->lines[b->n++];
    b->n_live++;
    cells->line_block = b->n < BLOCK_PAGES ? b : NULL;
    lines->block = b;
    lines->has_split = false;
    for (uint32_t i = 0; i < PAGE_LINES; i++)
        memset(&lines->lines[(size_t)i * PT_LINE_BYTES], 0, sizeof(struct pt_line));
    return lines;
}

static void drop_lines(struct pt_cells *cells, const struct pt_page_lines *lines)
{
    struct pt_cells_block *b = lines->block;
    if (--b->n_live || b->n < BLOCK_PAGES)
        return;
    b->next_free = cells->free_block;
    cells->free_block = b;
}

/* ---- pages ----------------------------------------------------------------------------------- */

const struct pt_page *pt_cells_find_page(struct pt_cells *cells, uint64_t number)
{
    if (2 * cells->n >= cells->room && !grow(cells)) {
        cells->is_out_of_memory = true;
        return NULL;
    }
    struct pt_page *page = place_of(cells, number);
    if (!page->number) {
        page->lines = make_lines(cells);
        if (!page->lines) {
            cells->is_out_of_memory = true;
            return NULL;
        }
        page->number = number;
        cells->n++;
    }
    struct pt_page *recent = &cells->recent[number % PT_RECENT_PAGES];
    *recent = *page;
    return recent;
}

/* ---- splitting lines ------------------------------------------------------------------------- */

static void split_line(struct pt_page_lines *lines, struct pt_line *line)
{
    memset(&lines->alone, 0, sizeof lines->alone);
    pt_line_split(line, &lines->alone);
    *line = (struct pt_line){.is_split = true};
    lines->has_split = true;
}

static bool split_page(struct pt_cells *cells, struct pt_page *page)
{
    struct pt_cells_block *block = take_block(cells);
    if (!block)
        return false;
    memset(block->cells, 0, sizeof block->cells);
    for (uint64_t i = 0; i < PAGE_LINES; i++) {
        const struct pt_line *line = pt_line_of(page, i << PT_LINE_SHIFT);
        if (line->is_split)
            block->cells[i] = page->lines->alone;
        else
            pt_line_split(line, &block->cells[i]);
    }
    drop_lines(cells, page->lines);
    page->lines = NULL;
    page->cells = block->cells;
    return true;
}

struct pt_cell pt_cells_split(struct pt_cells *cells, uint64_t address)
{
    struct pt_page *page = place_of(cells, (address >> PT_PAGE_SHIFT) + 1);
    if (!page->lines->has_split) {
        split_line(page->lines, pt_line_of(page, address));
    } else if (!split_page(cells, page)) {
        cells->is_out_of_memory = true;
        return (struct pt_cell){NULL, 0};
    }
    cells->recent[page->number % PT_RECENT_PAGES] = *page;
    return pt_line_cell(page, address);
}

struct pt_cell pt_cells_cell(struct pt_cells *cells, uint64_t address)
{
    const struct pt_page *page = pt_cells_page(cells, address);
    struct pt_cell cell = page ? pt_line_cell(page, address) : (struct pt_cell){NULL, 0};
    return cell.line || !page ? cell : pt_cells_split(cells, address);
}

/* ---- sites ----------------------------------------------------------------------------------- */

static uint16_t *slot_of(const struct pt_cells *cells, uint32_t func, uint32_t insn)
{
    uint32_t i = hash((uint64_t)func << 32 | insn) & (cells->n_site_slots - 1);
    for (;;) {
        uint16_t *slot = &cells->site_slots[i];
        const struct pt_site *site = &cells->sites[*slot];
        if (!*slot || (site->func == func + 1 && site->insn == insn))
            return slot;
        i = (i + 1) & (cells->n_site_slots - 1);
    }
}

/* Room for twice as many, with slots for twice those. */
static bool grow_sites(struct pt_cells *cells)
{
    enum { FIRST = 128 };
    uint32_t room = cells->room_sites ? 2 * cells->room_sites : FIRST;
    struct pt_site *sites = resize(cells, cells->sites, room * sizeof *sites);
    uint16_t *slots = sites ? make_zeros(cells, 2 * room * sizeof *slots) : NULL;
    cells->sites = sites ? sites : cells->sites;
    if (!slots)
        return false;
    if (cells->site_slots)
        resize(cells, cells->site_slots, 0);
    cells->site_slots = slots;
    cells->n_site_slots = 2 * room;
    cells->room_sites = room;
    for (uint32_t i = 1; i < cells->n_sites; i++)
        *slot_of(cells, sites[i].func - 1, sites[i].insn) = (uint16_t)i;
    return true;
}

uint32_t pt_cells_site(struct pt_cells *cells, uint32_t func, uint32_t insn)
{
    uint16_t *slot = slot_of(cells, func, insn);
    if (*slot || cells->n_sites == PT_SITES)
        return *slot;
    if (cells->n_sites == cells->room_sites) {
        if (!grow_sites(cells))
            return 0;
        slot = slot_of(cells, func, insn);
    }
    *slot = (uint16_t)cells->n_sites++;
    cells->sites[*slot] = (struct pt_site){func + 1, insn};
    return *slot;
}

bool pt_cells_begin(struct pt_cells *cells, const struct pt_allocator *allocator)
{
    *cells = (struct pt_cells){.allocator = allocator};
    if (!grow_sites(cells) || !grow(cells))
        return false;
    cells->sites[0] = (struct pt_site){0};
    cells->n_sites = 1;
    return true;
}

void pt_cells_end(struct pt_cells *cells)
{
    for (struct pt_cells_block *next, *b = cells->blocks; b; b = next) {
        next = b->next;
        resize(cells, b, 0);
    }
    if (cells->pages)
        resize(cells, cells->pages, 0);
    if (cells->sites)
        resize(cells, cells->sites, 0);
    if (cells->site_slots)
        resize(cells, cells->site_slots, 0);
}
