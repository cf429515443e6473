/* Functions: headers, declarations against definitions, aliases. */
#include "frontend/func.h"

#include <string.h>

#include "frontend/body.h"
#include "frontend/decl.h"
#include "frontend/parameter.h"
#include "frontend/directive.h"
#include "frontend/link.h"
#include "frontend/redeclare.h"

/* ---- declarations and definitions ------------------------------------------------------------ */

/* May `now` (a declaration or the definition) follow the earlier declaration `old`? */
static bool check_again(struct pt_parser *p, const struct pt_token *at, const struct pt_func *old,
                        const struct pt_func *now)
{
    if (!old->is_declared_only || old->alias_of)
        return pt_token_error(p, at, "'%.*s' is already defined on %s", PT_TOKEN_ARGS(at),
                              pt_token_line(p, old->line));
    if (!pt_redeclare_same(p->m, old, now))
        return pt_token_error(p, at, "'%.*s' was declared differently on %s", PT_TOKEN_ARGS(at),
                              pt_token_line(p, old->line));
    if (old->linkage == PT_LINK_EXTERN && !now->is_declared_only)
        return pt_token_error(p, at, "'%.*s' is declared '.extern' on %s", PT_TOKEN_ARGS(at),
                              pt_token_line(p, old->line));
    if (now->linkage != PT_LINK_LOCAL && now->linkage != old->linkage)
        return pt_token_error(p, at, "'%.*s' was declared with other linkage on %s",
                              PT_TOKEN_ARGS(at), pt_token_line(p, old->line));
    return true;
}

/* Where the function is not known in this module yet, or only from others: links it to theirs. */
static bool bind_first(struct pt_parser *p, const struct pt_token *at, uint32_t name,
                       uint32_t *func, bool *is_spare)
{
    uint32_t named = *func;
    if (p->m->funcs.v[*func].linkage != PT_LINK_LOCAL && !pt_link_function(p, at, &named, is_spare))
        return false;
    if (!pt_scope_own(&p->scopes, name))
        pt_scope_define(&p->scopes, name, PT_NAME_FUNC, named)->line = at->line;
    if (!*is_spare)
        *func = named;
    return true;
}

/* Gives the function its name in the module's scope, which is the current one. */
static bool bind(struct pt_parser *p, const struct pt_token *at, uint32_t *func, bool *is_spare)
{
    uint32_t name = pt_scope_intern(&p->scopes, at->text, at->len);
    const struct pt_binding *b = pt_scope_own(&p->scopes, name);
    if (!b || (b->kind == PT_NAME_FUNC && pt_token_is_elsewhere(p, p->m->funcs.v[b->index].line)))
        return bind_first(p, at, name, func, is_spare);
    if (b->kind != PT_NAME_FUNC)
        return pt_token_error(p, at, "'%.*s' is already declared on %s", PT_TOKEN_ARGS(at),
                              pt_token_line(p, b->line));
    if (!check_again(p, at, &p->m->funcs.v[b->index], &p->m->funcs.v[*func]))
        return false;
    pt_redeclare_replace(p, b->index, *func);
    *func = b->index;
    return true;
}

static void bind_parameters(struct pt_parser *p, const uint32_t *symbols, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct pt_symbol *sym = &p->m->symbols.v[symbols[i]];
        if (!strcmp(sym->name, "_"))
            continue;
        bool is_reg = sym->space == PT_SPACE_REG;
        uint32_t count = 1; /* the components of a vector have one name */
        while (i + 1 < n && p->m->symbols.v[symbols[i + 1]].name == sym->name)
            count++, i++;
        uint32_t name = pt_scope_intern(&p->scopes, sym->name, (uint32_t)strlen(sym->name));
        struct pt_binding *b = pt_scope_define(&p->scopes, name, is_reg ? PT_NAME_REG : PT_NAME_SYM,
                                               is_reg ? sym->reg : symbols[i]);
        b->count = (uint8_t)count;
        b->line = sym->line;
    }
}

/* [.attribute(…)] [(results)] NAME [(parameters)] directives. The scope of the parameters is
 * entered. */
static bool read_header(struct pt_parser *p, uint32_t func, struct pt_token *name)
{
    bool is_managed;
    if (pt_token_accept_dot(p, "attribute") && !pt_decl_attribute(p, &is_managed))
        return false;
    if (pt_token_is(p, '(')) {
        if (p->m->funcs.v[func].is_entry)
            return pt_token_error(p, &p->tok, "a kernel has no results");
        if (!pt_parameter_read(p, func, true, false))
            return false;
    }
    *name = p->tok;
    if (name->kind != PT_TOK_NAME || (name->len == 1 && *name->text == '_'))
        return pt_token_unexpected(p, "the name of the function");
    uint32_t interned = pt_scope_intern(&p->scopes, name->text, name->len);
    p->m->funcs.v[func].name = p->scopes.names.v[interned].text;
    p->m->funcs.v[func].line = name->line;
    pt_token_advance(p);
    if (pt_token_is(p, '(') && !pt_parameter_read(p, func, false, false))
        return false;
    return pt_directive_read(p, func) && pt_directive_check(p, &p->m->funcs.v[func], name);
}

