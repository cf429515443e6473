/* What strong accesses, fences and mbarriers release and acquire, by location. */
#include "backend/interp/release.h"
#include "ir/bits.h"

enum { LOCATIONS_MAX = 1 << 20, RELAXED_MAX = 1 << 16 /* kept for the sake of words alone */ };

/* ---- locations ------------------------------------------------------------------------------- */

static struct pt_location *place_of(const struct pt_causality *g, uint64_t key)
{
    uint32_t i = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (g->room_locations - 1);
    while (g->locations[i].key && g->locations[i].key != key)
        i = (i + 1) & (g->room_locations - 1);
    return &g->locations[i];
}

static bool grow(struct pt_causality *g)
{
    struct pt_causality larger = *g;
    larger.room_locations = g->room_locations ? 2 * g->room_locations : 64;
    larger.locations = pt_causality_make(g, larger.room_locations * sizeof *larger.locations);
    if (!larger.locations)
        return false;
    for (uint32_t i = 0; i < g->room_locations; i++)
        if (g->locations[i].key)
            *place_of(&larger, g->locations[i].key) = g->locations[i];
    if (g->locations)
        pt_causality_resize(g, g->locations, 0);
    g->locations = larger.locations;
    g->room_locations = larger.room_locations;
    return true;
}

/* NULL: nothing is known of it. Shared memory is another one's in each cluster. */
static struct pt_location *find(const struct pt_frame *f, const struct pt_known_cluster *k,
                                uint64_t address)
{
    struct pt_causality *g = pt_causality_of(f);
    if (!g->n_locations)
        return NULL;
    struct pt_location *l = place_of(g, (address >> 2) + 1);
    bool is_old = address - (uint64_t)(uintptr_t)f->shared <= UINT32_MAX && l->born < k->born;
    return l->key && !is_old ? l : NULL;
}

static struct pt_location *make(const struct pt_frame *f, const struct pt_known_cluster *k,
                                uint64_t address)
{
    struct pt_causality *g = pt_causality_of(f);
    struct pt_location *l = find(f, k, address);
    if (l)
        return l;
    if (2 * g->n_locations >= g->room_locations && (g->n_locations >= LOCATIONS_MAX || !grow(g))) {
        pt_causality_blind(f, "there is no memory for what is released by atomic accesses");
        return NULL;
    }
    l = place_of(g, (address >> 2) + 1);
    g->n_locations += !l->key;
    pt_causality_clear(g, l);
    *l = (struct pt_location){.key = (address >> 2) + 1, .born = g->time};
    return l;
}

/* The others of the release are by the same thread, or it is mixed. */
static void add_release(struct pt_causality *g, struct pt_release *r, struct pt_clock *clock,
                        const struct pt_doer *by)
{
    bool is_other = r->by.warp / g->clocks.n_warps != by->warp / g->clocks.n_warps;
    r->is_mixed |= r->clock && is_other;
    r->by = *by;
    pt_clock_join(&g->clocks, &r->clock, clock);
}

/* ---- strong accesses ------------------------------------------------------------------------- */

static void miss(struct pt_known *w, int why, enum pt_scope scope, const struct pt_doer *writer,
                 const struct pt_doer *reader)
{
    w->missed = (struct pt_missed){.scope = scope, .writer = *writer, .reader = *reader};
    w->missed.why = why;
}

static enum pt_scope scope_of_release(uint32_t i)
{
    return i == 0 ? PT_SCOPE_CTA : i == 1 ? PT_SCOPE_CLUSTER : PT_SCOPE_SYS;
}

