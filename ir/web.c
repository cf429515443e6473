/* Splits registers into webs: what PTX writes as one register may hold several unrelated values one
 * after another, and each gets a register of its own, so that most have one definition.
 *
 * A web is a set of definitions and uses that must agree on a place: a use belongs to the web of
 * every definition that reaches it. Where two definitions meet (a block into which the register is
 * live) their webs become one: union-find over one node for each definition, and one for each
 * register live into a block. Only registers with several definitions take part. A guarded
 * definition keeps the old value in lanes that its guard leaves out, and so belongs to the web
 * before it.
 *
 * Registers that are formal parameters or results keep their identity: callers know them by number.
 */
#include "ir/web.h"

#include "ir/insn.h"
#include "ir/print.h"

#include <stdio.h>
#include <string.h>

#define NONE UINT32_MAX

/* What a block does to a register, first. */
enum event_kind {
    EVENT_USE, /* reads the value it was entered with */
    EVENT_KILL /* writes it in all lanes before any read */
};

struct event {
    uint32_t var, block;
    uint8_t kind;
};

struct live {
    uint32_t var, block;
};

struct node {
    uint32_t parent, var;
    uint32_t reg; /* of a root: its web's register, or PT_NONE */
};

struct webs {
    struct pt_module *m;
    struct pt_func *f;
    struct pt_arena *scratch;
    uint32_t *var; /* by register: index among those that take part, or NONE */
    uint32_t n_vars;
    uint32_t *reg; /* by var */
    PT_VEC(struct event) events;
    PT_VEC(struct live)
    live; /* sorted by block; the index is the node of the value at the block's entry */
    uint32_t *live_at; /* by block: first in `live` */
    PT_VEC(struct node) nodes;

    /* where a walk over the instructions stands */
    uint32_t block;
    const struct pt_insn *insn;
    uint32_t *used_in, *killed_in, *value_in; /* by var: the last block + 1 for which it happened */
    uint32_t *value;  /* by var: node that holds its value now, if value_in is this block */
    uint32_t n_regs;  /* before any were added */
    bool *is_placed;  /* by var: a web has its register */
    uint32_t *n_defs; /* by register */
    unsigned mark;    /* '$' signs that set off the number of a web in its name */
};

typedef void visit_operand(void *ud, struct pt_operand *operand, unsigned role, enum pt_type type);

static void each_operand(struct webs *w, struct pt_insn *insn, visit_operand *visit)
{
    w->insn = insn;
    if (insn->guard) {
        struct pt_operand guard = {.kind = PT_OPND_REG, .index = insn->guard};
        visit(w, &guard, PT_ROLE_USE, PT_pred);
        insn->guard = guard.index;
    }
    pt_insn_operands(w->m, w->f, insn, visit, w);
}

static void each_insn(struct webs *w, uint32_t block, visit_operand *visit)
{
    const struct pt_block *b = &w->f->blocks.v[block];
    w->block = block;
    for (uint32_t i = 0; i < b->count; i++)
        each_operand(w, &w->f->insns.v[b->first + i], visit);
}

/* ---- which registers take part --------------------------------------------------------------- */

static void count_def(void *ud, struct pt_operand *o, unsigned role, enum pt_type type)
{
    struct webs *w = ud;
    (void)type;
    if (role & PT_ROLE_DEF)
        w->n_defs[o->index]++;
}

static void choose_vars(struct webs *w)
{
    const struct pt_func *f = w->f;
    w->n_defs = pt_arena_alloc(w->scratch, f->regs.n * sizeof *w->n_defs);
    w->var = pt_arena_alloc(w->scratch, f->regs.n * sizeof *w->var);
    for (uint32_t b = 0; b < f->blocks.n; b++)
        each_insn(w, b, count_def);
    const uint32_t *formals[] = {f->params.v, f->results.v};
    uint32_t n_formals[] = {f->params.n, f->results.n};
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < n_formals[k]; i++)
            if (w->m->symbols.v[formals[k][i]].space == PT_SPACE_REG)
                w->var[w->m->symbols.v[formals[k][i]].reg] = NONE;
    for (uint32_t r = 0; r < f->regs.n; r++)
        w->n_vars += w->n_defs[r] > 1 && w->var[r] != NONE;
    w->reg = pt_arena_alloc(w->scratch, w->n_vars * sizeof *w->reg);
    w->n_vars = 0;
    for (uint32_t r = 0; r < f->regs.n; r++) {
        bool takes_part = w->n_defs[r] > 1 && w->var[r] != NONE;
        w->var[r] = takes_part ? w->n_vars : NONE;
        if (takes_part)
            w->reg[w->n_vars++] = r;
    }
}

/* ---- liveness of those, one register after another ------------------------------------------- */

