/* PTX text to tokens. */
#ifndef PTERA_FRONTEND_LEX_H
#define PTERA_FRONTEND_LEX_H

#include <stddef.h>
#include <stdint.h>

#include "ir/arena.h"

enum pt_tok {
    PT_TOK_END,
    PT_TOK_BAD,    /* bytes that are no token; `message` says why */
    PT_TOK_NAME,   /* an identifier, also "_" */
    PT_TOK_DOT,    /* ".word" or ".word::word…": a directive, modifier, type or selector */
    PT_TOK_INT,    /* value; is_unsigned */
    PT_TOK_F32,    /* 0f…: value holds the bits */
    PT_TOK_F64,    /* 1.5 and 0d…: value holds the bits; is_hex for 0d… */
    PT_TOK_STRING, /* text without the quotes is in text + 1, len - 2 */
    PT_TOK_PUNCT   /* punct: the character, or one of enum pt_punct */
};

/* Operators of two characters; the others are their own character code. */
enum pt_punct {
    PT_PUNCT_SHL = 128,
    PT_PUNCT_SHR,
    PT_PUNCT_LE,
    PT_PUNCT_GE,
    PT_PUNCT_EQ,
    PT_PUNCT_NE,
    PT_PUNCT_AND,
    PT_PUNCT_OR
};

struct pt_token {
    const char *text; /* in the input */
    uint32_t len;
    uint32_t line, col; /* from 1 */
    uint8_t kind;       /* enum pt_tok */
    uint8_t punct;
    uint8_t is_unsigned, is_hex;
    uint64_t value;
    const char *message; /* PT_TOK_BAD */
};

struct pt_lexer {
    const char *p, *end;
    const char *line_start;
    uint32_t line;
};

/* `line`: the number of the first line. */
void pt_lex_init(struct pt_lexer *lexer, const char *text, size_t len, uint32_t line);
/* Reads the next token, after white space, comments and `#line` lines. At the end of the input
 * it gives PT_TOK_END for ever. */
void pt_lex_next(struct pt_lexer *lexer, struct pt_token *token);
/* Reads a PT_TOK_DOT such as ".5" again as a number: in expressions a point may start one. */
void pt_lex_again_as_number(struct pt_lexer *lexer, struct pt_token *token);

/* All tokens of a text, one a line: LINE:COL kind text. NUL-terminated, in `arena`. */
char *pt_lex_dump(const char *text, size_t len, struct pt_arena *arena, size_t *out_len);

#endif
