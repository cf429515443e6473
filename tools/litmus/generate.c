/* A cycle of edges is drawn as diy has them: what no sequentially consistent execution has, and so
 * what a weaker one may show. Then what stands between the accesses of a thread, how strong they
 * are, where the threads are, and scopes. */
#include "tools/litmus/generate.h"

#include <stdio.h>
#include <string.h>

#include "tools/litmus/judge.h"

enum { WAYS_MOST = 20000, ATOMICS_MOST = 3, CYCLE = LITMUS_NAME };

const char *const litmus_generate_kinds[LITMUS_KINDS] = {"cycle", "between", "accesses", "threads",
                                                         "scopes"};

/* What stands between a thread's accesses. */
enum sync {
    SYNC_NOTHING,
    SYNC_DEPENDENCY,
    SYNC_RELEASE,
    SYNC_ONE_SIDED,
    SYNC_ACQ_REL,
    SYNC_SC,
    SYNC_BARRIER,
    SYNC_MIXED,
    SYNCS
};
static const char *const syncs[] = {"nothing",       "dependencies",  "release, acquire",
                                    "fence.release", "fence.acq_rel", "fence.sc",
                                    "barriers",      "various"};
enum access {
    ACCESS_WEAK,
    ACCESS_RELAXED,
    ACCESS_VOLATILE,
    ACCESS_PROXY,
    ACCESS_ATOMIC,
    ACCESS_MIXED,
    ACCESSES
};
static const char *const accesses[] = {"weak",        "relaxed",      "volatile",
                                       "async proxy", "with atomics", "various"};
enum place { PLACE_CTA, PLACE_CLUSTER, PLACE_GRID, PLACE_MIXED, PLACES };
static const char *const places[] = {"in a CTA", "in a cluster", "in a grid", "various"};
enum scopes { SCOPES_ENOUGH, SCOPES_NARROW, SCOPES_SYS, SCOPES_MIXED, SCOPES };
static const char *const scopes[] = {"as wide as needed", "cta", "sys", "various"};

static const struct family {
    const char *name, *cycle;
} families[] = {
#define FAMILY(name, cycle) {name, cycle},
#include "tools/litmus/families.def"
};
enum { FAMILIES = sizeof families / sizeof *families };

struct maker {
    uint64_t state;
    struct litmus_test *test;
    unsigned n; /* threads */
    /* of each thread: how many accesses, whether they write, whether they are of one place */
    struct shape {
        unsigned n;
        bool writes[2], is_same;
    } shape[LITMUS_THREADS];
    enum sync sync;
    enum access access;
    enum place place;
    enum scopes scopes;
    unsigned n_atomics, values[LITMUS_PLACES]; /* the last that was written */
};

/* SplitMix64 (Steele, Lea, Flood, 2014): one of n. */
static unsigned draw(struct maker *m, unsigned n)
{
    uint64_t x = m->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (unsigned)((x ^ x >> 31) % n);
}

/* ---- cycles ---------------------------------------------------------------------------------- */

static bool last_writes(const struct shape *s)
{
    return s->writes[s->n - 1];
}

/* No edge leads from read to read of another thread; none can be left out, as those of a thread's
 * only access could, but for a write that the next one reads; one place, or two changes of place at
 * least. */
static bool is_cycle(const struct maker *m)
{
    unsigned changes = 0, pairs = 0;
    for (unsigned i = 0; i < m->n; i++) {
        const struct shape *s = &m->shape[i], *next = &m->shape[(i + 1) % m->n];
        if (last_writes(s) ? s->n == 1 && next->writes[0] : s->n == 1 || !next->writes[0])
            return false;
        changes += s->n == 2 && !s->is_same;
        pairs += s->n == 2;
    }
    return pairs && changes != 1;
}

static void draw_cycle(struct maker *m)
{
    static const unsigned char sizes[] = {2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5};
    m->n = sizes[draw(m, sizeof sizes)];
    do {
        bool is_one_place = draw(m, 8) == 0;
        for (unsigned i = 0; i < m->n; i++) {
            struct shape *s = &m->shape[i];
            s->n = draw(m, 10) < (m->n == 2 ? 9u : 7u) ? 2 : 1;
            s->writes[0] = draw(m, 2);
            s->writes[1] = draw(m, 2);
            s->is_same = is_one_place || draw(m, 12) == 0;
        }
    } while (!is_cycle(m));
}

/* "PodWW Rfe PodRR Fre", from the edge on that makes it the first in alphabetical order, or is as
 * in the table. */
static void write_cycle(const struct maker *m, unsigned first, char cycle[CYCLE])
{
    size_t n = 0;
    *cycle = 0;
    for (unsigned k = 0; k < m->n; k++) {
        const struct shape *s = &m->shape[(first + k) % m->n],
                           *next = &m->shape[(first + k + 1) % m->n];
        if (s->n == 2)
            n += (size_t)snprintf(cycle + n, CYCLE - n, "Po%c%c%c ", s->is_same ? 's' : 'd',
                                  s->writes[0] ? 'W' : 'R', s->writes[1] ? 'W' : 'R');
        n += (size_t)snprintf(cycle + n, CYCLE - n, "%s ",
                              !next->writes[0] ? "Rfe"
                              : last_writes(s) ? "Coe"
                                               : "Fre");
    }
    cycle[n - 1] = 0;
}

