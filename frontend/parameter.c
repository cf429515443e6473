/* Parameters and results of functions. */
#include "frontend/parameter.h"

#include "frontend/decl.h"
#include "frontend/register.h"
#include "ir/layout.h"

struct list {
    uint32_t func;
    bool is_entry, is_result, is_prototype;
};

static bool check_parameter(struct pt_parser *p, const struct list *l, const struct pt_decl *d)
{
    const struct pt_func *f = &p->m->funcs.v[l->func];
    uint32_t before = l->is_result ? f->results.n : f->params.n;
    if (d->space != PT_SPACE_PARAM && d->space != PT_SPACE_REG)
        return pt_token_error(p, &d->space_tok, "a parameter must be in '.param' or '.reg'");
    if (l->is_entry && d->space == PT_SPACE_REG)
        return pt_token_error(p, &d->space_tok, "a kernel's parameter must be in '.param'");
    if (l->is_entry && !pt_token_needs(p, &d->space_tok, 14, 0, ".entry (.param)"))
        return false;
    if (!l->is_entry && d->space == PT_SPACE_PARAM &&
        !pt_token_needs(p, &d->space_tok, 20, 20, ".func (.param)"))
        return false;
    if (!l->is_entry && d->is_ptr)
        return pt_token_error(p, &d->space_tok, "'.ptr' describes parameters of kernels only");
    if (l->is_result && d->space == PT_SPACE_PARAM && before)
        return pt_token_error(p, &d->space_tok, "several results must be in '.reg'");
    if (!l->is_entry && pt_type_class(d->type) == PT_CLASS_O)
        return pt_token_error(p, &d->type_tok, "'%.*s' parameters belong to kernels only",
                              PT_TOKEN_ARGS(&d->type_tok));
    if (!l->is_result && before && p->m->symbols.v[f->params.v[before - 1]].is_unsized)
        return pt_token_error(p, &d->space_tok, "only the last parameter may have no size");
    return pt_decl_check(p, d) && pt_decl_check_opaque(p, d);
}

static bool check_array(struct pt_parser *p, const struct list *l, const struct pt_token *at,
                        const struct pt_decl *d, const struct pt_decl_shape *s)
{
    if (s->n && d->space == PT_SPACE_REG)
        return pt_token_error(p, at, "a register cannot be an array");
    if (s->n > 1)
        return pt_token_error(p, at, "a parameter array has one dimension");
    if (s->n && !s->dims[0]) {
        if (l->is_entry || l->is_result)
            return pt_token_error(p, at, "the size of '%.*s' is missing", PT_TOKEN_ARGS(at));
        return pt_token_needs(p, at, 51, 30, "a parameter without size");
    }
    return true;
}

static bool place(struct pt_parser *p, const struct list *l, const struct pt_token *at,
                  struct pt_symbol *sym)
{
    struct pt_func *f = &p->m->funcs.v[l->func];
    unsigned limit = p->m->sm < 20 ? 256 : p->m->ptx >= 81 && p->m->sm >= 70 ? 32764 : 4352;
    return !l->is_entry || pt_layout_parameter(f, sym, limit) ||
           pt_token_error(p, at, "the parameters of '%s' take more than %u bytes", f->name, limit);
}

static bool bind_parameter(struct pt_parser *p, const struct list *l, const struct pt_token *at,
                           const struct pt_decl *d, struct pt_symbol *sym)
{
    struct pt_func *f = &p->m->funcs.v[l->func];
    uint32_t name = pt_scope_intern(&p->scopes, at->text, at->len);
    if (pt_decl_is_blank(at) && !l->is_entry && !l->is_prototype)
        return pt_token_error(p, at, "a parameter must have a name");
    bool is_named = !pt_decl_is_blank(at) && !l->is_prototype;
    if (is_named && !pt_decl_name(p, at, &name))
        return false;
    sym->name = p->scopes.names.v[name].text;
    if (d->space == PT_SPACE_REG && !l->is_prototype && !pt_register_add(p, at, name, d, &sym->reg))
        return false;
    uint32_t index = 0, n = sym->vec, first = sym->reg;
    sym->size /= n;
    sym->vec = 1;
    for (uint32_t i = 0; i < n; i++) { /* a vector, which only registers may be: its components */
        sym->reg = first + (first ? i : 0);
        index = pt_decl_add_symbol(p, sym);
        *(l->is_result ? pt_vec_push(&p->m->arena, &f->results)
                       : pt_vec_push(&p->m->arena, &f->params)) = index;
    }
    sym->reg = first;
    if (is_named && d->space == PT_SPACE_REG)
        pt_decl_define(p, at, name, PT_NAME_REG, sym->reg)->count = d->vec;
    else if (is_named)
        pt_decl_define(p, at, name, PT_NAME_SYM, index);
    return true;
}

static bool read_parameter(struct pt_parser *p, const struct list *l)
{
    struct pt_decl d = {0};
    struct pt_decl_shape s = {0};
    if (!pt_decl_read(p, &d) || !pt_decl_read_suffix(p, &d) || !check_parameter(p, l, &d))
        return false;
    struct pt_token at = p->tok;
    if (at.kind != PT_TOK_NAME)
        return pt_token_unexpected(p, "a name");
    pt_token_advance(p);
    if (!pt_decl_read_dims(p, &s) || !check_array(p, l, &at, &d, &s))
        return false;
    struct pt_symbol sym = pt_decl_make_symbol(p, &at, NULL, &d);
    sym.func = l->func;
    sym.is_array = s.n > 0;
    sym.is_unsized = s.n > 0 && !s.dims[0];
    if (!pt_decl_size(&d, &s, &sym.size))
        return pt_token_error(p, &at, "'%.*s' is too large", PT_TOKEN_ARGS(&at));
    return place(p, l, &at, &sym) && bind_parameter(p, l, &at, &d, &sym);
}

bool pt_parameter_read(struct pt_parser *p, uint32_t func, bool is_result, bool is_prototype)
{
    struct list l = {func, p->m->funcs.v[func].is_entry, is_result, is_prototype};
    if (!pt_token_expect(p, '('))
        return false;
    if (pt_token_accept(p, ')'))
        return true;
    do {
        if (!read_parameter(p, &l))
            return false;
    } while (pt_token_accept(p, ','));
    return pt_token_expect(p, ')');
}
