/* The control-flow graph of a function: blocks, their numbering, loops, dominators.
 *
 * Numbering. Warps run the lowest-numbered block that has lanes waiting, so the numbers decide
 * where lanes that branched apart meet again. The order is a weak topological order (Bourdoncle,
 * "Efficient chaotic iteration strategies with widenings", 1993): strongly connected components in
 * topological order, each contiguous; within a component its first-visited block, the header, comes
 * first, and the rest is ordered in the same way as if the header were not there. So every loop's
 * blocks precede what is reached only by leaving it, at every level, and a retreating edge always
 * leads to the header of a loop around it. Plain reverse post-order lacks the first property.
 *
 * Work is linear in the edges for each level of loop nesting. Nothing here recurses: inputs may be
 * any size.
 */
#include "ir/cfg.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* A stretch of the source between two places where control may enter or leave; after `merge_chains`
 * a block is a chain of such pieces. */
struct piece {
    uint32_t first, count;
    uint32_t next;          /* piece that follows by falling through, or NONE */
    uint32_t link;          /* chain: the piece appended behind this one, or NONE */
    uint32_t tail;          /* of the head of a chain: its last piece */
    uint8_t is_leader_sync; /* begins with a synchronising instruction or a call */
    uint8_t is_reached, is_merged;
};

/* Successors or predecessors of all nodes: those of v are to[at[v]] to to[at[v + 1]]. */
struct arcs {
    uint32_t *at, *to;
};

struct cfg {
    struct pt_module *m;
    struct pt_func *f;
    struct pt_arena *scratch;
    struct piece *pieces;
    uint32_t n_pieces;
    uint32_t *piece_of; /* by instruction that begins one */
    uint32_t entry;     /* piece */
    uint32_t *node;     /* by piece: node of the graph, NONE if it is none's head */
    uint32_t *head;     /* by node: piece */
    uint32_t n;         /* nodes */
    struct arcs succ;   /* by node; targets, then the fall-through */
    uint32_t *order;    /* node by block number */
    uint32_t *number;   /* block number by node */
};

static void *scratch_array(struct pt_arena *scratch, size_t n, size_t size)
{
    return pt_arena_alloc(scratch, n * size);
}

