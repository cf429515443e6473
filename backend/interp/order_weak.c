/* Schedules under which reads see old values, as the memory consistency model allows (PTX ISA, 8):
 * a strong read, relaxed or volatile, may see a write that others have written over since, unless
 * one of those is before it in causality order, or a read of one of those is, or its thread has
 * read or written a later one already. Which it sees the schedule's seed says. What is known of
 * causality is the checker of races's; it has reads synchronize with who wrote last, so what
 * others that release have written is not seen when it is old.
 *
 * Weak and asynchronous writes leave nothing older to be seen. Weak reads see the newest value:
 * where they need not, there is a race. So do acquires, which are in other schedules as if they
 * came earlier, and what accesses several words.
 */
#include "backend/interp/address.h"
#include "backend/interp/old_values.h"
#include "backend/interp/release.h"
#include "backend/observer.h"
#include "backend/schedule.h"

/* NULL: there is no memory, or nothing to go by. */
static struct pt_old_values *values_of(const struct pt_event *e)
{
    struct pt_causality *g = pt_causality_cluster(e->frame) ? pt_causality_of(e->frame) : NULL;
    if (g && !g->old)
        g->old = pt_causality_make(g, sizeof *g->old);
    return g ? g->old : NULL;
}

static uint32_t hash(uint64_t address, uint32_t thread)
{
    return (uint32_t)((address ^ (uint64_t)thread << 40) * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

/* ---- words ----------------------------------------------------------------------------------- */

static struct pt_old_place *find_place(struct pt_old_values *v, uint64_t address, bool makes)
{
    for (uint32_t i = 0; i < PT_OLD_PROBES; i++) {
        struct pt_old_place *p = &v->places[(hash(address, 0) + i) % PT_OLD_PLACES];
        if (!p->address && makes)
            *p = (struct pt_old_place){.address = address};
        if (p->address == address)
            return p;
        if (!p->address)
            return NULL;
    }
    return NULL;
}

static struct pt_old_seen *find_seen(struct pt_old_values *v, uint64_t address, uint32_t thread)
{
    for (uint32_t i = 0; i < PT_OLD_PROBES; i++) {
        struct pt_old_seen *s = &v->seen[(hash(address, thread) + i) % PT_OLD_SEEN];
        if (!s->address)
            *s = (struct pt_old_seen){.address = address, .thread = thread};
        if (s->address == address && s->thread == thread)
            return s;
    }
    return NULL;
}

/* What was there before is no more to be seen. */
static void forget(struct pt_old_values *v, uint64_t address)
{
    struct pt_old_place *p = find_place(v, address, false);
    if (p) {
        p->first = p->n;
        p->first_releases = false;
    }
}

/* Likewise where a weak write, or a copy, writes. */
static void forget_all(struct pt_old_values *v, uint64_t address, uint64_t bytes)
{
    for (uint64_t at = address & ~UINT64_C(7); at < address + bytes; at += 4)
        forget(v, at);
}

/* Write number n of a place. */
static struct pt_old_write *write_of(struct pt_old_place *p, uint32_t n)
{
    return &p->writes[(n - 1) % PT_OLD_KEPT];
}

static bool releases(struct pt_old_place *p, uint32_t n)
{
    return n == p->first ? p->first_releases : write_of(p, n)->releases;
}

/* Words that share bytes with an access of other extent. */
static void forget_others(struct pt_old_values *v, uint64_t address, uint32_t bytes)
{
    uint64_t whole = address & ~UINT64_C(7);
    for (uint64_t at = whole; at < whole + 8; at += 4) {
        const struct pt_old_place *p = find_place(v, at, false);
        bool shares = p && at < address + bytes && address < at + p->bytes;
        if (shares && (at != address || p->bytes != bytes))
            forget(v, at);
    }
}

/* Access code: a fault here is the kernel's. */
PT_ACCESS static uint64_t read_word(const struct pt_event *e, uint64_t address, uint32_t bytes)
{
    e->frame->state->code = e->code;
    return bytes == 8 ? *(const volatile uint64_t *)(uintptr_t)address
                      : *(const volatile uint32_t *)(uintptr_t)address;
}

/* ---- writes ---------------------------------------------------------------------------------- */

static bool is_twice(const struct pt_event *e, const struct pt_access *a, uint32_t lane)
{
    for (uint32_t left = e->lanes; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        if (i != lane && a->address[i] == a->address[lane])
            return true;
    }
    return false;
}

/* Shared memory is another one's in each cluster. */
static void begin_place(const struct pt_event *e, const struct pt_known_cluster *k,
                        struct pt_old_place *p, uint32_t bytes)
{
    bool is_old =
        p->address - (uint64_t)(uintptr_t)e->frame->shared <= UINT32_MAX && p->born < k->born;
    if (p->bytes != bytes || is_old)
        p->first = p->n;
    p->bytes = bytes;
    p->born = pt_causality_of(e->frame)->time;
}

static void write(const struct pt_event *e, const struct pt_access *a, uint32_t lane,
                  struct pt_old_values *v)
{
    struct pt_known_cluster *k = pt_causality_cluster(e->frame);
    const struct pt_known *w = pt_causality_warp(k, e->frame);
    uint32_t bytes = (uint32_t)a->bytes;
    uint64_t address = a->address[lane];
    forget_others(v, address, bytes);
    struct pt_old_place *p = bytes == 4 || bytes == 8 ? find_place(v, address, true) : NULL;
    if (!p)
        return;
    begin_place(e, k, p, bytes);
    /* a release, behind a fence, or an atomic that passes on what it reads */
    bool does_release = a->order > PT_ORDER_RELAXED || w->fence[lane].scope != PT_SCOPE_NONE ||
                        (a->use & PT_USE_READ && releases(p, p->n));
    if (p->n - p->first == PT_OLD_KEPT) {
        p->first_releases = releases(p, p->first + 1);
        p->first++;
    }
    *write_of(p, ++p->n) = (struct pt_old_write){.time = pt_causality_of(e->frame)->time,
                                                 .warp = w->number,
                                                 .lane = lane,
                                                 .before = read_word(e, address, bytes),
                                                 .releases = does_release};
    if (is_twice(e, a, lane)) {
        p->first = p->n;
        p->first_releases = does_release;
    }
    struct pt_old_seen *seen = find_seen(v, address, w->number * PT_WARP_SIZE + lane);
    if (seen)
        seen->n = p->n;
}

/* ---- reads ----------------------------------------------------------------------------------- */

/* Whether a write, or a read of it, is before what the lane does. */
static bool knows(const struct pt_causality *g, const struct pt_known *w, uint32_t lane,
                  const struct pt_old_write *x)
{
    bool is_known = x->n_observers > PT_OLD_OBSERVERS ||
                    pt_causality_knows(g, w, lane, x->warp, x->lane, x->time);
    for (uint32_t i = 0; !is_known && i < x->n_observers; i++)
        is_known = pt_causality_knows(g, w, lane, x->observers[i].warp, x->observers[i].lane,
                                      x->observers[i].time);
    return is_known;
}

/* The oldest that a lane may see. */
static uint32_t oldest(const struct pt_causality *g, const struct pt_known *w, uint32_t lane,
                       struct pt_old_place *p, const struct pt_old_seen *seen)
{
    uint32_t least = seen->n > p->first ? seen->n : p->first;
    for (uint32_t n = p->n; n > least; n--)
        if (knows(g, w, lane, write_of(p, n)))
            return n;
    return least;
}

/* The lane has read write number n. */
static void observe(const struct pt_causality *g, const struct pt_known *w, uint32_t lane,
                    struct pt_old_place *p, uint32_t n)
{
    struct pt_old_write *x = n > p->first ? write_of(p, n) : NULL;
    if (x && x->n_observers < PT_OLD_OBSERVERS) {
        x->observers[x->n_observers].time = g->time;
        x->observers[x->n_observers].warp = w->number;
        x->observers[x->n_observers].lane = lane;
    }
    if (x && x->n_observers <= PT_OLD_OBSERVERS)
        x->n_observers++;
}

/* A read that sees the newest. */
static void read_newest(const struct pt_event *e, const struct pt_access *a, uint32_t lane,
                        struct pt_old_values *v)
{
    const struct pt_known *w = pt_causality_warp(pt_causality_cluster(e->frame), e->frame);
    struct pt_old_place *p = find_place(v, a->address[lane], false);
    struct pt_old_seen *seen =
        p ? find_seen(v, a->address[lane], w->number * PT_WARP_SIZE + lane) : NULL;
    if (p)
        observe(pt_causality_of(e->frame), w, lane, p, p->n);
    if (seen)
        seen->n = p->n;
}

static void set_result(const struct pt_event *e, uint32_t lane, uint64_t value)
{
    const struct pt_body *body = e->frame->body;
    const struct pt_insn *insn = &body->func->insns.v[e->insn];
    char *slot = (char *)e->frame + body->slots[body->func->operands.v[insn->operands].index];
    if (pt_causality_of(e->frame)->old->bytes == 8)
        ((uint64_t *)(void *)slot)[lane] = value;
    else
        ((uint32_t *)(void *)slot)[lane] = (uint32_t)value;
}

static void read(const struct pt_event *e, uint32_t lane, struct pt_old_values *v)
{
    struct pt_known_cluster *k = pt_causality_cluster(e->frame);
    const struct pt_known *w = pt_causality_warp(k, e->frame);
    struct pt_old_place *p = find_place(v, v->address[lane], false);
    struct pt_old_seen *seen =
        p ? find_seen(v, v->address[lane], w->number * PT_WARP_SIZE + lane) : NULL;
    if (!seen || p->bytes != v->bytes) {
        if (p)
            observe(pt_causality_of(e->frame), w, lane, p, p->n);
        return;
    }
    begin_place(e, k, p, v->bytes);
    uint32_t least = oldest(pt_causality_of(e->frame), w, lane, p, seen), n = p->n;
    uint64_t drawn = pt_schedule_draw_for(e->warp->cta->launch->schedule, PT_DRAW_OLD, v->draws);
    v->draws += least < n;
    if (least < n && drawn & 1)
        n -= (uint32_t)((drawn >> 1) % (n - least)) + 1;
    while (n < p->n && releases(p, n))
        n++;
    seen->n = n;
    observe(pt_causality_of(e->frame), w, lane, p, n);
    if (n < p->n)
        set_result(e, lane, write_of(p, n + 1)->before);
}

/* A load of a whole register. */
static bool may_be_old(const struct pt_event *e, const struct pt_access *a)
{
    const struct pt_func *func = e->frame->body->func;
    const struct pt_insn *insn = &func->insns.v[e->insn];
    const struct pt_operand *to = &func->operands.v[insn->operands];
    return !(a->use & PT_USE_WRITE) && a->order == PT_ORDER_RELAXED &&
           (a->bytes == 4 || a->bytes == 8) && insn->n_operands && to->kind == PT_OPND_REG &&
           pt_type_bits((enum pt_type)func->regs.v[to->index].type) == 8 * a->bytes;
}

static bool see_access(const struct pt_event *e, const struct pt_access *a)
{
    struct pt_old_values *v = values_of(e);
    bool is_weak = a->order == PT_ORDER_PLAIN || a->is_async, writes = a->use & PT_USE_WRITE;
    if (!v || (is_weak && !writes))
        return true;
    v->lanes = 0;
    bool is_old = !is_weak && may_be_old(e, a);
    for (uint32_t left = is_old ? 0 : e->lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (is_weak)
            forget_all(v, a->address[lane], a->bytes);
        else if (writes)
            write(e, a, lane, v);
        else
            read_newest(e, a, lane, v);
    }
    if (!is_old)
        return true;
    v->func = e->func;
    v->insn = e->insn;
    v->lanes = e->lanes;
    v->bytes = (uint32_t)a->bytes;
    memcpy(v->address, a->address, sizeof v->address);
    return true;
}

static void see_accessed(const struct pt_event *e)
{
    struct pt_causality *g = pt_causality_of(e->frame);
    struct pt_old_values *v = g && !g->is_blind ? g->old : NULL;
    if (!v || v->func != e->func || v->insn != e->insn)
        return;
    for (uint32_t left = v->lanes; left; left &= left - 1)
        read(e, (uint32_t)__builtin_ctz(left), v);
    v->lanes = 0;
}

/* ---- fences ---------------------------------------------------------------------------------- */

/* A fence of a scope comes behind those that it includes, and that include it. */
static void pass(const struct pt_event *e, struct pt_clock **fenced)
{
    struct pt_causality *g = pt_causality_of(e->frame);
    struct pt_known_cluster *k = pt_causality_cluster(e->frame);
    struct pt_known *w = pt_causality_warp(k, e->frame);
    struct pt_clock_entry own[1 + PT_WARP_SIZE];
    k->has_learned = true;
    pt_causality_learn(g, w, e->lanes, *fenced);
    pt_causality_gather(g, w, e->lanes, fenced);
    pt_clock_add(&g->clocks, fenced, own, pt_causality_say(g, w, e->lanes, false, own), NULL);
}

static void see_fence(const struct pt_event *e)
{
    const struct pt_form *form = pt_insn_form(e->frame->state->program->base.image->module,
                                              &e->frame->body->func->insns.v[e->insn]);
    bool is_fence = form->op == PT_OP_membar || form->op == PT_OP_fence;
    struct pt_old_values *v =
        is_fence && pt_order_of(form) == PT_ORDER_SEQ_CST ? values_of(e) : NULL;
    if (!v)
        return;
    const struct pt_known_cluster *k = pt_causality_cluster(e->frame);
    uint32_t warp = pt_causality_warp(pt_causality_cluster(e->frame), e->frame)->number;
    enum pt_scope scope = pt_scope_of(form);
    /* What it acquires it passes on. What it releases is what it learns here, too: that is said
     * when the checker of races comes to it. */
    pt_release_fence(e);
    pass(e, &v->fenced_cta[warp / pt_causality_of(e->frame)->clocks.n_warps % PT_OLD_FENCED]);
    if (scope >= PT_SCOPE_CLUSTER)
        pass(e, &v->fenced_cluster[warp / k->n_warps % PT_OLD_FENCED]);
    if (scope >= PT_SCOPE_GPU)
        pass(e, &v->fenced);
    pt_causality_go_on(e->frame);
}

/* Its causality ends behind this. */
static void see_launched(struct pt_launch *launch, bool is_over)
{
    struct pt_causality *g = launch->causality;
    if (!is_over || !g || !g->old)
        return;
    pt_clock_drop(&g->clocks, g->old->fenced);
    for (uint32_t i = 0; i < PT_OLD_FENCED; i++) {
        pt_clock_drop(&g->clocks, g->old->fenced_cluster[i]);
        pt_clock_drop(&g->clocks, g->old->fenced_cta[i]);
    }
    pt_causality_resize(g, g->old, 0);
}

const struct pt_observer PT_LEVEL_NAME(pt_observer_order_weak) = {.name = "",
                                                                  .access = see_access,
                                                                  .accessed = see_accessed,
                                                                  .fence = see_fence,
                                                                  .launched = see_launched};
