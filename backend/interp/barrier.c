/* Barriers of the CTA and the cluster: which lanes wait at one, and when they go on. PTX ISA
 * 9.7.13.1-2. */
#include "backend/interp/barrier.h"
#include "backend/barrier.h"
#include "backend/interp/blocks.h"
#include "backend/interp/frontier.h"
#include "backend/interp/observe.h"
#include "backend/interp/operands.h"

/* ---- barriers: o = destination, barrier, threads, predicate ---------------------------------- */

enum {
    BAR_POPC = 1,
    BAR_AND = 2,
    BAR_OR = 3,
    BAR_RESULT = 3,
    BAR_ARRIVE = 4,
    BAR_ALIGNED = 8,
    BAR_COUNTED = 16,
    BAR_FIXED = 32,  /* number and count are constants */
    BAR_RELAXED = 64 /* orders nothing */
};

/* A barrier instruction: its block, the one behind, and the blocks behind where all lanes meet
 * again that parted before it. */
struct barrier_site {
    uint32_t here, after, n_joins;
    uint32_t joins[];
};

static void observe(const struct pt_code *c, struct pt_frame *f, uint32_t lanes, int what,
                    uint32_t bar, uint32_t phase)
{
    pt_observe_sync(c, f, lanes,
                    (struct pt_sync){.what = what,
                                     .where = PT_SYNC_OF_BARRIER,
                                     .bar = bar,
                                     .phase = phase,
                                     .waits = !(c->aux & BAR_ARRIVE) && bar != PT_CLUSTER_BARRIER,
                                     .is_relaxed = c->aux & BAR_RELAXED});
}

/* What few barriers need is kept out of line: all others run fewer instructions then. */

/* Writes what a barrier returns (bar.red) to the lanes of a group that it releases. */
static __attribute__((noinline)) void write_result(const struct pt_group *g)
{
    const struct pt_code *c = g->code;
    const struct pt_barrier *bar = &g->frame->cta->bar[g->bar];
    char *slot = (char *)g->frame + c->o[0];
    if ((c->aux & BAR_RESULT) == BAR_POPC) {
        for (uint32_t left = g->mask; left; left &= left - 1)
            ((uint32_t *)slot)[__builtin_ctz(left)] = bar->result_popc;
    } else {
        bool is_and = (c->aux & BAR_RESULT) == BAR_AND;
        bool value = is_and ? bar->result_popc == bar->result_of : bar->result_popc > 0;
        uint32_t *pred = (uint32_t *)slot;
        *pred = value ? *pred | g->mask : *pred & ~g->mask;
    }
}

/* The phase that the lanes of a group wait for is over. */
static inline void end_wait(const struct pt_group *g)
{
    const struct pt_code *c = g->code;
    if (pt_is_observed(g->frame))
        observe(c ? c : g->frame->body->start[g->block], g->frame, g->mask, PT_SYNC_ACQUIRE, g->bar,
                g->phase);
    if (c && c->aux & BAR_RESULT)
        write_result(g);
}

/* All lanes give what `lane` gives: one barrier and one count. */
static __attribute__((noinline)) bool is_agreed(const struct pt_code *c, const struct pt_frame *f,
                                                uint32_t lane)
{
    const uint32_t *ids = PT_SLOT(1, u32), *counts = PT_SLOT(2, u32);
    uint32_t differ = 0;
    for (int i = 0; i < PT_WARP_SIZE; i++)
        differ |=
            (((ids[i] ^ ids[lane]) & PT_BARRIER_NUMBER_BITS) |
             (c->aux & BAR_COUNTED ? (counts[i] ^ counts[lane]) & PT_BARRIER_COUNT_BITS : 0)) &
            f->lanes[i];
    return !differ;
}

/* The count that the barrier gives, or PT_BARRIER_ALL; 0 if there can be no such barrier. */
static uint32_t count_of(const struct pt_code *c, const struct pt_frame *f, uint32_t lane)
{
    return pt_barrier_count(c->aux & BAR_COUNTED ? PT_SLOT(2, u32)[lane] : 0, c->aux & BAR_ARRIVE);
}

/* An aligned barrier that lanes of the warp have not come to. They are waited for, and often in
 * vain, as on an H200. But a short `if` around the barrier is no branch there: the whole warp
 * passes by. So where the others wait at the end of such an `if` the warp counts, and waits, as a
 * whole; true then. */
static __attribute__((noinline)) bool comes_whole(const struct barrier_site *site,
                                                  const struct pt_frame *f, uint32_t others)
{
    for (uint32_t i = 0; i < site->n_joins; i++)
        others &= ~f->wait[site->joins[i]];
    return !others;
}

/* Those lanes wait with the ones that came. */
static void wait_with(struct pt_frame *f, const struct pt_code *c, uint32_t bar, uint32_t phase)
{
    const struct barrier_site *site = c->ptr;
    struct pt_state *s = f->state;
    for (uint32_t i = 0; i < site->n_joins; i++) {
        uint32_t block = site->joins[i], lanes = f->wait[block];
        if (!lanes)
            continue;
        f->wait[block] = 0;
        pt_frontier_clear(f, block);
        s->groups[s->n_groups++] = (struct pt_group){f, NULL, lanes, block, bar, phase};
        if (pt_is_observed(f))
            pt_observe_misused(c, f, f->mask, PT_MISUSE_PASSED, lanes);
    }
}

