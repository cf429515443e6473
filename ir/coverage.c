/* Which counters tell what ran. */
#include "ir/coverage.h"

#include "ir/call_graph.h"
#include "ir/insn.h"

/* Guards of a block whose registers have not changed since. */
struct values {
    uint32_t *of;   /* by register: the instruction, + 1, that counts its value; 0: none */
    uint32_t since; /* those before this instruction do not count any more */
};

static void see_register(void *ud, uint32_t reg, bool is_def)
{
    struct values *v = ud;
    if (is_def)
        v->of[reg] = 0;
}

static void find_insn(const struct pt_func *f, uint32_t i, struct values *v,
                      struct pt_covered_func *c)
{
    const struct pt_insn *insn = &f->insns.v[i];
    struct pt_covered_insn *x = &c->insns[i];
    x->on = x->lanes;
    if (!insn->guard)
        return;
    uint32_t counts = v->of[insn->guard];
    x->is_tested = !counts || counts - 1 < v->since;
    if (x->is_tested) {
        x->on = c->n++;
        v->of[insn->guard] = i + 1;
    } else {
        x->on = c->insns[counts - 1].on;
        x->is_rest = f->insns.v[counts - 1].guard_neg != insn->guard_neg;
    }
}

struct pt_covered_func *pt_coverage_find_func(const struct pt_module *m, const struct pt_func *f,
                                              struct pt_arena *arena)
{
    struct pt_covered_func *c = pt_arena_alloc(arena, sizeof *c);
    struct values v = {.of = pt_arena_alloc(arena, (f->regs.n + 1) * sizeof *v.of)};
    c->insns = pt_arena_alloc(arena, (f->insns.n + 1) * sizeof *c->insns);
    for (uint32_t b = 0; b < f->blocks.n; b++) {
        const struct pt_block *block = &f->blocks.v[b];
        uint32_t lanes = c->n++;
        v.since = block->first;
        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            c->insns[i].lanes = lanes;
            c->insns[i].is_first = i == block->first;
            find_insn(f, i, &v, c);
            pt_insn_regs(m, f, &f->insns.v[i], see_register, &v);
            if (pt_insn_form(m, &f->insns.v[i])->effects & PT_FX_CALL) /* some may not return */
                v.since = i + 1;
        }
    }
    return c;
}

struct pt_coverage *pt_coverage_find(const struct pt_module *m, uint32_t kernel,
                                     struct pt_arena *arena)
{
    struct pt_coverage *coverage = pt_arena_alloc(arena, sizeof *coverage);
    uint32_t n_funcs;
    const uint32_t *funcs = pt_call_graph_reachable(m, kernel, arena, &n_funcs);
    coverage->funcs = pt_arena_alloc(arena, m->funcs.n * sizeof *coverage->funcs);
    for (uint32_t i = 0; i < n_funcs; i++) {
        struct pt_covered_func *c = &coverage->funcs[funcs[i]];
        if (m->funcs.v[funcs[i]].is_declared_only || c->n)
            continue;
        *c = *pt_coverage_find_func(m, &m->funcs.v[funcs[i]], arena);
        c->first = coverage->n;
        coverage->n += c->n;
    }
    return coverage;
}

void pt_coverage_read(const struct pt_coverage *coverage, const uint64_t *counters, uint32_t func,
                      uint32_t insn, uint64_t *lanes, uint64_t *on)
{
    const struct pt_covered_func *c = &coverage->funcs[func];
    const struct pt_covered_insn *x = &c->insns[insn];
    *lanes = counters[c->first + x->lanes];
    *on = counters[c->first + x->on];
    if (x->is_rest)
        *on = *lanes - *on;
}