static void note_event(void *ud, struct pt_operand *o, unsigned role, enum pt_type type)
{
    struct webs *w = ud;
    uint32_t var = w->var[o->index], stamp = w->block + 1;
    (void)type;
    if (var == NONE || w->killed_in[var] == stamp)
        return;
    if ((role & PT_ROLE_USE) && w->used_in[var] != stamp) {
        w->used_in[var] = stamp;
        *pt_vec_push(w->scratch, &w->events) = (struct event){var, w->block, EVENT_USE};
    }
    if ((role & PT_ROLE_DEF) && !w->insn->guard) {
        w->killed_in[var] = stamp;
        *pt_vec_push(w->scratch, &w->events) = (struct event){var, w->block, EVENT_KILL};
    }
}

/* Sorts events by variable: those of v are events from at[v] to at[v + 1]. */
static uint32_t *sort_events(struct webs *w)
{
    uint32_t *at = pt_arena_alloc(w->scratch, (w->n_vars + 2) * sizeof *at);
    struct event *sorted = pt_arena_alloc(w->scratch, w->events.n * sizeof *sorted);
    for (uint32_t i = 0; i < w->events.n; i++)
        at[w->events.v[i].var + 2]++;
    for (uint32_t v = 0; v < w->n_vars; v++)
        at[v + 2] += at[v + 1];
    for (uint32_t i = 0; i < w->events.n; i++)
        sorted[at[w->events.v[i].var + 1]++] = w->events.v[i];
    w->events.v = sorted;
    return at;
}

/* Finds the blocks into which each variable is live, backwards from the uses. */
static void find_live(struct webs *w)
{
    const struct pt_func *f = w->f;
    const uint32_t *at = sort_events(w);
    uint32_t *live_in = pt_arena_alloc(w->scratch, f->blocks.n * sizeof *live_in);
    uint32_t *killed_in = pt_arena_alloc(w->scratch, f->blocks.n * sizeof *killed_in);
    for (uint32_t v = 0; v < w->n_vars; v++) {
        uint32_t stamp = v + 1, next = w->live.n;
        for (uint32_t i = at[v]; i < at[v + 1]; i++) {
            const struct event *e = &w->events.v[i];
            if (e->kind == EVENT_KILL) {
                killed_in[e->block] = stamp;
                continue;
            }
            live_in[e->block] = stamp;
            *pt_vec_push(w->scratch, &w->live) = (struct live){v, e->block};
        }
        for (; next < w->live.n; next++) {
            const struct pt_block *b = &f->blocks.v[w->live.v[next].block];
            for (uint32_t e = 0; e < b->n_pred; e++) {
                uint32_t p = f->edges.v[b->pred + e];
                if (killed_in[p] == stamp || live_in[p] == stamp)
                    continue;
                live_in[p] = stamp;
                *pt_vec_push(w->scratch, &w->live) = (struct live){v, p};
            }
        }
    }
}

static void sort_live(struct webs *w)
{
    uint32_t n = w->f->blocks.n;
    struct live *sorted = pt_arena_alloc(w->scratch, w->live.n * sizeof *sorted);
    w->live_at = pt_arena_alloc(w->scratch, (n + 2) * sizeof *w->live_at);
    for (uint32_t i = 0; i < w->live.n; i++)
        w->live_at[w->live.v[i].block + 2]++;
    for (uint32_t b = 0; b < n; b++)
        w->live_at[b + 2] += w->live_at[b + 1];
    for (uint32_t i = 0; i < w->live.n; i++)
        sorted[w->live_at[w->live.v[i].block + 1]++] = w->live.v[i];
    w->live.v = sorted;
}

/* ---- webs ------------------------------------------------------------------------------------ */

static uint32_t add_node(struct webs *w, uint32_t var)
{
    uint32_t node = w->nodes.n;
    *pt_vec_push(w->scratch, &w->nodes) = (struct node){node, var, PT_NONE};
    return node;
}

static uint32_t find_root(struct webs *w, uint32_t node)
{
    while (w->nodes.v[node].parent != node) {
        w->nodes.v[node].parent = w->nodes.v[w->nodes.v[node].parent].parent;
        node = w->nodes.v[node].parent;
    }
    return node;
}

/* The lower number becomes the root, so that the result does not depend on the order of joining. */
static void join(struct webs *w, uint32_t a, uint32_t b)
{
    a = find_root(w, a);
    b = find_root(w, b);
    w->nodes.v[a > b ? a : b].parent = a > b ? b : a;
}

