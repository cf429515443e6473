/* Executions are enumerated as herd does (Alglave, Maranget, Tautschnig, Herding cats, 2014): for
 * each read whom it reads from, for each pair of fence.sc and of writes that must be ordered which
 * comes first; the table says which of them may be. Coherence order has no more in it than it must:
 * more would only forbid more. */
#include "tools/litmus/judge.h"

#include <stdlib.h>
#include <string.h>

#include "tools/litmus/model.h"

enum { NOBODY = -1 };

struct event {
    const struct litmus_op *op; /* NULL: a first write */
    int thread;
    bool is_read, is_write;
    unsigned place, address;
    unsigned occurrence; /* of a barrier */
};

struct judge {
    const struct litmus_test *test;
    struct litmus_outcomes *allowed;
    struct event event[LITMUS_EVENTS];
    unsigned n;
    unsigned reads[LITMUS_EVENTS], n_reads;
    unsigned source[LITMUS_EVENTS]; /* of a read */
    unsigned value[LITMUS_EVENTS];
    uint64_t absent; /* writes of comparisons that failed */
    bool has_comparisons;
    struct litmus_execution fixed, x;
};

/* ---- events ---------------------------------------------------------------------------------- */

static bool add(struct judge *j, const struct litmus_op *op, int thread, bool is_read,
                bool is_write, unsigned place)
{
    if (j->n == LITMUS_EVENTS)
        return false;
    if (is_read)
        j->reads[j->n_reads++] = j->n;
    j->event[j->n++] =
        (struct event){op, thread, is_read, is_write, place, op ? op->address : 0, 0};
    return true;
}

static bool add_op(struct judge *j, const struct litmus_thread *t, unsigned k, int thread)
{
    const struct litmus_op *op = &t->op[k];
    bool reads = litmus_op_reads(op), writes = litmus_op_writes(op);
    bool ok = true;
    j->has_comparisons |= writes && reads && op->update == LITMUS_CAS;
    if (reads)
        ok = add(j, op, thread, true, false, op->place);
    if (writes || !reads)
        ok = ok && add(j, op, thread, false, writes, op->place);
    for (unsigned i = 0; ok && i < k; i++)
        j->event[j->n - 1].occurrence +=
            litmus_op_is_barrier(&t->op[i]) && t->op[i].barrier == op->barrier &&
            (t->op[i].kind == LITMUS_BAR_CLUSTER) == (op->kind == LITMUS_BAR_CLUSTER);
    return ok;
}

static bool add_events(struct judge *j)
{
    for (unsigned p = 0; p < j->test->n_places; p++)
        if (!add(j, NULL, NOBODY, false, true, p))
            return false;
    for (unsigned t = 0; t < j->test->n_threads; t++)
        for (unsigned k = 0; k < j->test->thread[t].n; k++)
            if (!add_op(j, &j->test->thread[t], k, (int)t))
                return false;
    return true;
}

static bool is_access(const struct event *e)
{
    return e->is_read || e->is_write;
}

/* ---- sets ------------------------------------------------------------------------------------ */

static bool orders_fence(const struct event *e, enum litmus_order side)
{
    return e->op && e->op->kind == LITMUS_FENCE &&
           (e->op->order == side || e->op->order == LITMUS_ACQ_REL || e->op->order == LITMUS_SC);
}

static void put_sets(struct judge *j, unsigned i)
{
    const struct event *e = &j->event[i];
    const struct litmus_op *op = e->op;
    bool is_strong = op && litmus_op_is_strong(op);
    bool releases = op && (op->order == LITMUS_RELEASE || op->order == LITMUS_ACQ_REL),
         acquires = op && (op->order == LITMUS_ACQUIRE || op->order == LITMUS_ACQ_REL);
    const struct {
        enum litmus_name set;
        bool is_in;
    } sets[] = {
        {LITMUS_OF_memory, is_access(e)},
        {LITMUS_OF_read, e->is_read},
        {LITMUS_OF_write, e->is_write},
        {LITMUS_OF_strong, is_strong},
        {LITMUS_OF_strong_read, is_strong && e->is_read && op->kind != LITMUS_RED},
        {LITMUS_OF_release_write, e->is_write && releases},
        {LITMUS_OF_acquire_read, e->is_read && acquires},
        {LITMUS_OF_release_fence, orders_fence(e, LITMUS_RELEASE)},
        {LITMUS_OF_acquire_fence, orders_fence(e, LITMUS_ACQUIRE)},
        {LITMUS_OF_generic, is_access(e) && (!op || op->proxy == LITMUS_GENERIC)},
        {LITMUS_OF_alias_fence, op && op->kind == LITMUS_PROXY_FENCE && op->proxy == LITMUS_ALIAS},
    };
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++)
        if (sets[s].is_in)
            litmus_relation_put(&j->fixed.of[sets[s].set], i, i);
}