static void name_cycle(const struct maker *m, char name[LITMUS_NAME])
{
    char cycle[CYCLE];
    for (unsigned first = 0; first < m->n; first++) {
        write_cycle(m, first, cycle);
        if (!first || strcmp(cycle, name) < 0)
            memcpy(name, cycle, sizeof cycle);
        for (unsigned i = 0; i < FAMILIES; i++)
            if (!strcmp(cycle, families[i].cycle)) {
                snprintf(name, LITMUS_NAME, "%s", families[i].name);
                return;
            }
    }
}

/* ---- places and scopes ----------------------------------------------------------------------- */

static void place_threads(struct maker *m)
{
    for (unsigned i = 0; i < m->n; i++) {
        struct litmus_thread *t = &m->test->thread[i];
        unsigned with = i ? draw(m, i) : 0, how = draw(m, 3);
        *t = (struct litmus_thread){.cluster = m->place == PLACE_GRID ? i : 0,
                                    .cta = m->place == PLACE_CLUSTER ? i : 0};
        if (m->place != PLACE_MIXED || !i)
            continue;
        /* with another thread, in its cluster, or elsewhere */
        t->cluster = m->test->thread[with].cluster;
        t->cta = m->test->thread[with].cta + (how == 1);
        if (how == 2)
            for (unsigned k = t->cta = 0; k < i; k++)
                if (m->test->thread[k].cluster >= t->cluster)
                    t->cluster = m->test->thread[k].cluster + 1;
    }
    m->test->n_threads = m->n;
}

static enum litmus_scope draw_scope(struct maker *m, unsigned thread)
{
    enum litmus_scope scope = LITMUS_CTA;
    switch (m->scopes) {
    case SCOPES_NARROW:
        return LITMUS_CTA;
    case SCOPES_SYS:
        return LITMUS_SYS;
    case SCOPES_MIXED:
        return draw(m, LITMUS_SCOPES);
    default:
        for (unsigned i = 0; i < m->n; i++)
            while (!litmus_test_includes(m->test, thread, scope, i))
                scope++;
        return scope;
    }
}

/* ---- instructions ---------------------------------------------------------------------------- */

static struct litmus_op *add_op(struct maker *m, unsigned thread, enum litmus_kind kind)
{
    struct litmus_thread *t = &m->test->thread[thread];
    struct litmus_op *op = &t->op[t->n++];
    *op = (struct litmus_op){.kind = kind,
                             .scope = draw_scope(m, thread),
                             .reg = LITMUS_NO_REGISTER,
                             .from = LITMUS_NO_REGISTER,
                             .on = LITMUS_NO_REGISTER};
    return op;
}

static enum litmus_order draw_order(struct maker *m)
{
    static const enum litmus_order orders[] = {LITMUS_WEAK, LITMUS_RELAXED, LITMUS_RELAXED,
                                               LITMUS_VOLATILE};
    switch (m->access) {
    case ACCESS_WEAK:
        return LITMUS_WEAK;
    case ACCESS_VOLATILE:
        return LITMUS_VOLATILE;
    case ACCESS_MIXED:
        return orders[draw(m, sizeof orders / sizeof *orders)];
    default:
        return LITMUS_RELAXED;
    }
}

/* A fence between the generic and the asynchronous proxy, or none. */
static void add_proxy_fence(struct maker *m, unsigned thread)
{
    if (draw(m, 2))
        add_op(m, thread, LITMUS_PROXY_FENCE)->proxy = LITMUS_ASYNC;
}

static struct litmus_op *add_access(struct maker *m, unsigned thread, bool writes, unsigned place)
{
    static const enum litmus_update of_writes[] = {LITMUS_EXCH, LITMUS_ADD, LITMUS_CAS},
                                    of_reads[] = {LITMUS_OR, LITMUS_ADD};
    bool is_atomic = m->access >= ACCESS_ATOMIC && m->n_atomics < ATOMICS_MOST &&
                     m->test->n_registers < LITMUS_REGISTERS && draw(m, 5) < 2;
    bool is_red = is_atomic && writes && draw(m, 4) == 0;
    bool is_bulk = m->access == ACCESS_PROXY && draw(m, 5) < 2;
    if (is_bulk)
        add_proxy_fence(m, thread);
    struct litmus_op *op = add_op(m, thread,
                                  is_red      ? LITMUS_RED
                                  : is_atomic ? LITMUS_ATOM
                                  : writes    ? LITMUS_STORE
                                              : LITMUS_LOAD);
    op->order = is_bulk ? LITMUS_WEAK : is_atomic ? LITMUS_RELAXED : draw_order(m);
    op->proxy = is_bulk ? LITMUS_ASYNC : LITMUS_GENERIC;
    if (op->order == LITMUS_VOLATILE)
        op->scope = LITMUS_SYS;
    op->place = place;
    if (is_atomic)
        op->update = is_red ? LITMUS_ADD : writes ? of_writes[draw(m, 3)] : of_reads[draw(m, 2)];
    m->n_atomics += is_atomic;
    if (op->kind != LITMUS_STORE && !is_red)
        op->reg = (int)m->test->n_registers++;
    if (writes) /* what is added keeps sums small */
        op->value = is_atomic && op->update == LITMUS_ADD ? 1 : ++m->values[place];
    if (is_bulk)
        add_proxy_fence(m, thread);
    if (place >= m->test->n_places)
        m->test->n_places = place + 1;
    return op;
}

