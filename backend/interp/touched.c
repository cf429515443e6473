/* What a launch that is over touched, as cells and lines remember it: whoever is compared with all
 * of a launch needs one access of a word that it conflicts with, if there is one. */
#include "backend/interp/touched.h"

#include "backend/interp/causality.h"
#include "backend/interp/lines.h"

struct telling {
    const struct pt_causality *launch;
    void (*tell)(void *ud, const struct pt_touched *word);
    void *ud;
};

/* An access that a word remembers. */
struct access {
    uint64_t stamp;       /* 0: none */
    uint32_t site, bytes; /* bytes: a set of the word's */
    bool is_write;
};

static bool is_strong(const struct access *a)
{
    return pt_stamp_field(a->stamp, PT_STAMP_SCOPE, PT_STAMP_SCOPE_BITS) != PT_SCOPE_NONE;
}

static void tell_access(const struct telling *t, uint64_t address, const struct access *a)
{
    const struct pt_site *site = &t->launch->cells.sites[a->site];
    bool is_known = a->site && site->func;
    uint32_t scope = pt_stamp_field(a->stamp, PT_STAMP_SCOPE, PT_STAMP_SCOPE_BITS);
    struct pt_touched word = {
        .address = address,
        .bytes = a->bytes,
        .warp = pt_stamp_warp(a->stamp),
        .lane = pt_stamp_low(a->stamp),
        .func = is_known ? site->func - 1 : 0,
        .insn = is_known ? site->insn : UINT32_MAX,
        .use = (a->is_write ? PT_USE_WRITE : PT_USE_READ) |
               (a->stamp >> PT_STAMP_IS_ATOMIC & 1 ? (uint32_t)PT_USE_ATOMIC : 0),
        .scope = (enum pt_scope)scope};
    t->tell(t->ud, &word);
}

/* What conflicts with a read conflicts with a write as well, unless both of these are strong. */
static void tell_word(const struct telling *t, uint64_t address, const struct access *write,
                      const struct access *read)
{
    if (write->stamp)
        tell_access(t, address, write);
    if (read->stamp && (!write->stamp || (is_strong(write) && !is_strong(read))))
        tell_access(t, address, read);
}

static void tell_cells(const struct telling *t, uint64_t first, struct pt_cells_line *cells,
                       uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct pt_cell c = pt_cells_at(cells, i);
        struct access write = {0}, read = {0};
        for (int k = 0; k < PT_CELL_STAMPS; k++) {
            enum pt_cell_stamp which = (enum pt_cell_stamp)k;
            uint64_t stamp = pt_cell_stamp(c, which);
            struct access a = {stamp, pt_cell_site(c, which), pt_cell_bytes(c, which),
                               which == PT_CELL_WRITE || stamp >> PT_STAMP_IS_WRITE & 1};
            struct access *to = a.is_write ? &write : &read;
            if (stamp && (!to->stamp || is_strong(to)))
                *to = a;
        }
        tell_word(t, first + (uint64_t)4 * i, &write, &read);
    }
}

static void tell_line(const struct telling *t, uint64_t first, const struct pt_line *line)
{
    for (uint32_t i = 0; i < PT_LINE_WORDS; i++) {
        struct access write = {0}, read = {0};
        for (uint32_t k = 0; k < line->n; k++) {
            const struct pt_line_access *x = &line->accesses[k];
            struct access *to = k < line->n_writes ? &write : &read;
            if (x->words >> i & 1 && !to->stamp)
                *to = (struct access){pt_line_stamp(x, i), x->site, 15, k < line->n_writes};
        }
        tell_word(t, first + (uint64_t)4 * i, &write, &read);
    }
}

static void tell_page(const struct telling *t, const struct pt_page *page)
{
    uint64_t first = (page->number - 1) << PT_PAGE_SHIFT;
    if (page->cells) {
        tell_cells(t, first, page->cells, PT_PAGE_CELLS);
        return;
    }
    for (uint64_t at = 0; at < 1u << PT_PAGE_SHIFT; at += PT_LINE_BYTES) {
        const struct pt_line *line = pt_line_of(page, at);
        if (line->is_split)
            tell_cells(t, first + at, &page->lines->alone, PT_LINE_WORDS);
        else
            tell_line(t, first + at, line);
    }
}

/* Where others of the GPU can acquire what was released. */
static void tell_releases(const struct telling *t)
{
    const struct pt_causality *g = t->launch;
    for (uint32_t i = 0; i < g->room_locations; i++) {
        const struct pt_location *l = &g->locations[i];
        if (l->key && l->release[PT_RELEASES - 1].clock)
            t->tell(t->ud, &(struct pt_touched){.address = (l->key - 1) << 2,
                                                .bytes = 15,
                                                .insn = UINT32_MAX,
                                                .scope = PT_SCOPE_GPU});
    }
}

bool pt_touched_tell(const struct pt_launch *launch,
                     void (*tell)(void *ud, const struct pt_touched *word), void *ud)
{
    struct telling t = {launch->causality, tell, ud};
    const struct pt_cells *cells = t.launch ? &t.launch->cells : NULL;
    for (uint32_t i = 0; cells && i < cells->room; i++)
        if (cells->pages[i].number)
            tell_page(&t, &cells->pages[i]);
    if (cells)
        tell_releases(&t);
    if (cells && t.launch->is_of_system)
        tell(ud, &(struct pt_touched){.insn = UINT32_MAX, .scope = PT_SCOPE_SYS});
    return cells && !t.launch->is_blind;
}
