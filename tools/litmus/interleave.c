/* Sequential consistency: what happens if all that threads do happens in one order. */
#include <string.h>

#include "tools/litmus/judge.h"

struct state {
    unsigned at[LITMUS_THREADS], memory[LITMUS_PLACES], reg[LITMUS_REGISTERS];
};

/* Which of the thread's barriers like this one comes at `at`; how many came before. */
static unsigned barriers_before(const struct litmus_thread *t, unsigned at,
                                const struct litmus_op *like)
{
    unsigned n = 0;
    for (unsigned k = 0; k < at; k++)
        n += litmus_op_is_barrier(&t->op[k]) && t->op[k].barrier == like->barrier &&
             (t->op[k].kind == LITMUS_BAR_CLUSTER) == (like->kind == LITMUS_BAR_CLUSTER);
    return n;
}

/* A thread goes on behind a barrier when all that take part have come as far. */
static bool may_go_on(const struct litmus_test *test, const struct state *s, unsigned thread)
{
    const struct litmus_thread *mine = &test->thread[thread];
    const struct litmus_op *op = &mine->op[s->at[thread]];
    unsigned occurrence = barriers_before(mine, s->at[thread], op);
    if (op->kind != LITMUS_BAR_SYNC && op->kind != LITMUS_BAR_CLUSTER)
        return true;
    for (unsigned i = 0; i < test->n_threads; i++) {
        const struct litmus_thread *t = &test->thread[i];
        enum litmus_scope scope = op->kind == LITMUS_BAR_SYNC ? LITMUS_CTA : LITMUS_CLUSTER;
        bool has_come = s->at[i] < t->n && litmus_op_is_barrier(&t->op[s->at[i]]) &&
                        t->op[s->at[i]].barrier == op->barrier &&
                        barriers_before(t, s->at[i], op) == occurrence;
        if (litmus_test_includes(test, thread, scope, i) &&
            barriers_before(t, t->n, op) > occurrence &&
            barriers_before(t, s->at[i], op) <= occurrence && !has_come)
            return false;
    }
    return true;
}

static void step(struct state *s, const struct litmus_op *op)
{
    unsigned old = s->memory[op->place];
    if (litmus_op_writes(op) && (!litmus_op_reads(op) || litmus_op_takes_place(op, old))) {
        unsigned value = op->from >= 0 ? s->reg[op->from] : op->value;
        s->memory[op->place] = litmus_op_reads(op) ? litmus_op_update(op, old, value) : value;
    }
    if (op->reg >= 0)
        s->reg[op->reg] = old;
}

/* Fences, and barriers as soon as they let go: when they happen makes no difference. */
static void pass(const struct litmus_test *test, struct state *s)
{
    for (bool has_passed = true; has_passed;) {
        has_passed = false;
        for (unsigned i = 0; i < test->n_threads; i++) {
            const struct litmus_thread *t = &test->thread[i];
            if (s->at[i] < t->n && !litmus_op_is_access(&t->op[s->at[i]]) &&
                may_go_on(test, s, i)) {
                s->at[i]++;
                has_passed = true;
            }
        }
    }
}

static void run(const struct litmus_test *test, struct state *before,
                struct litmus_outcomes *outcomes)
{
    bool is_end = true;
    uint64_t outcome = 0;
    pass(test, before);
    for (unsigned i = 0; i < test->n_threads; i++) {
        struct state s = *before;
        const struct litmus_op *op = &test->thread[i].op[s.at[i]];
        is_end &= s.at[i] == test->thread[i].n;
        if (s.at[i]++ == test->thread[i].n || !litmus_op_is_access(op))
            continue;
        step(&s, op);
        run(test, &s, outcomes);
    }
    for (unsigned i = 0; i < test->n_registers; i++)
        outcome |= litmus_outcome_put(i, before->reg[i]);
    for (unsigned i = 0; i < test->n_places; i++)
        outcome |= litmus_outcome_put(LITMUS_REGISTERS + i, before->memory[i]);
    if (is_end)
        litmus_outcomes_add(outcomes, outcome);
}

void litmus_interleave(const struct litmus_test *test, struct litmus_outcomes *outcomes)
{
    struct state s;
    memset(&s, 0, sizeof s);
    run(test, &s, outcomes);
}
