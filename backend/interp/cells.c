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

const struct pt_page *pt_cells_split(struct pt_cells *cells, uint64_t address)
{
    struct pt_page *page = place_of(cells, (address >> PT_PAGE_SHIFT) + 1);
    uint64_t *made = make_zeros(cells, (size_t)PT_PAGE_CELLS * PT_CELL_BYTES);
    if (!made) {
        cells->is_out_of_memory = true;
        return NULL;
    }
    for (uint32_t i = 0; i < PAGE_LINES; i++)
        pt_line_split((const struct pt_line *)(void *)(page->lines + (size_t)i * PT_LINE_BYTES),
                      pt_cells_at(made, i * PT_LINE_WORDS));
    resize(cells, page->lines, 0);
    page->lines = NULL;
    page->cells = made;
    struct pt_page *recent = &cells->recent[page->number % PT_RECENT_PAGES];
    *recent = *page;
    return recent;
}

uint32_t pt_cells_site(struct pt_cells *cells, uint32_t func, uint32_t insn)
{
    uint32_t i = hash((uint64_t)func << 32 | insn) & (PT_SITES - 1);
    for (;;) {
        struct pt_site *site = &cells->sites[i];
        if (i && site->func == func + 1 && site->insn == insn)
            return i;
        if (i && !site->func && cells->n_sites == PT_SITES / 2)
            return 0;
        if (i && !site->func) {
            *site = (struct pt_site){func + 1, insn};
            cells->n_sites++;
            return i;
        }
        i = (i + 1) & (PT_SITES - 1);
    }
}

bool pt_cells_begin(struct pt_cells *cells, const struct pt_allocator *allocator)
{
    *cells = (struct pt_cells){.allocator = allocator};
    cells->sites = make_zeros(cells, PT_SITES * sizeof *cells->sites);
    return cells->sites && grow(cells);
}

void pt_cells_end(struct pt_cells *cells)
{
    for (uint32_t i = 0; i < cells->room; i++)
        if (cells->pages[i].number)
            resize(cells,
                   cells->pages[i].cells ? (void *)cells->pages[i].cells : cells->pages[i].lines,
                   0);
    if (cells->pages)
        resize(cells, cells->pages, 0);
    if (cells->sites)
        resize(cells, cells->sites, 0);
}
