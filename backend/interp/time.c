/* Times what runs: backend/timed.h. */
#include "backend/interp/caches.h"

/* ---- ways of warps --------------------------------------------------------------------------- */

/* NULL: the CTA is not timed. */
static struct pt_timed_warp *timed_of(const struct pt_warp *warp, uint64_t *path)
{
    const struct pt_launch *launch = warp->cta->launch;
    uint64_t number = pt_cta_number(warp->cta);
    if (number % launch->timed->stride)
        return NULL;
    *path = number / launch->timed->stride;
    return &launch->timed->warps[*path * launch->n_warps + warp->index];
}

static uint32_t *ready_of(const struct pt_warp *warp, uint64_t path, uint32_t func)
{
    const struct pt_timed *t = warp->cta->launch->timed;
    return t->ready + (path * warp->cta->launch->n_warps + warp->index) * t->n_regs +
           t->first_reg[func];
}

static uint32_t front(const struct pt_timed_warp *w)
{
    return w->next > w->latest ? w->next : w->latest;
}

/* A barrier is over when its last warp has come; each asks before its next instruction. */
static void pass_barrier(struct pt_timed *t, struct pt_timed_warp *w, uint64_t path)
{
    uint32_t over = t->phases[path][w->phases % PT_TIMED_PHASES], before = front(w);
    if (over <= w->next)
        return;
    w->next = over;
    t->waits[w->barrier] += front(w) - before;
}

/* All before it are issued. */
static void wait_for_issued(struct pt_timed_warp *w)
{
    w->next = front(w);
}

static uint32_t find_issue(const struct pt_timed *t, const struct pt_timed_insn *x,
                           const struct pt_timed_warp *w, const uint32_t *ready)
{
    const uint32_t *regs = t->regs + x->regs;
    uint32_t at = w->next;
    for (uint32_t i = 0; i < x->n_uses; i++)
        at = ready[regs[i]] > at ? ready[regs[i]] : at;
    if (x->is_load && w->loaded[w->n_loads % PT_TIMED_LOADS] > at)
        at = w->loaded[w->n_loads % PT_TIMED_LOADS];
    return w->stored[x->memory] > at ? w->stored[x->memory] : at;
}

static void issue(struct pt_timed *t, uint32_t number, struct pt_timed_warp *w, uint32_t *ready,
                  uint64_t path)
{
    const struct pt_timed_insn *x = &t->insns[number];
    const uint32_t *defs = t->regs + x->regs + x->n_uses;
    pass_barrier(t, w, path);
    uint32_t before = front(w);
    if (x->is_first || x->is_barrier)
        wait_for_issued(w);
    uint32_t at = find_issue(t, x, w, ready);
    for (uint32_t i = 0; i < x->n_defs; i++)
        ready[defs[i]] = at + x->latency;
    w->issued = at;
    w->latest = w->latest > at ? w->latest : at;
    w->next += x->slots;
    t->waits[number] += front(w) - before;
    if (x->is_load)
        w->loaded[w->n_loads++ % PT_TIMED_LOADS] = at + x->latency;
    if (x->is_store)
        w->stored[x->memory] = at;
    if (x->is_barrier) {
        uint32_t *over = &t->phases[path][++w->phases % PT_TIMED_PHASES];
        *over = *over > w->next ? *over : w->next;
        w->barrier = number;
    }
}

PT_HANDLER(time_instruction)
{
    const struct pt_warp *warp = f->state->warp;
    struct pt_timed *t = warp->cta->launch->timed;
    uint32_t func = f->body->index;
    uint64_t path;
    struct pt_timed_warp *w = timed_of(warp, &path);
    if (w)
        issue(t, t->first[func] + c->insn, w, ready_of(warp, path, func), path);
    return c + 1;
}

static bool place_instruction(struct pt_code *test, const struct pt_func *func, const void *facts,
                              bool is_guard)
{
    (void)facts;
    test->fn = time_instruction;
    return is_guard == (func->insns.v[test->insn].guard != 0);
}

/* What the access loads is there only now. */
static void delay(const struct pt_event *e, uint32_t latency)
{
    struct pt_timed *t = e->warp->cta->launch->timed;
    uint64_t path;
    struct pt_timed_warp *w = timed_of(e->warp, &path);
    const struct pt_timed_insn *x = &t->insns[t->first[e->func] + e->insn];
    if (!w)
        return;
    uint32_t *ready = ready_of(e->warp, path, e->func), at = w->issued + latency;
    for (uint32_t i = x->n_uses; i < x->n_uses + (uint32_t)x->n_defs; i++) {
        uint32_t *r = &ready[t->regs[x->regs + i]];
        *r = *r > at ? *r : at;
    }
    if (x->is_load) {
        uint32_t *loaded = &w->loaded[(w->n_loads - 1) % PT_TIMED_LOADS];
        *loaded = *loaded > at ? *loaded : at;
    }
}

