/* Functions: headers, tuning directives, declarations against definitions, aliases, prototypes. */
#include "frontend/parse.h"

#include <string.h>

/* ---- directives between the header and the body ---------------------------------------------- */

/* N [, N [, N]]; elements not given are 1. */
static bool read_triple(struct pt_parser *p, uint32_t triple[3], bool zero_is_fine)
{
    triple[0] = triple[1] = triple[2] = 1;
    for (int i = 0; i < 3; i++) {
        struct pt_token at = p->tok;
        if (!pt_parse_u32(p, &triple[i]))
            return false;
        if (!triple[i] && !zero_is_fine)
            return pt_parse_error(p, &at, "a number above 0 is needed");
        if (i < 2 && !pt_parse_accept(p, ','))
            break;
    }
    return true;
}

static bool read_positive(struct pt_parser *p, uint32_t *value)
{
    struct pt_token at = p->tok;
    return pt_parse_u32(p, value) &&
           (*value || pt_parse_error(p, &at, "a number above 0 is needed"));
}

static bool read_kernel_directive(struct pt_parser *p, struct pt_func *f, const struct pt_token *at,
                                  const char *word)
{
    uint32_t ignored;
    pt_parse_advance(p);
    if (!strcmp(word, "maxntid"))
        return pt_parse_needs(p, at, 13, 0, ".maxntid") && read_triple(p, f->maxntid, false);
    if (!strcmp(word, "reqntid"))
        return pt_parse_needs(p, at, 21, 0, ".reqntid") && read_triple(p, f->reqntid, false);
    if (!strcmp(word, "maxnreg"))
        return pt_parse_needs(p, at, 13, 0, ".maxnreg") && read_positive(p, &f->maxnreg);
    if (!strcmp(word, "minnctapersm"))
        return pt_parse_needs(p, at, 20, 0, ".minnctapersm") && read_positive(p, &f->minnctapersm);
    if (!strcmp(word, "maxnctapersm")) {
        if (p->m->ptx > 20)
            return pt_parse_error(p, at,
                                  "'.maxnctapersm' ended with .version 2.0; use '.minnctapersm'");
        return pt_parse_needs(p, at, 13, 0, ".maxnctapersm") && read_positive(p, &ignored);
    }
    if (!strcmp(word, "reqnctapercluster"))
        return pt_parse_needs(p, at, 78, 90, ".reqnctapercluster") &&
               read_triple(p, f->reqnctapercluster, true);
    if (!strcmp(word, "maxclusterrank"))
        return pt_parse_needs(p, at, 78, 90, ".maxclusterrank") &&
               pt_parse_u32(p, &f->maxclusterrank);
    if (!strcmp(word, "explicitcluster")) {
        f->explicit_cluster = true;
        return pt_parse_needs(p, at, 78, 90, ".explicitcluster");
    }
    if (!strcmp(word, "minperctamemory")) /* %perctamemorysize is 0: none is given */
        return pt_parse_needs(p, at, 94, 80, ".minperctamemory") && pt_parse_u32(p, &ignored);
    f->blocks_are_clusters = true;
    return pt_parse_needs(p, at, 90, 90, ".blocksareclusters");
}

static const char *find_word(const struct pt_parser *p, const char *const *words)
{
    for (; *words; words++)
        if (pt_parse_is_dot(p, *words))
            return *words;
    return NULL;
}

/* What may follow the header of a .func or a prototype. */
static bool read_func_directive(struct pt_parser *p, struct pt_func *f, const struct pt_token *at)
{
    uint32_t registers;
    if (pt_parse_accept_dot(p, "noreturn")) {
        if (f->is_noreturn)
            return pt_parse_error(p, at, "'.noreturn' is given twice");
        if (f->results.n)
            return pt_parse_error(p, at, "a function with a result cannot be '.noreturn'");
        f->is_noreturn = true;
        return pt_parse_needs(p, at, 64, 30, ".noreturn");
    }
    pt_parse_advance(p);
    return pt_parse_needs(p, at, 90, 80, ".abi_preserve") && pt_parse_u32(p, &registers);
}

/* .language NAME [, NAME]…: of the source; a name is a string or a number */
static bool read_language(struct pt_parser *p)
{
    struct pt_token at = p->tok;
    pt_parse_advance(p);
    if (!pt_parse_needs(p, &at, 92, 0, ".language"))
        return false;
    do {
        if (p->tok.kind != PT_TOK_STRING && p->tok.kind != PT_TOK_INT)
            return pt_parse_unexpected(p, "the name of a language, or its number");
        pt_parse_advance(p);
    } while (pt_parse_accept(p, ','));
    return true;
}

