/* What a scheduler orders. */
#include "runtime/registers/schedule_graph.h"

#include "runtime/registers/live_set.h"
#include "runtime/registers/remat.h"

struct maker {
    const struct pt_code *code;
    const struct pt_register_file *file;
    struct pt_arena *arena;
    struct pt_schedule_graph *g;
    uint32_t *name; /* by register: its value + 1 */
    const uint64_t *live_in;
};

/* ---- values ---------------------------------------------------------------------------------- */

static uint32_t new_value(struct maker *k, uint32_t reg)
{
    struct pt_schedule_value *value = pt_vec_push(k->arena, &k->g->values);
    value->size = k->file->vector[reg];
    value->spread = k->file->spread[reg];
    k->name[reg] = k->g->values.n;
    return k->g->values.n - 1;
}

static uint32_t value_of(struct maker *k, uint32_t reg)
{
    if (k->name[reg])
        return k->name[reg] - 1;
    uint32_t v = new_value(k, reg);
    k->g->values.v[v].is_in = !k->file->is_constant[reg] && pt_live_set_has(k->live_in, reg);
    return v;
}

static void add_arc(struct maker *k, uint32_t from, uint32_t to)
{
    if (from != to)
        *pt_vec_push(k->arena, &k->g->arcs) = (struct pt_schedule_pair){from, to};
}

/* Integer units take one constant from its bank; two of 64 bits, and what is added to a product,
 * they want in registers. */
static bool loads_constants(const struct maker *k, const struct pt_code_insn *insn)
{
    return insn->cost.is_integer && insn->n_defs && k->file->vector[pt_code_defs(k->code, insn)[0]];
}

static void add_use(struct maker *k, uint32_t node, const struct pt_code_insn *insn, uint32_t reg)
{
    uint32_t v = value_of(k, reg);
    struct pt_schedule_value *value = &k->g->values.v[v];
    value->total++;
    if (k->file->is_constant[reg] && loads_constants(k, insn))
        value->size = value->spread = k->file->size[reg];
    if (value->writer)
        add_arc(k, value->writer - 1, node);
    *pt_vec_push(k->arena, &k->g->readers) = (struct pt_schedule_pair){node, value->readers};
    value->readers = k->g->readers.n;
    *pt_vec_push(k->arena, &k->g->operands) = v;
    k->g->nodes.v[node].n_uses++;
}

static void add_def(struct maker *k, uint32_t node, uint32_t reg, bool is_partial)
{
    uint32_t v = is_partial ? value_of(k, reg) : new_value(k, reg);
    struct pt_schedule_value *value = &k->g->values.v[v];
    for (uint32_t r = value->readers; r; r = k->g->readers.v[r - 1].b)
        add_arc(k, k->g->readers.v[r - 1].a, node);
    if (value->writer)
        add_arc(k, value->writer - 1, node);
    value->readers = 0;
    value->writers++;
    value->writer = node + 1;
    *pt_vec_push(k->arena, &k->g->operands) = v;
    k->g->nodes.v[node].n_defs++;
}

static bool is_free(const struct maker *k, const struct pt_code_insn *insn)
{
    if (insn->cost.effects & ~(uint32_t)PT_FX_READ || insn->cost.is_load)
        return false;
    for (uint32_t d = 0; d < insn->n_defs; d++) {
        uint32_t reg = pt_code_defs(k->code, insn)[d];
        if (k->file->varies[reg] && !k->file->is_constant[reg])
            return false;
    }
    return true;
}

static void add_node(struct maker *k, uint32_t i, bool is_conditional)
{
    const struct pt_code_insn *insn = &k->code->insns[i];
    const struct pt_func *f = k->code->f;
    if (insn->cost.effects & (PT_FX_BRANCH | PT_FX_END) && !(insn->cost.effects & PT_FX_CALL))
        return;
    uint32_t at = k->g->nodes.n;
    struct pt_schedule_node *node = pt_vec_push(k->arena, &k->g->nodes);
    node->cost = &insn->cost;
    node->first = k->g->operands.n;
    node->is_free = is_free(k, insn);
    for (uint32_t u = 0; u < insn->n_uses; u++)
        add_use(k, at, insn, pt_code_uses(k->code, insn)[u]);
    for (uint32_t d = 0; d < insn->n_defs; d++) {
        uint32_t reg = pt_code_defs(k->code, insn)[d];
        bool is_partial = (is_conditional || f->insns.v[i].guard) && f->regs.v[reg].n_defs > 1;
        add_def(k, at, reg, is_partial);
    }
}

/* ---- what must stay in order ----------------------------------------------------------------- */

struct accesses {
    uint32_t store[PT_MEMORIES]; /* the last: node + 1 */
    uint32_t loads[PT_MEMORIES]; /* the last since: node + 1 */
    uint32_t *load_before;       /* by node */
    uint32_t fence, slow;        /* the last: node + 1 */
};

static bool touches_memory(const struct pt_insn_cost *c)
{
    return c->effects & (PT_FX_READ | PT_FX_WRITE | PT_FX_ATOMIC);
}

static void order_access(struct maker *k, struct accesses *a, uint32_t i)
{
    const struct pt_insn_cost *c = k->g->nodes.v[i].cost;
    bool writes = c->effects & (PT_FX_WRITE | PT_FX_ATOMIC);
    if ((c->is_load && c->is_read_only) || !(writes || c->is_load))
        return;
    if (a->store[c->memory])
        add_arc(k, a->store[c->memory] - 1, i);
    if (!writes) {
        a->load_before[i] = a->loads[c->memory];
        a->loads[c->memory] = i + 1;
        return;
    }
    for (uint32_t r = a->loads[c->memory]; r; r = a->load_before[r - 1])
        add_arc(k, r - 1, i);
    a->loads[c->memory] = 0;
    a->store[c->memory] = i + 1;
}

