/* Graphs as data, and what they do to words of memory, said in C. */
#ifndef PTERA_TESTS_CUDA_GRAPH_MODEL_H
#define PTERA_TESTS_CUDA_GRAPH_MODEL_H

#include <stdbool.h>
#include <stdlib.h>

#include "runtime/cuda/abi.h"

enum { NODES_MOST = 12, CONDITIONS_MOST = 16, DEPTH = 2 };

/* Where words are: on the device, in the host's memory, and those with a purpose: one that loops
 * count in at each depth, one that two streams share, what graphs allocate. */
enum { PINNED = 6, COUNTERS = 8, SHARED = COUNTERS + DEPTH, HEAP, WORDS = HEAP + 2 };
enum { ANY_WORD = (1 << COUNTERS) - 1 };

/* Conditional ones are in CUDA's order; the last two are made with others. */
enum kind {
    SET,
    COPY,
    ADD,
    EMPTY,
    HOST,
    RECORD,
    WAIT,
    ALLOC,
    FREE,
    CHILD,
    IF,
    WHILE,
    SWITCH,
    KINDS,
    DECIDE = KINDS,
    TURN
};

struct node {
    enum kind kind;
    unsigned to, from, value, condition, n_branches;
    bool is_fixed; /* others rely on its being run */
    bool is_disabled;
    struct model *branches[3]; /* or the child */
    CUgraphNode handle;
};

struct model {
    struct node nodes[NODES_MOST + 4];
    unsigned n;
    struct model *next; /* of all in the sequence */
};

/* What is to be in memory when all is done; what conditions have at a launch, and then. */
static unsigned words[WORDS], initial[CONDITIONS_MOST], values[CONDITIONS_MOST];
static struct model *models;

static bool has_branches(const struct node *n)
{
    return n->kind == IF || n->kind == WHILE || n->kind == SWITCH;
}

static bool touches(const struct node *n, unsigned word)
{
    if (has_branches(n) || n->kind == CHILD)
        return true;
    if (n->kind == RECORD || n->kind == WAIT)
        return word == SHARED;
    return (n->kind != EMPTY && n->to == word) || (n->kind == COPY && n->from == word);
}

static bool conflict(const struct node *a, const struct node *b)
{
    for (unsigned w = 0; w < WORDS; w++)
        if (touches(a, w) && touches(b, w))
            return true;
    return false;
}

static bool has_kind(const struct model *m, enum kind first, enum kind last)
{
    for (unsigned i = 0; i < m->n; i++)
        if (m->nodes[i].kind >= first && m->nodes[i].kind <= last)
            return true;
    return false;
}

/* The graph waits for the other stream. */
static bool waits(const struct model *m)
{
    bool is_so = has_kind(m, WAIT, WAIT);
    for (unsigned i = 0; !is_so && i < m->n; i++)
        is_so = m->nodes[i].kind == CHILD && waits(*m->nodes[i].branches);
    return is_so;
}

/* Words that it allocates and does not free: bits. */
static unsigned words_held(const struct model *m)
{
    unsigned held = 0;
    for (unsigned i = 0; i < m->n; i++)
        if (m->nodes[i].kind == ALLOC || m->nodes[i].kind == FREE)
            held ^= 1u << m->nodes[i].to;
    return held;
}

static struct model *new_model(void)
{
    struct model *m = calloc(1, sizeof *m);
    if (!m)
        exit(1);
    m->next = models;
    return models = m;
}

static void free_models(void)
{
    while (models) {
        struct model *m = models;
        models = m->next;
        free(m);
    }
}

static struct model *copy_of(const struct model *from)
{
    struct model *m = new_model(), *next = m->next;
    *m = *from;
    m->next = next;
    for (unsigned i = 0; i < m->n; i++)
        for (unsigned k = 0; k < m->nodes[i].n_branches; k++)
            m->nodes[i].branches[k] = copy_of(m->nodes[i].branches[k]);
    return m;
}

static void take_disabled(const struct model *from, struct model *to)
{
    for (unsigned i = 0; i < to->n; i++) {
        to->nodes[i].is_disabled = from->nodes[i].is_disabled;
        for (unsigned k = 0; k < to->nodes[i].n_branches; k++)
            take_disabled(from->nodes[i].branches[k], to->nodes[i].branches[k]);
    }
}

static void run(const struct model *m);

static void run_branches(const struct node *n)
{
    do {
        unsigned value = values[n->condition], i = n->kind == SWITCH ? value : !value;
        if (i >= n->n_branches)
            return;
        run(n->branches[i]);
    } while (n->kind == WHILE);
}

static void run(const struct model *m)
{
    for (unsigned i = 0; i < m->n; i++) {
        const struct node *n = &m->nodes[i];
        if (n->is_disabled)
            continue;
        if (n->kind == SET)
            words[n->to] = n->value;
        else if (n->kind == COPY)
            words[n->to] = words[n->from];
        else if (n->kind == ADD || n->kind == HOST)
            words[n->to] += n->value;
        else if (n->kind == DECIDE || n->kind == TURN)
            values[n->condition] = (words[n->to] += n->kind == TURN) % n->value;
        else if (n->kind == CHILD)
            run(*n->branches);
        else if (has_branches(n))
            run_branches(n);
    }
}

#endif