/* What of a location the reader may acquire: with an acquire at once, else behind a fence. */
static void read_strong(struct pt_causality *g, struct pt_known_cluster *k, struct pt_known *w,
                        struct pt_location *l, const struct pt_strong *a)
{
    struct pt_doer me = {w->number, a->lane, a->site};
    bool acquires = pt_order_acquires(a->order);
    k->has_learned = true;
    if (!l->is_released && l->writer.site)
        miss(w, PT_MISSED_RELEASE, PT_SCOPE_NONE, &l->writer, &me);
    for (uint32_t i = 0; i < PT_RELEASES; i++) {
        const struct pt_release *r = &l->release[i];
        enum pt_scope scope = scope_of_release(i);
        if (!r->clock)
            continue;
        if (!pt_causality_includes(g, k, scope, r->by.warp, w->number)) {
            miss(w, PT_MISSED_RELEASE_SCOPE, scope, &r->by, &me);
            w->missed.is_mixed = r->is_mixed;
        } else if (!r->is_mixed && !pt_causality_includes(g, k, a->scope, w->number, r->by.warp)) {
            miss(w, PT_MISSED_ACQUIRE_SCOPE, a->scope, &r->by, &me);
        } else if (acquires) {
            pt_causality_learn(g, w, 1u << a->lane, r->clock);
        } else {
            struct pt_release *pending = &w->pending[a->lane].release;
            pending->is_mixed |= r->is_mixed;
            add_release(g, pending, r->clock, &r->by);
            w->pending[a->lane].scope = a->scope;
            w->has_pending = true;
            miss(w, PT_MISSED_ACQUIRE, PT_SCOPE_NONE, &r->by, &me);
            w->missed.is_mixed = r->is_mixed;
        }
    }
}

/* Its own knowledge for a release, that at its last fence otherwise. NULL: it releases nothing. */
static struct pt_clock *knowledge_of(struct pt_causality *g, struct pt_known *w,
                                     const struct pt_strong *a, enum pt_scope *scope)
{
    uint32_t i = a->lane;
    bool releases = pt_order_releases(a->order);
    uint32_t time = releases ? g->time : w->fence[i].time;
    uint32_t warp_time = releases ? w->warp_time : w->fence[i].warp_time;
    *scope = a->scope;
    if (!releases && w->fence[i].scope < *scope)
        *scope = w->fence[i].scope;
    if (*scope == PT_SCOPE_NONE)
        return NULL;
    struct pt_clock *clock = pt_clock_share(releases ? w->clock[i] : w->fence[i].clock);
    struct pt_clock_entry own[] = {{pt_clock_key_warp(w->number), warp_time, 0},
                                   {pt_clock_key_lane(w->number, i), time, w->proxy[i]}};
    pt_clock_add(&g->clocks, &clock, own, 2, NULL);
    return clock;
}

static void write_strong(const struct pt_frame *f, struct pt_known_cluster *k, struct pt_known *w,
                         const struct pt_strong *a)
{
    struct pt_causality *g = pt_causality_of(f);
    struct pt_doer me = {w->number, a->lane, a->site};
    enum pt_scope scope;
    struct pt_clock *clock = knowledge_of(g, w, a, &scope);
    bool is_kept = clock || (!a->is_read && g->n_locations < RELAXED_MAX);
    struct pt_location *l = is_kept ? make(f, k, a->address) : find(f, k, a->address);
    if (l && !a->is_read)
        pt_causality_clear(g, l);
    if (l) {
        l->writer = me;
        l->is_released = clock;
    }
    if (l && clock)
        add_release(g, &l->release[scope >= PT_SCOPE_GPU ? 2 : scope - PT_SCOPE_CTA], clock, &me);
    pt_clock_drop(&g->clocks, clock);
    if (clock)
        pt_causality_go_on(f);
}

void pt_release_strong(const struct pt_frame *f, struct pt_known_cluster *k, struct pt_known *w,
                       const struct pt_strong *access)
{
    struct pt_location *l = access->is_read ? find(f, k, access->address) : NULL;
    if (l)
        read_strong(pt_causality_of(f), k, w, l, access);
    if (access->is_write)
        write_strong(f, k, w, access);
}

/* ---- fences ---------------------------------------------------------------------------------- */

static void acquire_pending(struct pt_causality *g, struct pt_known_cluster *k, struct pt_known *w,
                            uint32_t lane, enum pt_scope scope)
{
    struct pt_release *pending = &w->pending[lane].release;
    if (!pending->clock)
        return;
    if (!pending->is_mixed && !pt_causality_includes(g, k, scope, w->number, pending->by.warp)) {
        miss(w, PT_MISSED_ACQUIRE_SCOPE, scope, &pending->by, &w->missed.reader);
        return;
    }
    pt_causality_learn(g, w, 1u << lane, pending->clock);
    pt_clock_drop(&g->clocks, pending->clock);
    *pending = (struct pt_release){0};
}