/* Puts a node in the operand's place: n_regs + node, until `place_web`. */
static void place_node(void *ud, struct pt_operand *o, unsigned role, enum pt_type type)
{
    struct webs *w = ud;
    uint32_t var = w->var[o->index], stamp = w->block + 1;
    (void)type;
    if (var == NONE)
        return;
    bool keeps = (role & PT_ROLE_USE) || w->insn->guard;
    if (!keeps || w->value_in[var] != stamp) {
        w->value_in[var] = stamp;
        w->value[var] = add_node(w, var);
    }
    o->index = w->n_regs + w->value[var];
}

static void join_block(struct webs *w, uint32_t block)
{
    const struct pt_block *b = &w->f->blocks.v[block];
    for (uint32_t i = w->live_at[block]; i < w->live_at[block + 1]; i++) {
        w->value_in[w->live.v[i].var] = block + 1;
        w->value[w->live.v[i].var] = i;
    }
    each_insn(w, block, place_node);
    for (uint32_t e = 0; e < b->n_succ; e++) {
        uint32_t s = w->f->edges.v[b->succ + e];
        for (uint32_t i = w->live_at[s]; i < w->live_at[s + 1]; i++)
            join(w, i, w->value[w->live.v[i].var]);
    }
}

/* ---- registers for the webs ------------------------------------------------------------------ */

/* One '$' more than any name has in a row: names that hold so many are new. */
unsigned pt_web_mark(const struct pt_func *f)
{
    unsigned longest = 0;
    for (uint32_t r = 1; r < f->regs.n; r++) {
        const char *name = f->regs.v[r].name;
        for (unsigned run = 0; name && *name; name++) {
            run = *name == '$' ? run + 1 : 0;
            longest = run > longest ? run : longest;
        }
    }
    return longest + 1;
}

uint32_t pt_web_reg(struct pt_module *m, struct pt_func *f, uint32_t reg, unsigned mark)
{
    uint32_t number = f->regs.n;
    size_t len = (size_t)pt_print_reg(f, reg, NULL, 0);
    char *name = pt_arena_alloc(&m->arena, len + mark + 16);
    pt_print_reg(f, reg, name, len + 1);
    memset(name + len, '$', mark);
    snprintf(name + len + mark, 16, "%u", number);
    uint8_t type = f->regs.v[reg].type;
    struct pt_reg *new = pt_vec_push(&m->arena, &f->regs);
    new->name = name;
    new->base = number;
    new->type = type;
    return number;
}

/* The first web met keeps the register, the others get new ones. */
static void place_web(void *ud, struct pt_operand *o, unsigned role, enum pt_type type)
{
    struct webs *w = ud;
    (void)type;
    if (o->index >= w->n_regs) {
        struct node *root = &w->nodes.v[find_root(w, o->index - w->n_regs)];
        if (!root->reg) {
            uint32_t reg = w->reg[root->var];
            root->reg = w->is_placed[root->var] ? pt_web_reg(w->m, w->f, reg, w->mark) : reg;
            w->is_placed[root->var] = true;
        }
        o->index = root->reg;
    }
    uint8_t *n_defs = &w->f->regs.v[o->index].n_defs;
    if ((role & PT_ROLE_DEF) && *n_defs < UINT8_MAX)
        ++*n_defs;
}

static void count_params(struct webs *w)
{
    for (uint32_t i = 0; i < w->f->params.n; i++) {
        const struct pt_symbol *s = &w->m->symbols.v[w->f->params.v[i]];
        if (s->space == PT_SPACE_REG && w->f->regs.v[s->reg].n_defs < UINT8_MAX)
            w->f->regs.v[s->reg].n_defs++;
    }
}

static uint32_t *by_var(struct webs *w)
{
    return pt_arena_alloc(w->scratch, w->n_vars * sizeof(uint32_t));
}

void pt_web_split(struct pt_module *m, struct pt_func *f, struct pt_arena *scratch)
{
    struct webs w = {.m = m, .f = f, .scratch = scratch, .n_regs = f->regs.n};
    choose_vars(&w);
    w.used_in = by_var(&w);
    w.killed_in = by_var(&w);
    w.value_in = by_var(&w);
    w.value = by_var(&w);
    w.is_placed = pt_arena_alloc(scratch, w.n_vars);
    if (w.n_vars) {
        for (uint32_t b = 0; b < f->blocks.n; b++)
            each_insn(&w, b, note_event);
        find_live(&w);
        sort_live(&w);
        for (uint32_t i = 0; i < w.live.n; i++)
            add_node(&w, w.live.v[i].var);
        for (uint32_t b = 0; b < f->blocks.n; b++)
            join_block(&w, b);
        w.mark = pt_web_mark(f);
    }
    for (uint32_t r = 0; r < f->regs.n; r++)
        f->regs.v[r].n_defs = 0;
    for (uint32_t b = 0; b < f->blocks.n; b++)
        each_insn(&w, b, place_web);
    count_params(&w);
}
