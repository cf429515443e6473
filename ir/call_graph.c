/* Who calls whom: what a function reaches, and whom an indirect call may call. */
#include "ir/call_graph.h"

/* ---- addresses that are taken ---------------------------------------------------------------- */

static void mark_operand(const struct pt_func *f, const struct pt_operand *o, uint8_t *addressed)
{
    bool has_parts = o->kind == PT_OPND_VEC || o->kind == PT_OPND_MEM || o->kind == PT_OPND_LIST;
    if (o->kind == PT_OPND_FUNC)
        addressed[o->index] = 1;
    for (int64_t i = 0; has_parts && i < o->imm; i++)
        mark_operand(f, &f->operands.v[o->index + i], addressed);
}

static void mark_body(const struct pt_module *m, const struct pt_func *f, uint8_t *addressed)
{
    for (uint32_t i = 0; i < f->insns.n; i++) {
        const struct pt_insn *insn = &f->insns.v[i];
        if (pt_insn_form(m, insn)->effects & PT_FX_CALL)
            continue;
        for (uint32_t k = 0; k < insn->n_operands; k++)
            mark_operand(f, &f->operands.v[insn->operands + k], addressed);
    }
}

static void mark_initialiser(const struct pt_symbol *s, uint8_t *addressed)
{
    for (uint32_t i = 0; i < s->relocs.n; i++)
        if (s->relocs.v[i].is_func)
            addressed[s->relocs.v[i].target] = 1;
}

uint8_t *pt_call_graph_addressed(const struct pt_module *m, struct pt_arena *arena)
{
    uint8_t *addressed = pt_arena_alloc(arena, m->funcs.n);
    for (uint32_t i = 1; i < m->funcs.n; i++)
        mark_body(m, &m->funcs.v[i], addressed);
    for (uint32_t i = 1; i < m->symbols.n; i++)
        mark_initialiser(&m->symbols.v[i], addressed);
    return addressed;
}

/* ---- the candidates of a call ---------------------------------------------------------------- */

static uint64_t bits_of(const struct pt_symbol *s)
{
    return s->space == PT_SPACE_REG ? pt_type_bits((enum pt_type)s->type) : s->size * 8;
}

static bool is_same(const struct pt_module *m, const uint32_t *a, uint32_t n_a, const uint32_t *b,
                    uint32_t n_b)
{
    if (n_a != n_b)
        return false;
    for (uint32_t i = 0; i < n_a; i++) {
        const struct pt_symbol *s = &m->symbols.v[a[i]], *t = &m->symbols.v[b[i]];
        if (bits_of(s) != bits_of(t) || s->is_unsized != t->is_unsized)
            return false;
    }
    return true;
}

static bool has_signature(const struct pt_module *m, uint32_t func, uint32_t signature)
{
    const struct pt_func *a = &m->funcs.v[func], *b = &m->funcs.v[signature];
    return is_same(m, a->params.v, a->params.n, b->params.v, b->params.n) &&
           is_same(m, a->results.v, a->results.n, b->results.v, b->results.n);
}

uint32_t *pt_call_graph_callees(const struct pt_module *m, const struct pt_func *f,
                                const struct pt_insn *call, const uint8_t *addressed,
                                struct pt_arena *arena, uint32_t *n)
{
    const struct pt_operand *o = &f->operands.v[call->operands + call->n_operands - 1u];
    const struct pt_table *table = o->kind == PT_OPND_TABLE ? &f->tables.v[o->index] : NULL;
    uint32_t signature = table && table->kind == 'p' ? table->signature : PT_NONE;
    uint8_t *named = pt_arena_alloc(arena, m->funcs.n);
    uint32_t *list = pt_arena_alloc(arena, m->funcs.n * sizeof *list);
    for (uint32_t i = 0; table && i < table->targets.n; i++)
        named[table->targets.v[i]] = 1;
    if (o->kind == PT_OPND_SYM)
        mark_initialiser(&m->symbols.v[o->index], named);
    *n = 0;
    for (uint32_t i = 1; i < m->funcs.n; i++) {
        uint32_t func = pt_call_graph_aliased(m, i);
        bool is_named = signature ? addressed[i] && has_signature(m, func, signature) : named[i];
        if (is_named && !m->funcs.v[func].is_declared_only && !m->funcs.v[func].is_entry)
            list[(*n)++] = i;
    }
    return list;
}