static uint32_t latency_of(const struct pt_timed *t, unsigned space, enum pt_cache_level level,
                           bool is_atom)
{
    const struct pt_timed_latency *l = &t->latency;
    if (space == PT_COUNTED_SHARED || space == PT_COUNTED_CONST)
        return space == PT_COUNTED_SHARED ? l->shared : l->constant;
    uint32_t latency = level == PT_CACHE_L1 ? l->l1 : level == PT_CACHE_L2 ? l->l2 : l->dram;
    return is_atom ? latency + l->atomic - l->l2 : latency;
}

/* Floats in shared memory are added by a loop over compare-and-swap, in which of the lanes of an
 * address one after the other gets through. */
enum { SPIN_CYCLES = 95, SPIN_SLOTS = 8 };

static void spin(const struct pt_event *e, uint32_t lanes, const uint64_t *address)
{
    struct pt_timed *t = e->warp->cta->launch->timed;
    uint32_t turns = 0;
    uint64_t path, sector;
    struct pt_timed_warp *w = timed_of(e->warp, &path);
    while (lanes) {
        uint32_t now = pt_caches_take_sector(&lanes, address, &sector);
        turns = now > turns ? now : turns;
    }
    t->sums.slots += turns * SPIN_SLOTS;
    if (!w)
        return;
    uint32_t before = front(w), over = w->issued + turns * SPIN_CYCLES;
    w->latest = w->latest > over ? w->latest : over;
    wait_for_issued(w);
    t->waits[t->first[e->func] + e->insn] += front(w) - before;
}

static bool spins(const struct pt_event *e, unsigned space, uint32_t use)
{
    return space == PT_COUNTED_SHARED && use & PT_USE_ATOMIC &&
           !pt_type_is_int((enum pt_type)pt_sectors_form(e)->type[0]);
}

static bool see_access(const struct pt_event *e, const struct pt_access *access)
{
    const struct pt_cta *cta = e->warp->cta;
    uint32_t of[PT_COUNTED_SPACES] = {0};
    if (access->space == PT_SPACE_PARAM)
        return true;
    for (uint32_t left = e->lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        unsigned space = access->space == PT_SPACE_CONST
                             ? PT_COUNTED_CONST
                             : pt_sectors_space(cta, access->address[lane]);
        of[space] |= 1u << lane;
    }
    for (unsigned space = 0; space < PT_COUNTED_SPACES; space++) {
        if (!of[space])
            continue;
        enum pt_cache_level level =
            space == PT_COUNTED_GLOBAL  ? pt_caches_access_global(e, of[space], access)
            : space == PT_COUNTED_LOCAL ? pt_caches_access_local(e, of[space], access)
                                        : PT_CACHE_L1;
        delay(e, latency_of(cta->launch->timed, space, level, access->use & PT_USE_ATOMIC));
        if (spins(e, space, access->use))
            spin(e, of[space], access->address);
    }
    return true;
}

/* Their filters' time is in the costs of the instruction. */
static void see_texels(const struct pt_event *e, const struct pt_texels *texels)
{
    const struct pt_timed *t = e->warp->cta->launch->timed;
    uint32_t beyond =
        latency_of(t, PT_COUNTED_GLOBAL, pt_caches_access_texels(e, texels), false) - t->latency.l1;
    delay(e, t->insns[t->first[e->func] + e->insn].latency + beyond);
}

/* Nobody waits for these here: what they read is loaded by the time that it is waited for. */
static void see_copies(const struct pt_event *e, const struct pt_copies *copies)
{
    struct pt_event reads = *e;
    struct pt_access access = {
        .address = copies->from, .use = PT_USE_READ, .order = PT_ORDER_PLAIN, .is_async = true};
    for (uint32_t left = e->lanes; left; left &= left - 1) {
        uint32_t bytes = copies->read[__builtin_ctz(left)];
        access.bytes = bytes > access.bytes ? bytes : access.bytes;
        if (!bytes)
            reads.lanes &= ~(left & -left);
    }
    if (reads.lanes)
        pt_caches_access_global(&reads, reads.lanes, &access);
}

const struct pt_observer PT_LEVEL_NAME(pt_observer_time) = {.name = "time",
                                                            .access = see_access,
                                                            .texels = see_texels,
                                                            .copies = see_copies,
                                                            .place_instruction = place_instruction};
