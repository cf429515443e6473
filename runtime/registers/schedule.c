/* Orders of a region's instructions. */
#include "runtime/registers/schedule.h"

/* Time to order a list grows with its square. */
enum { LIST_MOST = 4096 };

/* What a schedule in work has live. */
struct state {
    struct pt_schedule_graph *g;
    int32_t live, spread;
    struct pt_schedule_need most;
};

static struct state start(struct pt_schedule_graph *g)
{
    struct state s = {.g = g, .live = g->base, .spread = g->base_spread};
    for (uint32_t v = 0; v < g->values.n; v++) {
        struct pt_schedule_value *value = &g->values.v[v];
        value->uses = value->total;
        value->is_live = value->is_in && (value->total || value->is_out);
        s.live += value->is_live ? value->size : 0;
        s.spread += value->is_live ? value->spread : 0;
    }
    for (uint32_t i = 0; i < g->nodes.n; i++) {
        g->nodes.v[i].waits = g->nodes.v[i].n_before;
        g->nodes.v[i].is_issued = false;
        g->nodes.v[i].early = 0;
    }
    s.most = (struct pt_schedule_need){s.live, s.spread};
    return s;
}

static void set_live(struct state *s, struct pt_schedule_value *v, bool is_live)
{
    if (v->is_live == is_live)
        return;
    v->is_live = is_live;
    s->live += is_live ? v->size : -v->size;
    s->spread += is_live ? v->spread : -v->spread;
    if (s->most.tight < s->live)
        s->most.tight = s->live;
    if (s->most.spread < s->spread)
        s->most.spread = s->spread;
}

static void issue(struct state *s, struct pt_schedule_node *node)
{
    struct pt_schedule_value *values = s->g->values.v;
    const uint32_t *uses = s->g->operands.v + node->first, *defs = uses + node->n_uses;
    node->is_issued = true;
    for (uint32_t u = 0; u < node->n_uses; u++)
        set_live(s, &values[uses[u]], true);
    for (uint32_t u = 0; u < node->n_uses; u++)
        if (!--values[uses[u]].uses && !values[uses[u]].is_out)
            set_live(s, &values[uses[u]], false);
    for (uint32_t d = 0; d < node->n_defs; d++)
        set_live(s, &values[defs[d]], true);
    for (uint32_t d = 0; d < node->n_defs; d++)
        if (!values[defs[d]].uses && !values[defs[d]].is_out)
            set_live(s, &values[defs[d]], false);
}

struct pt_schedule_need pt_schedule_text(struct pt_schedule_graph *g)
{
    struct state s = start(g);
    for (uint32_t i = 0; i < g->nodes.n; i++)
        issue(&s, &g->nodes.v[i]);
    return s.most;
}

/* Issues a node behind all that it must follow. `ready` is the stack. */
static void issue_wanted(struct state *s, uint32_t i)
{
    struct pt_schedule_graph *g = s->g;
    uint32_t n = 0;
    g->ready[n++] = i;
    while (n) {
        struct pt_schedule_node *node = &g->nodes.v[g->ready[n - 1]];
        const uint32_t *before = g->edges + node->edges;
        while (node->waits && g->nodes.v[before[node->waits - 1]].is_issued)
            node->waits--;
        if (node->waits) {
            g->ready[n++] = before[node->waits - 1];
            continue;
        }
        issue(s, node);
        n--;
    }
}

struct pt_schedule_need pt_schedule_late(struct pt_schedule_graph *g, bool all)
{
    struct state s = start(g);
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < g->nodes.n; i++) {
            const struct pt_schedule_node *node = &g->nodes.v[i];
            bool may_sink = node->may_sink || (all && !(node->cost->effects & ~(uint32_t)PT_FX_FP));
            if (!node->is_issued && (pass || !may_sink))
                issue_wanted(&s, i);
        }
    return s.most;
}

/* What the node adds to what is live. */
static int32_t growth(const struct pt_schedule_graph *g, const struct pt_schedule_node *node)
{
    const uint32_t *uses = g->operands.v + node->first, *defs = uses + node->n_uses;
    int32_t n = 0;
    for (uint32_t u = 0; u < node->n_uses; u++) {
        const struct pt_schedule_value *v = &g->values.v[uses[u]];
        if (v->is_live && v->uses == 1 && !v->is_out)
            n -= v->size;
        else if (!v->is_live && v->uses > 1)
            n += v->size;
    }
    for (uint32_t d = 0; d < node->n_defs; d++)
        n += g->values.v[defs[d]].is_live ? 0 : g->values.v[defs[d]].size;
    return n;
}

struct choice {
    uint32_t best, least; /* in `ready`; best: UINT32_MAX: none */
    int32_t soon;         /* when the first of those that fit will have its operands */
};

static struct choice choose(const struct state *s, uint32_t n, int32_t cap, int32_t cycle)
{
    const struct pt_schedule_graph *g = s->g;
    struct choice c = {UINT32_MAX, 0, INT32_MAX};
    int32_t least = INT32_MAX, height = -1;
    for (uint32_t q = 0; q < n; q++) {
        const struct pt_schedule_node *node = &g->nodes.v[g->ready[q]];
        int32_t grows = growth(g, node);
        if (grows < least || (grows == least && g->ready[q] < g->ready[c.least])) {
            least = grows;
            c.least = q;
        }
        if (grows > 0 && s->live + grows > cap)
            continue;
        if (node->early < c.soon)
            c.soon = node->early;
        if (node->early > cycle)
            continue;
        if (node->height > height || (node->height == height && g->ready[q] < g->ready[c.best])) {
            height = node->height;
            c.best = q;
        }
    }
    return c;
}

