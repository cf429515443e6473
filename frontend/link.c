/* Linking: names with linkage that several modules of one text share.
 *
 * Each module is read as if it were alone, with names of its own; where it first declares a name
 * with linkage, the function or variable that other modules have under that name takes its part.
 * PTX ISA, "Linking Directives": of .weak definitions the first stays, and gives way to a .visible
 * one; of .common ones the largest counts; .extern ones wait for any of these. */
#include "frontend/link.h"

#include "frontend/redeclare.h"

/* Of the name in other modules, or NULL. The entry is made where there is none. */
static const struct pt_binding *find(struct pt_parser *p, const struct pt_token *at,
                                     enum pt_name_kind kind, uint32_t index)
{
    uint32_t name = pt_scope_intern(&p->links, at->text, at->len);
    const struct pt_binding *b = pt_scope_own(&p->links, name);
    if (!b)
        pt_scope_define(&p->links, name, kind, index)->line = at->line;
    return b;
}

static bool check_kind(struct pt_parser *p, const struct pt_token *at, const struct pt_binding *b,
                       enum pt_name_kind kind)
{
    return b->kind == kind || pt_token_error(p, at, "'%.*s' is a %s on %s", PT_TOKEN_ARGS(at),
                                             b->kind == PT_NAME_FUNC ? "function" : "variable",
                                             pt_token_line(p, b->line));
}

/* ---- functions ------------------------------------------------------------------------------- */

bool pt_link_function(struct pt_parser *p, const struct pt_token *at, uint32_t *func,
                      bool *is_spare)
{
    const struct pt_binding *b = find(p, at, PT_NAME_FUNC, *func);
    if (!b)
        return true;
    if (!check_kind(p, at, b, PT_NAME_FUNC))
        return false;
    const struct pt_func *old = &p->m->funcs.v[b->index], *now = &p->m->funcs.v[*func];
    bool is_defined = !old->is_declared_only || old->alias_of;
    if (!pt_redeclare_same(p->m, old, now))
        return pt_token_error(p, at, "'%.*s' was declared differently on %s", PT_TOKEN_ARGS(at),
                              pt_token_line(p, old->line));
    *is_spare = is_defined && !now->is_declared_only && now->linkage == PT_LINK_WEAK;
    if (is_defined && !now->is_declared_only && !*is_spare && old->linkage != PT_LINK_WEAK)
        return pt_token_error(p, at, "'%.*s' is already defined on %s", PT_TOKEN_ARGS(at),
                              pt_token_line(p, old->line));
    if (is_defined && now->is_declared_only)
        p->m->funcs.n--;
    else if (!*is_spare)
        pt_redeclare_replace(p, b->index, *func);
    *func = b->index;
    return true;
}

/* ---- variables ------------------------------------------------------------------------------- */

/* Definitions of a higher rank replace those of a lower one. */
static int rank(const struct pt_symbol *s)
{
    static const int ranks[] = {
        [PT_LINK_EXTERN] = 0, [PT_LINK_WEAK] = 1, [PT_LINK_COMMON] = 2, [PT_LINK_VISIBLE] = 3};
    _Static_assert(sizeof ranks / sizeof *ranks == PT_LINK_COMMON + 1,
                   "the last of enum pt_linkage");
    return ranks[s->linkage];
}

/* Does the new definition take the place of the old one? */
static bool replaces(const struct pt_symbol *old, const struct pt_symbol *now)
{
    if (rank(now) != rank(old))
        return rank(now) > rank(old);
    return now->linkage == PT_LINK_COMMON ? now->size > old->size || (now->init && !old->init)
                                          : !old->size && now->size;
}

static bool is_same_variable(const struct pt_symbol *old, const struct pt_symbol *now)
{
    bool is_common = old->linkage == PT_LINK_COMMON || now->linkage == PT_LINK_COMMON;
    return old->space == now->space &&
           (is_common || old->size == now->size || !old->size || !now->size);
}

static bool check_variable(struct pt_parser *p, const struct pt_token *at,
                           const struct pt_symbol *old, const struct pt_symbol *now)
{
    bool are_common = old->linkage == PT_LINK_COMMON && now->linkage == PT_LINK_COMMON;
    if ((rank(old) == rank(now) && old->linkage == PT_LINK_VISIBLE) ||
        (are_common && old->init && now->init))
        return pt_token_error(p, at, "'%.*s' is already defined on %s", PT_TOKEN_ARGS(at),
                              pt_token_line(p, old->line));
    return is_same_variable(old, now) ||
           pt_token_error(p, at, "'%.*s' was declared differently on %s", PT_TOKEN_ARGS(at),
                          pt_token_line(p, old->line));
}

bool pt_link_variable(struct pt_parser *p, const struct pt_token *at, const struct pt_symbol *now,
                      uint32_t *symbol)
{
    const struct pt_binding *b = find(p, at, PT_NAME_SYM, p->m->symbols.n);
    *symbol = b ? b->index : PT_NONE;
    if (!b)
        return true;
    if (!check_kind(p, at, b, PT_NAME_SYM))
        return false;
    struct pt_symbol *old = &p->m->symbols.v[b->index];
    uint8_t is_used = old->is_used;
    uint32_t align = old->align > now->align ? old->align : now->align;
    if (!check_variable(p, at, old, now))
        return false;
    if (replaces(old, now))
        *old = *now;
    old->is_used |= is_used;
    old->align = align;
    return true;
}

/* An .extern variable of linked modules must be in one of them. */
bool pt_link_check(struct pt_parser *p)
{
    struct pt_diags *diags = &p->m->diags;
    for (uint32_t i = 1; i < p->m->symbols.n; i++) {
        const struct pt_symbol *s = &p->m->symbols.v[i];
        if (s->linkage == PT_LINK_EXTERN && s->is_used && s->space != PT_SPACE_SHARED)
            pt_diag_error(diags, s->line, 1, 1, "variable '%s' is in none of the linked modules",
                          s->name);
    }
    return diags->errors == 0;
}
