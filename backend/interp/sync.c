/* Checked launches: lanes that synchronise in ways that the PTX ISA leaves undefined, where the
 * machine goes on, and asynchronous operations that nobody waits for. What it does not go on from
 * is a fault, which the runtime makes a finding. */
#include <stdio.h>

#include "backend/interp/fragments.h"
#include "backend/interp/mbarrier.h"
#include "backend/mbarriers.h"
#include "backend/observer.h"
#include "backend/semantics/mbarrier.h"

enum { WORDS = 160 };

static void find(const struct pt_warp *warp, enum pt_finding_kind kind, struct pt_party by,
                 struct pt_party other, const char *detail)
{
    struct pt_finding finding = {.kind = kind, .by = by, .other = other, .detail = detail};
    warp->cta->launch->services->found(warp, &finding);
}

static struct pt_party first_of(const struct pt_event *e, uint32_t lanes)
{
    return pt_party_of(e->warp, (uint32_t)__builtin_ctz(lanes), e->func, e->insn);
}

static const struct pt_party nobody;

static void see_misused(const struct pt_event *e, enum pt_misuse what, uint32_t others)
{
    static const struct {
        enum pt_finding_kind kind;
        const char *format;
    } texts[] = {
        [PT_MISUSE_PASSED] =
            {PT_FINDING_SYNC_DIVERGENT,
             "lanes 0x%08x of the warp come to the aligned barrier, 0x%08x do not"},
        [PT_MISUSE_MASKS] =
            {PT_FINDING_SYNC_MASK,
             "the member mask of lanes 0x%08x names lanes 0x%08x, whose masks differ"},
        [PT_MISUSE_CALLER] = {PT_FINDING_SYNC_MASK,
                              "the member mask of lanes 0x%08x leaves them out"},
    };
    char words[WORDS];
    snprintf(words, sizeof words, texts[what].format, e->lanes, others);
    find(e->warp, texts[what].kind, first_of(e, e->lanes), nobody, words);
}

/* ---- mbarriers ------------------------------------------------------------------------------- */

PT_ACCESS static uint64_t word_at(uint64_t address)
{
    return *(const uint64_t *)(uintptr_t)address;
}

/* Those of the cluster that runs; NULL: there is no memory. */
static struct pt_mbarriers *mbarriers_of(const struct pt_event *e)
{
    enum { ROOM_FIRST = 16 };
    struct pt_async *q = e->warp->cta->async;
    const struct pt_allocator *a = e->frame->state->program->arena.allocator;
    struct pt_mbarriers *all = q->mbarriers;
    if (!all || all->n == all->room) {
        uint32_t n = all ? all->n : 0, room = all ? 2 * all->room : ROOM_FIRST;
        all = a->resize(a->ud, all, sizeof *all + room * sizeof all->v[0]);
        if (!all)
            return NULL;
        all->n = n;
        all->room = room;
        all->start = n ? all->start : q->starts;
        q->mbarriers = all;
    }
    if (all->start != q->starts)
        all->n = 0;
    all->start = q->starts;
    return all;
}

/* Made if it was not seen before. NULL: there is no memory. */
static struct pt_mbarrier_seen *seen_at(const struct pt_event *e, uint64_t address)
{
    struct pt_mbarriers *all = mbarriers_of(e);
    uint32_t i = 0;
    while (all && i < all->n && all->v[i].address != address)
        i++;
    if (all && i == all->n)
        all->v[all->n++] = (struct pt_mbarrier_seen){.address = address};
    return all ? &all->v[i] : NULL;
}

static struct pt_party user_of(const struct pt_event *e, uint64_t address)
{
    struct pt_party by = first_of(e, e->lanes);
    by.has_address = true;
    by.address = address;
    by.use = PT_USE_WRITE | PT_USE_ATOMIC;
    return by;
}

static void see_mbarrier(const struct pt_event *e, uint64_t address, enum pt_mbarrier_use use)
{
    struct pt_mbarrier_seen *seen = seen_at(e, address);
    if (!seen)
        return;
    struct pt_party by = user_of(e, address), maker = seen->maker;
    bool was_valid = seen->is_valid;
    e->warp->cta->async->is_busy |= use != PT_MBARRIER_USE_TEST;
    if (use == PT_MBARRIER_USE_INIT || use == PT_MBARRIER_USE_INVALIDATE) {
        seen->is_valid = use == PT_MBARRIER_USE_INIT;
        seen->maker = by;
    }
    seen->expecter = use == PT_MBARRIER_USE_EXPECT ? by : seen->expecter;
    seen->is_tested = use == PT_MBARRIER_USE_TEST;
    if (seen->is_tested) {
        struct pt_mbarrier now = pt_mbarrier_read(word_at(address));
        seen->phase = now.phase;
        seen->pending = now.pending;
        seen->bytes = now.tx;
    }
    /* All threads may invalidate it alike: one does, whichever it is. */
    bool is_alike =
        use == PT_MBARRIER_USE_INVALIDATE && maker.func == e->func && maker.insn == e->insn;
    if (use != PT_MBARRIER_USE_INIT && !was_valid && !(maker.who && is_alike))
        find(e->warp, PT_FINDING_SYNC_MBARRIER, by, maker,
             maker.who ? "the mbarrier was invalidated before"
                       : "nobody has initialised the mbarrier");
}