static const struct pt_code *barrier_fault(const struct pt_code *c, struct pt_frame *f)
{
    struct pt_fault *fault = &f->state->warp->fault;
    fault->func = f->body->index;
    fault->insn = c->insn;
    fault->lanes = f->mask;
    return pt_stop(f->state, PT_RUN_FAULT);
}

PT_HANDLER(barrier)
{
    const struct barrier_site *site = c->ptr;
    struct pt_state *s = f->state;
    bool is_aligned = c->aux & BAR_ALIGNED;
    if (is_aligned && f->wait[site->here]) {
        pt_set_mask(f, f->mask | f->wait[site->here]);
        f->wait[site->here] = 0;
        pt_frontier_clear(f, site->here);
    }
    uint32_t lane = (uint32_t)__builtin_ctz(f->mask), others = s->warp->live & ~f->mask;
    if (!(c->aux & BAR_FIXED) && !is_agreed(c, f, lane))
        return pt_fail(c, f, PT_FAULT_BARRIER, f->mask, PT_BARRIER_DIFFERS);
    uint32_t id = PT_SLOT(1, u32)[lane] & PT_BARRIER_NUMBER_BITS, count = count_of(c, f, lane);
    if (!count)
        return pt_fail(c, f, PT_FAULT_BARRIER, f->mask, PT_BARRIER_BAD_COUNT);
    if (is_aligned && others && !comes_whole(site, f, others)) {
        pt_frontier_park(f, site->here, f->mask);
        return pt_frontier_other(f);
    }
    struct pt_group g = {f, c, f->mask, site->after, id, f->cta->bar[id].phase};
    if (pt_is_observed(f))
        observe(c, f, is_aligned ? s->warp->live : f->mask, PT_SYNC_RELEASE, id, g.phase);
    if (!f->cta->launch->services->arrive(s->warp, id, f->mask, is_aligned, count,
                                          c->aux & BAR_RESULT ? PT_PRED(3) & f->mask : 0))
        return barrier_fault(c, f);
    if (c->aux & BAR_ARRIVE)
        return pt_goto(f, g.block, c + 1);
    if (f->cta->bar[id].phase != g.phase && !pt_gives_way_at_barriers(s)) {
        end_wait(&g);
        return pt_goto(f, g.block, c + 1);
    }
    s->groups[s->n_groups++] = g;
    if (!others)
        return pt_barrier_suspend(s);
    if (is_aligned)
        wait_with(f, c, id, g.phase);
    return pt_frontier_other(f);
}

/* The blocks that lanes at IR block b come to in any case, within its loop. */
static struct barrier_site *make_site(struct pt_select *s, uint32_t b)
{
    const struct pt_block *blocks = s->func->blocks.v;
    struct barrier_site *site =
        pt_operands_array(s, sizeof *site + s->func->blocks.n * sizeof site->joins[0]);
    site->here = pt_blocks_here(s);
    site->after = pt_blocks_after(s);
    for (uint32_t j = blocks[b].ipdom; j != UINT32_MAX && blocks[j].loop == blocks[b].loop;
         j = blocks[j].ipdom)
        site->joins[site->n_joins++] = pt_blocks_block(s, j);
    return site;
}

static pt_handler select_barrier(struct pt_select *s, uint32_t kind, bool is_aligned)
{
    struct pt_code *c = s->code;
    const struct pt_operand *o = s->operands, *end = o + s->insn->n_operands;
    bool has_result = kind & BAR_RESULT;
    if (has_result)
        c->o[0] = pt_operands_dest(s, o++);
    kind |= o->kind == PT_OPND_IMM ? BAR_FIXED : 0;
    c->o[1] = c->o[2] = pt_operands_source(s, o++, 4);
    if (end - o > has_result) {
        kind &= o->kind == PT_OPND_IMM ? ~0u : ~(uint32_t)BAR_FIXED;
        c->o[2] = pt_operands_source(s, o++, 4);
        kind |= BAR_COUNTED;
    }
    if (has_result) {
        c->o[3] = pt_operands_source(s, o, 0);
        c->neg = o->flags & PT_OPND_NEG ? 8 : 0;
    }
    for (int i = 0; i < 4; i++)
        if (c->o[i] == UINT32_MAX)
            return NULL;
    c->ptr = make_site(s, pt_blocks_ir_block(s));
    c->aux = (uint16_t)(kind | (is_aligned ? BAR_ALIGNED : 0));
    return barrier;
}

pt_handler PT_DO(bar_sync)(struct pt_select *s)
{
    return select_barrier(s, 0, true);
}

pt_handler PT_DO(bar_arrive)(struct pt_select *s)
{
    return select_barrier(s, BAR_ARRIVE, true);
}

