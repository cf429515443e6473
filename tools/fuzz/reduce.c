/* Reduction: nodes, from whole lists down to single lines, are taken out as long as the kernel
 * fails alike. */
#include "tools/fuzz/reduce.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_SECONDS = 600 }; /* for one kernel: those that hang take long at each step */

struct reduction {
    struct gen_kernel *kernel;
    struct pen *pen;
    struct trial *trial;
    const volatile sig_atomic_t *stop;
    time_t end; /* by CLOCK_MONOTONIC */
};

struct nodes {
    struct gen_node **v;
    size_t n, cap;
};

static void collect(struct nodes *nodes, struct gen_node *node)
{
    for (; node; node = node->next) {
        bool is_open = node->state == GEN_WHOLE || node->state == GEN_OPEN;
        if (node->state != GEN_GONE && !node->is_fixed) {
            if (nodes->n == nodes->cap) {
                nodes->cap = nodes->cap ? 2 * nodes->cap : 256;
                nodes->v = realloc(nodes->v, nodes->cap * sizeof *nodes->v);
            }
            nodes->v[nodes->n++] = node;
        }
        for (unsigned i = 0; i < node->n_children && is_open; i++)
            collect(nodes, node->child[i]);
    }
}

static struct nodes collect_all(const struct gen_kernel *k)
{
    struct nodes nodes = {0};
    collect(&nodes, k->entry.body);
    for (unsigned i = 0; i < k->n_funcs; i++)
        collect(&nodes, k->func[i].body);
    return nodes;
}

/* What the stand-in defines is used by what is left. */
static bool is_needed(const struct gen_kernel *k, struct gen_node *node)
{
    uint8_t state = node->state;
    bool needed = false;
    node->state = GEN_GONE;
    char *text = gen_text(k);
    for (const char *at = node->stand_in; !needed && (at = strchr(at, '%')) != NULL; at++) {
        char name[32];
        size_t n = strcspn(at, " ,;");
        snprintf(name, sizeof name, "%.*s", (int)n, at);
        needed = gen_mentions(text, name);
    }
    free(text);
    node->state = state;
    return needed;
}

static time_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

static bool is_over(const struct reduction *r)
{
    return *r->stop || now() >= r->end;
}

/* False when time is up, too: the kernel stays what it was when it failed last. */
static bool still_fails(struct reduction *r)
{
    struct trial trial;
    if (is_over(r))
        return false;
    trial_run(r->pen, r->kernel, &trial);
    bool same = trial.verdict == r->trial->verdict;
    if (same)
        *r->trial = trial;
    return same;
}

static uint8_t removed(const struct gen_node *node)
{
    return node->stand_in ? GEN_REMOVED : GEN_GONE;
}

/* Takes out nodes [from, from + n) at once, if it fails then, too. */
static bool take_out(struct reduction *r, const struct nodes *nodes, size_t from, size_t n)
{
    uint8_t *was = malloc(n);
    bool changed = false;
    for (size_t i = 0; i < n; i++) {
        struct gen_node *node = nodes->v[from + i];
        was[i] = node->state;
        if (node->state < removed(node))
            node->state = removed(node), changed = true;
    }
    bool good = changed && still_fails(r);
    for (size_t i = 0; i < n && !good; i++)
        nodes->v[from + i]->state = was[i];
    free(was);
    return good;
}

static bool take_out_runs(struct reduction *r)
{
    struct nodes nodes = collect_all(r->kernel);
    bool changed = false;
    for (size_t run = nodes.n / 2; run; run /= 2)
        for (size_t from = 0; from < nodes.n; from += run)
            changed |= take_out(r, &nodes, from, from + run <= nodes.n ? run : nodes.n - from);
    free(nodes.v);
    return changed;
}

/* What the lists of a node hold takes its place. */
static bool open_nodes(struct reduction *r)
{
    struct nodes nodes = collect_all(r->kernel);
    bool changed = false;
    for (size_t i = 0; i < nodes.n; i++) {
        struct gen_node *node = nodes.v[i];
        if (!node->n_children || node->state != GEN_WHOLE)
            continue;
        node->state = GEN_OPEN;
        if (still_fails(r))
            changed = true;
        else
            node->state = GEN_WHOLE;
    }
    free(nodes.v);
    return changed;
}

static void drop_stand_ins(struct reduction *r)
{
    struct nodes nodes = collect_all(r->kernel);
    for (size_t i = nodes.n; i-- > 0;) {
        struct gen_node *node = nodes.v[i];
        if (node->state != GEN_REMOVED || is_needed(r->kernel, node))
            continue;
        node->state = GEN_GONE;
        if (!still_fails(r))
            node->state = GEN_REMOVED;
    }
    free(nodes.v);
}

static void shrink_grid(struct reduction *r)
{
    for (unsigned i = 0; i < 3; i++) {
        unsigned was = r->kernel->grid[i];
        r->kernel->grid[i] = 1;
        if (was > 1 && !still_fails(r))
            r->kernel->grid[i] = was;
    }
}

void gen_reduce(struct gen_kernel *kernel, struct pen *pen, struct trial *trial,
                const volatile sig_atomic_t *stop)
{
    struct reduction r = {kernel, pen, trial, stop, now() + MAX_SECONDS};
    shrink_grid(&r);
    for (bool changed = true; changed;) {
        changed = take_out_runs(&r);
        changed |= open_nodes(&r);
    }
    drop_stand_ins(&r);
}