static void order_fence(struct maker *k, struct accesses *a, uint32_t i)
{
    const struct pt_insn_cost *c = k->g->nodes.v[i].cost;
    if (a->fence && (c->is_fence || touches_memory(c)))
        add_arc(k, a->fence - 1, i);
    for (uint32_t p = a->fence ? a->fence - 1 : 0; p < i && c->is_fence; p++)
        if (touches_memory(k->g->nodes.v[p].cost))
            add_arc(k, p, i);
    if (c->is_fence)
        a->fence = i + 1;
}

static void order_slow(struct maker *k, struct accesses *a, uint32_t i)
{
    bool is_slow = k->g->nodes.v[i].cost->is_slow;
    if (a->slow)
        add_arc(k, a->slow - 1, i);
    for (uint32_t p = a->slow ? a->slow - 1 : 0; p < i && is_slow; p++)
        add_arc(k, p, i);
    if (is_slow)
        a->slow = i + 1;
}

static void order_effects(struct maker *k)
{
    uint32_t n = k->g->nodes.n;
    struct accesses a = {.load_before = pt_arena_alloc(k->arena, (n + 1) * sizeof(uint32_t))};
    for (uint32_t i = 0; i < n; i++) {
        order_fence(k, &a, i);
        order_slow(k, &a, i);
        order_access(k, &a, i);
    }
}

/* ---- edges ----------------------------------------------------------------------------------- */

static void count_edges(struct pt_schedule_graph *g, struct pt_arena *arena)
{
    uint32_t at = 0;
    for (uint32_t a = 0; a < g->arcs.n; a++) {
        g->nodes.v[g->arcs.v[a].a].n_after++;
        g->nodes.v[g->arcs.v[a].b].n_before++;
    }
    for (uint32_t i = 0; i < g->nodes.n; i++) {
        struct pt_schedule_node *node = &g->nodes.v[i];
        node->edges = at;
        at += node->n_before + node->n_after;
        node->waits = node->n_before;
        node->n_after = 0;
    }
    g->edges = pt_arena_alloc(arena, (at + 1) * sizeof *g->edges);
    g->ready = pt_arena_alloc(arena, (g->nodes.n + 1) * sizeof *g->ready);
}

static void sort_arcs(struct pt_schedule_graph *g)
{
    for (uint32_t a = 0; a < g->arcs.n; a++) {
        struct pt_schedule_node *from = &g->nodes.v[g->arcs.v[a].a];
        struct pt_schedule_node *to = &g->nodes.v[g->arcs.v[a].b];
        g->edges[to->edges + --to->waits] = g->arcs.v[a].a;
        g->edges[from->edges + from->n_before + from->n_after++] = g->arcs.v[a].b;
    }
}

static void find_heights(struct pt_schedule_graph *g)
{
    for (uint32_t i = g->nodes.n; i-- > 0;) {
        struct pt_schedule_node *node = &g->nodes.v[i];
        const uint32_t *after = g->edges + node->edges + node->n_before;
        bool is_for_loads = node->cost->is_integer && node->n_after;
        for (uint32_t e = 0; e < node->n_after; e++) {
            const struct pt_schedule_node *next = &g->nodes.v[after[e]];
            if (node->height < next->height)
                node->height = next->height;
            is_for_loads &= next->may_sink;
        }
        node->may_sink = node->cost->is_load || is_for_loads;
        node->height += node->is_free ? 0 : node->cost->latency;
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

static void add_base(struct maker *k, uint32_t reg)
{
    k->g->base += k->file->vector[reg];
    k->g->base_spread += k->file->spread[reg];
}

static void add_live_out(struct maker *k, const struct pt_region *region)
{
    const struct pt_code *code = k->code;
    const uint64_t *in = code->live_in + (size_t)region->first * code->words;
    uint64_t *out = pt_arena_alloc(k->arena, code->words * sizeof *out);
    pt_region_live_out(code, region, out);
    for (uint32_t reg = pt_live_set_next(out, code->words, 0); reg != UINT32_MAX;
         reg = pt_live_set_next(out, code->words, reg + 1)) {
        if (k->name[reg] && !k->file->is_constant[reg])
            k->g->values.v[k->name[reg] - 1].is_out = true;
        if (!k->name[reg] && k->file->vector[reg] && pt_live_set_has(in, reg) &&
            !pt_remat_is_cheap(code, k->file, in, reg))
            add_base(k, reg);
    }
}

struct pt_schedule_graph *pt_schedule_graph_make(const struct pt_code *code,
                                                 const struct pt_register_file *file,
                                                 const struct pt_region *region, unsigned copies)
{
    struct maker k = {.code = code, .file = file, .arena = code->arena};
    k.g = pt_arena_alloc(k.arena, sizeof *k.g);
    k.name = pt_arena_alloc(k.arena, code->f->regs.n * sizeof *k.name);
    k.live_in = code->live_in + (size_t)region->first * code->words;
    *pt_vec_push(k.arena, &k.g->operands) = 0; /* never empty */
    for (unsigned c = 0; c < copies; c++)
        for (uint32_t b = region->first; b < region->end; b++) {
            const struct pt_block *block = &code->f->blocks.v[b];
            bool is_conditional = !pt_region_always_runs(code, region, b);
            for (uint32_t i = 0; i < block->count; i++)
                add_node(&k, block->first + i, is_conditional);
        }
    add_live_out(&k, region);
    order_effects(&k);
    count_edges(k.g, k.arena);
    sort_arcs(k.g);
    find_heights(k.g);
    return k.g;
}