/* Tuning belongs to the definition of a kernel. */
static bool check_declaration(struct pt_parser *p, const struct pt_func *f,
                              const struct pt_token *name)
{
    bool is_plain = !f->maxntid[0] && !f->reqntid[0] && !f->maxnreg && !f->minnctapersm &&
                    !f->reqnctapercluster[0] && !f->maxclusterrank && !f->explicit_cluster;
    return is_plain ||
           pt_token_error(p, name, "the declaration of a kernel cannot have directives");
}

static bool parse_body(struct pt_parser *p, uint32_t func)
{
    const struct pt_func *f = &p->m->funcs.v[func];
    pt_scope_enter(&p->scopes);
    bind_parameters(p, f->results.v, f->results.n);
    bind_parameters(p, f->params.v, f->params.n);
    return pt_body_parse(p);
}

bool pt_func_parse(struct pt_parser *p, enum pt_linkage linkage)
{
    struct pt_token at = p->tok, name;
    uint32_t n_symbols = p->m->symbols.n;
    bool is_spare = false;
    struct pt_func *f = pt_vec_push(&p->m->arena, &p->m->funcs);
    uint32_t func = p->func = p->m->funcs.n - 1;
    memset(f, 0, sizeof *f);
    f->is_entry = pt_token_is_dot(p, "entry");
    f->linkage = (uint8_t)linkage;
    pt_token_advance(p);
    pt_scope_enter(&p->scopes);
    bool ok = read_header(p, func, &name);
    pt_scope_leave(&p->scopes, NULL, NULL);
    if (!ok) {
        p->m->funcs.n--;
        p->func = PT_NONE;
        return false;
    }
    bool has_body = pt_token_is(p, '{');
    p->m->funcs.v[func].is_declared_only = !has_body;
    if (!has_body && f->is_entry)
        ok = pt_token_needs(p, &at, 30, 0, "the declaration of a kernel") &&
             check_declaration(p, f, &name);
    if (has_body && linkage == PT_LINK_EXTERN)
        ok = pt_token_error(p, &name, "'.extern' function '%.*s' cannot have a body",
                            PT_TOKEN_ARGS(&name));
    if (!ok || !bind(p, &name, &func, &is_spare)) {
        p->m->funcs.n--;
        p->func = PT_NONE;
        return false;
    }
    p->func = func;
    if (has_body)
        ok = parse_body(p, func);
    else
        pt_token_accept(p, ';'); /* NVIDIA's assembler does not insist on it */
    p->func = PT_NONE;
    if (is_spare) {
        p->m->funcs.n = func;
        p->m->symbols.n = n_symbols;
    }
    return ok;
}

/* ---- .alias ---------------------------------------------------------------------------------- */

/* The function a name stands for at module scope; 0 after an error. */
static uint32_t find_func(struct pt_parser *p, const struct pt_token *at)
{
    if (at->kind != PT_TOK_NAME) {
        pt_token_unexpected(p, "the name of a function");
        return 0;
    }
    const struct pt_binding *b = pt_scope_find(&p->scopes, at->text, at->len);
    if (!b || b->kind != PT_NAME_FUNC) {
        pt_token_error(p, at, "'%.*s' is not a declared function", PT_TOKEN_ARGS(at));
        return 0;
    }
    return b->index;
}

static bool check_alias(struct pt_parser *p, const struct pt_token *at, const struct pt_func *alias,
                        const struct pt_func *target)
{
    if (alias == target)
        return pt_token_error(p, at, "a function cannot be an alias of itself");
    if (alias->alias_of)
        return pt_token_error(p, at, "'%s' is an alias already", alias->name);
    if (alias->is_entry || target->is_entry)
        return pt_token_error(p, at, "a kernel cannot be part of an alias");
    if (!alias->is_declared_only)
        return pt_token_error(p, at, "'%s' has a body and cannot be an alias", alias->name);
    if (!pt_redeclare_same(p->m, alias, target))
        return pt_token_error(p, at, "'%s' and '%s' are declared differently", alias->name,
                              target->name);
    return true;
}

bool pt_func_alias(struct pt_parser *p)
{
    struct pt_token at = p->tok, alias_tok, target_tok;
    pt_token_advance(p);
    if (!pt_token_needs(p, &at, 63, 30, ".alias"))
        return false;
    alias_tok = p->tok;
    uint32_t alias = find_func(p, &alias_tok);
    if (!alias)
        return false;
    pt_token_advance(p);
    if (!pt_token_expect(p, ','))
        return false;
    target_tok = p->tok;
    uint32_t target = find_func(p, &target_tok);
    const struct pt_func *f = &p->m->funcs.v[alias];
    bool is_spare = f->linkage == PT_LINK_WEAK && pt_token_is_elsewhere(p, f->line);
    if (!target || (!is_spare && !check_alias(p, &alias_tok, f, &p->m->funcs.v[target])))
        return false;
    pt_token_advance(p);
    if (!is_spare)
        p->m->funcs.v[alias].alias_of = target;
    return pt_token_expect(p, ';');
}
