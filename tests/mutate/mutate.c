#include "tests/mutate/mutate.h"

#include <stdlib.h>
#include <string.h>

#include "tools/fuzz/build.h"

enum { TRIES = 40, CHANGES = 3 };

struct mutation {
    struct gen random;
    const struct corpus *corpus;
    const struct source *source;
    struct tokens tokens;
};

/* ---- places ---------------------------------------------------------------------------------- */

/* Statements end before and behind these. A brace in a line is a vector's. */
static bool is_border(const struct tokens *t, size_t i)
{
    const struct token *v = t->v;
    bool is_alone = v[i].before == '\n' || i + 1 == t->n || v[i + 1].before == '\n';
    bool is_label =
        token_is(&v[i], ":") && i && v[i - 1].class == TOKEN_NAME && v[i - 1].before == '\n';
    return token_is(&v[i], ";") || is_label ||
           (is_alone && (token_is(&v[i], "{") || token_is(&v[i], "}")));
}

struct statement statement_of(const struct tokens *t, size_t at)
{
    size_t first = at, end = at;
    while (first > 0 && !is_border(t, first - 1))
        first--;
    while (end + 1 < t->n && !is_border(t, end))
        end++;
    return (struct statement){first, end - first + 1};
}

/* Behind .version, .target and .address_size. */
static size_t head_of(const struct tokens *t)
{
    size_t i = 0;
    while (i < t->n && !token_is(&t->v[i], ".address_size"))
        i++;
    return i + 2 < t->n ? i + 2 : 0;
}

static size_t any_place(struct mutation *m)
{
    size_t head = gen_chance(&m->random, 98) ? head_of(&m->tokens) : 0;
    return head + gen_below(&m->random, (unsigned)(m->tokens.n - head));
}

/* A place of a class; false if the search was in vain. */
static bool find_place(struct mutation *m, enum token_class class, size_t *at)
{
    for (unsigned i = 0; i < TRIES; i++) {
        *at = any_place(m);
        if (m->tokens.v[*at].class == class)
            return true;
    }
    return false;
}

/* A statement that is an instruction, with its guard. */
static bool find_instruction(struct mutation *m, struct statement *s)
{
    for (unsigned i = 0; i < TRIES; i++) {
        *s = statement_of(&m->tokens, any_place(m));
        const struct token *first = &m->tokens.v[s->first], *last = first + s->n - 1;
        if (s->n > 1 && token_is(last, ";") && (first->class == TOKEN_NAME || token_is(first, "@")))
            return true;
    }
    return false;
}

/* ---- changes of tokens ----------------------------------------------------------------------- */

/* Registers alike: %rd1 and %rd27. */
static bool has_prefix_of(const struct token *a, const struct token *b)
{
    unsigned n = 0;
    while (n < a->bytes && (a->text[n] < '0' || a->text[n] > '9'))
        n++;
    return n <= b->bytes && !memcmp(a->text, b->text, n) &&
           (n == b->bytes || (b->text[n] >= '0' && b->text[n] <= '9'));
}

/* Opcodes stand where statements begin. */
static bool is_opcode(const struct tokens *t, size_t i)
{
    return t->v[i].class == TOKEN_NAME &&
           (t->v[i].before == '\n' || (i > 1 && token_is(&t->v[i - 2], "@"))) &&
           !(i + 1 < t->n && token_is(&t->v[i + 1], ":"));
}

static bool replace_token(struct mutation *m)
{
    struct gen *g = &m->random;
    size_t at = any_place(m);
    struct token *token = &m->tokens.v[at];
    const struct tokens *from =
        gen_chance(g, 75) ? &m->tokens
                          : &m->corpus->files[gen_below(g, (unsigned)m->corpus->n)].tokens;
    bool wants_alike = gen_chance(g, 85);
    for (unsigned i = 0; from->n && i < TRIES; i++) {
        size_t other = gen_below(g, (unsigned)from->n);
        const struct token *t = &from->v[other];
        if (t->class != token->class || is_opcode(from, other) != is_opcode(&m->tokens, at))
            continue;
        if (wants_alike && token->class == TOKEN_REGISTER && !has_prefix_of(token, t))
            continue;
        token->text = t->text;
        token->bytes = t->bytes;
        return true;
    }
    return false;
}