static void add_barrier(struct maker *m, unsigned thread)
{
    struct litmus_op *op =
        add_op(m, thread, m->place == PLACE_CTA ? LITMUS_BAR_SYNC : LITMUS_BAR_CLUSTER);
    op->order = LITMUS_WEAK;
}

static void add_fence(struct maker *m, unsigned thread, enum litmus_order order)
{
    add_op(m, thread, LITMUS_FENCE)->order = order;
}

/* What stands between the accesses, or makes them stand apart. */
static void put_between(struct maker *m, unsigned thread, enum sync sync,
                        const struct litmus_op *first)
{
    switch (sync) {
    case SYNC_ONE_SIDED:
        add_fence(m, thread, litmus_op_reads(first) ? LITMUS_ACQUIRE : LITMUS_RELEASE);
        break;
    case SYNC_ACQ_REL:
        add_fence(m, thread, LITMUS_ACQ_REL);
        break;
    case SYNC_SC:
        add_fence(m, thread, LITMUS_SC);
        break;
    case SYNC_BARRIER:
        add_barrier(m, thread);
        break;
    default:
        break;
    }
}

static void put_on(struct maker *m, enum sync sync, struct litmus_op *first,
                   struct litmus_op *second)
{
    if (sync == SYNC_RELEASE) {
        if (litmus_op_reads(first) && first->kind != LITMUS_RED && !first->proxy) {
            first->order = LITMUS_ACQUIRE;
            first->scope = first->kind == LITMUS_LOAD ? first->scope : second->scope;
        }
        if (litmus_op_writes(second) && !second->proxy)
            second->order = LITMUS_RELEASE;
    }
    if (sync == SYNC_DEPENDENCY && first->reg >= 0 && !second->proxy) {
        second->dependency = litmus_op_writes(second) ? LITMUS_ADDR + draw(m, 3)
                             : draw(m, 2)             ? LITMUS_ADDR
                                                      : LITMUS_CTRL;
        second->on = first->reg;
    }
}

static void make_thread(struct maker *m, unsigned thread, unsigned *place, unsigned n_places)
{
    const struct shape *s = &m->shape[thread];
    enum sync sync = m->sync == SYNC_MIXED ? draw(m, SYNC_BARRIER) : m->sync;
    bool is_before = s->n == 1 && draw(m, 2);
    if (is_before && sync == SYNC_BARRIER)
        add_barrier(m, thread);
    struct litmus_op *first = add_access(m, thread, s->writes[0], *place);
    if (s->n == 1) {
        if (!is_before && sync == SYNC_BARRIER)
            add_barrier(m, thread);
        return;
    }
    put_between(m, thread, sync, first);
    if (!s->is_same)
        *place = (*place + 1) % n_places;
    put_on(m, sync, first, add_access(m, thread, s->writes[1], *place));
}

static void make(struct maker *m)
{
    unsigned place = 0, n_places = 0;
    memset(m->test, 0, sizeof *m->test);
    m->n_atomics = 0;
    memset(m->values, 0, sizeof m->values);
    draw_cycle(m);
    m->sync = draw(m, SYNCS);
    m->access = draw(m, ACCESSES);
    m->place = draw(m, m->sync == SYNC_BARRIER ? PLACE_GRID : PLACES);
    m->scopes = draw(m, SCOPES);
    place_threads(m);
    for (unsigned i = 0; i < m->n; i++)
        n_places += m->shape[i].n == 2 && !m->shape[i].is_same;
    for (unsigned i = 0; i < m->n; i++)
        make_thread(m, i, &place, n_places ? n_places : 1);
}

void litmus_generate(struct litmus_generated *g, uint64_t seed)
{
    struct maker m = {.state = seed * UINT64_C(0xd1342543de82ef95), .test = &g->test};
    do
        make(&m);
    while (litmus_judge_ways(&g->test) > WAYS_MOST);
    name_cycle(&m, g->of[LITMUS_BY_FAMILY]);
    snprintf(g->of[LITMUS_BY_SYNC], LITMUS_NAME, "%s", syncs[m.sync]);
    snprintf(g->of[LITMUS_BY_ACCESS], LITMUS_NAME, "%s", accesses[m.access]);
    snprintf(g->of[LITMUS_BY_PLACE], LITMUS_NAME, "%s", places[m.place]);
    snprintf(g->of[LITMUS_BY_SCOPE], LITMUS_NAME, "%s", scopes[m.scopes]);
}