static void see_sync(const struct pt_event *e, const struct pt_sync *sync)
{
    struct pt_mbarrier_seen *seen;
    bool is_over = sync->what == PT_SYNC_ACQUIRE || sync->what == PT_SYNC_PHASE;
    if (sync->where != PT_SYNC_OF_MBARRIER || !is_over || !(seen = seen_at(e, sync->mbarrier)))
        return;
    e->warp->cta->async->is_busy = true;
    seen->is_tested = false;
    seen->has_copy = seen->has_copy && sync->what == PT_SYNC_PHASE;
}

/* ---- operations that nobody waits for -------------------------------------------------------- */

static bool see_issued(const struct pt_event *e, struct pt_async_op *op)
{
    struct pt_state *s = e->frame->state;
    if (op->kind == PT_ASYNC_WGMMA)
        pt_fragments_issue(e, op);
    if (op->kind == PT_ASYNC_ARRIVAL) /* whoever waits for it waits for the copies before */
        s->open[PT_ASYNC_COPY] &= ~(1u << op->lane);
    if (op->kind < PT_GROUP_KINDS) {
        s->issued[op->kind][op->lane] = (struct pt_issued){e->func, e->insn, op->group};
        s->open[op->kind] |= 1u << op->lane;
    }
    struct pt_mbarrier_seen *seen = op->kind == PT_ASYNC_COUNTED ? seen_at(e, op->mbarrier) : NULL;
    if (seen) {
        e->warp->cta->async->is_busy = true;
        seen->has_copy = true;
        seen->copier = first_of(e, e->lanes);
    }
    return op->kind != PT_ASYNC_COUNTED || seen;
}

static void see_waited(const struct pt_event *e, uint32_t kind, uint32_t pending, bool is_read)
{
    struct pt_state *s = e->frame->state;
    (void)is_read; /* what is written comes in any case */
    for (uint32_t left = e->lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (s->committed[kind][lane] - s->issued[kind][lane].group > pending)
            s->open[kind] &= ~(1u << lane);
    }
}

static void see_exited(const struct pt_event *e)
{
    static const char *const texts[] = {
        [PT_ASYNC_COPY] = "the thread ends and has not waited for the copy (cp.async.wait_group, "
                          "wait_all, or an mbarrier)",
        [PT_ASYNC_BULK] = "the thread ends and has not waited for the copy's bulk group "
                          "(cp.async.bulk.wait_group)",
        [PT_ASYNC_WGMMA] = "the thread ends and has not waited for wgmma (wgmma.wait_group)"};
    struct pt_state *s = e->frame->state;
    for (uint32_t kind = 0; kind < PT_GROUP_KINDS; kind++) {
        for (uint32_t left = e->lanes & s->open[kind]; left; left &= left - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(left);
            const struct pt_issued *last = &s->issued[kind][lane];
            find(e->warp, PT_FINDING_SYNC_ASYNC, pt_party_of(e->warp, lane, last->func, last->insn),
                 nobody, texts[kind]);
        }
        s->open[kind] &= ~e->lanes;
    }
    if (e->lanes == e->warp->live)
        pt_fragments_end(s, NULL);
}

static void see_fence(const struct pt_event *e)
{
    const struct pt_frame *f = e->frame;
    const struct pt_insn *insn = &f->body->func->insns.v[e->insn];
    if (pt_insn_form(f->state->program->base.image->module, insn)->op == PT_OP_wgmma_fence)
        pt_fragments_fence(e);
}

static void see_returned(const struct pt_frame *f)
{
    pt_fragments_end(f->state, f);
}

/* Its memory is still there. */
static void see_ended(const struct pt_cta *cta)
{
    const struct pt_mbarriers *all = cta->async ? cta->async->mbarriers : NULL;
    for (uint32_t i = 0; all && all->start == cta->async->starts && i < all->n; i++) {
        const struct pt_mbarrier_seen *seen = &all->v[i];
        char words[WORDS];
        int32_t bytes = seen->is_valid ? pt_mbarrier_read(word_at(seen->address)).tx : 0;
        snprintf(words, sizeof words,
                 "the cluster ends, and the mbarrier waits for %d bytes more than were copied",
                 bytes);
        if (bytes && seen->expecter.who)
            find(cta->warps, PT_FINDING_SYNC_MBARRIER, seen->expecter, nobody, words);
        else if (seen->has_copy)
            find(cta->warps, PT_FINDING_SYNC_ASYNC, seen->copier, nobody,
                 "the cluster ends, and nobody has waited for the copy at its mbarrier");
    }
}

const struct pt_observer PT_LEVEL_NAME(pt_observer_sync) = {.name = "sync",
                                                            .sync = see_sync,
                                                            .misused = see_misused,
                                                            .mbarrier = see_mbarrier,
                                                            .fence = see_fence,
                                                            .registers = pt_fragments_touch,
                                                            .returned = see_returned,
                                                            .issued = see_issued,
                                                            .waited = see_waited,
                                                            .exited = see_exited,
                                                            .ended = see_ended};