static bool delete_token(struct mutation *m)
{
    tokens_remove(&m->tokens, any_place(m), 1);
    return true;
}

static bool duplicate_token(struct mutation *m)
{
    size_t at = any_place(m);
    struct token t = m->tokens.v[at];
    tokens_insert(&m->tokens, at, &t, 1);
    return true;
}

static void exchange(struct token *a, struct token *b)
{
    struct token was = *a;
    a->text = b->text, a->bytes = b->bytes, a->class = b->class;
    b->text = was.text, b->bytes = was.bytes, b->class = was.class;
}

/* With the next, or the one behind the comma. */
static bool exchange_tokens(struct mutation *m)
{
    size_t at = any_place(m), other = at + 1 + gen_below(&m->random, 2);
    if (other >= m->tokens.n)
        return false;
    exchange(&m->tokens.v[at], &m->tokens.v[other]);
    return true;
}

static bool change_number(struct mutation *m)
{
    static const char *const values[] = {"0",
                                         "1",
                                         "-1",
                                         "2",
                                         "3",
                                         "4",
                                         "7",
                                         "8",
                                         "15",
                                         "16",
                                         "31",
                                         "32",
                                         "33",
                                         "63",
                                         "64",
                                         "65",
                                         "127",
                                         "255",
                                         "256",
                                         "1023",
                                         "1024",
                                         "4095",
                                         "65535",
                                         "65536",
                                         "0x7fffffff",
                                         "0x80000000",
                                         "0xffffffff",
                                         "0x100000000",
                                         "0x7fffffffffffffff",
                                         "0x8000000000000000",
                                         "0xffffffffffffffff",
                                         "0f00000000",
                                         "0f80000000",
                                         "0f00000001",
                                         "0f007fffff",
                                         "0f3f800000",
                                         "0f7f800000",
                                         "0fff800000",
                                         "0f7fc00000",
                                         "0f7f800001",
                                         "0f4f000000",
                                         "0d0000000000000000",
                                         "0d0000000000000001",
                                         "0d3ff0000000000000",
                                         "0d7ff0000000000000",
                                         "0d7ff8000000000000",
                                         "0d43e0000000000000"};
    enum { INTEGERS = 31, ALL = sizeof values / sizeof *values };
    size_t at;
    if (!find_place(m, TOKEN_NUMBER, &at))
        return false;
    struct token *t = &m->tokens.v[at];
    bool is_float = t->bytes > 1 && (t->text[1] == 'f' || t->text[1] == 'd');
    unsigned i = is_float ? INTEGERS + gen_below(&m->random, ALL - INTEGERS)
                          : gen_below(&m->random, INTEGERS);
    t->text = values[i];
    t->bytes = (unsigned)strlen(values[i]);
    return true;
}

static bool change_type(struct mutation *m)
{
    static const char *const types[] = {".u8",  ".u16",   ".u32",  ".u64", ".s8",  ".s16",
                                        ".s32", ".s64",   ".b8",   ".b16", ".b32", ".b64",
                                        ".f16", ".f16x2", ".bf16", ".f32", ".f64"};
    size_t at;
    if (!find_place(m, TOKEN_TYPE, &at))
        return false;
    const char *type = types[gen_below(&m->random, sizeof types / sizeof *types)];
    m->tokens.v[at].text = type;
    m->tokens.v[at].bytes = (unsigned)strlen(type);
    return true;
}

/* ---- changes of statements ------------------------------------------------------------------- */

static void move_tokens(struct tokens *t, size_t from, size_t n, size_t to)
{
    struct token *kept = malloc(n * sizeof *kept);
    memcpy(kept, t->v + from, n * sizeof *kept);
    tokens_insert(t, to, kept, n);
    tokens_remove(t, from < to ? from : from + n, n);
    free(kept);
}

static bool delete_statement(struct mutation *m)
{
    struct statement s;
    if (!find_instruction(m, &s))
        return false;
    tokens_remove(&m->tokens, s.first, s.n);
    return true;
}

