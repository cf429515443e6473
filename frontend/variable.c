/* Declarations: variables of every state space. */
#include "frontend/variable.h"

#include <stdio.h>

#include "frontend/constexpr.h"
#include "frontend/decl.h"
#include "frontend/init.h"
#include "frontend/link.h"
#include "frontend/register.h"

/* Two declarations of one module variable, of which at least one is .extern. */
static bool merge(struct pt_parser *p, const struct pt_token *at, struct pt_symbol *old,
                  const struct pt_decl *d, const struct pt_symbol *now)
{
    bool old_extern = old->linkage == PT_LINK_EXTERN, new_extern = d->linkage == PT_LINK_EXTERN;
    if (!old_extern && !new_extern)
        return pt_decl_report_twice(p, at, old->line);
    if ((old_extern && d->linkage == PT_LINK_LOCAL) ||
        (new_extern && old->linkage == PT_LINK_LOCAL))
        return pt_token_error(
            p, at, "'%.*s' is '.extern' in one declaration and has no linkage in the other",
            PT_TOKEN_ARGS(at));
    if (old->space != now->space || old->type != now->type || old->vec != now->vec ||
        old->is_array != now->is_array || (old->size && now->size && old->size != now->size))
        return pt_token_error(p, at, "'%.*s' was declared differently on %s", PT_TOKEN_ARGS(at),
                              pt_token_line(p, old->line));
    if (old->align < now->align)
        old->align = now->align;
    if (!new_extern)
        old->linkage = now->linkage;
    if (now->size) {
        old->size = now->size;
        old->is_unsized = 0;
    }
    if (!new_extern) {
        old->init = now->init;
        old->init_size = now->init_size;
        old->relocs.v = now->relocs.v;
        old->relocs.n = now->relocs.n;
        old->relocs.cap = now->relocs.cap;
    }
    return true;
}

/* = …, if it is there. */
static bool read_initialiser(struct pt_parser *p, const struct pt_token *at,
                             const struct pt_decl *d, struct pt_decl_shape *s,
                             struct pt_symbol *sym)
{
    struct pt_token eq = p->tok;
    if (!pt_token_accept(p, '='))
        return true;
    if (d->space != PT_SPACE_GLOBAL && d->space != PT_SPACE_CONST)
        return pt_token_error(p, &eq, "a variable in '%.*s' cannot have an initial value",
                              PT_TOKEN_ARGS(&d->space_tok));
    if (d->linkage == PT_LINK_EXTERN)
        return pt_token_error(p, &eq, "'.extern' variable '%.*s' cannot have an initial value",
                              PT_TOKEN_ARGS(at));
    return pt_decl_is_opaque(d) ? pt_init_opaque(p, d->type) : pt_init_parse(p, sym, s->dims, s->n);
}

static bool finish_variable(struct pt_parser *p, const struct pt_token *at, const struct pt_decl *d,
                            struct pt_decl_shape *s, struct pt_symbol *sym)
{
    if (!read_initialiser(p, at, d, s, sym))
        return false;
    if (!pt_decl_size(d, s, &sym->size))
        return pt_token_error(p, at, "'%.*s' is too large", PT_TOKEN_ARGS(at));
    sym->is_unsized = s->n > 0 && !s->dims[0];
    if (sym->is_unsized && d->linkage != PT_LINK_EXTERN)
        return pt_token_error(p, at, "the number of elements of '%.*s' is missing",
                              PT_TOKEN_ARGS(at));
    return true;
}

static void add_variable(struct pt_parser *p, const struct pt_token *at, uint32_t name,
                         const struct pt_symbol *sym)
{
    uint32_t index = pt_decl_add_symbol(p, sym);
    pt_decl_define(p, at, name, PT_NAME_SYM, index);
    if (p->func)
        *pt_vec_push(&p->m->arena, &pt_token_func(p)->locals) = index;
}

/* name<N>: N variables. */
static bool read_variables_of_range(struct pt_parser *p, const struct pt_token *at,
                                    const struct pt_decl *d)
{
    uint32_t count, name;
    struct pt_decl_shape s = {0};
    if (!pt_token_u32(p, &count) || !pt_token_expect(p, '>'))
        return false;
    if (count > PT_MAX_RANGED - p->n_ranged)
        return pt_token_error(p, at, "too many variables (at most %d in ranges)", PT_MAX_RANGED);
    p->n_ranged += count;
    for (uint32_t i = 0; i < count; i++) {
        char text[128];
        struct pt_token member = *at;
        member.len = (uint32_t)snprintf(text, sizeof text, "%.*s%u", PT_TOKEN_ARGS(at), i);
        member.text = text;
        if (!pt_decl_name(p, &member, &name))
            return false;
        struct pt_symbol sym = pt_decl_make_symbol(p, at, p->scopes.names.v[name].text, d);
        pt_decl_size(d, &s, &sym.size);
        add_variable(p, at, name, &sym);
    }
    return true;
}