static bool read_directives(struct pt_parser *p, uint32_t func)
{
    static const char *const of_kernels[] = {"maxntid",           "reqntid",
                                             "maxnreg",           "minnctapersm",
                                             "maxnctapersm",      "reqnctapercluster",
                                             "maxclusterrank",    "explicitcluster",
                                             "blocksareclusters", "minperctamemory",
                                             NULL};
    static const char *const of_funcs[] = {"noreturn", "abi_preserve", "abi_preserve_control",
                                           NULL};
    for (;;) {
        struct pt_func *f = &p->m->funcs.v[func];
        struct pt_token at = p->tok;
        const char *kernel_word = find_word(p, of_kernels);
        bool is_func_word = !kernel_word && find_word(p, of_funcs);
        if (f->is_entry && pt_parse_is_dot(p, "pragma")) {
            if (!pt_parse_pragma(p))
                return false;
        } else if (pt_parse_is_dot(p, "language")) {
            if (!read_language(p))
                return false;
        } else if (kernel_word ? !f->is_entry : is_func_word && f->is_entry) {
            return pt_parse_error(p, &at, "'%.*s' is not allowed for a %s", PT_TOKEN_ARGS(&at),
                                  f->is_entry ? "kernel" : "function");
        } else if (kernel_word) {
            if (!read_kernel_directive(p, f, &at, kernel_word))
                return false;
        } else if (is_func_word) {
            if (!read_func_directive(p, f, &at))
                return false;
        } else {
            return true;
        }
    }
}

/* Combinations that exclude or need each other. */
static bool check_directives(struct pt_parser *p, const struct pt_func *f,
                             const struct pt_token *name)
{
    if (f->maxntid[0] && f->reqntid[0])
        return pt_parse_error(p, name, "'.maxntid' and '.reqntid' exclude each other");
    if (f->maxclusterrank && f->reqnctapercluster[0])
        return pt_parse_error(p, name,
                              "'.maxclusterrank' and '.reqnctapercluster' exclude each other");
    if (f->blocks_are_clusters && !(f->reqntid[0] && f->reqnctapercluster[0]))
        return pt_parse_error(p, name,
                              "'.blocksareclusters' needs '.reqntid' and '.reqnctapercluster'");
    return true;
}

/* ---- declarations and definitions ------------------------------------------------------------ */

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

bool pt_func_same(const struct pt_module *m, const struct pt_func *a, const struct pt_func *b)
{
    return a->is_entry == b->is_entry && a->is_noreturn == b->is_noreturn &&
           same_list(m, a->params.v, a->params.n, b->params.v, b->params.n) &&
           same_list(m, a->results.v, a->results.n, b->results.v, b->results.n);
}

/* May `now` (a declaration or the definition) follow the earlier declaration `old`? */
static bool check_again(struct pt_parser *p, const struct pt_token *at, const struct pt_func *old,
                        const struct pt_func *now)
{
    if (!old->is_declared_only || old->alias_of)
        return pt_parse_error(p, at, "'%.*s' is already defined on %s", PT_TOKEN_ARGS(at),
                              pt_parse_line(p, old->line));
    if (!pt_func_same(p->m, old, now))
        return pt_parse_error(p, at, "'%.*s' was declared differently on %s", PT_TOKEN_ARGS(at),
                              pt_parse_line(p, old->line));
    if (old->linkage == PT_LINK_EXTERN && !now->is_declared_only)
        return pt_parse_error(p, at, "'%.*s' is declared '.extern' on %s", PT_TOKEN_ARGS(at),
                              pt_parse_line(p, old->line));
    if (now->linkage != PT_LINK_LOCAL && now->linkage != old->linkage)
        return pt_parse_error(p, at, "'%.*s' was declared with other linkage on %s",
                              PT_TOKEN_ARGS(at), pt_parse_line(p, old->line));
    return true;
}

void pt_func_replace(struct pt_parser *p, uint32_t old, uint32_t now)
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
    if (!b || (b->kind == PT_NAME_FUNC && pt_parse_is_elsewhere(p, p->m->funcs.v[b->index].line)))
        return bind_first(p, at, name, func, is_spare);
    if (b->kind != PT_NAME_FUNC)
        return pt_parse_error(p, at, "'%.*s' is already declared on %s", PT_TOKEN_ARGS(at),
                              pt_parse_line(p, b->line));
    if (!check_again(p, at, &p->m->funcs.v[b->index], &p->m->funcs.v[*func]))
        return false;
    pt_func_replace(p, b->index, *func);
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
    if (pt_parse_accept_dot(p, "attribute") && !pt_decl_attribute(p, &is_managed))
        return false;
    if (pt_parse_is(p, '(')) {
        if (p->m->funcs.v[func].is_entry)
            return pt_parse_error(p, &p->tok, "a kernel has no results");
        if (!pt_decl_parameters(p, func, true, false))
            return false;
    }
    *name = p->tok;
    if (name->kind != PT_TOK_NAME || (name->len == 1 && *name->text == '_'))
        return pt_parse_unexpected(p, "the name of the function");
    uint32_t interned = pt_scope_intern(&p->scopes, name->text, name->len);
    p->m->funcs.v[func].name = p->scopes.names.v[interned].text;
    p->m->funcs.v[func].line = name->line;
    pt_parse_advance(p);
    if (pt_parse_is(p, '(') && !pt_decl_parameters(p, func, false, false))
        return false;
    return read_directives(p, func) && check_directives(p, &p->m->funcs.v[func], name);
}