/* ---- what a function reaches ----------------------------------------------------------------- */

struct reach {
    const struct pt_module *m;
    struct pt_arena *arena;
    uint8_t *is_found; /* by function */
    PT_VEC(uint32_t) funcs;
    bool is_direct;   /* nothing but what calls name counts */
    bool is_open;     /* an indirect call with unknown targets was seen */
    uint8_t *is_used; /* by symbol, or NULL if nobody asks */
};

static void reach_func(struct reach *r, uint32_t func)
{
    for (uint32_t steps = 0; r->m->funcs.v[func].alias_of && steps < r->m->funcs.n; steps++)
        func = r->m->funcs.v[func].alias_of;
    if (r->is_found[func])
        return;
    r->is_found[func] = 1;
    *pt_vec_push(r->arena, &r->funcs) = func;
}

/* A variable whose initialiser holds addresses of functions is a table of call targets. */
static void reach_symbol(struct reach *r, uint32_t symbol)
{
    const struct pt_symbol *s = &r->m->symbols.v[symbol];
    if (r->is_used)
        r->is_used[symbol] = 1;
    for (uint32_t i = 0; i < s->relocs.n; i++)
        if (s->relocs.v[i].is_func)
            reach_func(r, s->relocs.v[i].target);
}

static void reach_operand(struct reach *r, const struct pt_func *f, const struct pt_operand *o,
                          bool is_call)
{
    if (r->is_direct && !(is_call && o->kind == PT_OPND_FUNC))
        return;
    switch (o->kind) {
    case PT_OPND_FUNC:
        reach_func(r, o->index);
        break;
    case PT_OPND_SYM:
        reach_symbol(r, o->index);
        break;
    case PT_OPND_TABLE:
        r->is_open |= is_call && f->tables.v[o->index].kind == 'p';
        for (uint32_t i = 0;
             f->tables.v[o->index].kind == 'c' && i < f->tables.v[o->index].targets.n; i++)
            reach_func(r, f->tables.v[o->index].targets.v[i]);
        break;
    case PT_OPND_VEC:
    case PT_OPND_MEM:
    case PT_OPND_LIST:
        for (int64_t i = 0; i < o->imm; i++)
            reach_operand(r, f, &f->operands.v[o->index + i], false);
        break;
    default:
        break;
    }
}

static void reach_body(struct reach *r, const struct pt_func *f)
{
    for (uint32_t i = 0; i < f->insns.n; i++) {
        const struct pt_insn *insn = &f->insns.v[i];
        bool is_call = pt_insn_form(r->m, insn)->effects & PT_FX_CALL;
        for (uint32_t k = 0; k < insn->n_operands; k++)
            reach_operand(r, f, &f->operands.v[insn->operands + k], is_call);
    }
}

static void reach_all(struct reach *r, uint32_t func)
{
    r->is_found = pt_arena_alloc(r->arena, r->m->funcs.n);
    reach_func(r, func);
    bool was_open = false;
    for (uint32_t i = 0; i < r->funcs.n; i++) {
        reach_body(r, &r->m->funcs.v[r->funcs.v[i]]);
        if (!r->is_open || was_open)
            continue;
        was_open = true;
        for (uint32_t k = 1; k < r->m->funcs.n; k++)
            if (!r->m->funcs.v[k].is_entry)
                reach_func(r, k);
    }
}

uint32_t *pt_call_graph_reachable(const struct pt_module *m, uint32_t func, struct pt_arena *arena,
                                  uint32_t *n)
{
    struct reach r = {.m = m, .arena = arena};
    reach_all(&r, func);
    *n = r.funcs.n;
    return r.funcs.v;
}

const uint8_t *pt_call_graph_named(const struct pt_module *m, uint32_t func, struct pt_arena *arena)
{
    struct reach r = {.m = m, .arena = arena, .is_direct = true};
    reach_all(&r, func);
    return r.is_found;
}

uint8_t *pt_call_graph_symbols(const struct pt_module *m, uint32_t func, struct pt_arena *arena,
                               const uint8_t **reached)
{
    struct reach r = {.m = m, .arena = arena};
    r.is_used = pt_arena_alloc(arena, m->symbols.n);
    reach_all(&r, func);
    *reached = r.is_found;
    return r.is_used;
}
