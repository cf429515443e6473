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

enum { PAGE_LINES = 1 << (PT_PAGE_SHIFT - PT_LINE_SHIFT) };

static char *make_lines(const struct pt_cells *cells)
{
    char *lines = resize(cells, NULL, (size_t)PAGE_LINES * PT_LINE_BYTES);
    for (uint32_t i = 0; lines && i < PAGE_LINES; i++)
        memset(lines + (size_t)i * PT_LINE_BYTES, 0, sizeof(struct pt_line));
    return lines;
}

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

enum { LINE_CELLS_BYTES = PT_LINE_WORDS * PT_CELL_BYTES };

static bool split_line(const struct pt_cells *cells, struct pt_page *page, struct pt_line *line)
{
    uint64_t *made = make_zeros(cells, LINE_CELLS_BYTES);
    if (!made)
        return false;
    pt_line_split(line, pt_cells_at(made, 0));
    *line = (struct pt_line){.is_split = true};
    line->accesses[0].stamp = (uintptr_t)made;
    page->n_split++;
    return true;
}

static void free_lines(const struct pt_cells *cells, struct pt_page *page)
{
    for (uint64_t i = 0; page->n_split && i < PAGE_LINES; i++) {
        const struct pt_line *line = pt_line_of(page, i << PT_LINE_SHIFT);
        if (line->is_split)
            resize(cells, pt_line_cells(line), 0);
    }
    resize(cells, page->lines, 0);
    page->lines = NULL;
}

static bool split_page(const struct pt_cells *cells, struct pt_page *page)
{
    uint64_t *made = make_zeros(cells, (size_t)PT_PAGE_CELLS * PT_CELL_BYTES);
    if (!made)
        return false;
    for (uint64_t i = 0; i < PAGE_LINES; i++) {
        const struct pt_line *line = pt_line_of(page, i << PT_LINE_SHIFT);
        struct pt_cell to = pt_cells_at(made, i * PT_LINE_WORDS);
        if (line->is_split)
            memcpy(to.at, pt_line_cells(line), LINE_CELLS_BYTES);
        else
            pt_line_split(line, to);
    }
    free_lines(cells, page);
    page->cells = made;
    return true;
}

struct pt_cell pt_cells_split(struct pt_cells *cells, uint64_t address)
{
    enum { LINES_ALONE = 1 }; /* more leave holes: 8 bytes for each byte are all there are */
    struct pt_page *page = place_of(cells, (address >> PT_PAGE_SHIFT) + 1);
    bool is_split = page->n_split < LINES_ALONE ? split_line(cells, page, pt_line_of(page, address))
                                                : split_page(cells, page);
    if (!is_split) {
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
    return cell.at || !page ? cell : pt_cells_split(cells, address);
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
    for (uint32_t i = 0; i < cells->room; i++) {
        struct pt_page *page = &cells->pages[i];
        if (page->number && page->cells)
            resize(cells, page->cells, 0);
        else if (page->number)
            free_lines(cells, page);
    }
    if (cells->pages)
        resize(cells, cells->pages, 0);
    if (cells->sites)
        resize(cells, cells->sites, 0);
    if (cells->site_slots)
        resize(cells, cells->site_slots, 0);
}