/* ---- what is fixed --------------------------------------------------------------------------- */

static bool is_barrier_between(const struct judge *j, const struct event *a, const struct event *b)
{
    const struct litmus_thread *t = j->test->thread;
    if (!litmus_op_is_barrier(a->op) || !litmus_op_is_barrier(b->op) || a->thread == b->thread ||
        a->occurrence != b->occurrence || t[a->thread].cluster != t[b->thread].cluster)
        return false;
    if (a->op->kind == LITMUS_BAR_CLUSTER || b->op->kind == LITMUS_BAR_CLUSTER)
        return a->op->kind == b->op->kind;
    return b->op->kind == LITMUS_BAR_SYNC && a->op->barrier == b->op->barrier &&
           t[a->thread].cta == t[b->thread].cta;
}

/* What b needs a's value for. */
static bool depends(const struct event *a, const struct event *b)
{
    if (!a->is_read || a->op->reg < 0 || !is_access(b))
        return false;
    bool by_value = b->is_write && b->op->from == a->op->reg;
    return by_value || (b->op->on == a->op->reg &&
                        (b->op->dependency == LITMUS_DATA ? b->is_write : b->op->dependency > 0));
}

static void put_pair(struct judge *j, unsigned i, unsigned k)
{
    const struct event *a = &j->event[i], *b = &j->event[k];
    bool are_ops = a->op && b->op, are_accesses = is_access(a) && is_access(b);
    bool in_order = are_ops && a->thread == b->thread && i < k;
    bool is_near = are_ops && litmus_test_includes(j->test, (unsigned)a->thread, LITMUS_CTA,
                                                   (unsigned)b->thread);
    const struct {
        enum litmus_name relation;
        bool holds;
    } relations[] = {
        {LITMUS_OF_any, true},
        {LITMUS_OF_program_order, in_order},
        {LITMUS_OF_start, !a->op && b->op},
        {LITMUS_OF_scope, are_ops && litmus_test_includes(j->test, (unsigned)a->thread,
                                                          a->op->scope, (unsigned)b->thread)},
        {LITMUS_OF_same_proxy, are_ops && a->op->proxy == b->op->proxy},
        {LITMUS_OF_same_cta, is_near},
        {LITMUS_OF_same_address,
         are_ops && are_accesses && a->place == b->place && a->address == b->address},
        {LITMUS_OF_same_location, are_accesses && a->place == b->place},
        {LITMUS_OF_rmw, in_order && a->op == b->op},
        {LITMUS_OF_dependency, in_order && (a->op == b->op || depends(a, b))},
        {LITMUS_OF_barrier, are_ops && is_barrier_between(j, a, b)},
        {LITMUS_OF_proxy_fence, is_near && a->op->kind == LITMUS_PROXY_FENCE && is_access(b) &&
                                    a->op->proxy == b->op->proxy},
    };
    for (size_t r = 0; r < sizeof relations / sizeof *relations; r++)
        if (relations[r].holds)
            litmus_relation_put(&j->fixed.of[relations[r].relation], i, k);
}

static void put_fixed(struct judge *j)
{
    j->fixed.n = j->n;
    for (unsigned i = 0; i < j->n; i++) {
        put_sets(j, i);
        for (unsigned k = 0; k < j->n; k++)
            put_pair(j, i, k);
    }
    litmus_model_holds(&j->fixed, 0);
}

/* ---- orders ---------------------------------------------------------------------------------- */

static bool are_ordered(const struct litmus_relation *order, unsigned a, unsigned b)
{
    return litmus_relation_has(order, a, b) || litmus_relation_has(order, b, a);
}

typedef void then(struct judge *j);

/* Orders all members that are morally strong, in every way that has no circle, and goes on with
 * each. */
