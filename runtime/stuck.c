/* Clusters whose threads wait for each other: whether they do, and for whom. */
#include "runtime/stuck.h"

#include <inttypes.h>
#include <string.h>

#include "backend/mbarriers.h"
#include "ir/insn.h"
#include "ir/spin_loop.h"

/* ---- whether ----------------------------------------------------------------------------------*/

/* A lane can never leave a loop whose rounds are all alike: nothing in it changes but mbarriers,
 * and no register brings a value from one round to the next, as a counter of tries does. */

enum { OWN_MOST = 32 }; /* a loop that writes more registers does more than to wait */

struct round {
    uint32_t n_own, own[OWN_MOST]; /* registers that the loop writes */
    uint32_t fresh; /* written since the round began, on every way; by place in own */
    bool is_guarded;
    bool are_alike;
};

static const struct pt_block *block_of(const struct pt_func *f, uint32_t insn)
{
    for (uint32_t b = 0; b < f->blocks.n; b++)
        if (insn - f->blocks.v[b].first < f->blocks.v[b].count)
            return &f->blocks.v[b];
    return NULL;
}

/* A test of an mbarrier, or what nobody else can see or change. */
static bool only_tests(const struct pt_func *f, const struct pt_insn *insn,
                       const struct pt_form *form)
{
    switch (form->op) {
    case PT_OP_mbarrier_test_wait:
    case PT_OP_mbarrier_test_wait_parity:
    case PT_OP_mbarrier_try_wait:
    case PT_OP_mbarrier_try_wait_parity:
    case PT_OP_nanosleep:
        return true;
    default:
        break;
    }
    uint32_t harmless = PT_FX_BRANCH | PT_FX_FP;
    if (form->effects & PT_FX_BRANCH)
        harmless |= PT_FX_END; /* only that nobody goes on behind it */
    return !(form->effects & ~harmless) && !pt_spin_loop_reads_clock(f, insn);
}

static uint32_t own_of(const struct round *r, uint32_t reg)
{
    uint32_t i = 0;
    while (i < r->n_own && r->own[i] != reg)
        i++;
    return i;
}

static void note_own(void *ud, uint32_t reg, bool is_def)
{
    struct round *r = ud;
    uint32_t i = own_of(r, reg);
    if (!is_def || i < r->n_own)
        return;
    r->are_alike &= i < OWN_MOST;
    if (r->are_alike)
        r->own[r->n_own++] = reg;
}

static void note_fresh(void *ud, uint32_t reg, bool is_def)
{
    struct round *r = ud;
    uint32_t i = own_of(r, reg), bit = i < r->n_own ? UINT32_C(1) << i : 0;
    if (!is_def)
        r->are_alike &= !(bit & ~r->fresh);
    else if (!r->is_guarded)
        r->fresh |= bit;
}

static void look_through(struct round *r, const struct pt_module *m, const struct pt_func *f,
                         const struct pt_block *block,
                         void (*note)(void *ud, uint32_t reg, bool is_def))
{
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        const struct pt_insn *insn = &f->insns.v[i];
        r->are_alike &= only_tests(f, insn, pt_insn_form(m, insn));
        r->is_guarded = insn->guard != PT_NONE;
        pt_insn_regs(m, f, insn, note, r);
    }
}

static bool has_alike_rounds(const struct pt_module *m, const struct pt_func *f,
                             const struct pt_loop *loop)
{
    struct round r = {.are_alike = loop->communicates && loop->is_reducible};
    for (uint32_t b = loop->header; r.are_alike && b < loop->end; b++)
        look_through(&r, m, f, &f->blocks.v[b], note_own);
    uint32_t of_header = 0;
    for (uint32_t b = loop->header; r.are_alike && b < loop->end; b++) {
        r.fresh = of_header;
        look_through(&r, m, f, &f->blocks.v[b], note_fresh);
        of_header = b == loop->header ? r.fresh : of_header;
    }
    return r.are_alike;
}

struct places {
    const struct pt_module *module;
    bool are_waiting;
};