/* The nodes that follow one whose result is there at `done`; the number of those that are ready. */
static uint32_t release(struct pt_schedule_graph *g, const struct pt_schedule_node *node,
                        int32_t done, uint32_t n)
{
    const uint32_t *after = g->edges + node->edges + node->n_before;
    for (uint32_t e = 0; e < node->n_after; e++) {
        struct pt_schedule_node *next = &g->nodes.v[after[e]];
        if (next->early < done)
            next->early = done;
        if (!--next->waits)
            g->ready[n++] = after[e];
    }
    return n;
}

struct pt_schedule_need pt_schedule_list(struct pt_schedule_graph *g, int32_t cap)
{
    uint32_t n = 0;
    int32_t cycle = 0;
    if (g->nodes.n > LIST_MOST)
        return pt_schedule_text(g);
    struct state s = start(g);
    for (uint32_t i = 0; i < g->nodes.n; i++)
        if (!g->nodes.v[i].n_before)
            g->ready[n++] = i;
    while (n) {
        struct choice c = choose(&s, n, cap, cycle);
        if (c.best == UINT32_MAX && c.soon != INT32_MAX && c.soon > cycle) {
            cycle = c.soon;
            continue;
        }
        uint32_t q = c.best == UINT32_MAX ? c.least : c.best;
        struct pt_schedule_node *node = &g->nodes.v[g->ready[q]];
        g->ready[q] = g->ready[--n];
        if (cycle < node->early)
            cycle = node->early;
        issue(&s, node);
        n = release(g, node, cycle + (node->is_free ? 0 : node->cost->latency), n);
        cycle += !node->is_free;
    }
    return s.most;
}

/* ---- from the end ---------------------------------------------------------------------------- */

static struct state start_at_end(struct pt_schedule_graph *g)
{
    struct state s = start(g);
    s.live = g->base;
    s.spread = g->base_spread;
    for (uint32_t v = 0; v < g->values.n; v++) {
        struct pt_schedule_value *value = &g->values.v[v];
        value->defs = value->writers;
        value->is_live = value->is_out && (value->is_in || value->writers);
        s.live += value->is_live ? value->size : 0;
        s.spread += value->is_live ? value->spread : 0;
    }
    for (uint32_t i = 0; i < g->nodes.n; i++)
        g->nodes.v[i].waits = g->nodes.v[i].n_after;
    s.most = (struct pt_schedule_need){s.live, s.spread};
    return s;
}

static void issue_backward(struct state *s, struct pt_schedule_node *node)
{
    struct pt_schedule_value *values = s->g->values.v;
    const uint32_t *uses = s->g->operands.v + node->first, *defs = uses + node->n_uses;
    for (uint32_t d = 0; d < node->n_defs; d++)
        set_live(s, &values[defs[d]], true);
    for (uint32_t d = 0; d < node->n_defs; d++)
        if (!--values[defs[d]].defs && !values[defs[d]].is_in)
            set_live(s, &values[defs[d]], false);
    for (uint32_t u = 0; u < node->n_uses; u++)
        set_live(s, &values[uses[u]], true);
}

static int32_t backward_growth(const struct pt_schedule_graph *g,
                               const struct pt_schedule_node *node)
{
    const uint32_t *uses = g->operands.v + node->first, *defs = uses + node->n_uses;
    int32_t n = 0;
    for (uint32_t u = 0; u < node->n_uses; u++)
        n += g->values.v[uses[u]].is_live ? 0 : g->values.v[uses[u]].size;
    for (uint32_t d = 0; d < node->n_defs; d++) {
        const struct pt_schedule_value *v = &g->values.v[defs[d]];
        n -= v->is_live && v->defs == 1 && !v->is_in ? v->size : 0;
    }
    return n;
}

struct pt_schedule_need pt_schedule_backward(struct pt_schedule_graph *g)
{
    uint32_t n = 0;
    if (g->nodes.n > LIST_MOST)
        return pt_schedule_text(g);
    struct state s = start_at_end(g);
    for (uint32_t i = 0; i < g->nodes.n; i++)
        if (!g->nodes.v[i].n_after)
            g->ready[n++] = i;
    while (n) {
        uint32_t best = 0;
        int32_t least = INT32_MAX;
        for (uint32_t q = 0; q < n; q++) {
            int32_t grows = backward_growth(g, &g->nodes.v[g->ready[q]]);
            if (grows < least || (grows == least && g->ready[q] > g->ready[best])) {
                least = grows;
                best = q;
            }
        }
        struct pt_schedule_node *node = &g->nodes.v[g->ready[best]];
        g->ready[best] = g->ready[--n];
        issue_backward(&s, node);
        const uint32_t *before = g->edges + node->edges;
        for (uint32_t e = 0; e < node->n_before; e++)
            if (!--g->nodes.v[before[e]].waits)
                g->ready[n++] = before[e];
    }
    return s.most;
}
