/* The lexer: one pass over the bytes, no memory of its own. */
#define _GNU_SOURCE /* strtod_l */
#include "frontend/lex.h"

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Character classes. */
enum { SPACE = 1, DIGIT = 2, ALPHA = 4, MARK = 8 /* $ and _ */, PERCENT = 16 };
enum { WORD = DIGIT | ALPHA | MARK };

static const uint8_t classes[256] = {
    [' '] = SPACE,         ['\t'] = SPACE, ['\n'] = SPACE,        ['\r'] = SPACE,
    ['\v'] = SPACE,        ['\f'] = SPACE, ['0' ... '9'] = DIGIT, ['a' ... 'z'] = ALPHA,
    ['A' ... 'Z'] = ALPHA, ['$'] = MARK,   ['_'] = MARK,          ['%'] = PERCENT,
};

static bool is_class(const struct pt_lexer *x, const char *p, unsigned mask)
{
    return p < x->end && classes[(uint8_t)*p] & mask;
}

static char at(const struct pt_lexer *x, const char *p)
{
    return p < x->end ? *p : 0;
}

void pt_lex_init(struct pt_lexer *x, const char *text, size_t len, uint32_t line)
{
    *x = (struct pt_lexer){text, text + len, text, line};
}

/* Starts a token at the current place. */
static void begin(const struct pt_lexer *x, struct pt_token *t, enum pt_tok kind)
{
    size_t col = (size_t)(x->p - x->line_start) + 1;
    t->text = x->p;
    t->line = x->line;
    t->col = col < UINT32_MAX ? (uint32_t)col : UINT32_MAX;
    t->kind = (uint8_t)kind;
    t->punct = 0;
}

static void finish(struct pt_lexer *x, struct pt_token *t, const char *end)
{
    size_t len = (size_t)(end - t->text);
    t->len = len < UINT32_MAX ? (uint32_t)len : UINT32_MAX;
    x->p = end;
}

static void finish_bad(struct pt_lexer *x, struct pt_token *t, const char *end, const char *message)
{
    t->kind = PT_TOK_BAD;
    t->message = message;
    finish(x, t, end);
}

static void new_line(struct pt_lexer *x, const char *after)
{
    x->line++;
    x->line_start = after;
}

/* Skips a comment that starts at x->p with slash and star. False if it has no end. */
static bool skip_comment(struct pt_lexer *x)
{
    const struct pt_lexer start = *x;
    for (const char *p = x->p + 2; p < x->end; p++) {
        if (*p == '\n') {
            new_line(x, p + 1);
        } else if (*p == '*' && at(x, p + 1) == '/') {
            x->p = p + 2;
            return true;
        }
    }
    *x = start;
    return false;
}

static void skip_line(struct pt_lexer *x)
{
    const char *nl = memchr(x->p, '\n', (size_t)(x->end - x->p));
    x->p = nl ? nl : x->end;
}

/* `#line 5 "a.cu"` or `# 5 "a.cu"` with nothing before it on its line: a leftover of the C
 * preprocessor. */
static bool is_line_marker(const struct pt_lexer *x)
{
    for (const char *p = x->line_start; p < x->p; p++)
        if (!is_class(x, p, SPACE))
            return false;
    const char *p = x->p + 1;
    while (at(x, p) == ' ' || at(x, p) == '\t')
        p++;
    if (x->end - p >= 4 && memcmp(p, "line", 4) == 0)
        p += 4;
    while (at(x, p) == ' ' || at(x, p) == '\t')
        p++;
    return is_class(x, p, DIGIT);
}

/* Skips white space and comments. False at a comment without end. */
static bool skip_space(struct pt_lexer *x)
{
    for (;;) {
        char c = at(x, x->p);
        if (c == '\n') {
            new_line(x, ++x->p);
        } else if (classes[(uint8_t)c] & SPACE) {
            x->p++;
        } else if (c == '/' && at(x, x->p + 1) == '/') {
            skip_line(x);
        } else if (c == '/' && at(x, x->p + 1) == '*') {
            if (!skip_comment(x))
                return false;
        } else if (c == '#' && is_line_marker(x)) {
            skip_line(x);
        } else {
            return true;
        }
    }
}

/* ---- numbers --------------------------------------------------------------------------------- */

static int digit_value(char c)
{
    return c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}

/* Integer digits [p, end) in `base`. NVIDIA's assembler wraps decimal and hexadecimal numbers at
 * 64 bits and refuses the others. */
