/* The statements of a module, and the modules of a text. */
#include "frontend/parse.h"

#include <stdio.h>
#include <string.h>

#include "frontend/decl.h"
#include "frontend/variable.h"
#include "frontend/func.h"
#include "frontend/link.h"
#include "frontend/loc.h"
#include "frontend/token.h"
#include "frontend/pragma.h"
#include "frontend/section.h"

/* ---- the head of a module -------------------------------------------------------------------- */

/* .version MAJOR.MINOR */
static bool read_version(struct pt_parser *p)
{
    struct pt_token t = p->tok;
    if (!pt_token_is_dot(p, "version"))
        return pt_token_unexpected(p, "'.version'");
    pt_token_advance(p);
    t = p->tok;
    const char *dot = t.kind == PT_TOK_F64 ? memchr(t.text, '.', t.len) : NULL;
    if (!dot)
        return pt_token_unexpected(p, "a version such as 9.0");
    unsigned major = 0, minor = 0;
    for (const char *c = t.text; c < t.text + t.len; c++) {
        unsigned *n = c < dot ? &major : &minor;
        if (c != dot && *n < 1000)
            *n = *n * 10 + (unsigned)(*c - '0');
    }
    unsigned newest = pt_ptx_newest(), version = major * 10 + minor;
    bool is_newer = version > newest;
    if (!is_newer && !pt_ptx_is_known(major, minor))
        return pt_token_error(p, &t, "PTX version %.*s is not known (1.0 to %u.%u, or newer)",
                              PT_TOKEN_ARGS(&t), newest / 10, newest % 10);
    if (is_newer)
        pt_diag_warning(
            &p->m->diags, t.line, t.col, t.len,
            "PTX version %.*s is newer than %u.%u, the newest that is known: it is read as that",
            PT_TOKEN_ARGS(&t), newest / 10, newest % 10);
    p->m->ptx = (uint16_t)(is_newer ? newest : version);
    pt_token_advance(p);
    return true;
}

/* sm_90, sm_90a, compute_90: sets the target. False if it is not known. */
static bool set_target(struct pt_module *m, const struct pt_token *t, unsigned *first_ptx)
{
    static const struct {
        uint16_t sm, ptx;
        char feature;
    } targets[] = {
#define TARGET(number, feature, ptx) {number, ptx, feature},
#include "ir/target.def"
    };
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        for (int compute = 0; compute < 2; compute++) {
            char name[32];
            int n = snprintf(name, sizeof name, "%s_%u%c", compute ? "compute" : "sm",
                             targets[i].sm, targets[i].feature);
            n -= !targets[i].feature;
            if (t->len != (uint32_t)n || memcmp(t->text, name, t->len) != 0)
                continue;
            m->sm = targets[i].sm;
            m->sm_feature = (uint8_t)targets[i].feature;
            *first_ptx = targets[i].ptx;
            return true;
        }
    }
    return false;
}

static bool read_one_target(struct pt_parser *p)
{
    struct pt_token t = p->tok;
    unsigned first_ptx;
    if (t.kind != PT_TOK_NAME)
        return pt_token_unexpected(p, "a target such as sm_90");
    if (!set_target(p->m, &t, &first_ptx))
        return pt_token_error(p, &t, "target '%.*s' is not known", PT_TOKEN_ARGS(&t));
    if (p->m->ptx < first_ptx)
        return pt_token_error(p, &t, "target '%.*s' needs .version %u.%u, this module says %u.%u",
                              PT_TOKEN_ARGS(&t), first_ptx / 10, first_ptx % 10, p->m->ptx / 10u,
                              p->m->ptx % 10u);
    pt_token_advance(p);
    return true;
}

static bool read_texmode(struct pt_parser *p, const struct pt_token *at, bool is_independent,
                         bool *has_texmode)
{
    if (*has_texmode && p->m->texmode_independent != is_independent)
        return pt_token_error(p, at, "texmode_unified and texmode_independent exclude each other");
    *has_texmode = true;
    p->m->texmode_independent = is_independent;
    return true;
}

static bool read_target_option(struct pt_parser *p, bool *has_texmode)
{
    struct pt_token at = p->tok;
    if (pt_token_accept_name(p, "texmode_unified"))
        return read_texmode(p, &at, false, has_texmode);
    if (pt_token_accept_name(p, "texmode_independent"))
        return read_texmode(p, &at, true, has_texmode);
    if (pt_token_accept_name(p, "debug")) {
        p->m->debug = true;
        return pt_token_needs(p, &at, 30, 0, "debug");
    }
    if (pt_token_accept_name(p, "map_f64_to_f32")) {
        p->m->map_f64_to_f32 = true;
        return p->m->sm < 13 ||
               pt_token_error(p, &at, "map_f64_to_f32 is for targets below sm_13 only");
    }
    return read_one_target(p);
}

