/* Directives between the header of a function and its body (PTX ISA, "Performance-Tuning
 * Directives"; .noreturn, .abi_preserve, .language). */
#include "frontend/directive.h"

#include <string.h>

#include "frontend/pragma.h"

/* N [, N [, N]]; elements not given are 1. */
static bool read_triple(struct pt_parser *p, uint32_t triple[3], bool zero_is_fine)
{
    triple[0] = triple[1] = triple[2] = 1;
    for (int i = 0; i < 3; i++) {
        struct pt_token at = p->tok;
        if (!pt_token_u32(p, &triple[i]))
            return false;
        if (!triple[i] && !zero_is_fine)
            return pt_token_error(p, &at, "a number above 0 is needed");
        if (i < 2 && !pt_token_accept(p, ','))
            break;
    }
    return true;
}

static bool read_positive(struct pt_parser *p, uint32_t *value)
{
    struct pt_token at = p->tok;
    return pt_token_u32(p, value) &&
           (*value || pt_token_error(p, &at, "a number above 0 is needed"));
}

static bool read_kernel_directive(struct pt_parser *p, struct pt_func *f, const struct pt_token *at,
                                  const char *word)
{
    uint32_t ignored;
    pt_token_advance(p);
    if (!strcmp(word, "maxntid"))
        return pt_token_needs(p, at, 13, 0, ".maxntid") && read_triple(p, f->maxntid, false);
    if (!strcmp(word, "reqntid"))
        return pt_token_needs(p, at, 21, 0, ".reqntid") && read_triple(p, f->reqntid, false);
    if (!strcmp(word, "maxnreg"))
        return pt_token_needs(p, at, 13, 0, ".maxnreg") && read_positive(p, &f->maxnreg);
    if (!strcmp(word, "minnctapersm"))
        return pt_token_needs(p, at, 20, 0, ".minnctapersm") && read_positive(p, &f->minnctapersm);
    if (!strcmp(word, "maxnctapersm")) {
        if (p->m->ptx > 20)
            return pt_token_error(p, at,
                                  "'.maxnctapersm' ended with .version 2.0; use '.minnctapersm'");
        return pt_token_needs(p, at, 13, 0, ".maxnctapersm") && read_positive(p, &ignored);
    }
    if (!strcmp(word, "reqnctapercluster"))
        return pt_token_needs(p, at, 78, 90, ".reqnctapercluster") &&
               read_triple(p, f->reqnctapercluster, true);
    if (!strcmp(word, "maxclusterrank"))
        return pt_token_needs(p, at, 78, 90, ".maxclusterrank") &&
               pt_token_u32(p, &f->maxclusterrank);
    if (!strcmp(word, "explicitcluster")) {
        f->explicit_cluster = true;
        return pt_token_needs(p, at, 78, 90, ".explicitcluster");
    }
    if (!strcmp(word, "minperctamemory")) /* %perctamemorysize is 0: none is given */
        return pt_token_needs(p, at, 94, 80, ".minperctamemory") && pt_token_u32(p, &ignored);
    f->blocks_are_clusters = true;
    return pt_token_needs(p, at, 90, 90, ".blocksareclusters");
}

static const char *find_word(const struct pt_parser *p, const char *const *words)
{
    for (; *words; words++)
        if (pt_token_is_dot(p, *words))
            return *words;
    return NULL;
}

/* What may follow the header of a .func or a prototype. */
static bool read_func_directive(struct pt_parser *p, struct pt_func *f, const struct pt_token *at)
{
    uint32_t registers;
    if (pt_token_accept_dot(p, "noreturn")) {
        if (f->is_noreturn)
            return pt_token_error(p, at, "'.noreturn' is given twice");
        if (f->results.n)
            return pt_token_error(p, at, "a function with a result cannot be '.noreturn'");
        f->is_noreturn = true;
        return pt_token_needs(p, at, 64, 30, ".noreturn");
    }
    pt_token_advance(p);
    return pt_token_needs(p, at, 90, 80, ".abi_preserve") && pt_token_u32(p, &registers);
}

/* .language NAME [, NAME]…: of the source; a name is a string or a number */
static bool read_language(struct pt_parser *p)
{
    struct pt_token at = p->tok;
    pt_token_advance(p);
    if (!pt_token_needs(p, &at, 92, 0, ".language"))
        return false;
    do {
        if (p->tok.kind != PT_TOK_STRING && p->tok.kind != PT_TOK_INT)
            return pt_token_unexpected(p, "the name of a language, or its number");
        pt_token_advance(p);
    } while (pt_token_accept(p, ','));
    return true;
}

bool pt_directive_read(struct pt_parser *p, uint32_t func)
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
        if (f->is_entry && pt_token_is_dot(p, "pragma")) {
            if (!pt_pragma_parse(p))
                return false;
        } else if (pt_token_is_dot(p, "language")) {
            if (!read_language(p))
                return false;
        } else if (kernel_word ? !f->is_entry : is_func_word && f->is_entry) {
            return pt_token_error(p, &at, "'%.*s' is not allowed for a %s", PT_TOKEN_ARGS(&at),
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

bool pt_directive_check(struct pt_parser *p, const struct pt_func *f, const struct pt_token *name)
{
    if (f->maxntid[0] && f->reqntid[0])
        return pt_token_error(p, name, "'.maxntid' and '.reqntid' exclude each other");
    if (f->maxclusterrank && f->reqnctapercluster[0])
        return pt_token_error(p, name,
                              "'.maxclusterrank' and '.reqnctapercluster' exclude each other");
    if (f->blocks_are_clusters && !(f->reqntid[0] && f->reqnctapercluster[0]))
        return pt_token_error(p, name,
                              "'.blocksareclusters' needs '.reqntid' and '.reqnctapercluster'");
    return true;
}
