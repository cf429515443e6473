/* Expressions over steps: evaluated while they are read. */
#include "tools/trace_where.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char trace_where_help[] =
    "EXPR has numbers, && || ! == != < <= > >= + - & and brackets, over\n"
    "  tid.x .y .z, ctaid.x .y .z   the thread\n"
    "  step, line                   which of the thread's steps; where in the PTX\n"
    "  reads, writes, address       1 where the step accesses memory; where (else 0)\n"
    "  %REGISTER                    as the step leaves it; a comparison with a register that the\n"
    "                               step does not have is false\n"
    "  text ~ \"WORDS\"               the PTX has these words\n";

struct value {
    unsigned long long n;
    bool is_there;
};

struct reader {
    const char *at, *error;
    const ptera_step *step;
};

static struct value read_or(struct reader *r);

static struct value number(unsigned long long n)
{
    return (struct value){n, true};
}

static bool take(struct reader *r, const char *word)
{
    while (isspace((unsigned char)*r->at))
        r->at++;
    size_t n = strlen(word);
    if (strncmp(r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

/* What it leaves there, or finds there. */
static struct value value_of(const ptera_step *step, const char *name, size_t n)
{
    struct value value = {0};
    for (unsigned i = 0; i < step->n_values; i++) {
        const ptera_step_value *v = &step->values[i];
        if (strlen(v->name) == n && !memcmp(v->name, name, n) && (!value.is_there || v->is_result))
            value = number(v->low);
    }
    return value;
}

static struct value read_name(struct reader *r)
{
    const ptera_step *s = r->step;
    const struct {
        const char *name;
        unsigned long long n;
    } names[] = {{"tid.x", s->thread[0]},      {"tid.y", s->thread[1]}, {"tid.z", s->thread[2]},
                 {"ctaid.x", s->cta[0]},       {"ctaid.y", s->cta[1]},  {"ctaid.z", s->cta[2]},
                 {"step", s->number},          {"line", s->line},       {"reads", s->reads_memory},
                 {"writes", s->writes_memory}, {"address", s->address}};
    const char *name = r->at;
    r->at += *r->at == '%';
    while (isalnum((unsigned char)*r->at) || (*r->at && strchr("._$", *r->at)))
        r->at++;
    size_t n = (size_t)(r->at - name);
    if (*name == '%')
        return value_of(s, name, n);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == n && !memcmp(names[i].name, name, n))
            return number(names[i].n);
    r->error = "an unknown name";
    return number(0);
}

static struct value read_text(struct reader *r)
{
    char words[256];
    const char *end = take(r, "~") && take(r, "\"") ? strchr(r->at, '"') : NULL;
    size_t n = end ? (size_t)(end - r->at) : 0;
    if (!end || n >= sizeof words) {
        r->error = "text needs ~ \"WORDS\"";
        return number(0);
    }
    memcpy(words, r->at, n);
    words[n] = 0;
    r->at = end + 1;
    return number(strstr(r->step->text, words) != NULL);
}

static struct value read_primary(struct reader *r)
{
    char *end;
    if (take(r, "!"))
        return number(!read_primary(r).n);
    if (take(r, "(")) {
        struct value v = read_or(r);
        if (!take(r, ")"))
            r->error = "a bracket is not closed";
        return v;
    }
    if (take(r, "text"))
        return read_text(r);
    if (!isdigit((unsigned char)*r->at))
        return read_name(r);
    unsigned long long n = strtoull(r->at, &end, 0);
    r->at = end;
    return number(n);
}

static struct value read_sum(struct reader *r)
{
    struct value a = read_primary(r);
    for (;;) {
        char op = take(r, "+") ? '+' : take(r, "-") ? '-' : 0;
        if (!op && r->at[strspn(r->at, " ")] == '&' && r->at[strspn(r->at, " ") + 1] != '&')
            op = take(r, "&") ? '&' : 0;
        if (!op)
            return a;
        struct value b = read_primary(r);
        a.is_there = a.is_there && b.is_there;
        a.n = op == '+' ? a.n + b.n : op == '-' ? a.n - b.n : (a.n & b.n);
    }
}

static struct value read_comparison(struct reader *r)
{
    static const char *const operators[] = {"==", "!=", "<=", ">=", "<", ">"};
    struct value a = read_sum(r);
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (!take(r, operators[i]))
            continue;
        struct value b = read_sum(r);
        bool holds[] = {a.n == b.n, a.n != b.n, a.n <= b.n, a.n >= b.n, a.n<b.n, a.n> b.n};
        return number(a.is_there && b.is_there && holds[i]);
    }
    return number(a.is_there && a.n);
}

static struct value read_and(struct reader *r)
{
    struct value a = read_comparison(r);
    while (take(r, "&&")) {
        struct value b = read_comparison(r);
        a.n = a.n && b.n;
    }
    return a;
}

static struct value read_or(struct reader *r)
{
    struct value a = read_and(r);
    while (take(r, "||")) {
        struct value b = read_and(r);
        a.n = a.n || b.n;
    }
    return a;
}

bool trace_where(const char *expression, const ptera_step *step, const char **error)
{
    struct reader r = {.at = expression, .step = step};
    struct value v = read_or(&r);
    if (!r.error && (take(&r, ""), *r.at))
        r.error = "something is left behind it";
    *error = r.error;
    return v.n;
}
