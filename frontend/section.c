/* Debug sections: read for their form, and dropped. */
#include "frontend/parse.h"

#include <string.h>

/* LABEL, .section, LABEL + N, LABEL - LABEL: an address or a distance, alone in its data directive. */
static bool read_reference(struct pt_parser *p)
{
    uint32_t ignored;
    pt_parse_advance(p);
    if (pt_parse_accept(p, '+'))
        return pt_parse_u32(p, &ignored);
    if (!pt_parse_accept(p, '-'))
        return true;
    if (p->tok.kind != PT_TOK_NAME && p->tok.kind != PT_TOK_DOT)
        return pt_parse_unexpected(p, "a label");
    pt_parse_advance(p);
    return true;
}

/* N, N, … that fit `bits`, signed or unsigned. */
static bool read_values(struct pt_parser *p, unsigned bits)
{
    do {
        bool is_negative = pt_parse_accept(p, '-');
        const struct pt_token *t = &p->tok;
        if (t->kind != PT_TOK_INT)
            return pt_parse_unexpected(p, "a number");
        uint64_t most = is_negative ? (uint64_t)1 << (bits - 1) : UINT64_MAX >> (64 - bits);
        if (t->value > most)
            return pt_parse_error(p, t, "'%.*s' does not fit in .b%u", PT_TOKEN_ARGS(t), bits);
        pt_parse_advance(p);
    } while (pt_parse_accept(p, ','));
    return true;
}

static bool read_data(struct pt_parser *p)
{
    static const char *const words[] = {"b8", "b16", "b32", "b64"};
    for (unsigned i = 0; i < 4; i++) {
        if (!pt_parse_accept_dot(p, words[i]))
            continue;
        bool is_reference = p->tok.kind == PT_TOK_NAME || p->tok.kind == PT_TOK_DOT;
        return is_reference ? read_reference(p) : read_values(p, 8u << i);
    }
    return pt_parse_unexpected(p, "a label, '.b8', '.b16', '.b32' or '.b64'");
}

static bool read_label(struct pt_parser *p)
{
    struct pt_token at = p->tok;
    uint32_t name = pt_scope_intern(&p->scopes, at.text, at.len);
    const struct pt_binding *b = pt_scope_own(&p->scopes, name);
    if (b)
        return pt_parse_error(p, &at, "'%.*s' is already declared on line %u", PT_TOKEN_ARGS(&at), b->line);
    pt_scope_define(&p->scopes, name, PT_NAME_LABEL, 0)->line = at.line;
    pt_parse_advance(p);
    return pt_parse_expect(p, ':');
}

bool pt_section_parse(struct pt_parser *p)
{
    struct pt_token at = p->tok;
    pt_parse_advance(p);
    if (!pt_parse_needs(p, &at, 20, 0, ".section"))
        return false;
    if (p->tok.kind != PT_TOK_DOT)
        return pt_parse_unexpected(p, "the name of a section");
    pt_parse_advance(p);
    if (!pt_parse_expect(p, '{'))
        return false;
    pt_scope_enter(&p->scopes);
    bool ok = true;
    while (ok && !pt_parse_is(p, '}'))
        ok = p->tok.kind == PT_TOK_NAME ? read_label(p) : read_data(p);
    pt_scope_leave(&p->scopes, NULL, NULL);
    return ok && pt_parse_expect(p, '}');
}