static uint32_t effects(const struct cfg *c, uint32_t insn)
{
    return pt_insn_form(c->m, &c->f->insns.v[insn])->effects;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static bool is_terminator(const struct cfg *c, uint32_t insn)
{
    return (effects(c, insn) & (PT_FX_BRANCH | PT_FX_END)) && !(effects(c, insn) & PT_FX_CALL);
}

static bool is_sync(const struct cfg *c, uint32_t insn)
{
    return effects(c, insn) & (PT_FX_WARP | PT_FX_CTA | PT_FX_CLUSTER | PT_FX_CALL);
}

/* Lanes that execute it end here, as far as this activation goes: exit, ret, trap. */
static bool is_exit(const struct cfg *c, uint32_t insn)
{
    const struct pt_insn *i = &c->f->insns.v[insn];
    if (!is_terminator(c, insn))
        return false;
    for (uint32_t k = 0; k < i->n_operands; k++) {
        uint8_t kind = c->f->operands.v[i->operands + k].kind;
        if (kind == PT_OPND_LABEL || kind == PT_OPND_TABLE)
            return false;
    }
    return true;
}

/* Calls visit(ud, label) for each label the instruction may branch to, in order. */
static void each_target(const struct cfg *c, uint32_t insn, void (*visit)(void *ud, uint32_t label),
                        void *ud)
{
    const struct pt_insn *i = &c->f->insns.v[insn];
    if (!(effects(c, insn) & PT_FX_BRANCH))
        return;
    for (uint32_t k = 0; k < i->n_operands; k++) {
        const struct pt_operand *o = &c->f->operands.v[i->operands + k];
        if (o->kind == PT_OPND_LABEL)
            visit(ud, o->index);
        if (o->kind != PT_OPND_TABLE || c->f->tables.v[o->index].kind != 'b')
            continue;
        const struct pt_table *t = &c->f->tables.v[o->index];
        for (uint32_t j = 0; j < t->targets.n; j++)
            visit(ud, t->targets.v[j]);
    }
}

struct leaders {
    const struct cfg *c;
    uint8_t *is_leader;
};

static void mark_leader(void *ud, uint32_t label)
{
    struct leaders *l = ud;
    l->is_leader[l->c->f->labels.v[label].insn] = 1;
}

static void make_pieces(struct cfg *c)
{
    uint32_t n = c->f->insns.n;
    struct leaders l = {c, scratch_array(c->scratch, n + 1, 1)};
    for (uint32_t i = 0; i < n; i++) {
        each_target(c, i, mark_leader, &l);
        if (is_sync(c, i))
            l.is_leader[i] = 1;
        if (is_terminator(c, i) || (effects(c, i) & PT_FX_CALL))
            l.is_leader[i + 1] = 1;
    }
    l.is_leader[0] = 1;
    for (uint32_t i = 0; i < n; i++)
        c->n_pieces += l.is_leader[i];
    c->pieces = scratch_array(c->scratch, c->n_pieces, sizeof *c->pieces);
    c->piece_of = scratch_array(c->scratch, n, sizeof *c->piece_of);
    uint32_t p = NONE;
    for (uint32_t i = 0; i < n; i++) {
        if (l.is_leader[i]) {
            c->piece_of[i] = ++p;
            c->pieces[p] = (struct piece){i, 0, NONE, NONE, p, is_sync(c, i), 0, 0};
        }
        c->pieces[p].count++;
    }
    for (p = 0; p < c->n_pieces; p++) {
        uint32_t last = c->pieces[p].first + c->pieces[p].count - 1;
        if (last + 1 < n && (!is_terminator(c, last) || c->f->insns.v[last].guard))
            c->pieces[p].next = p + 1;
    }
}

/* The label of a plain unguarded bra, PT_NONE for all else. */
static uint32_t jump_label(const struct cfg *c, uint32_t insn)
{
    const struct pt_insn *i = &c->f->insns.v[insn];
    if (i->n_operands != 1)
        return PT_NONE;
    const struct pt_operand *o = &c->f->operands.v[i->operands];
    bool is_jump = (effects(c, insn) & PT_FX_BRANCH) && !(effects(c, insn) & PT_FX_CALL) &&
                   !i->guard && o->kind == PT_OPND_LABEL;
    return is_jump ? o->index : PT_NONE;
}

/* Where control that enters piece p really goes: pieces that only jump are passed through. A cycle
 * of such pieces stays at the one it is first entered by. */
static uint32_t pass_through(const struct cfg *c, uint32_t *resolved, uint8_t *on_path, uint32_t p)
{
    uint32_t q = p;
    while (resolved[q] == NONE && !on_path[q]) {
        uint32_t label = c->pieces[q].count == 1 ? jump_label(c, c->pieces[q].first) : PT_NONE;
        if (!label) {
            resolved[q] = q;
            break;
        }
        on_path[q] = 1;
        q = c->piece_of[c->f->labels.v[label].insn];
    }
    uint32_t end = resolved[q] == NONE ? q : resolved[q];
    for (; p != end && resolved[p] == NONE;
         p = c->piece_of[c->f->labels.v[jump_label(c, c->pieces[p].first)].insn])
        resolved[p] = end;
    resolved[end] = end;
    return end;
}

/* Points labels (their `block` holds a piece from here to `renumber`) and fall-throughs past pieces
 * that only jump. */
static void thread_jumps(struct cfg *c)
{
    uint32_t *resolved = scratch_array(c->scratch, c->n_pieces, sizeof *resolved);
    uint8_t *on_path = scratch_array(c->scratch, c->n_pieces, 1);
    memset(resolved, 0xff, c->n_pieces * sizeof *resolved);
    for (uint32_t p = 0; p < c->n_pieces; p++)
        pass_through(c, resolved, on_path, p);
    for (uint32_t p = 0; p < c->n_pieces; p++)
        if (c->pieces[p].next != NONE)
            c->pieces[p].next = resolved[c->pieces[p].next];
    for (uint32_t i = 1; i < c->f->labels.n; i++) {
        struct pt_label *label = &c->f->labels.v[i];
        /* Labels that no branch names may stand inside a piece; nobody asks for their block. */
        bool begins =
            label->insn < c->f->insns.n && c->pieces[c->piece_of[label->insn]].first == label->insn;
        label->block = begins ? resolved[c->piece_of[label->insn]] : NONE;
    }
    c->entry = resolved[0];
}

/* ---- the graph ------------------------------------------------------------------------------- */

struct gather {
    const struct cfg *c;
    uint32_t *to; /* NULL: only count */
    uint32_t n;
    uint32_t *seen; /* by piece: the source that already leads there */
    uint32_t source;
};

static void gather_piece(struct gather *g, uint32_t piece)
{
    if (g->seen[piece] == g->source + 1)
        return;
    g->seen[piece] = g->source + 1;
    if (g->to)
        g->to[g->n] = piece;
    g->n++;
}

static void gather_label(void *ud, uint32_t label)
{
    struct gather *g = ud;
    gather_piece(g, g->c->f->labels.v[label].block);
}

/* Appends the successors of piece p, each once. */
static void gather_succ(struct gather *g, uint32_t p)
{
    const struct piece *piece = &g->c->pieces[p];
    g->source = p;
    each_target(g->c, piece->first + piece->count - 1, gather_label, g);
    if (piece->next != NONE)
        gather_piece(g, piece->next);
}

static struct arcs piece_arcs(struct cfg *c)
{
    struct arcs a;
    uint32_t n = c->n_pieces;
    struct gather g = {c, NULL, 0, scratch_array(c->scratch, n, sizeof *g.seen), 0};
    for (uint32_t p = 0; p < n; p++)
        gather_succ(&g, p);
    a.at = scratch_array(c->scratch, n + 1, sizeof *a.at);
    a.to = scratch_array(c->scratch, g.n, sizeof *a.to);
    memset(g.seen, 0, n * sizeof *g.seen);
    g.to = a.to;
    g.n = 0;
    for (uint32_t p = 0; p < n; p++) {
        a.at[p] = g.n;
        gather_succ(&g, p);
    }
    a.at[n] = g.n;
    return a;
}

static void mark_reached(struct cfg *c, const struct arcs *succ)
{
    uint32_t *stack = scratch_array(c->scratch, c->n_pieces, sizeof *stack), n = 0;
    stack[n++] = c->entry;
    c->pieces[c->entry].is_reached = 1;
    while (n) {
        uint32_t p = stack[--n];
        for (uint32_t e = succ->at[p]; e < succ->at[p + 1]; e++) {
            if (c->pieces[succ->to[e]].is_reached)
                continue;
            c->pieces[succ->to[e]].is_reached = 1;
            stack[n++] = succ->to[e];
        }
    }
}

/* A piece whose only way on is a piece with no other way in becomes one block with it; a bra
 * between them goes. */
static void merge_chains(struct cfg *c, const struct arcs *succ)
{
    uint32_t *n_preds = scratch_array(c->scratch, c->n_pieces, sizeof *n_preds);
    for (uint32_t p = 0; p < c->n_pieces; p++)
        for (uint32_t e = succ->at[p]; c->pieces[p].is_reached && e < succ->at[p + 1]; e++)
            n_preds[succ->to[e]]++;
    for (uint32_t p = 0; p < c->n_pieces; p++) {
        struct piece *a = &c->pieces[p];
        if (!a->is_reached || succ->at[p + 1] - succ->at[p] != 1)
            continue;
        uint32_t q = succ->to[succ->at[p]], last = a->first + a->count - 1;
        struct piece *b = &c->pieces[q];
        bool is_plain = !is_terminator(c, last) || jump_label(c, last);
        if (n_preds[q] != 1 || q == c->entry || q == p || b->is_leader_sync || !is_plain ||
            (effects(c, last) & PT_FX_CALL))
            continue;
        a->count -= jump_label(c, last) != PT_NONE;
        a->link = q;
        b->is_merged = 1;
    }
    for (uint32_t p = 0; p < c->n_pieces; p++) {
        if (!c->pieces[p].is_reached || c->pieces[p].is_merged)
            continue;
        uint32_t t = p;
        while (c->pieces[t].link != NONE)
            t = c->pieces[t].link;
        c->pieces[p].tail = t;
    }
}

static void make_nodes(struct cfg *c, const struct arcs *succ)
{
    c->node = scratch_array(c->scratch, c->n_pieces, sizeof *c->node);
    c->head = scratch_array(c->scratch, c->n_pieces, sizeof *c->head);
    uint32_t edges = 0;
    for (uint32_t p = 0; p < c->n_pieces; p++) {
        c->node[p] = NONE;
        if (!c->pieces[p].is_reached || c->pieces[p].is_merged)
            continue;
        c->node[p] = c->n;
        c->head[c->n++] = p;
        edges += succ->at[c->pieces[p].tail + 1] - succ->at[c->pieces[p].tail];
    }
    c->succ.at = scratch_array(c->scratch, c->n + 1, sizeof *c->succ.at);
    c->succ.to = scratch_array(c->scratch, edges, sizeof *c->succ.to);
    edges = 0;
    for (uint32_t v = 0; v < c->n; v++) {
        uint32_t tail = c->pieces[c->head[v]].tail;
        c->succ.at[v] = edges;
        for (uint32_t e = succ->at[tail]; e < succ->at[tail + 1]; e++)
            c->succ.to[edges++] = c->node[succ->to[e]];
    }
    c->succ.at[c->n] = edges;
}

/* ---- numbering ------------------------------------------------------------------------------- */

/* A stretch of the order that is still to be ordered: the blocks of a loop without its header. */
struct region {
    uint32_t lo, hi;
    uint32_t header; /* node whose successors are visited first; NONE: start at the entry */
};

struct visit {
    uint32_t node, edge;
};

struct tarjan {
    struct cfg *c;
    uint32_t *region; /* by node: id of the region it belongs to */
    uint32_t *index;  /* by node: order of discovery from 1; 0: not yet */
    uint32_t *low;    /* by node: lowest index reached */
    uint8_t *is_open;
    struct visit *path;
    uint32_t n_path, *stack, n_stack, found;
    uint32_t id, hi; /* the region being ordered, and where its next component ends */
    PT_VEC(struct region) regions;
};

static bool has_self_edge(const struct cfg *c, uint32_t v)
{
    for (uint32_t e = c->succ.at[v]; e < c->succ.at[v + 1]; e++)
        if (c->succ.to[e] == v)
            return true;
    return false;
}

/* The component whose first-visited node is `root` is complete: it goes before all that were
 * complete earlier. */
static void close_component(struct tarjan *t, uint32_t root)
{
    struct cfg *c = t->c;
    uint32_t hi = t->hi, v;
    do {
        v = t->stack[--t->n_stack];
        t->is_open[v] = 0;
        c->order[--t->hi] = v;
    } while (v != root);
    if (hi - t->hi == 1 && !has_self_edge(c, root))
        return;
    struct pt_loop *loop = pt_vec_push(&c->m->arena, &c->f->loops);
    loop->header = t->hi;
    loop->end = hi;
    if (hi - t->hi > 1)
        *pt_vec_push(c->scratch, &t->regions) = (struct region){t->hi + 1, hi, root};
}

static void enter(struct tarjan *t, uint32_t v)
{
    t->index[v] = t->low[v] = ++t->found;
    t->is_open[v] = 1;
    t->stack[t->n_stack++] = v;
    t->path[t->n_path++] = (struct visit){v, t->c->succ.at[v]};
}

/* Depth-first search from v within the current region. Successors are visited in order, so that
 * what a block falls through to is visited last and comes right behind it where the graph allows.
 */
static void search(struct tarjan *t, uint32_t v)
{
    const struct arcs *succ = &t->c->succ;
    enter(t, v);
    while (t->n_path) {
        struct visit *top = &t->path[t->n_path - 1];
        v = top->node;
        if (top->edge < succ->at[v + 1]) {
            uint32_t w = succ->to[top->edge++];
            if (t->region[w] != t->id)
                continue;
            if (!t->index[w])
                enter(t, w);
            else if (t->is_open[w] && t->index[w] < t->low[v])
                t->low[v] = t->index[w];
            continue;
        }
        t->n_path--;
        if (t->n_path && t->low[v] < t->low[t->path[t->n_path - 1].node])
            t->low[t->path[t->n_path - 1].node] = t->low[v];
        if (t->low[v] == t->index[v])
            close_component(t, v);
    }
}

static void order_region(struct tarjan *t, struct region r)
{
    struct cfg *c = t->c;
    t->id++;
    t->hi = r.hi;
    for (uint32_t i = r.lo; i < r.hi; i++) {
        t->region[c->order[i]] = t->id;
        t->index[c->order[i]] = 0;
    }
    if (r.header == NONE) {
        search(t, c->node[c->entry]);
        return;
    }
    for (uint32_t e = c->succ.at[r.header]; e < c->succ.at[r.header + 1]; e++)
        if (t->region[c->succ.to[e]] == t->id && !t->index[c->succ.to[e]])
            search(t, c->succ.to[e]);
}

static void number_blocks(struct cfg *c)
{
    struct tarjan t = {.c = c};
    t.region = scratch_array(c->scratch, c->n, sizeof *t.region);
    t.index = scratch_array(c->scratch, c->n, sizeof *t.index);
    t.low = scratch_array(c->scratch, c->n, sizeof *t.low);
    t.is_open = scratch_array(c->scratch, c->n, 1);
    t.path = scratch_array(c->scratch, c->n, sizeof *t.path);
    t.stack = scratch_array(c->scratch, c->n, sizeof *t.stack);
    c->order = scratch_array(c->scratch, c->n, sizeof *c->order);
    c->number = scratch_array(c->scratch, c->n, sizeof *c->number);
    for (uint32_t v = 0; v < c->n; v++)
        c->order[v] = v;
    *pt_vec_push(c->scratch, &t.regions) = (struct region){0, c->n, NONE};
    while (t.regions.n)
        order_region(&t, t.regions.v[--t.regions.n]);
    for (uint32_t i = 0; i < c->n; i++)
        c->number[c->order[i]] = i;
}

/* ---- the blocks ------------------------------------------------------------------------------ */

static void number_labels(struct cfg *c)
{
    for (uint32_t i = 1; i < c->f->labels.n; i++) {
        struct pt_label *label = &c->f->labels.v[i];
        uint32_t v = label->block == NONE ? NONE : c->node[label->block];
        label->block = v == NONE ? NONE : c->number[v];
    }
    for (uint32_t i = 1; i < c->f->tables.n; i++) {
        struct pt_table *t = &c->f->tables.v[i];
        for (uint32_t k = 0; t->kind == 'b' && k < t->targets.n; k++)
            t->targets.v[k] = c->f->labels.v[t->targets.v[k]].block;
    }
}

static void append_jump(struct pt_arena *arena, struct pt_func *f, uint32_t bra, uint32_t block)
{
    struct pt_insn last = f->insns.v[f->insns.n - 1];
    struct pt_operand *o = pt_vec_push(arena, &f->operands);
    o->kind = PT_OPND_LABEL;
    o->index = block;
    struct pt_insn *jump = pt_vec_push(arena, &f->insns);
    *jump = (struct pt_insn){.form = bra,
                             .operands = f->operands.n - 1,
                             .n_operands = 1,
                             .col = last.col,
                             .line = last.line,
                             .loc = last.loc};
}

/* Appends the instructions of a chain of pieces, with labels turned into block numbers. */
static void append_chain(struct cfg *c, const struct pt_insn *source, uint32_t head)
{
    for (uint32_t p = head; p != NONE; p = c->pieces[p].link) {
        struct pt_insn *to = pt_vec_extend(&c->m->arena, &c->f->insns, c->pieces[p].count);
        memcpy(to, source + c->pieces[p].first, c->pieces[p].count * sizeof *to);
        for (uint32_t i = 0; i < c->pieces[p].count; i++) {
            for (uint32_t k = 0; k < to[i].n_operands; k++) {
                struct pt_operand *o = &c->f->operands.v[to[i].operands + k];
                if (o->kind == PT_OPND_LABEL)
                    o->index = c->f->labels.v[o->index].block;
            }
        }
    }
}

static void make_blocks(struct cfg *c, uint32_t bra)
{
    struct pt_func *f = c->f;
    struct pt_arena *arena = &c->m->arena;
    const struct pt_insn *source = f->insns.v;
    uint32_t n_source = f->insns.n;
    memset(&f->insns, 0, sizeof f->insns);
    (void)pt_vec_extend(arena, &f->insns, n_source);
    f->insns.n = 0;
    memset(&f->blocks, 0, sizeof f->blocks);
    (void)pt_vec_extend(arena, &f->blocks, c->n);
    for (uint32_t b = 0; b < c->n; b++) {
        uint32_t head = c->head[c->order[b]], tail = c->pieces[head].tail;
        uint32_t first = f->insns.n, next = c->pieces[tail].next;
        append_chain(c, source, head);
        uint32_t block_next = next == NONE ? NONE : c->number[c->node[next]];
        if (block_next != NONE && block_next != b + 1 && !is_terminator(c, f->insns.n - 1) &&
            !(effects(c, f->insns.n - 1) & PT_FX_CALL)) {
            append_jump(arena, f, bra, block_next);
            block_next = NONE;
        }
        f->blocks.v[b] = (struct pt_block){.first = first,
                                           .count = f->insns.n - first,
                                           .next = block_next,
                                           .idom = NONE,
                                           .ipdom = NONE};
    }
}

static void make_edges(struct cfg *c)
{
    struct pt_func *f = c->f;
    uint32_t n_edges = c->succ.at[c->n];
    memset(&f->edges, 0, sizeof f->edges);
    if (n_edges)
        (void)pt_vec_extend(&c->m->arena, &f->edges, 2 * n_edges);
    uint32_t n = 0;
    for (uint32_t b = 0; b < c->n; b++) {
        struct pt_block *block = &f->blocks.v[b];
        uint32_t v = c->order[b];
        block->succ = n;
        for (uint32_t e = c->succ.at[v]; e < c->succ.at[v + 1]; e++) {
            f->edges.v[n++] = c->number[c->succ.to[e]];
            f->blocks.v[f->edges.v[n - 1]].n_pred++;
        }
        block->n_succ = n - block->succ;
    }
    for (uint32_t b = 0; b < c->n; b++) {
        f->blocks.v[b].pred = n;
        n += f->blocks.v[b].n_pred;
        f->blocks.v[b].n_pred = 0;
    }
    for (uint32_t b = 0; b < c->n; b++) {
        for (uint32_t e = 0; e < f->blocks.v[b].n_succ; e++) {
            struct pt_block *to = &f->blocks.v[f->edges.v[f->blocks.v[b].succ + e]];
            f->edges.v[to->pred + to->n_pred++] = b;
        }
    }
}

/* ---- loops ----------------------------------------------------------------------------------- */

static int by_header(const void *a, const void *b)
{
    const struct pt_loop *x = a, *y = b;
    return x->header < y->header ? -1 : x->header > y->header;
}

static void nest_loops(struct pt_func *f)
{
    if (f->loops.n)
        qsort(f->loops.v, f->loops.n, sizeof *f->loops.v, by_header);
    uint32_t open = PT_NONE, next = 0;
    for (uint32_t b = 0; b < f->blocks.n; b++) {
        while (open && f->loops.v[open - 1].end <= b)
            open = f->loops.v[open - 1].parent;
        if (next < f->loops.n && f->loops.v[next].header == b) {
            f->loops.v[next].parent = open;
            f->loops.v[next].is_reducible = 1;
            open = ++next;
        }
        f->blocks.v[b].loop = open;
    }
    for (uint32_t b = 0; b < f->blocks.n; b++) {
        const struct pt_block *block = &f->blocks.v[b];
        for (uint32_t e = 0; e < block->n_pred; e++) {
            uint32_t from = f->edges.v[block->pred + e];
            for (uint32_t l = block->loop; l; l = f->loops.v[l - 1].parent)
                if (f->loops.v[l - 1].header != b &&
                    (from < f->loops.v[l - 1].header || from >= f->loops.v[l - 1].end))
                    f->loops.v[l - 1].is_reducible = 0;
        }
    }
}

/* ---- dominators ------------------------------------------------------------------------------ */

/* Semi-dominators with path compression (the SemiNCA variant of Lengauer and Tarjan's algorithm),
 * in discovery numbers of a depth-first search; 0 is the root. */
struct domtree {
    uint32_t n;
    uint32_t *vertex, *found; /* node by discovery number and back; NONE: not reached */
    uint32_t *parent, *up, *semi, *best, *idom;
    uint32_t *stack;
};

static void discover(struct domtree *d, const struct arcs *succ, uint32_t root, struct visit *path)
{
    uint32_t n = 0;
    d->found[root] = d->n;
    d->vertex[d->n++] = root;
    path[n++] = (struct visit){root, succ->at[root]};
    while (n) {
        struct visit *top = &path[n - 1];
        if (top->edge == succ->at[top->node + 1]) {
            n--;
            continue;
        }
        uint32_t w = succ->to[top->edge++];
        if (d->found[w] != NONE)
            continue;
        d->parent[d->n] = d->found[top->node];
        d->found[w] = d->n;
        d->vertex[d->n++] = w;
        path[n++] = (struct visit){w, succ->at[w]};
    }
}

/* The node with the lowest semi-dominator on the tree path from v up to, but without, the first
 * node below `linked`. Shortens the path on the way. */
static uint32_t lowest_on_path(struct domtree *d, uint32_t v, uint32_t linked)
{
    uint32_t n = 0;
    while (d->up[v] >= linked) {
        d->stack[n++] = v;
        v = d->up[v];
    }
    while (n) {
        uint32_t w = d->stack[--n];
        if (d->semi[d->best[v]] < d->semi[d->best[w]])
            d->best[w] = d->best[v];
        d->up[w] = d->up[v];
        v = w;
    }
    return d->best[v];
}

/* idom[v] for the nodes that the root reaches, NONE for the root and the others. */
static void dominators(const struct arcs *succ, const struct arcs *pred, uint32_t n, uint32_t root,
                       uint32_t *idom, struct pt_arena *scratch)
{
    struct domtree d = {0};
    uint32_t **arrays[] = {&d.vertex, &d.found, &d.parent, &d.up,
                           &d.semi,   &d.best,  &d.idom,   &d.stack};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = scratch_array(scratch, n, sizeof(uint32_t));
    memset(d.found, 0xff, n * sizeof *d.found);
    memset(idom, 0xff, n * sizeof *idom);
    discover(&d, succ, root, scratch_array(scratch, n, sizeof(struct visit)));
    for (uint32_t i = 0; i < d.n; i++) {
        d.up[i] = d.idom[i] = d.parent[i];
        d.semi[i] = d.best[i] = i;
    }
    for (uint32_t i = d.n; i-- > 1;) {
        uint32_t v = d.vertex[i];
        d.semi[i] = d.parent[i];
        for (uint32_t e = pred->at[v]; e < pred->at[v + 1]; e++) {
            uint32_t u = d.found[pred->to[e]];
            if (u == NONE)
                continue;
            uint32_t low = d.semi[lowest_on_path(&d, u, i + 1)];
            if (low < d.semi[i])
                d.semi[i] = low;
        }
    }
    for (uint32_t i = 1; i < d.n; i++) {
        while (d.idom[i] > d.semi[i])
            d.idom[i] = d.idom[d.idom[i]];
        idom[d.vertex[i]] = d.vertex[d.idom[i]];
    }
}

/* The arcs of the blocks; node `n` is the exit, joined to every block in which lanes may end. */
static struct arcs block_arcs(const struct cfg *c, bool forward)
{
    const struct pt_func *f = c->f;
    uint32_t n = f->blocks.n, k = 0;
    struct arcs a = {scratch_array(c->scratch, n + 2, sizeof *a.at),
                     scratch_array(c->scratch, f->edges.n / 2 + n, sizeof *a.to)};
    for (uint32_t b = 0; b < n; b++) {
        const struct pt_block *block = &f->blocks.v[b];
        a.at[b] = k;
        uint32_t at = forward ? block->succ : block->pred,
                 count = forward ? block->n_succ : block->n_pred;
        for (uint32_t e = 0; e < count; e++)
            a.to[k++] = f->edges.v[at + e];
        if (forward && is_exit(c, block->first + block->count - 1))
            a.to[k++] = n;
    }
    a.at[n] = k;
    for (uint32_t b = 0; b < n && !forward; b++) {
        if (is_exit(c, f->blocks.v[b].first + f->blocks.v[b].count - 1))
            a.to[k++] = b;
    }
    a.at[n + 1] = k;
    return a;
}

static void find_dominators(struct cfg *c)
{
    uint32_t n = c->f->blocks.n;
    struct arcs succ = block_arcs(c, true), pred = block_arcs(c, false);
    uint32_t *idom = scratch_array(c->scratch, n + 1, sizeof *idom);
    dominators(&succ, &pred, n + 1, 0, idom, c->scratch);
    for (uint32_t b = 0; b < n; b++)
        c->f->blocks.v[b].idom = idom[b];
    dominators(&pred, &succ, n + 1, n, idom, c->scratch);
    for (uint32_t b = 0; b < n; b++)
        c->f->blocks.v[b].ipdom = idom[b] == n ? NONE : idom[b];
}

void pt_cfg_build(struct pt_module *m, struct pt_func *f, uint32_t bra, struct pt_arena *scratch)
{
    struct cfg c = {.m = m, .f = f, .scratch = scratch};
    make_pieces(&c);
    thread_jumps(&c);
    struct arcs succ = piece_arcs(&c);
    mark_reached(&c, &succ);
    merge_chains(&c, &succ);
    make_nodes(&c, &succ);
    memset(&f->loops, 0, sizeof f->loops);
    number_blocks(&c);
    number_labels(&c);
    make_blocks(&c, bra);
    make_edges(&c);
    nest_loops(f);
    find_dominators(&c);
}
