#include "tests/mutate/corpus.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool token_is(const struct token *token, const char *text)
{
    return strlen(text) == token->bytes && !memcmp(token->text, text, token->bytes);
}

/* ---- lists of tokens ------------------------------------------------------------------------- */

void tokens_insert(struct tokens *tokens, size_t at, const struct token *from, size_t n)
{
    if (tokens->n + n > tokens->room) {
        tokens->room = 2 * (tokens->n + n);
        tokens->v = realloc(tokens->v, tokens->room * sizeof *tokens->v);
    }
    memmove(tokens->v + at + n, tokens->v + at, (tokens->n - at) * sizeof *tokens->v);
    memcpy(tokens->v + at, from, n * sizeof *from);
    tokens->n += n;
}

void tokens_remove(struct tokens *tokens, size_t at, size_t n)
{
    memmove(tokens->v + at, tokens->v + at + n, (tokens->n - at - n) * sizeof *tokens->v);
    tokens->n -= n;
}

char *tokens_text(const struct tokens *tokens)
{
    size_t n = 2;
    for (size_t i = 0; i < tokens->n; i++)
        n += tokens->v[i].bytes + 1;
    char *text = malloc(n), *at = text;
    for (size_t i = 0; i < tokens->n; i++) {
        const struct token *t = &tokens->v[i];
        if (t->before && at != text)
            *at++ = t->before;
        memcpy(at, t->text, t->bytes);
        at += t->bytes;
    }
    *at++ = '\n';
    *at = 0;
    return text;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Behind spaces, comments and lines that begin with #; notes what stood there. */
static const char *skip(const char *at, char *before)
{
    for (;;) {
        if (*at == '\n')
            *before = '\n';
        else if (isspace((unsigned char)*at))
            *before = *before ? *before : ' ';
        if (isspace((unsigned char)*at)) {
            at++;
        } else if (!strncmp(at, "//", 2) || (*at == '#' && *before != ' ')) {
            at += strcspn(at, "\n");
        } else if (!strncmp(at, "/*", 2)) {
            const char *end = strstr(at, "*/");
            at = end ? end + 2 : at + strlen(at);
        } else {
            return at;
        }
    }
}

static size_t word_bytes(const char *at)
{
    size_t n = 0;
    while (isalnum((unsigned char)at[n]) || at[n] == '_' || at[n] == '$')
        n++;
    return n;
}

/* %tid.x is one token. */
static size_t register_bytes(const char *at)
{
    size_t n = 1 + word_bytes(at + 1);
    bool is_part =
        at[n] == '.' && at[n + 1] && strchr("xyzw", at[n + 1]) && !word_bytes(at + n + 2);
    return n + (is_part ? 2 : 0);
}

/* .shared::cta is one token. */
static size_t dotted_bytes(const char *at)
{
    size_t n = 1 + word_bytes(at + 1);
    while (at[n] == ':' && at[n + 1] == ':')
        n += 2 + word_bytes(at + n + 2);
    return n;
}

static size_t number_bytes(const char *at)
{
    size_t n = word_bytes(at);
    if (at[n] == '.' && isdigit((unsigned char)at[n + 1]))
        n += 1 + word_bytes(at + n + 1);
    bool has_exponent = n && (at[n - 1] == 'e' || at[n - 1] == 'E') && at[1] != 'x';
    if (has_exponent && (at[n] == '-' || at[n] == '+'))
        n += 1 + word_bytes(at + n + 1);
    return n;
}

static size_t string_bytes(const char *at)
{
    size_t n = 1;
    while (at[n] && at[n] != '"')
        n += at[n] == '\\' && at[n + 1] ? 2 : 1;
    return n + (at[n] == '"');
}

static bool is_type(const char *at, size_t bytes)
{
    static const char *const types[] = {".u8",   ".u16", ".u32",   ".u64",  ".s8",     ".s16",
                                        ".s32",  ".s64", ".b8",    ".b16",  ".b32",    ".b64",
                                        ".b128", ".f16", ".f16x2", ".bf16", ".bf16x2", ".tf32",
                                        ".f32",  ".f64", ".e4m3",  ".e5m2", ".pred"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i]) == bytes && !memcmp(types[i], at, bytes))
            return true;
    return false;
}

static struct token read_token(const char *at)
{
    struct token t = {.text = at, .bytes = 1, .class = TOKEN_MARK};
    if (*at == '%' && word_bytes(at + 1)) {
        t.class = TOKEN_REGISTER;
        t.bytes = (unsigned)register_bytes(at);
    } else if (*at == '.' && word_bytes(at + 1)) {
        t.bytes = (unsigned)dotted_bytes(at);
        t.class = is_type(at, t.bytes) ? TOKEN_TYPE : TOKEN_WORD;
    } else if (isdigit((unsigned char)*at)) {
        t.class = TOKEN_NUMBER;
        t.bytes = (unsigned)number_bytes(at);
    } else if (word_bytes(at)) {
        t.class = TOKEN_NAME;
        t.bytes = (unsigned)word_bytes(at);
    } else if (*at == '"') {
        t.class = TOKEN_STRING;
        t.bytes = (unsigned)string_bytes(at);
    }
    return t;
}

static void tokenize(struct source *s)
{
    char before = '\n';
    for (const char *at = skip(s->text, &before); *at; at = skip(at, &before)) {
        struct token t = read_token(at);
        t.before = before;
        tokens_insert(&s->tokens, s->tokens.n, &t, 1);
        at += t.bytes;
        before = 0;
    }
}

static bool add_file(struct corpus *corpus, const char *path, size_t bytes)
{
    if (corpus->n == corpus->room) {
        corpus->room = corpus->room ? 2 * corpus->room : 64;
        corpus->files = realloc(corpus->files, corpus->room * sizeof *corpus->files);
    }
    struct source *s = &corpus->files[corpus->n++];
    *s = (struct source){.path = strdup(path), .text = malloc(bytes + 1)};
    FILE *file = fopen(path, "r");
    s->bytes = file ? fread(s->text, 1, bytes, file) : 0;
    s->text[s->bytes] = 0;
    tokenize(s);
    return file && fclose(file) == 0;
}

static bool add_folder(struct corpus *corpus, const char *path)
{
    DIR *folder = opendir(path);
    bool ok = folder;
    for (struct dirent *entry; ok && (entry = readdir(folder));) {
        char inner[4096];
        struct stat is;
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        size_t n = strlen(inner);
        bool is_ptx = n > 4 && !strcmp(inner + n - 4, ".ptx");
        if (*entry->d_name != '.' && (is_ptx || (!stat(inner, &is) && S_ISDIR(is.st_mode))))
            ok = corpus_add(corpus, inner);
    }
    if (folder)
        closedir(folder);
    return ok;
}

bool corpus_add(struct corpus *corpus, const char *path)
{
    struct stat is;
    bool ok = !stat(path, &is);
    if (ok && S_ISDIR(is.st_mode))
        return add_folder(corpus, path);
    ok = ok && add_file(corpus, path, (size_t)is.st_size);
    if (!ok)
        perror(path);
    return ok;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct source *)a)->path, ((const struct source *)b)->path);
}

void corpus_sort(struct corpus *corpus)
{
    qsort(corpus->files, corpus->n, sizeof *corpus->files, by_path);
}

void corpus_free(struct corpus *corpus)
{
    for (size_t i = 0; i < corpus->n; i++) {
        free(corpus->files[i].path);
        free(corpus->files[i].text);
        free(corpus->files[i].tokens.v);
    }
    free(corpus->files);
}
