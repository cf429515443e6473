/* Declarations of one function: whether they agree, and the place of the last one. */
#include "frontend/redeclare.h"

static bool same_parameter(const struct pt_symbol *a, const struct pt_symbol *b)
{
    return a->type == b->type && a->space == b->space && a->vec == b->vec && a->size == b->size &&
           a->is_array == b->is_array && a->align == b->align;
}

static bool same_list(const struct pt_module *m, const uint32_t *a, uint32_t n_a, const uint32_t *b,
                      uint32_t n_b)
{
    if (n_a != n_b)
        return false;
    for (uint32_t i = 0; i < n_a; i++)
        if (!same_parameter(&m->symbols.v[a[i]], &m->symbols.v[b[i]]))
            return false;
    return true;
}

bool pt_redeclare_same(const struct pt_module *m, const struct pt_func *a, const struct pt_func *b)
{
    return a->is_entry == b->is_entry && a->is_noreturn == b->is_noreturn &&
           same_list(m, a->params.v, a->params.n, b->params.v, b->params.n) &&
           same_list(m, a->results.v, a->results.n, b->results.v, b->results.n);
}

void pt_redeclare_replace(struct pt_parser *p, uint32_t old, uint32_t now)
{
    struct pt_func *o = &p->m->funcs.v[old], *n = &p->m->funcs.v[now];
    if (n->linkage == PT_LINK_LOCAL)
        n->linkage = o->linkage;
    for (uint32_t i = 0; i < n->params.n; i++)
        p->m->symbols.v[n->params.v[i]].func = old;
    for (uint32_t i = 0; i < n->results.n; i++)
        p->m->symbols.v[n->results.v[i]].func = old;
    *o = *n;
    p->m->funcs.n--;
}