static bool read_digits(const char *p, const char *end, unsigned base, uint64_t *value)
{
    uint64_t v = 0;
    bool over = false;
    if (p == end)
        return false;
    for (; p < end; p++) {
        unsigned d = classes[(uint8_t)*p] & (DIGIT | ALPHA) ? (unsigned)digit_value(*p) : base;
        if (d >= base)
            return false;
        over |= __builtin_mul_overflow(v, base, &v);
        over |= __builtin_add_overflow(v, d, &v);
    }
    *value = v;
    return !over || base >= 10;
}

static const char *word_end(const struct pt_lexer *x, const char *p)
{
    while (is_class(x, p, WORD))
        p++;
    return p;
}

static const char *digits_end(const struct pt_lexer *x, const char *p)
{
    while (is_class(x, p, DIGIT))
        p++;
    return p;
}

/* Where the decimal floating-point number at p ends; p itself if there is none (an integer, or
 * no number). */
static const char *float_end(const struct pt_lexer *x, const char *p)
{
    const char *q = digits_end(x, p);
    bool is_float = false;
    if (at(x, q) == '.') {
        q = digits_end(x, q + 1);
        is_float = true;
    }
    if ((at(x, q) | 32) == 'e') {
        const char *e = q + 1;
        if (at(x, e) == '+' || at(x, e) == '-')
            e++;
        if (is_class(x, e, DIGIT)) {
            q = digits_end(x, e);
            is_float = true;
        }
    }
    return is_float ? q : p;
}

/* strtod whatever locale the embedding program has set. */
static double text_to_double(const char *s)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double d = c ? strtod_l(s, NULL, c) : strtod(s, NULL);
    if (c)
        freelocale(c);
    return d;
}

static void read_float(struct pt_lexer *x, struct pt_token *t, const char *end)
{
    enum { LONGEST = 255 };
    char copy[LONGEST + 1];
    size_t len = (size_t)(end - x->p);
    if (is_class(x, end, WORD)) {
        finish_bad(x, t, word_end(x, end), "malformed number");
        return;
    }
    if (len > LONGEST) {
        finish_bad(x, t, end, "number is too long");
        return;
    }
    memcpy(copy, x->p, len);
    copy[len] = 0;
    double d = text_to_double(copy);
    t->kind = PT_TOK_F64;
    t->is_hex = 0;
    memcpy(&t->value, &d, sizeof d);
    finish(x, t, end);
}

/* 0f3f800000 and 0d3ff0000000000000: exactly 8 or 16 digits. */
static void read_hex_float(struct pt_lexer *x, struct pt_token *t, const char *end, size_t digits)
{
    if ((size_t)(end - x->p) != digits + 2 || !read_digits(x->p + 2, end, 16, &t->value)) {
        finish_bad(x, t, end,
                   digits == 8 ? "0f must be followed by 8 hexadecimal digits"
                               : "0d must be followed by 16 hexadecimal digits");
        return;
    }
    t->kind = digits == 8 ? PT_TOK_F32 : PT_TOK_F64;
    t->is_hex = 1;
    finish(x, t, end);
}

static void read_number(struct pt_lexer *x, struct pt_token *t)
{
    const char *p = x->p, *end = word_end(x, p);
    char mark = *p == '0' ? (char)(at(x, p + 1) | 32) : 0;
    if (mark == 'f' || mark == 'd') {
        read_hex_float(x, t, end, mark == 'f' ? 8 : 16);
        return;
    }
    bool is_prefixed = mark == 'x' || mark == 'b';
    const char *fend = is_prefixed ? p : float_end(x, p);
    if (fend != p) {
        read_float(x, t, fend);
        return;
    }
    const char *stop = end;
    t->is_unsigned = stop - p > 1 && stop[-1] == 'U';
    stop -= t->is_unsigned;
    bool ok = mark == 'x'   ? read_digits(p + 2, stop, 16, &t->value)
              : mark == 'b' ? read_digits(p + 2, stop, 2, &t->value)
                            : read_digits(p, stop, *p == '0' ? 8 : 10, &t->value);
    t->kind = PT_TOK_INT;
    if (!ok)
        finish_bad(x, t, end, "malformed number");
    else
        finish(x, t, end);
}

void pt_lex_again_as_number(struct pt_lexer *x, struct pt_token *t)
{
    x->p = t->text;
    const char *end = float_end(x, x->p);
    if (end == x->p)
        finish_bad(x, t, word_end(x, x->p + 1), "malformed number");
    else
        read_float(x, t, end);
}

/* ---- the other tokens ------------------------------------------------------------------------ */