static bool duplicate_statement(struct mutation *m)
{
    struct statement s;
    if (!find_instruction(m, &s))
        return false;
    struct token *copy = malloc(s.n * sizeof *copy);
    memcpy(copy, m->tokens.v + s.first, s.n * sizeof *copy);
    tokens_insert(&m->tokens, s.first, copy, s.n);
    free(copy);
    return true;
}

/* One instruction to where another stands: most often its neighbour. */
static bool move_statement(struct mutation *m)
{
    struct statement s, other;
    if (!find_instruction(m, &s))
        return false;
    if (gen_chance(&m->random, 60))
        other = s.first ? statement_of(&m->tokens, s.first - 1) : s;
    else if (!find_instruction(m, &other))
        return false;
    if (other.first == s.first)
        return false;
    move_tokens(&m->tokens, s.first, s.n, other.first);
    return true;
}

static bool move_label(struct mutation *m)
{
    struct statement to;
    for (unsigned i = 0; i < TRIES; i++) {
        size_t at = any_place(m);
        const struct token *t = &m->tokens.v[at];
        if (t->class != TOKEN_NAME || t->before != '\n' || at + 1 == m->tokens.n ||
            !token_is(t + 1, ":"))
            continue;
        if (!find_instruction(m, &to))
            return false;
        move_tokens(&m->tokens, at, 2, to.first);
        return true;
    }
    return false;
}

/* Takes a guard away, turns it round, or gives one. */
static bool change_guard(struct mutation *m)
{
    static const struct token at = {"@", 1, TOKEN_MARK, '\n'}, not = {"!", 1, TOKEN_MARK, 0};
    struct statement s;
    size_t other;
    if (!find_instruction(m, &s))
        return false;
    struct token *v = m->tokens.v + s.first;
    if (token_is(v, "@") && s.n > 3) {
        bool is_not = token_is(v + 1, "!");
        if (gen_chance(&m->random, 40))
            tokens_remove(&m->tokens, s.first, is_not ? 3 : 2);
        else if (is_not)
            tokens_remove(&m->tokens, s.first + 1, 1);
        else
            tokens_insert(&m->tokens, s.first + 1, &not, 1);
        return true;
    }
    for (unsigned i = 0; i < TRIES && find_place(m, TOKEN_REGISTER, &other); i++) {
        struct token guard[] = {at, m->tokens.v[other]};
        if (guard[1].bytes < 2 || guard[1].text[1] != 'p')
            continue;
        guard[1].before = 0;
        m->tokens.v[s.first].before = ' ';
        tokens_insert(&m->tokens, s.first, guard, 2);
        return true;
    }
    return false;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool change(struct mutation *m)
{
    static const struct {
        unsigned weight;
        bool (*change)(struct mutation *m);
    } changes[] = {{28, replace_token},   {3, delete_token},        {2, duplicate_token},
                   {4, exchange_tokens},  {17, change_number},      {12, change_type},
                   {7, delete_statement}, {6, duplicate_statement}, {9, move_statement},
                   {5, move_label},       {7, change_guard}};
    unsigned all = 0, i = 0;
    for (unsigned k = 0; k < sizeof changes / sizeof *changes; k++)
        all += changes[k].weight;
    unsigned drawn = gen_below(&m->random, all);
    while (drawn >= changes[i].weight)
        drawn -= changes[i++].weight;
    return changes[i].change(m);
}

struct tokens mutate(const struct corpus *corpus, uint64_t seed, const struct source **source)
{
    struct mutation m = {.random = {.random = seed}, .corpus = corpus};
    m.source = *source = &corpus->files[gen_below(&m.random, (unsigned)corpus->n)];
    tokens_insert(&m.tokens, 0, m.source->tokens.v, m.source->tokens.n);
    unsigned n = 1 + gen_below(&m.random, CHANGES);
    for (unsigned i = 0, tries = 0; i < n && tries < TRIES && m.tokens.n > 8; tries++)
        i += change(&m);
    return m.tokens;
}