static void order_all(struct judge *j, enum litmus_name which, uint64_t members, then *go_on)
{
    struct litmus_relation before = j->x.of[which];
    const struct litmus_relation *strong = &j->x.of[LITMUS_OF_morally_strong];
    litmus_relation_close(&before, j->n);
    if (!litmus_relation_is_irreflexive(&before, j->n))
        return;
    j->x.of[which] = before;
    for (unsigned a = 0; a < j->n; a++)
        for (unsigned b = a + 1; b < j->n; b++) {
            if (!(members >> a & members >> b & 1) || !litmus_relation_has(strong, a, b) ||
                are_ordered(&before, a, b))
                continue;
            for (unsigned way = 0; way < 2; way++) {
                j->x.of[which] = before;
                litmus_relation_put(&j->x.of[which], way ? b : a, way ? a : b);
                order_all(j, which, members, go_on);
            }
            return;
        }
    go_on(j);
}

static uint64_t members(const struct litmus_relation *set, unsigned n)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < n; i++)
        all |= set->row[i];
    return all;
}

/* ---- outcomes -------------------------------------------------------------------------------- */

/* What each place may hold at the end: a write that none follows. */
static void add_outcomes(struct judge *j, unsigned place, uint64_t outcome)
{
    if (place == j->test->n_places) {
        litmus_outcomes_add(j->allowed, outcome);
        return;
    }
    for (unsigned w = 0; w < j->n; w++)
        if (j->event[w].is_write && j->event[w].place == place && !(j->absent >> w & 1) &&
            !j->x.of[LITMUS_OF_coherence].row[w])
            add_outcomes(j, place + 1,
                         outcome | litmus_outcome_put(LITMUS_REGISTERS + place, j->value[w]));
}

static void with_coherence(struct judge *j)
{
    uint64_t outcome = 0;
    if (!litmus_model_holds(&j->x, 2))
        return;
    for (unsigned i = 0; i < j->n_reads; i++)
        if (j->event[j->reads[i]].op->reg >= 0)
            outcome |=
                litmus_outcome_put((unsigned)j->event[j->reads[i]].op->reg, j->value[j->reads[i]]);
    add_outcomes(j, 0, outcome);
}

/* Coherence has what causality wants, and orders what is morally strong. */
static void with_fences(struct judge *j)
{
    struct litmus_relation *order = &j->x.of[LITMUS_OF_coherence];
    uint64_t writes = members(&j->x.of[LITMUS_OF_write], j->n);
    if (!litmus_model_holds(&j->x, 1))
        return;
    for (unsigned i = 0; i < j->n; i++) {
        uint64_t later = j->event[i].op ? 0 : ~(UINT64_C(1) << i);
        if (!(j->x.ignored >> LITMUS_AXIOM_coherence & 1))
            later |= j->x.of[LITMUS_OF_causality].row[i];
        order->row[i] =
            writes >> i & 1 ? j->x.of[LITMUS_OF_same_location].row[i] & writes & later : 0;
    }
    order_all(j, LITMUS_OF_coherence, writes, with_coherence);
}

/* ---- who reads from whom --------------------------------------------------------------------- */

/* The values of all events, as far as they follow from each other. True: all do. */
static bool find_values(struct judge *j)
{
    uint64_t known = 0, all = j->n == LITMUS_EVENTS ? ~UINT64_C(0) : (UINT64_C(1) << j->n) - 1;
    for (uint64_t before = 1; before != known;) {
        before = known;
        for (unsigned i = 0; i < j->n; i++) {
            const struct event *e = &j->event[i];
            unsigned value = e->op ? e->op->value : 0;
            bool is_known = true;
            if (e->is_read) {
                is_known = known >> j->source[i] & 1;
                value = j->value[j->source[i]];
            } else if (e->is_write && e->op && e->op->from >= 0) {
                unsigned r = 0;
                while (j->event[j->reads[r]].op->reg != e->op->from)
                    r++;
                is_known = known >> j->reads[r] & 1;
                value = j->value[j->reads[r]];
            }
            if (is_known && e->is_write && e->op && litmus_op_reads(e->op)) {
                is_known = known >> (i - 1) & 1;
                value = litmus_op_update(e->op, j->value[i - 1], value);
            }
            j->value[i] = value;
            known |= is_known ? UINT64_C(1) << i : 0;
        }
    }
    return known == all;
}