static void look_at(void *ud, uint32_t func, uint32_t insn, uint32_t lanes, uint32_t bar)
{
    struct places *p = ud;
    const struct pt_func *f = &p->module->funcs.v[func];
    const struct pt_block *at = bar == UINT32_MAX ? block_of(f, insn) : NULL;
    (void)lanes;
    if (bar == UINT32_MAX)
        p->are_waiting = p->are_waiting && at && at->loop &&
                         has_alike_rounds(p->module, f, &f->loops.v[at->loop - 1]);
}

static bool are_waiting(const struct pt_job *job, const struct pt_slot *slot)
{
    struct places p = {&job->kernel->module->ir, slot->async.n == 0};
    for (uint32_t i = 0; p.are_waiting && i < slot->n_ctas * job->launch.n_warps; i++)
        if (slot->warps[i].live)
            job->launch.program->engine->places(&slot->warps[i], look_at, &p);
    return p.are_waiting;
}

bool pt_stuck_is(const struct pt_job *job, struct pt_slot *slot, bool has_moved)
{
    bool were_waiting = slot->are_waiting && !has_moved && !slot->async.is_busy;
    slot->async.is_busy = false;
    slot->are_waiting = !has_moved && are_waiting(job, slot);
    return were_waiting && slot->are_waiting;
}

/* ---- for whom -------------------------------------------------------------------------------- */

enum { WARPS_NAMED = 8 };

/* ", but not warps 1, 2" */
static void put_missing(struct pt_words *w, const struct pt_resident *r, uint32_t missing)
{
    uint32_t n = 0;
    for (uint32_t left = missing; left && n < WARPS_NAMED; left &= left - 1, n++)
        pt_words_put(w, "%s%d", n ? ", " : ", but not warps ", __builtin_ctz(left));
    if ((uint32_t)__builtin_popcount(missing) > n)
        pt_words_put(w, " and %u more", (uint32_t)__builtin_popcount(missing) - n);
    uint32_t gone = r->cta.launch->n_warps - r->cta.live_warps;
    if (gone)
        pt_words_put(w, "; %" PRIu32 " warp%s of the CTA ha%s exited", gone, gone > 1 ? "s" : "",
                     gone > 1 ? "ve" : "s");
}

static void put_barrier(struct pt_words *w, const struct pt_resident *r, uint32_t id,
                        const char *prefix)
{
    const struct pt_barrier *bar = &r->cta.bar[id];
    const uint32_t *cta = r->cta.id;
    uint32_t missing = r->live_mask & ~bar->warps;
    if (!bar->warps && !bar->partial)
        return;
    pt_words_put(w, "%s", prefix);
    if (id == PT_CLUSTER_BARRIER)
        pt_words_put(w, "the cluster's barrier");
    else
        pt_words_put(w, "barrier %" PRIu32, id);
    pt_words_put(w, " of CTA (%" PRIu32 ",%" PRIu32 ",%" PRIu32 "): ", cta[0], cta[1], cta[2]);
    if (bar->expected == PT_BARRIER_ALL || id == PT_CLUSTER_BARRIER)
        pt_words_put(w, "%d warps came whole", __builtin_popcount(bar->warps));
    else
        pt_words_put(w, "%" PRIu32 " threads came of %" PRIu32, bar->arrived, bar->expected);
    put_missing(w, r, missing);
}

static void put_mbarrier(struct pt_words *w, const struct pt_slot *slot,
                         const struct pt_mbarrier_seen *seen, const char *prefix)
{
    pt_words_put(w,
                 "%sthe mbarrier at shared address 0x%" PRIx64 ": phase %" PRIu32
                 " is not over, for %" PRIu32 " arrivals and %" PRId32 " bytes are missing",
                 prefix, seen->address - (uintptr_t)slot->range, seen->phase, seen->pending,
                 seen->bytes);
}

void pt_stuck_put(struct pt_words *w, const struct pt_slot *slot, const char *prefix)
{
    for (uint32_t i = 0; i < slot->n_ctas; i++)
        for (uint32_t id = 0; id <= PT_CLUSTER_BARRIER; id++)
            put_barrier(w, &slot->ctas[i], id, prefix);
    const struct pt_mbarriers *all = slot->async.mbarriers;
    for (uint32_t i = 0; all && all->start == slot->async.starts && i < all->n; i++)
        if (all->v[i].is_tested)
            put_mbarrier(w, slot, &all->v[i], prefix);
}