pt_handler PT_DO(bar_red_popc)(struct pt_select *s)
{
    return select_barrier(s, BAR_POPC, true);
}

pt_handler PT_DO(bar_red_pred)(struct pt_select *s)
{
    return select_barrier(s, PT_HAS(s, and) ? BAR_AND : BAR_OR, true);
}

pt_handler PT_DO(barrier_sync)(struct pt_select *s)
{
    return select_barrier(s, 0, PT_HAS(s, aligned));
}

pt_handler PT_DO(barrier_arrive)(struct pt_select *s)
{
    return select_barrier(s, BAR_ARRIVE, PT_HAS(s, aligned));
}

pt_handler PT_DO(barrier_red_popc)(struct pt_select *s)
{
    return select_barrier(s, BAR_POPC, PT_HAS(s, aligned));
}

pt_handler PT_DO(barrier_red_pred)(struct pt_select *s)
{
    return select_barrier(s, PT_HAS(s, and) ? BAR_AND : BAR_OR, PT_HAS(s, aligned));
}

/* ---- the cluster's barrier: imm is the block behind ------------------------------------------ */

PT_HANDLER(cluster_arrive)
{
    if (pt_is_observed(f))
        observe(c, f, f->mask, PT_SYNC_RELEASE, PT_CLUSTER_BARRIER,
                f->cta->bar[PT_CLUSTER_BARRIER].phase);
    f->cta->launch->services->arrive(f->state->warp, PT_CLUSTER_BARRIER, f->mask,
                                     c->aux & BAR_ALIGNED, PT_BARRIER_ALL, 0);
    return pt_goto(f, (uint32_t)c->imm, c + 1);
}

/* Lanes wait that have arrived in the phase that runs; for those that have not, the phase of their
 * last arrival is over. */
PT_HANDLER(cluster_wait)
{
    struct pt_state *s = f->state;
    const struct pt_barrier *bar = &f->cta->bar[PT_CLUSTER_BARRIER];
    bool is_counted = bar->warps >> s->warp->index & 1;
    uint32_t stay = f->mask & (is_counted ? UINT32_MAX : bar->arrived_lanes[s->warp->index]);
    uint32_t go = f->mask & ~stay;
    uint32_t block = (uint32_t)c->imm;
    struct pt_group g = {f, c, stay, block, PT_CLUSTER_BARRIER, bar->phase};
    if (pt_is_observed(f))
        observe(c, f, go, PT_SYNC_ACQUIRE, PT_CLUSTER_BARRIER, bar->phase - 1);
    if (stay)
        s->groups[s->n_groups++] = g;
    if (!go)
        return pt_frontier_other(f);
    if (stay)
        pt_set_mask(f, go);
    return pt_goto(f, block, c + 1);
}

static pt_handler select_cluster(struct pt_select *s, pt_handler handler)
{
    s->code->imm = pt_blocks_after(s);
    s->code->aux =
        (uint16_t)((PT_HAS(s, aligned) ? BAR_ALIGNED : 0) | (PT_HAS(s, relaxed) ? BAR_RELAXED : 0));
    return handler;
}

pt_handler PT_DO(barrier_cluster_arrive)(struct pt_select *s)
{
    return select_cluster(s, cluster_arrive);
}

pt_handler PT_DO(barrier_cluster_wait)(struct pt_select *s)
{
    return select_cluster(s, cluster_wait);
}

/* ---- the end of a phase ---------------------------------------------------------------------- */

/* Moves lanes whose barrier phase is over to the blocks where they go on. Returns false. */
static __attribute__((noinline)) bool release_groups(struct pt_state *s)
{
    for (uint32_t i = 0; i < s->n_groups;) {
        struct pt_group *g = &s->groups[i];
        if (s->warp->cta->bar[g->bar].phase == g->phase) {
            i++;
            continue;
        }
        end_wait(g);
        pt_frontier_wait(g->frame, g->block, g->mask);
        *g = s->groups[--s->n_groups];
    }
    return false;
}

/* The common case: all of the warp waited for one barrier, whose phase is over. */
static bool release_warp(struct pt_state *s)
{
    const struct pt_group *g = &s->groups[0];
    struct pt_frame *f = g->frame;
    if (s->n_groups != 1 || s->is_serial || g->mask != s->warp->live ||
        f->cta->bar[g->bar].phase == g->phase)
        return false;
    end_wait(g);
    pt_set_mask(f, g->mask);
    s->n_groups = 0;
    s->frame = f;
    s->code = f->body->start[g->block];
    return true;
}

bool pt_barrier_release(struct pt_state *s)
{
    return release_warp(s) || release_groups(s);
}

const struct pt_code *pt_barrier_suspend(struct pt_state *s)
{
    struct pt_warp *warp = s->warp;
    warp->wait_bar = PT_NO_BARRIER;
    if (s->n_groups == 1) {
        warp->wait_bar = s->groups[0].bar;
        warp->wait_phase = s->groups[0].phase;
    }
    return pt_stop(s, PT_RUN_WAITING);
}