/* .target sm_90 [, option]… */
static bool read_target(struct pt_parser *p)
{
    bool has_texmode = false;
    if (!pt_token_is_dot(p, "target"))
        return pt_token_unexpected(p, "'.target'");
    pt_token_advance(p);
    if (!read_one_target(p))
        return false;
    while (pt_token_accept(p, ','))
        if (!read_target_option(p, &has_texmode))
            return false;
    return true;
}

static bool read_address_size(struct pt_parser *p)
{
    struct pt_token at = p->tok;
    uint32_t bits = 0;
    pt_token_advance(p);
    if (!pt_token_needs(p, &at, 23, 0, ".address_size"))
        return false;
    at = p->tok;
    if (!pt_token_u32(p, &bits))
        return false;
    if (bits != 32 && bits != 64)
        return pt_token_error(p, &at, "the address size must be 32 or 64");
    p->m->address_size = (uint8_t)bits;
    return true;
}

/* .version, .target, .address_size, in this order. */
static bool read_head(struct pt_parser *p)
{
    p->m->address_size = 32;
    if (!read_version(p))
        return false;
    do {
        if (!read_target(p))
            return false;
    } while (pt_token_is_dot(p, "target"));
    if (!pt_token_is_dot(p, "address_size"))
        return true;
    return read_address_size(p);
}

/* ---- module statements ----------------------------------------------------------------------- */

static enum pt_linkage read_linkage(struct pt_parser *p)
{
    if (pt_token_accept_dot(p, "visible"))
        return PT_LINK_VISIBLE;
    if (pt_token_accept_dot(p, "extern"))
        return PT_LINK_EXTERN;
    if (pt_token_accept_dot(p, "weak"))
        return PT_LINK_WEAK;
    return pt_token_accept_dot(p, "common") ? PT_LINK_COMMON : PT_LINK_LOCAL;
}

static bool read_declaration(struct pt_parser *p)
{
    struct pt_token at = p->tok;
    enum pt_linkage linkage = read_linkage(p);
    if (linkage == PT_LINK_WEAK && !pt_token_needs(p, &at, 31, 0, ".weak"))
        return false;
    if (linkage == PT_LINK_COMMON && !pt_token_needs(p, &at, 50, 0, ".common"))
        return false;
    if (pt_token_is_dot(p, "entry") || pt_token_is_dot(p, "func")) {
        if (linkage == PT_LINK_COMMON)
            return pt_token_error(p, &at, "a function cannot be '.common'");
        return pt_func_parse(p, linkage);
    }
    if (pt_decl_starts(p))
        return pt_variable_read(p, linkage, &at);
    if (linkage != PT_LINK_LOCAL)
        return pt_token_unexpected(p, "a variable or function");
    if (p->tok.kind == PT_TOK_DOT)
        return pt_token_error(p, &p->tok, "directive '%.*s' is not known or not allowed here",
                              PT_TOKEN_ARGS(&p->tok));
    return pt_token_unexpected(p, "a directive");
}

static bool read_statement(struct pt_parser *p)
{
    struct pt_token at = p->tok;
    if (pt_token_is_dot(p, "file"))
        return pt_loc_file(p);
    if (pt_token_is_dot(p, "section"))
        return pt_section_parse(p);
    if (pt_token_is_dot(p, "nv_intermediate_source_section"))
        return pt_section_parse_source(p);
    if (pt_token_is_dot(p, "pragma"))
        return pt_pragma_parse(p);
    if (pt_token_is_dot(p, "alias"))
        return pt_func_alias(p);
    if (pt_token_is_dot(p, "version") || pt_token_is_dot(p, "target") ||
        pt_token_is_dot(p, "address_size"))
        return pt_token_error(p, &at, "'%.*s' must be at the head of the module",
                              PT_TOKEN_ARGS(&at));
    return read_declaration(p);
}