/* Writes of comparisons that fail are not there, and nobody reads from them. */
static bool drop_absent(struct judge *j)
{
    j->absent = 0;
    for (unsigned i = 1; i < j->n; i++)
        if (j->event[i].is_write && j->event[i].op && litmus_op_reads(j->event[i].op) &&
            !litmus_op_takes_place(j->event[i].op, j->value[i - 1]))
            j->absent |= UINT64_C(1) << i;
    for (unsigned i = 0; i < j->n_reads; i++)
        if (j->absent >> j->source[j->reads[i]] & 1)
            return false;
    for (unsigned r = 0; j->absent && r < LITMUS_NAMES; r++)
        for (unsigned i = 0; i < j->n; i++)
            j->x.of[r].row[i] &= j->absent >> i & 1 ? 0 : ~j->absent;
    return !j->absent || litmus_model_holds(&j->x, 0);
}

static void with_sources(struct judge *j)
{
    uint64_t fences = 0;
    if (!find_values(j))
        return; /* out of thin air */
    j->x = j->fixed;
    for (unsigned i = 0; i < j->n_reads; i++)
        litmus_relation_put(&j->x.of[LITMUS_OF_reads_from], j->source[j->reads[i]], j->reads[i]);
    if (j->has_comparisons && !drop_absent(j))
        return;
    for (unsigned i = 0; i < j->n; i++) {
        bool is_sc = j->event[i].op && j->event[i].op->kind == LITMUS_FENCE &&
                     j->event[i].op->order == LITMUS_SC;
        fences |= (uint64_t)is_sc << i;
    }
    for (unsigned a = 0; a < j->n; a++)
        if (fences >> a & 1)
            j->x.of[LITMUS_OF_fence_sc].row[a] = j->x.of[LITMUS_OF_program_order].row[a] & fences;
    order_all(j, LITMUS_OF_fence_sc, fences, with_fences);
}

/* Not what the thread writes later to the same address: that causality forbids. */
static bool may_read(const struct judge *j, unsigned read, unsigned write)
{
    const struct event *r = &j->event[read], *w = &j->event[write];
    return w->is_write && w->place == r->place &&
           !(w->thread == r->thread && write > read &&
             (w->op == r->op || (w->address == r->address && w->op->proxy == r->op->proxy)));
}

static void choose_sources(struct judge *j, unsigned i)
{
    if (i == j->n_reads) {
        with_sources(j);
        return;
    }
    for (unsigned w = 0; w < j->n; w++)
        if (may_read(j, j->reads[i], w)) {
            j->source[j->reads[i]] = w;
            choose_sources(j, i + 1);
        }
}

bool litmus_judge_allowed(const struct litmus_test *test, unsigned ignored,
                          struct litmus_outcomes *allowed)
{
    struct judge *j = calloc(1, sizeof *j);
    bool ok = j != NULL;
    if (ok) {
        j->test = test;
        j->allowed = allowed;
        j->fixed.ignored = ignored;
        ok = add_events(j);
    }
    if (ok) {
        put_fixed(j);
        choose_sources(j, 0);
    }
    free(j);
    return ok && !allowed->is_short;
}

static uint64_t factorial(unsigned n)
{
    return n < 2 ? 1 : n * factorial(n - 1);
}

uint64_t litmus_judge_ways(const struct litmus_test *test)
{
    struct judge *j = calloc(1, sizeof *j);
    uint64_t ways = j && (j->test = test, add_events(j)) ? 1 : UINT64_MAX;
    unsigned fences = 0, writes[LITMUS_PLACES] = {0};
    for (unsigned i = 0; ways < UINT64_MAX && i < j->n; i++) {
        const struct event *e = &j->event[i];
        uint64_t choices = 0;
        for (unsigned w = 0; e->is_read && w < j->n; w++)
            choices += may_read(j, i, w);
        ways *= e->is_read ? choices : 1;
        fences += e->op && e->op->kind == LITMUS_FENCE && e->op->order == LITMUS_SC;
        writes[e->place] += e->op && e->is_write;
    }
    for (unsigned p = 0; ways < UINT64_MAX && p < LITMUS_PLACES; p++)
        ways *= factorial(writes[p]);
    free(j);
    return ways < UINT64_MAX ? ways * factorial(fences) : ways;
}
