/* The corpus: PTX files as tokens. Comments and lines that begin with # are left out. */
#ifndef PTERA_TESTS_MUTATE_CORPUS_H
#define PTERA_TESTS_MUTATE_CORPUS_H

#include <stdbool.h>
#include <stddef.h>

enum token_class {
    TOKEN_NAME,     /* an opcode, a symbol, a label */
    TOKEN_WORD,     /* begins with a dot: a directive, a modifier */
    TOKEN_TYPE,     /* likewise: .u32 */
    TOKEN_REGISTER, /* begins with % */
    TOKEN_NUMBER,
    TOKEN_STRING,
    TOKEN_MARK /* one character */
};

struct token {
    const char *text;
    unsigned bytes;
    unsigned char class;
    char before; /* ' ', '\n', or 0: nothing stands before it */
};

struct tokens {
    struct token *v;
    size_t n, room;
};

struct source {
    char *path, *text;
    size_t bytes;
    struct tokens tokens;
};

struct corpus {
    struct source *files; /* by path */
    size_t n, room;
};

/* Adds a file, or every .ptx file of a folder and of those in it; a message and false if something
 * cannot be read. */
bool corpus_add(struct corpus *corpus, const char *path);
void corpus_sort(struct corpus *corpus);
void corpus_free(struct corpus *corpus);

void tokens_insert(struct tokens *tokens, size_t at, const struct token *from, size_t n);
void tokens_remove(struct tokens *tokens, size_t at, size_t n);
/* The caller frees. */
char *tokens_text(const struct tokens *tokens);

/* The token is this text. */
bool token_is(const struct token *token, const char *text);

#endif