static bool starts_statement(const struct pt_parser *p)
{
    static const char *const words[] = {"entry",  "func",  "visible", "extern",  "weak", "common",
                                        "global", "const", "file",    "section", "alias"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (pt_token_is_dot(p, words[i]))
            return true;
    return false;
}

/* Goes on behind a module statement with an error: after its ';' or its body, or where the next
 * one surely starts. A '}' whose '{' has been read already ends braces inside the statement. */
static void skip_statement(struct pt_parser *p)
{
    uint32_t depth = 0;
    p->has_failed = true;
    for (; p->tok.kind != PT_TOK_END; pt_token_advance(p)) {
        bool is_closing = depth > 0;
        if (pt_token_is(p, '{'))
            depth++;
        else if (pt_token_is(p, '}') && depth > 0)
            depth--;
        if (depth == 0 && is_closing) {
            pt_token_advance(p);
            pt_token_accept(p, ';');
            return;
        }
        if (depth == 0 && pt_token_accept(p, ';'))
            return;
        if (depth == 0 && starts_statement(p))
            return;
    }
}

static void start(struct pt_parser *p, size_t len)
{
    struct pt_module *m = p->m;
    struct pt_arena *a = &m->arena;
    pt_scope_init(&p->links, a);
    p->init_left = ((uint64_t)1 << 26) + 8 * (uint64_t)len;
    (void)pt_vec_push(a, &m->forms);
    (void)pt_vec_push(a, &m->funcs);
    (void)pt_vec_push(a, &m->symbols);
    (void)pt_vec_push(a, &m->locs);
    (void)pt_vec_push(a, &m->files);
}

/* A module is called what a line marker on its first line says, or as the whole text. */
static void name_source(struct pt_parser *p, const char *text, size_t len, uint32_t line)
{
    static const char marker[] = "# 1 \"";
    size_t n = sizeof marker - 1;
    struct pt_diags *diags = &p->m->diags;
    struct pt_source source = {diags->file, 0};
    const char *nl = memchr(text, '\n', len);
    const char *end = nl && len > n && !memcmp(text, marker, n)
                          ? memchr(text + n, '"', (size_t)(nl - text) - n)
                          : NULL;
    if (end)
        source = (struct pt_source){pt_arena_text(diags->arena, text + n, (size_t)(end - text) - n),
                                    line};
    *pt_vec_push(diags->arena, &diags->sources) = source;
}

static void read_statements(struct pt_parser *p)
{
    while (p->tok.kind != PT_TOK_END && !pt_diags_full(&p->m->diags)) {
        const char *before = p->tok.text;
        if (!read_statement(p)) {
            /* A statement that starts where the faulty one does is that one. */
            if (p->tok.text == before)
                pt_token_advance(p);
            skip_statement(p);
        }
    }
}

/* To the functions of the module that begins at `line`. A kernel's own directives are stronger. */
static void apply_pragmas(struct pt_parser *p, uint32_t line)
{
    for (uint32_t i = 1; i < p->m->funcs.n; i++) {
        struct pt_func *f = &p->m->funcs.v[i];
        if (f->end_line < line)
            continue;
        f->keeps_products |= p->keeps_products;
        if (f->is_entry && !f->maxnreg && !f->maxntid[0] && !f->reqntid[0])
            f->maxnreg = p->registers;
    }
}

/* Reads one module of the text. False if what follows cannot be judged. */
static bool read_module(struct pt_parser *p, const char *text, size_t len, uint32_t line)
{
    pt_lex_init(&p->lexer, text, len, line);
    pt_scope_init(&p->scopes, &p->m->arena);
    name_source(p, text, len, line);
    p->first_line = line;
    p->first_file = p->m->files.n;
    p->file_slots.n = 0;
    p->loc = PT_NONE;
    p->keeps_products = false;
    p->registers = 0;
    p->m->insn_cache = NULL; /* what a spelling means depends on the version */
    pt_token_advance(p);
    /* Without version and target nothing else can be judged. */
    if (p->tok.kind == PT_TOK_BAD || !read_head(p))
        return false;
    read_statements(p);
    apply_pragmas(p, line);
    return p->tok.kind == PT_TOK_END;
}

/* What linked modules must have in common; the newest version and target count for all. */
static bool check_heads(struct pt_parser *p, const struct pt_module *last)
{
    struct pt_module *m = p->m;
    bool is_named = m->diags.sources.v[m->diags.sources.n - 1].lines_before > 0;
    struct pt_token at = {.line = p->first_line + is_named, .col = 1, .len = 1};
    if (m->sm < 20 || last->sm < 20)
        return pt_token_error(p, &at, "modules for targets below sm_20 cannot be linked");
    if (m->address_size != last->address_size)
        return pt_token_error(p, &at, "linked modules must have the same .address_size");
    if (m->texmode_independent != last->texmode_independent)
        return pt_token_error(p, &at, "linked modules must have the same texture mode");
    if (m->ptx < last->ptx)
        m->ptx = last->ptx;
    if (m->sm < last->sm) {
        m->sm = last->sm;
        m->sm_feature = last->sm_feature;
    }
    return true;
}

bool pt_parse(struct pt_module *m, const char *file, const char *text, size_t len)
{
    struct pt_parser p = {.m = m};
    const char *end = text + len;
    uint32_t line = 1;
    bool is_first = true;
    pt_diags_init(&m->diags, &m->arena, file, text, len);
    start(&p, len);
    do {
        struct pt_module last = {.ptx = m->ptx,
                                 .sm = m->sm,
                                 .sm_feature = m->sm_feature,
                                 .address_size = m->address_size,
                                 .texmode_independent = m->texmode_independent};
        size_t n = strnlen(text, (size_t)(end - text));
        if (!read_module(&p, text, n, line) || !(is_first || check_heads(&p, &last)))
            return false;
        is_first = false;
        line = p.lexer.line;
        for (text += n; text < end && !*text; text++)
            ;
    } while (text < end);
    return !p.has_failed && m->diags.errors == 0 && (m->diags.sources.n < 2 || pt_link_check(&p));
}
