/* Source lines: .file and .loc. */
#include "frontend/loc.h"

#include <string.h>

#include "frontend/constexpr.h"

/* ---- .file ----------------------------------------------------------------------------------- */

static const char unnamed[] = "?"; /* a file that only a .loc has mentioned so far */

static uint32_t *file_slot(const struct pt_parser *p, uint32_t number)
{
    uint32_t hash = number * 0x9e3779b1u;
    for (uint32_t i = hash ^ hash >> 15;; i++) {
        uint32_t *slot = &p->file_slots.v[i & (p->file_slots.n - 1)];
        if (!*slot || p->m->files.v[*slot].number == number)
            return slot;
    }
}

/* The index in m->files of a file number, which .file may name later. */
static uint32_t find_file(struct pt_parser *p, uint32_t number)
{
    struct pt_module *m = p->m;
    if (p->file_slots.n < 2 * m->files.n + 16) {
        uint32_t n = p->file_slots.n ? p->file_slots.n * 2 : 64;
        memset(&p->file_slots, 0, sizeof p->file_slots);
        (void)pt_vec_extend(&m->arena, &p->file_slots, n);
        for (uint32_t i = p->first_file; i < m->files.n; i++)
            *file_slot(p, m->files.v[i].number) = i;
    }
    uint32_t *slot = file_slot(p, number);
    if (!*slot) {
        *slot = m->files.n;
        *pt_vec_push(&m->arena, &m->files) = (struct pt_file){number, unnamed};
    }
    return *slot;
}

/* .file N "name" [, time, size] */
bool pt_loc_file(struct pt_parser *p)
{
    uint32_t number;
    struct pt_const ignored;
    pt_token_advance(p);
    struct pt_token at = p->tok;
    if (!pt_token_u32(p, &number))
        return false;
    if (p->tok.kind != PT_TOK_STRING)
        return pt_token_unexpected(p, "the name of a file");
    uint32_t file = find_file(p, number);
    if (p->m->files.v[file].name != unnamed)
        return pt_token_error(p, &at, "file %u is already declared", number);
    p->m->files.v[file].name = pt_arena_text(&p->m->arena, p->tok.text + 1, p->tok.len - 2);
    pt_token_advance(p);
    at = p->tok;
    if (!pt_token_accept(p, ','))
        return true;
    if (!pt_token_needs(p, &at, 32, 0, "the time of a file") || !pt_constexpr_parse(p, &ignored))
        return false;
    return !pt_token_accept(p, ',') || pt_constexpr_parse(p, &ignored);
}

/* ---- .loc ------------------------------------------------------------------------------------ */

static bool same_place(const struct pt_loc *a, const struct pt_loc *b)
{
    return a->file == b->file && a->line == b->line && a->col == b->col;
}

/* The slot of the last .loc at that place, or the free one for it. */
static uint32_t *loc_slot(const struct pt_parser *p, const struct pt_loc *loc)
{
    uint32_t hash = (loc->file * 31 + loc->line) * 0x9e3779b1u + loc->col * 0x85ebca6bu;
    for (uint32_t i = hash ^ hash >> 15;; i++) {
        uint32_t *slot = &p->loc_slots.v[i & (p->loc_slots.n - 1)];
        if (!*slot || same_place(&p->m->locs.v[*slot], loc))
            return slot;
    }
}

static void add_loc(struct pt_parser *p, const struct pt_loc *loc)
{
    struct pt_module *m = p->m;
    if (p->loc_slots.n < 2 * m->locs.n + 16) {
        uint32_t n = p->loc_slots.n ? p->loc_slots.n * 2 : 64;
        memset(&p->loc_slots, 0, sizeof p->loc_slots);
        (void)pt_vec_extend(&m->arena, &p->loc_slots, n);
        for (uint32_t i = 1; i < m->locs.n; i++)
            *loc_slot(p, &m->locs.v[i]) = i;
    }
    uint32_t *slot = loc_slot(p, loc);
    const struct pt_loc *last = *slot ? &m->locs.v[*slot] : NULL;
    if (!last || last->inlined_at != loc->inlined_at) {
        *slot = m->locs.n;
        *pt_vec_push(&m->arena, &m->locs) = *loc;
    }
    p->loc = *slot;
}

static bool read_place(struct pt_parser *p, struct pt_loc *loc)
{
    uint32_t file;
    if (!pt_token_u32(p, &file) || !pt_token_u32(p, &loc->line) || !pt_token_u32(p, &loc->col))
        return false;
    loc->file = find_file(p, file);
    return true;
}

/* , function_name LABEL [+ N], inlined_at FILE LINE COL */
static bool read_inlined(struct pt_parser *p, struct pt_loc *loc)
{
    struct pt_token at = p->tok;
    struct pt_loc outer = {0};
    uint32_t ignored;
    if (!pt_token_accept_name(p, "function_name"))
        return pt_token_unexpected(p, "'function_name'");
    if (!pt_token_needs(p, &at, 70, 0, "function_name"))
        return false;
    if (p->tok.kind != PT_TOK_NAME && p->tok.kind != PT_TOK_DOT)
        return pt_token_unexpected(p, "a label of a debug section");
    pt_token_advance(p);
    if (pt_token_accept(p, '+') && !pt_token_u32(p, &ignored))
        return false;
    if (!pt_token_expect(p, ','))
        return false;
    at = p->tok;
    if (!pt_token_accept_name(p, "inlined_at"))
        return pt_token_unexpected(p, "'inlined_at'");
    if (!read_place(p, &outer))
        return false;
    loc->inlined_at = p->loc_slots.n ? *loc_slot(p, &outer) : 0;
    if (!loc->inlined_at)
        return pt_token_error(p, &at,
                              "no '.loc' before this one stands at the place it is inlined at");
    return true;
}

bool pt_loc_parse(struct pt_parser *p)
{
    struct pt_loc loc = {0};
    pt_token_advance(p);
    if (!read_place(p, &loc) || (pt_token_accept(p, ',') && !read_inlined(p, &loc)))
        return false;
    add_loc(p, &loc);
    return true;
}

/* .loc_intermediate FILE LINE COL: a place in what another compiler handed on; read and dropped. */
bool pt_loc_intermediate(struct pt_parser *p)
{
    struct pt_token at = p->tok;
    struct pt_loc ignored = {0};
    pt_token_advance(p);
    return pt_token_needs(p, &at, 94, 0, ".loc_intermediate") && read_place(p, &ignored);
}