static void pass_proxy(struct pt_causality *g, struct pt_known *w, uint32_t lanes)
{
    struct pt_clock_entry warp = {pt_clock_key_warp(w->number), w->warp_time, w->warp_time};
    struct pt_clock *before = NULL, *after = NULL;
    bool is_first = true;
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        if (is_first || w->clock[i] != before) {
            pt_clock_drop(&g->clocks, before);
            pt_clock_drop(&g->clocks, after);
            before = pt_clock_share(w->clock[i]);
            after = pt_clock_share(before);
            pt_clock_pass_proxy(&g->clocks, &after);
            pt_clock_add(&g->clocks, &after, &warp, w->warp_time > 0, NULL);
            is_first = false;
        }
        pt_clock_drop(&g->clocks, w->clock[i]);
        w->clock[i] = pt_clock_share(after);
        w->proxy[i] = g->time;
    }
    pt_clock_drop(&g->clocks, before);
    pt_clock_drop(&g->clocks, after);
}

static void fence(struct pt_causality *g, struct pt_known_cluster *k, struct pt_known *w,
                  uint32_t lane, const struct pt_form *form)
{
    enum pt_order order = pt_order_of(form);
    enum pt_scope scope = pt_scope_of(form);
    if (pt_order_acquires(order))
        acquire_pending(g, k, w, lane, scope);
    if (!pt_order_releases(order))
        return;
    pt_clock_drop(&g->clocks, w->fence[lane].clock);
    w->fence[lane].clock = pt_clock_share(w->clock[lane]);
    w->fence[lane].time = g->time;
    w->fence[lane].warp_time = w->warp_time;
    w->fence[lane].scope = scope;
    w->has_fenced = true;
}

/* ---- tensor maps, and the making of mbarriers ------------------------------------------------ */

/* Their own locations: of the proxy, [0] who has fenced since the last write. */
static uint64_t map_key(uint64_t address)
{
    return address | UINT64_C(1) << 63;
}

void pt_release_map_written(const struct pt_event *e, uint64_t address)
{
    struct pt_known_cluster *k = pt_causality_cluster(e->frame);
    struct pt_location *l = k ? make(e->frame, k, map_key(address)) : NULL;
    if (!l)
        return;
    struct pt_causality *g = pt_causality_of(e->frame);
    pt_causality_clear(g, l);
    l->writer =
        (struct pt_doer){pt_causality_warp(k, e->frame)->number, (uint32_t)__builtin_ctz(e->lanes),
                         pt_cells_site(&g->cells, e->func, e->insn)};
}

/* The first fence of each thread since then counts: who knows of that may use the map. */
static void fence_map(const struct pt_event *e, struct pt_known_cluster *k, uint32_t lane,
                      uint64_t address)
{
    struct pt_causality *g = pt_causality_of(e->frame);
    struct pt_known *w = pt_causality_warp(k, e->frame);
    struct pt_location *l = find(e->frame, k, map_key(address));
    uint32_t key = pt_clock_key_lane(w->number, lane);
    struct pt_clock_entry own = {key, g->time, 0};
    if (!l)
        return;
    const struct pt_clock *clock = l->release[0].clock;
    for (uint32_t i = 0; clock && i < clock->n; i++)
        if (clock->entries[i].key == key)
            return;
    pt_clock_add(&g->clocks, &l->release[0].clock, &own, 1, NULL);
}

/* fence.proxy.tensormap::generic.acquire [a]; the release is part of no rule here: what writes maps
 * has it, or a barrier behind it is missing, which is a race. */
static void fence_maps(const struct pt_event *e, struct pt_known_cluster *k,
                       const struct pt_form *form)
{
    const struct pt_frame *f = e->frame;
    const struct pt_func *func = f->body->func;
    const struct pt_insn *insn = &func->insns.v[e->insn];
    if (!pt_form_has(form, PT_M_acquire) || !insn->n_operands)
        return;
    const struct pt_operand *o = &func->operands.v[func->operands.v[insn->operands].index];
    for (uint32_t left = o->kind == PT_OPND_REG ? e->lanes : 0; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        const char *slot = (const char *)f + f->body->slots[o->index];
        fence_map(e, k, lane, ((const uint64_t *)slot)[lane] + (uint64_t)o->imm);
    }
}

