/* The table's expressions are read once, into trees; an expression is of the highest level that one
 * of the names in it has. */
#include "tools/litmus/model.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 512 };

enum form { FORM_empty, FORM_irreflexive, FORM_acyclic };

static const char *const names[] = {
#define SET(name, what) #name,
#define BASE(name, level, what) #name,
#define RELATION(name, expression) #name,
#include "tools/litmus/model.def"
};

/* Sets and bases have no expression. */
static const char *const expressions[] = {
#define SET(name, what) NULL,
#define BASE(name, level, what) NULL,
#define RELATION(name, expression) expression,
#include "tools/litmus/model.def"
};

static const struct axiom {
    const char *text, *expression;
    enum form form;
} axioms[] = {
#define AXIOM(name, form, expression, section) {#name " (" section ")", expression, FORM_##form},
#include "tools/litmus/model.def"
};

struct node {
    char what; /* or 'n': a name; '1': inverted */
    unsigned left, right;
};

static struct {
    struct node node[NODES];
    unsigned n;
    unsigned level[LITMUS_NAMES], root[LITMUS_NAMES];
    unsigned axiom_level[LITMUS_AXIOMS], axiom_root[LITMUS_AXIOMS];
} model = {.level = {
#define SET(name, what) 0,
#define BASE(name, level, what) level,
#define RELATION(name, expression) 0,
#include "tools/litmus/model.def"
           }};

/* ---- reading --------------------------------------------------------------------------------- */

/* The table is the program's own: what is wrong in it is found by any test. */
static void give_up(const char *at)
{
    fprintf(stderr, "model.def: not understood: %s\n", at);
    abort();
}

struct reader {
    const char *at;
    unsigned level; /* the highest so far */
};

static char peek(struct reader *r)
{
    r->at += strspn(r->at, " ");
    return *r->at;
}

static unsigned make(char what, unsigned left, unsigned right)
{
    if (model.n == NODES)
        give_up("too many expressions");
    model.node[model.n] = (struct node){what, left, right};
    return model.n++;
}

static unsigned read_name(struct reader *r)
{
    size_t n = 0;
    while (isalnum((unsigned char)r->at[n]) || r->at[n] == '_')
        n++;
    for (unsigned i = 0; i < LITMUS_NAMES; i++)
        if (strlen(names[i]) == n && !strncmp(names[i], r->at, n)) {
            r->at += n;
            r->level = model.level[i] > r->level ? model.level[i] : r->level;
            return make('n', i, 0);
        }
    give_up(r->at);
    return 0;
}

static unsigned read_from(struct reader *r, unsigned binds);

/* A name or parentheses, and what is behind it. */
static unsigned read_unit(struct reader *r)
{
    unsigned it;
    if (peek(r) == '(') {
        r->at++;
        it = read_from(r, 0);
        if (peek(r) != ')')
            give_up(r->at);
        r->at++;
    } else {
        it = read_name(r);
    }
    while (peek(r) && strchr("+*?^", *r->at)) {
        bool is_inverse = *r->at == '^';
        it = make(is_inverse ? '1' : *r->at, it, 0);
        r->at += is_inverse ? strlen("^-1") : 1;
    }
    return it;
}

/* Operators between two, from those that bind least. */
static unsigned read_from(struct reader *r, unsigned binds)
{
    static const char *const between[] = {"|", ";", "&\\"};
    if (binds == sizeof between / sizeof *between)
        return read_unit(r);
    unsigned it = read_from(r, binds + 1);
    while (peek(r) && strchr(between[binds], *r->at)) {
        char what = *r->at++;
        it = make(what, it, read_from(r, binds + 1));
    }
    return it;
}

static unsigned read_all(const char *expression, unsigned *level)
{
    struct reader r = {.at = expression};
    unsigned root = read_from(&r, 0);
    if (peek(&r))
        give_up(r.at);
    *level = r.level;
    return root;
}

static void read_table(void)
{
    for (unsigned i = 0; i < LITMUS_NAMES; i++)
        if (expressions[i])
            model.root[i] = read_all(expressions[i], &model.level[i]);
    for (unsigned i = 0; i < LITMUS_AXIOMS; i++)
        model.axiom_root[i] = read_all(axioms[i].expression, &model.axiom_level[i]);
}

/* ---- evaluating ------------------------------------------------------------------------------ */

static void evaluate(const struct litmus_execution *x, unsigned root, struct litmus_relation *to)
{
    const struct node *node = &model.node[root];
    struct litmus_relation left, right;
    unsigned n = x->n;
    if (node->what == 'n') {
        memcpy(to->row, x->of[node->left].row, n * sizeof *to->row);
        return;
    }
    evaluate(x, node->left, &left);
    switch (node->what) {
    case '1':
        litmus_relation_invert(to, &left, n);
        return;
    case '+':
    case '*':
    case '?':
        memcpy(to->row, left.row, n * sizeof *to->row);
        if (node->what != '?')
            litmus_relation_close(to, n);
        for (unsigned i = 0; node->what != '+' && i < n; i++)
            litmus_relation_put(to, i, i);
        return;
    default:
        break;
    }
    evaluate(x, node->right, &right);
    if (node->what == ';') {
        litmus_relation_compose(to, &left, &right, n);
        return;
    }
    for (unsigned i = 0; i < n; i++)
        to->row[i] = node->what == '|'   ? left.row[i] | right.row[i]
                     : node->what == '&' ? left.row[i] & right.row[i]
                                         : left.row[i] & ~right.row[i];
}

static bool axiom_holds(const struct litmus_execution *x, unsigned i)
{
    struct litmus_relation r;
    evaluate(x, model.axiom_root[i], &r);
    if (axioms[i].form == FORM_empty)
        return litmus_relation_is_empty(&r, x->n);
    if (axioms[i].form == FORM_acyclic)
        litmus_relation_close(&r, x->n);
    return litmus_relation_is_irreflexive(&r, x->n);
}

bool litmus_model_holds(struct litmus_execution *x, unsigned level)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_table);
    for (unsigned i = 0; i < LITMUS_NAMES; i++)
        if (expressions[i] && model.level[i] == level)
            evaluate(x, model.root[i], &x->of[i]);
    for (unsigned i = 0; i < LITMUS_AXIOMS; i++)
        if (model.axiom_level[i] == level && !(x->ignored >> i & 1) && !axiom_holds(x, i))
            return false;
    return true;
}

const char *litmus_model_axiom(enum litmus_axiom axiom)
{
    return axioms[axiom].text;
}
