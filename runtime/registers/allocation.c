/* How many registers the assembler takes.
 *
 * What kernels made for the purpose show of ptxas 13.0 (sm_90; tests/assembler/registers/probe.py):
 * a value of 32 bits takes an aligned pair as long as there are registers that cost no warp, and
 * only a member of a vector lies closely. So the number is the lesser of what the values need when
 * they are spread and the first step of occupancy that holds them when they are not. */
#include "runtime/registers/allocation.h"

enum { UNROLLED = 4 };

/* Halves: what an order needs beside its values to be chosen for a target; of a target, what a
 * list scheduler leaves free; stack pointer and reserved registers. */
enum { SLACK = 14, MARGIN = 8, OVERHEAD = 12 };

/* Registers of a thread with which an SM holds fewer warps than with one less. */
static const int32_t steps[] = {32, 40, 48, 56, 64, 72, 80, 96, 128, 168, 255};
enum { STEPS = sizeof steps / sizeof *steps, MOST = 255 };

static unsigned find_step(int32_t n)
{
    unsigned k = 0;
    while (k < STEPS - 1 && steps[k] < n)
        k++;
    return k;
}

int32_t pt_allocation_step(int32_t n)
{
    return steps[find_step(n)];
}

int32_t pt_allocation_step_below(int32_t n)
{
    unsigned k = find_step(n);
    return k ? steps[k - 1] : 0;
}

/* The first step that holds so many halves. */
static int32_t step_of(int32_t halves)
{
    return pt_allocation_step((halves + 1) / 2);
}

static int32_t lesser(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int32_t greater(int32_t a, int32_t b)
{
    return a < b ? b : a;
}

static void widen(struct pt_schedule_need *need, struct pt_schedule_need with)
{
    need->tight = greater(need->tight, with.tight);
    need->spread = greater(need->spread, with.spread);
}

/* A region as it is, and unrolled where it is a short loop. */
struct graphs {
    struct pt_schedule_graph *once, *unrolled;
};

struct regions {
    PT_VEC(struct graphs) graphs;
};

static struct graphs make_graphs(const struct pt_code *code, const struct pt_register_file *file,
                                 const struct pt_region *r)
{
    struct graphs g = {.once = pt_schedule_graph_make(code, file, r, 1)};
    g.unrolled = r->is_short_loop ? pt_schedule_graph_make(code, file, r, UNROLLED) : g.once;
    return g;
}

static void try_orders(struct pt_allocation_orders *o, const struct graphs *g)
{
    int32_t text = pt_schedule_text(g->once).tight, late = pt_schedule_late(g->once, false).tight,
            lazy = pt_schedule_late(g->once, true).tight,
            frugal = pt_schedule_list(g->once, 0).tight,
            backward = pt_schedule_backward(g->once).tight;
    struct pt_schedule_need fast = pt_schedule_list(g->once, PT_SCHEDULE_NO_CAP);
    int32_t least = lesser(lesser(lesser(text, late), lesser(lazy, frugal)), backward);
    o->text = greater(o->text, text);
    o->late = greater(o->late, late);
    o->lazy = greater(o->lazy, lazy);
    o->frugal = greater(o->frugal, frugal);
    o->backward = greater(o->backward, backward);
    o->least = greater(o->least, lesser(least, fast.tight));
    widen(&o->fast, fast);
    widen(&o->unrolled, pt_schedule_list(g->unrolled, PT_SCHEDULE_NO_CAP));
}

static struct pt_schedule_need order_within(const struct regions *r, int32_t target)
{
    struct pt_schedule_need need = {0};
    for (uint32_t k = 0; k < r->graphs.n; k++)
        widen(&need, pt_schedule_list(r->graphs.v[k].unrolled, 2 * target - MARGIN));
    return need;
}

/* With .minnctapersm there is no more occupancy to be had, and latency decides alone. */
static void allocate(struct pt_allocation *a, const struct pt_code *code, const struct regions *r,
                     int32_t expansions, int32_t bound)
{
    bool is_free = code->f->minnctapersm;
    a->target = step_of(greater(a->orders.least + SLACK, expansions));
    a->need = is_free             ? a->orders.fast
              : a->target == MOST ? a->orders.unrolled
                                  : order_within(r, a->target);
    a->need.tight = greater(a->need.tight + OVERHEAD, expansions);
    if (!is_free)
        a->need.tight = lesser(a->need.tight, 2 * a->target);
    a->need.spread = greater(a->need.spread + OVERHEAD, a->need.tight);
    a->registers = lesser(step_of(a->need.tight), (a->need.spread + 1) / 2);
    a->registers = lesser(a->registers, bound);
}

struct pt_allocation pt_allocation_find(const struct pt_code *code,
                                        const struct pt_register_file *file,
                                        const struct pt_expansion_pressure *expansions,
                                        uint32_t bound)
{
    struct pt_allocation a = {0};
    struct regions regions = {0};
    for (uint32_t b = 0; b < code->f->blocks.n;) {
        struct pt_region r = pt_region_find(code, b);
        struct graphs *g = pt_vec_push(code->arena, &regions.graphs);
        *g = make_graphs(code, file, &r);
        try_orders(&a.orders, g);
        a.short_loops += r.is_short_loop;
        a.longest = a.longest < r.insns ? r.insns : a.longest;
        b = r.end;
    }
    a.regions = regions.graphs.n;
    allocate(&a, code, &regions, expansions->needs, (int32_t)bound);
    return a;
}