/* fence.mbarrier_init: of all mbarriers that the lane has made. */
static void fence_made(const struct pt_event *e, struct pt_known_cluster *k, uint32_t lane)
{
    struct pt_causality *g = pt_causality_of(e->frame);
    uint32_t warp = pt_causality_warp(k, e->frame)->number;
    for (uint32_t i = 0; i < g->room_locations; i++) {
        uint64_t address = (g->locations[i].key - 1) << 2;
        const struct pt_doer *maker = &g->locations[i].writer;
        bool is_made = g->locations[i].key && address >> 63 && maker->warp == warp;
        if (is_made && maker->lane == lane)
            fence_map(e, k, lane, address & ~map_key(0));
    }
}

const struct pt_doer *pt_release_map_used(const struct pt_event *e, uint64_t address)
{
    struct pt_known_cluster *k = pt_causality_cluster(e->frame);
    const struct pt_location *l = k ? find(e->frame, k, map_key(address)) : NULL;
    if (!l || !l->writer.site)
        return NULL;
    struct pt_causality *g = pt_causality_of(e->frame);
    const struct pt_known *w = pt_causality_warp(k, e->frame);
    uint32_t lane = (uint32_t)__builtin_ctz(e->lanes);
    const struct pt_clock *clock = l->release[0].clock;
    for (uint32_t i = 0; clock && i < clock->n; i++) {
        const struct pt_clock_entry *fence = &clock->entries[i];
        uint32_t warp = fence->key >> 8, by = (fence->key & 0xff) - 2;
        bool is_own = warp == w->number && (by == lane || fence->time <= w->warp_time);
        if (is_own || pt_clock_find(&g->clocks, w->clock[lane], warp, by).time >= fence->time)
            return NULL;
    }
    return &l->writer;
}

/* ---- fences ---------------------------------------------------------------------------------- */

void pt_release_fence(const struct pt_event *e)
{
    struct pt_known_cluster *k = pt_causality_cluster(e->frame);
    const struct pt_form *form = pt_insn_form(e->frame->state->program->base.image->module,
                                              &e->frame->body->func->insns.v[e->insn]);
    if (k && form->op == PT_OP_fence_tensormap) {
        fence_maps(e, k, form);
        pt_causality_go_on(e->frame);
    }
    if (k && form->op == PT_OP_fence && pt_form_has(form, PT_M_mbarrier_init))
        for (uint32_t left = e->lanes; left; left &= left - 1)
            fence_made(e, k, (uint32_t)__builtin_ctz(left));
    if (!k || (form->op != PT_OP_membar && form->op != PT_OP_fence))
        return;
    struct pt_causality *g = pt_causality_of(e->frame);
    struct pt_known *w = pt_causality_warp(k, e->frame);
    k->has_learned = true;
    if (pt_form_has(form, PT_M_async) || pt_form_has(form, PT_M_async_generic))
        pass_proxy(g, w, e->lanes);
    else if (!pt_form_has(form, PT_M_proxy) && !pt_form_has(form, PT_M_alias))
        for (uint32_t left = e->lanes; left; left &= left - 1)
            fence(g, k, w, (uint32_t)__builtin_ctz(left), form);
    pt_causality_go_on(e->frame);
}

/* ---- mbarriers ------------------------------------------------------------------------------- */

void pt_release_mbarrier(const struct pt_event *e, const struct pt_sync *sync)
{
    struct pt_known_cluster *k = pt_causality_cluster(e->frame);
    if (!k)
        return;
    struct pt_known *w = pt_causality_warp(k, e->frame);
    struct pt_causality *g = pt_causality_of(e->frame);
    bool releases = sync->what == PT_SYNC_RELEASE;
    struct pt_location *l =
        releases ? make(e->frame, k, sync->mbarrier) : find(e->frame, k, sync->mbarrier);
    if (!l)
        return;
    struct pt_release *over = &l->release[0], *running = &l->release[1];
    k->has_learned = true;
    if (sync->what == PT_SYNC_ACQUIRE) {
        pt_causality_learn(g, w, e->lanes, over->clock);
    } else if (sync->what == PT_SYNC_PHASE) {
        pt_clock_join(&g->clocks, &over->clock, running->clock);
        pt_clock_drop(&g->clocks, running->clock);
        running->clock = NULL;
    } else {
        struct pt_clock_entry own[1 + PT_WARP_SIZE];
        pt_causality_gather(g, w, e->lanes, &running->clock);
        pt_clock_add(&g->clocks, &running->clock, own, pt_causality_say(g, w, e->lanes, false, own),
                     NULL);
        pt_causality_go_on(e->frame);
    }
}
