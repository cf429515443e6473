/* The parser's state: the current token, and errors at tokens. */
#include "frontend/token.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void pt_token_advance(struct pt_parser *p)
{
    pt_lex_next(&p->lexer, &p->tok);
    if (p->tok.kind == PT_TOK_BAD)
        pt_token_error(p, &p->tok, "%s", p->tok.message);
}

bool pt_token_is(const struct pt_parser *p, int punct)
{
    return p->tok.kind == PT_TOK_PUNCT && p->tok.punct == punct;
}

bool pt_token_is_dot(const struct pt_parser *p, const char *word)
{
    size_t n = strlen(word);
    return p->tok.kind == PT_TOK_DOT && p->tok.len == n + 1 &&
           memcmp(p->tok.text + 1, word, n) == 0;
}

bool pt_token_is_warp_size(const struct pt_token *t)
{
    return t->kind == PT_TOK_NAME && t->len == 7 && memcmp(t->text, "WARP_SZ", 7) == 0;
}

struct pt_token pt_token_peek(const struct pt_parser *p)
{
    struct pt_lexer ahead = p->lexer;
    struct pt_token t;
    pt_lex_next(&ahead, &t);
    return t;
}

bool pt_token_accept(struct pt_parser *p, int punct)
{
    if (!pt_token_is(p, punct))
        return false;
    pt_token_advance(p);
    return true;
}

bool pt_token_accept_dot(struct pt_parser *p, const char *word)
{
    if (!pt_token_is_dot(p, word))
        return false;
    pt_token_advance(p);
    return true;
}

bool pt_token_accept_name(struct pt_parser *p, const char *name)
{
    if (p->tok.kind != PT_TOK_NAME || p->tok.len != strlen(name) ||
        memcmp(p->tok.text, name, p->tok.len) != 0)
        return false;
    pt_token_advance(p);
    return true;
}

bool pt_token_expect(struct pt_parser *p, int punct)
{
    char what[] = {'\'', (char)punct, '\'', 0};
    return pt_token_accept(p, punct) || pt_token_unexpected(p, what);
}

bool pt_token_unexpected(struct pt_parser *p, const char *what)
{
    const struct pt_token *t = &p->tok;
    if (t->kind == PT_TOK_BAD) /* reported when it was read */
        return false;
    if (t->kind == PT_TOK_END)
        return pt_token_error(p, t, "expected %s, not the end of the text", what);
    return pt_token_error(p, t, "expected %s, not '%.*s'", what, PT_TOKEN_ARGS(t));
}

bool pt_token_error(struct pt_parser *p, const struct pt_token *at, const char *format, ...)
{
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    pt_diag_error(&p->m->diags, at->line, at->col, at->len ? at->len : 1, "%s", message);
    return false;
}

bool pt_token_needs(struct pt_parser *p, const struct pt_token *at, unsigned ptx, unsigned sm,
                    const char *what)
{
    const struct pt_module *m = p->m;
    if (m->ptx < ptx)
        return pt_token_error(p, at, "'%s' needs .version %u.%u, this module says %u.%u", what,
                              ptx / 10, ptx % 10, m->ptx / 10u, m->ptx % 10u);
    if (m->sm < sm)
        return pt_token_error(p, at, "'%s' needs .target sm_%u, this module says sm_%u", what, sm,
                              m->sm);
    return true;
}

bool pt_token_u32(struct pt_parser *p, uint32_t *value)
{
    const struct pt_token *t = &p->tok;
    bool is_warp_size = pt_token_is_warp_size(t);
    if (t->kind != PT_TOK_INT && !is_warp_size)
        return pt_token_unexpected(p, "a number");
    if (t->kind == PT_TOK_INT && t->value > UINT32_MAX)
        return pt_token_error(p, t, "number is too large");
    *value = is_warp_size ? 32 : (uint32_t)t->value;
    pt_token_advance(p);
    return true;
}

const char *pt_token_line(struct pt_parser *p, uint32_t line)
{
    uint32_t there;
    const char *name = pt_diag_place(&p->m->diags, line, &there);
    bool is_elsewhere = pt_token_is_elsewhere(p, line);
    size_t size = strlen(name) + 32;
    char *text = pt_arena_alloc(&p->m->arena, size);
    snprintf(text, size, is_elsewhere ? "line %u of %s" : "line %u", there, name);
    return text;
}