/* ".word", also with digits first (".1d") and with "::" parts (".L1::no_allocate"), one of which
 * may be a ratio (".sp::2:4"). */
static void read_dot(struct pt_lexer *x, struct pt_token *t)
{
    const char *p = word_end(x, x->p + 1);
    if (p == x->p + 1) {
        finish_bad(x, t, p, "a name must follow '.'");
        return;
    }
    while (at(x, p) == ':' && at(x, p + 1) == ':' && is_class(x, p + 2, WORD)) {
        bool is_number = is_class(x, p + 2, DIGIT);
        p = word_end(x, p + 2);
        if (is_number && at(x, p) == ':' && is_class(x, p + 1, DIGIT))
            p = word_end(x, p + 1);
    }
    finish(x, t, p);
}

/* A string has no escapes and may hold line ends. */
static void read_string(struct pt_lexer *x, struct pt_token *t)
{
    for (const char *p = x->p + 1; p < x->end; p++) {
        if (*p == '"') {
            finish(x, t, p + 1);
            return;
        }
        if (*p == '\n')
            new_line(x, p + 1);
    }
    finish_bad(x, t, x->end, "string without end");
}

static uint8_t two_chars(char a, char b)
{
    if (a == '<')
        return b == '<' ? PT_PUNCT_SHL : b == '=' ? PT_PUNCT_LE : 0;
    if (a == '>')
        return b == '>' ? PT_PUNCT_SHR : b == '=' ? PT_PUNCT_GE : 0;
    if (b == '=')
        return a == '=' ? PT_PUNCT_EQ : a == '!' ? PT_PUNCT_NE : 0;
    return a == '&' && b == '&' ? PT_PUNCT_AND : a == '|' && b == '|' ? PT_PUNCT_OR : 0;
}

static void read_punct(struct pt_lexer *x, struct pt_token *t)
{
    uint8_t two = two_chars(*x->p, at(x, x->p + 1));
    if (two) {
        t->punct = two;
        finish(x, t, x->p + 2);
    } else if (*x->p && strchr(",;:()[]{}<>=+-*/%&|^~!?@", *x->p)) {
        t->punct = (uint8_t)*x->p;
        finish(x, t, x->p + 1);
    } else {
        finish_bad(x, t, x->p + 1, "unexpected character");
    }
}

void pt_lex_next(struct pt_lexer *x, struct pt_token *t)
{
    if (!skip_space(x)) {
        begin(x, t, PT_TOK_BAD);
        finish_bad(x, t, x->end, "comment without end");
        t->len = 2;
        return;
    }
    if (x->p == x->end) {
        begin(x, t, PT_TOK_END);
        t->len = 0;
        return;
    }
    uint8_t class = classes[(uint8_t)*x->p];
    if (class & (ALPHA | MARK) || (class & PERCENT && is_class(x, x->p + 1, WORD))) {
        begin(x, t, PT_TOK_NAME);
        finish(x, t, word_end(x, x->p + 1));
    } else if (class & DIGIT) {
        begin(x, t, PT_TOK_INT);
        read_number(x, t);
    } else if (*x->p == '.') {
        begin(x, t, PT_TOK_DOT);
        read_dot(x, t);
    } else if (*x->p == '"') {
        begin(x, t, PT_TOK_STRING);
        read_string(x, t);
    } else {
        begin(x, t, PT_TOK_PUNCT);
        read_punct(x, t);
    }
}

/* ---- dump ------------------------------------------------------------------------------------ */

/* Writes the tokens to `out`, or only counts their bytes if it is NULL. */
static size_t dump(const char *text, size_t len, char *out)
{
    static const char *const names[] = {"end", "bad", "name",   "dot",  "int",
                                        "f32", "f64", "string", "punct"};
    struct pt_lexer x;
    struct pt_token t;
    size_t n = 0;
    pt_lex_init(&x, text, len, 1);
    do {
        char head[64];
        pt_lex_next(&x, &t);
        size_t h = (size_t)snprintf(head, sizeof head, "%u:%u %s ", t.line, t.col, names[t.kind]);
        if (out) {
            memcpy(out + n, head, h);
            memcpy(out + n + h, t.text, t.len);
            out[n + h + t.len] = '\n';
        }
        n += h + t.len + 1;
    } while (t.kind != PT_TOK_END);
    return n;
}

char *pt_lex_dump(const char *text, size_t len, struct pt_arena *arena, size_t *out_len)
{
    char *out = pt_arena_alloc(arena, dump(text, len, NULL) + 1);
    *out_len = dump(text, len, out);
    return out;
}
