/* Counts what runs, by the counters of ir/coverage.h. */
#include "ir/coverage.h"

#include "backend/counts.h"
#include "backend/interp/count.h"

enum { GUARD, ON, LANES };

/* What native code has the interpreter run (step.h), it has counted itself. */
static void add(const struct pt_frame *f, uint32_t counter, uint32_t lanes)
{
    if (f->cta->stepping)
        return;
    const struct pt_coverage *coverage = f->cta->launch->program->coverage;
    uint64_t *counters = pt_counts_covered(f->cta) + coverage->funcs[f->body->index].first;
    counters[counter] += (uint64_t)__builtin_popcount(lanes);
}

PT_HANDLER(count_lanes)
{
    add(f, c->o[LANES], f->mask);
    return c + 1;
}

PT_HANDLER(count_on)
{
    uint32_t guard =
        *(const uint32_t *)(const void *)((const char *)f + f->body->slots[c->o[GUARD]]);
    add(f, c->o[ON], f->mask & (c->neg ? ~guard : guard));
    return c->aux ? count_lanes(c, f) : c + 1;
}

static const void *find(const struct pt_module *m, const struct pt_func *func,
                        struct pt_arena *arena)
{
    return pt_coverage_find_func(m, func, arena);
}

/* What is first of its block, and has a guard, counts both before that. */
static bool place(struct pt_code *test, const struct pt_func *func, const void *facts,
                  bool is_guard)
{
    const struct pt_covered_insn *x = &((const struct pt_covered_func *)facts)->insns[test->insn];
    const struct pt_insn *insn = &func->insns.v[test->insn];
    if (is_guard != (insn->guard != 0) || !(is_guard ? x->is_tested : x->is_first))
        return false;
    test->fn = is_guard ? count_on : count_lanes;
    test->o[GUARD] = insn->guard;
    test->o[ON] = x->on;
    test->o[LANES] = x->lanes;
    test->neg = insn->guard_neg != 0;
    test->aux = x->is_first;
    return true;
}

const struct pt_observer PT_LEVEL_NAME(pt_observer_coverage) = {
    .name = "coverage", .place_instruction = place, .analyse = find};
