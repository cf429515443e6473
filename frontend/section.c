/* Debug sections: read for their form, and dropped. */
#include "frontend/section.h"

#include <string.h>

/* LABEL, .section, LABEL + N, LABEL - LABEL: an address or a distance, alone in its data
 * directive. */
static bool read_reference(struct pt_parser *p)
{
    uint32_t ignored;
    pt_token_advance(p);
    if (pt_token_accept(p, '+'))
        return pt_token_u32(p, &ignored);
    if (!pt_token_accept(p, '-'))
        return true;
    if (p->tok.kind != PT_TOK_NAME && p->tok.kind != PT_TOK_DOT)
        return pt_token_unexpected(p, "a label");
    pt_token_advance(p);
    return true;
}

/* N, N, … that fit `bits`, signed or unsigned. */
static bool read_values(struct pt_parser *p, unsigned bits)
{
    do {
        bool is_negative = pt_token_accept(p, '-');
        const struct pt_token *t = &p->tok;
        if (t->kind != PT_TOK_INT)
            return pt_token_unexpected(p, "a number");
        uint64_t most = is_negative ? (uint64_t)1 << (bits - 1) : UINT64_MAX >> (64 - bits);
        if (t->value > most)
            return pt_token_error(p, t, "'%.*s' does not fit in .b%u", PT_TOKEN_ARGS(t), bits);
        pt_token_advance(p);
    } while (pt_token_accept(p, ','));
    return true;
}

static bool read_data(struct pt_parser *p)
{
    static const char *const words[] = {"b8", "b16", "b32", "b64"};
    for (unsigned i = 0; i < 4; i++) {
        if (!pt_token_accept_dot(p, words[i]))
            continue;
        bool is_reference = p->tok.kind == PT_TOK_NAME || p->tok.kind == PT_TOK_DOT;
        if (is_reference && i < 2)
            return pt_token_error(p, &p->tok, "an address needs .b32 or .b64");
        return is_reference ? read_reference(p) : read_values(p, 8u << i);
    }
    return pt_token_unexpected(p, "a label, '.b8', '.b16', '.b32' or '.b64'");
}

static bool read_label(struct pt_parser *p)
{
    struct pt_token at = p->tok;
    char *text = pt_arena_alloc(&p->m->arena, (size_t)at.len + 1);
    text[0] = '.'; /* so that it meets no name of the module */
    memcpy(text + 1, at.text, at.len);
    uint32_t name = pt_scope_intern(&p->scopes, text, at.len + 1);
    const struct pt_binding *b = pt_scope_own(&p->scopes, name);
    if (b)
        return pt_token_error(p, &at, "'%.*s' is already declared on %s", PT_TOKEN_ARGS(&at),
                              pt_token_line(p, b->line));
    pt_scope_define(&p->scopes, name, PT_NAME_LABEL, 0)->line = at.line;
    pt_token_advance(p);
    struct pt_token colon = p->tok;
    return pt_token_expect(p, ':') && pt_token_needs(p, &colon, 70, 0, "a label in a section");
}

bool pt_section_parse(struct pt_parser *p)
{
    struct pt_token at = p->tok;
    pt_token_advance(p);
    if (!pt_token_needs(p, &at, 20, 0, ".section"))
        return false;
    if (p->tok.kind != PT_TOK_DOT)
        return pt_token_unexpected(p, "the name of a section");
    pt_token_advance(p);
    if (!pt_token_expect(p, '{'))
        return false;
    bool ok = true;
    while (ok && !pt_token_is(p, '}'))
        ok = p->tok.kind == PT_TOK_NAME ? read_label(p) : read_data(p);
    return ok && pt_token_expect(p, '}');
}

/* .source_begin … .source_end, at the start of a line: text of another language in between. The
 * lexer stands behind the first. */
static bool skip_source(struct pt_parser *p)
{
    static const char end[] = ".source_end";
    struct pt_lexer *x = &p->lexer;
    struct pt_token at = p->tok;
    for (;;) {
        const char *nl = memchr(x->p, '\n', (size_t)(x->end - x->p));
        if (!nl)
            return pt_token_error(p, &at, "'.source_begin' without '.source_end'");
        x->p = x->line_start = nl + 1;
        x->line++;
        while (x->p < x->end && (*x->p == ' ' || *x->p == '\t'))
            x->p++;
        if ((size_t)(x->end - x->p) >= sizeof end - 1 && !memcmp(x->p, end, sizeof end - 1))
            break;
    }
    pt_token_advance(p);
    pt_token_advance(p);
    return true;
}

/* .NAME: value, or the source */
static bool read_source_field(struct pt_parser *p)
{
    if (pt_token_is_dot(p, "source_begin"))
        return skip_source(p);
    if (p->tok.kind != PT_TOK_DOT)
        return pt_token_unexpected(p, "a directive of the section");
    pt_token_advance(p);
    if (!pt_token_expect(p, ':'))
        return false;
    if (p->tok.kind != PT_TOK_STRING && p->tok.kind != PT_TOK_INT)
        return pt_token_unexpected(p, "a string or a number");
    pt_token_advance(p);
    return true;
}

bool pt_section_parse_source(struct pt_parser *p)
{
    struct pt_token at = p->tok;
    pt_token_advance(p);
    bool ok =
        pt_token_needs(p, &at, 94, 0, ".nv_intermediate_source_section") && pt_token_expect(p, '{');
    while (ok && !pt_token_is(p, '}')) {
        ok = pt_token_accept_dot(p, "code_block") ? pt_token_expect(p, '{')
                                                  : pt_token_unexpected(p, "'.code_block'");
        while (ok && !pt_token_is(p, '}'))
            ok = read_source_field(p);
        ok = ok && pt_token_expect(p, '}');
    }
    return ok && pt_token_expect(p, '}');
}