/* Tuning belongs to the definition of a kernel. */
static bool check_declaration(struct pt_parser *p, const struct pt_func *f,
                              const struct pt_token *name)
{
    bool is_plain = !f->maxntid[0] && !f->reqntid[0] && !f->maxnreg && !f->minnctapersm &&
                    !f->reqnctapercluster[0] && !f->maxclusterrank && !f->explicit_cluster;
    return is_plain ||
           pt_parse_error(p, name, "the declaration of a kernel cannot have directives");
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
    f->is_entry = pt_parse_is_dot(p, "entry");
    f->linkage = (uint8_t)linkage;
    pt_parse_advance(p);
    pt_scope_enter(&p->scopes);
    bool ok = read_header(p, func, &name);
    pt_scope_leave(&p->scopes, NULL, NULL);
    if (!ok) {
        p->m->funcs.n--;
        p->func = PT_NONE;
        return false;
    }
    bool has_body = pt_parse_is(p, '{');
    p->m->funcs.v[func].is_declared_only = !has_body;
    if (!has_body && f->is_entry)
        ok = pt_parse_needs(p, &at, 30, 0, "the declaration of a kernel") &&
             check_declaration(p, f, &name);
    if (has_body && linkage == PT_LINK_EXTERN)
        ok = pt_parse_error(p, &name, "'.extern' function '%.*s' cannot have a body",
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
        pt_parse_accept(p, ';'); /* NVIDIA's assembler does not insist on it */
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
        pt_parse_unexpected(p, "the name of a function");
        return 0;
    }
    const struct pt_binding *b = pt_scope_find(&p->scopes, at->text, at->len);
    if (!b || b->kind != PT_NAME_FUNC) {
        pt_parse_error(p, at, "'%.*s' is not a declared function", PT_TOKEN_ARGS(at));
        return 0;
    }
    return b->index;
}

static bool check_alias(struct pt_parser *p, const struct pt_token *at, const struct pt_func *alias,
                        const struct pt_func *target)
{
    if (alias == target)
        return pt_parse_error(p, at, "a function cannot be an alias of itself");
    if (alias->alias_of)
        return pt_parse_error(p, at, "'%s' is an alias already", alias->name);
    if (alias->is_entry || target->is_entry)
        return pt_parse_error(p, at, "a kernel cannot be part of an alias");
    if (!alias->is_declared_only)
        return pt_parse_error(p, at, "'%s' has a body and cannot be an alias", alias->name);
    if (!pt_func_same(p->m, alias, target))
        return pt_parse_error(p, at, "'%s' and '%s' are declared differently", alias->name,
                              target->name);
    return true;
}

bool pt_func_alias(struct pt_parser *p)
{
    struct pt_token at = p->tok, alias_tok, target_tok;
    pt_parse_advance(p);
    if (!pt_parse_needs(p, &at, 63, 30, ".alias"))
        return false;
    alias_tok = p->tok;
    uint32_t alias = find_func(p, &alias_tok);
    if (!alias)
        return false;
    pt_parse_advance(p);
    if (!pt_parse_expect(p, ','))
        return false;
    target_tok = p->tok;
    uint32_t target = find_func(p, &target_tok);
    const struct pt_func *f = &p->m->funcs.v[alias];
    bool is_spare = f->linkage == PT_LINK_WEAK && pt_parse_is_elsewhere(p, f->line);
    if (!target || (!is_spare && !check_alias(p, &alias_tok, f, &p->m->funcs.v[target])))
        return false;
    pt_parse_advance(p);
    if (!is_spare)
        p->m->funcs.v[alias].alias_of = target;
    return pt_parse_expect(p, ';');
}

/* ---- prototypes ------------------------------------------------------------------------------ */

/* [(results)] _ [(parameters)] directives ; */
static bool read_prototype(struct pt_parser *p, uint32_t func)
{
    if (pt_parse_is(p, '(') && !pt_decl_parameters(p, func, true, true))
        return false;
    if (p->tok.kind != PT_TOK_NAME || p->tok.len != 1 || *p->tok.text != '_')
        return pt_parse_unexpected(p, "'_'");
    pt_parse_advance(p);
    if (pt_parse_is(p, '(') && !pt_decl_parameters(p, func, false, true))
        return false;
    return read_directives(p, func) && pt_parse_expect(p, ';');
}

bool pt_func_prototype(struct pt_parser *p, uint32_t *signature)
{
    struct pt_func *f = pt_vec_push(&p->m->arena, &p->m->funcs);
    memset(f, 0, sizeof *f);
    f->name = "_"; /* no function can have this name */
    f->is_declared_only = true;
    f->line = p->tok.line;
    *signature = p->m->funcs.n - 1;
    return read_prototype(p, *signature);
}