/* name [dims] [= init]. The initialiser is read before the name is known: a variable's own
 * address cannot be in it. */
static bool read_variable(struct pt_parser *p, const struct pt_decl *d)
{
    struct pt_token at = p->tok;
    struct pt_decl_shape s = {0};
    uint32_t linked = PT_NONE;
    pt_token_advance(p);
    if (pt_token_accept(p, '<'))
        return read_variables_of_range(p, &at, d);
    if (!pt_decl_read_dims(p, &s))
        return false;
    uint32_t name = pt_scope_intern(&p->scopes, at.text, at.len);
    const struct pt_binding *b = pt_scope_own(&p->scopes, name);
    uint32_t old = b && !p->func && b->kind == PT_NAME_SYM ? b->index : 0;
    bool is_linked = !p->func && d->linkage != PT_LINK_LOCAL;
    if (!old && !pt_decl_name(p, &at, &name))
        return false;
    struct pt_symbol sym = pt_decl_make_symbol(p, &at, p->scopes.names.v[name].text, d);
    sym.is_array = s.n > 0;
    if (!finish_variable(p, &at, d, &s, &sym))
        return false;
    if (old && !pt_token_is_elsewhere(p, p->m->symbols.v[old].line))
        return merge(p, &at, &p->m->symbols.v[old], d, &sym);
    if (is_linked && !pt_link_variable(p, &at, &sym, &linked))
        return false;
    if (linked && !old)
        pt_decl_define(p, &at, name, PT_NAME_SYM, linked);
    if (!linked)
        add_variable(p, &at, name, &sym);
    return true;
}

/* Space and linkage of a variable at module scope. */
static bool check_module_scope(struct pt_parser *p, const struct pt_decl *d)
{
    if (d->space == PT_SPACE_REG || d->space == PT_SPACE_LOCAL || d->space == PT_SPACE_PARAM)
        return pt_token_error(p, &d->space_tok, "'%.*s' variables must be declared in a function",
                              PT_TOKEN_ARGS(&d->space_tok));
    if (d->space == PT_SPACE_TEX) {
        if (d->type != PT_u32 && d->type != PT_u64)
            return pt_token_error(p, &d->type_tok, "a '.tex' variable must be .u32 or .u64");
        if (p->m->ptx >= 15)
            return pt_token_error(
                p, &d->space_tok,
                "'.tex' variables ended with .version 1.4; use '.global .texref'");
    }
    if (d->linkage == PT_LINK_COMMON && d->space != PT_SPACE_GLOBAL)
        return pt_token_error(p, &d->space_tok, "'.common' variables must be in '.global'");
    return true;
}

bool pt_variable_read(struct pt_parser *p, enum pt_linkage linkage,
                      const struct pt_token *linkage_tok)
{
    struct pt_decl d = {.linkage = linkage};
    if (!pt_decl_read(p, &d) || !pt_decl_check(p, &d) || !(p->func || check_module_scope(p, &d)))
        return false;
    if (p->func && linkage != PT_LINK_LOCAL)
        return pt_token_error(p, linkage_tok, "'%.*s' is not allowed in a function",
                              PT_TOKEN_ARGS(linkage_tok));
    if (p->func && (pt_decl_is_opaque(&d) || d.space == PT_SPACE_TEX))
        return pt_token_error(p, &d.type_tok,
                              "textures, samplers and surfaces cannot be declared in a function");
    if (!pt_decl_check_opaque(p, &d))
        return false;
    if (pt_token_accept(p, ';')) /* ".reg .u32;" declares nothing, and is accepted */
        return true;
    do {
        if (p->tok.kind != PT_TOK_NAME || pt_decl_is_blank(&p->tok) || pt_constexpr_starts(&p->tok))
            return pt_token_unexpected(p, "a name");
        if (!(d.space == PT_SPACE_REG ? pt_register_read(p, &d) : read_variable(p, &d)))
            return false;
    } while (pt_token_accept(p, ','));
    return pt_token_expect(p, ';');
}
