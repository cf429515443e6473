/* What threads pass on to each other at barriers, fences, mbarriers and strong accesses. */
#include "backend/interp/causality.h"

#include <stdatomic.h>
#include <stddef.h>

#include "backend/interp/lines.h"
#include "ir/bits.h"

void *pt_causality_make(const struct pt_causality *g, size_t bytes)
{
    void *p = pt_causality_resize(g, NULL, bytes ? bytes : 1);
    if (p)
        memset(p, 0, bytes ? bytes : 1);
    return p;
}

static void say_blind(const struct pt_frame *f, const char *why)
{
    struct pt_finding finding = {
        .kind = PT_FINDING_RACE_FORGOTTEN,
        .by = pt_party_of(f->state->warp, (uint32_t)__builtin_ctz(f->state->warp->live | 1u << 31),
                          f->body->index, UINT32_MAX),
        .detail = why};
    f->cta->launch->services->found(f->state->warp, &finding);
}

void pt_causality_blind(const struct pt_frame *f, const char *why)
{
    struct pt_causality *g = pt_causality_of(f);
    if (!g->is_blind)
        say_blind(f, why);
    g->is_blind = true;
}

/* What was done up to now is before what is done from now on. */
void pt_causality_go_on(const struct pt_frame *f)
{
    struct pt_causality *g = pt_causality_of(f);
    if (++g->time >> PT_STAMP_TIME_BITS)
        pt_causality_blind(f, "the launch synchronises more often than can be counted");
    if (g->clocks.is_out_of_memory)
        pt_causality_blind(f, "there is no memory for what threads know of each other");
}

/* ---- clusters -------------------------------------------------------------------------------- */

static void forget_warp(struct pt_causality *g, struct pt_known *w)
{
    for (uint32_t i = 0; i < PT_WARP_SIZE; i++)
        pt_clock_drop(&g->clocks, w->clock[i]);
    for (uint32_t i = 0; w->has_fenced && i < PT_WARP_SIZE; i++)
        pt_clock_drop(&g->clocks, w->fence[i].clock);
    for (uint32_t i = 0; w->has_pending && i < PT_WARP_SIZE; i++)
        pt_clock_drop(&g->clocks, w->pending[i].release.clock);
    if (w->has_fenced)
        memset(w->fence, 0, sizeof w->fence);
    if (w->has_pending)
        memset(w->pending, 0, sizeof w->pending);
    w->missed = (struct pt_missed){0};
    memset(w, 0, offsetof(struct pt_known, fence));
}

static void forget_cluster(struct pt_causality *g, struct pt_known_cluster *k)
{
    uint32_t n_ctas = k->n_warps / g->clocks.n_warps;
    if (!k->has_learned)
        return;
    k->has_learned = false;
    for (uint32_t i = 0; i < k->n_warps; i++)
        forget_warp(g, &k->warps[i]);
    for (uint32_t i = 0; i < n_ctas * (PT_CLUSTER_BARRIER + 1) * 2; i++)
        pt_clock_drop(&g->clocks, (&k->gatherings[0][0][0] + i)->clock);
    memset(k->gatherings, 0, n_ctas * sizeof *k->gatherings);
    for (uint32_t i = 0; k->endings && i < n_ctas; i++) {
        pt_clock_drop(&g->clocks, k->endings[i].clock);
        k->endings[i] = (struct pt_ending){0};
        memset(&k->remotes[i * k->n_warps], 0, k->n_warps * sizeof *k->remotes);
    }
}

static void free_cluster(struct pt_causality *g, struct pt_known_cluster *k)
{
    if (k->gatherings)
        pt_causality_resize(g, k->gatherings, 0);
    if (k->shared)
        pt_causality_resize(g, k->shared, 0);
    if (k->shared_lines)
        pt_causality_resize(g, k->shared_lines, 0);
    if (k->endings)
        pt_causality_resize(g, k->endings, 0);
    if (k->remotes)
        pt_causality_resize(g, k->remotes, 0);
    pt_causality_resize(g, k, 0);
}

static struct pt_known_cluster *make_cluster(struct pt_causality *g, const struct pt_cta *cta)
{
    const struct pt_launch *l = cta->launch;
    uint32_t n_ctas = l->cluster[0] * l->cluster[1] * l->cluster[2];
    uint32_t n_warps = n_ctas * l->n_warps, n_lines = (l->shared_bytes + 127) >> PT_LINE_SHIFT;
    uint32_t cells = n_lines * PT_LINE_WORDS;
    struct pt_known_cluster *k = pt_causality_make(g, sizeof *k + n_warps * sizeof *k->warps);
    if (!k)
        return NULL;
    k->gatherings = pt_causality_make(g, n_ctas * sizeof *k->gatherings);
    k->shared = pt_causality_make(g, (size_t)n_ctas * n_lines * sizeof *k->shared);
    k->shared_lines = pt_causality_make(g, (size_t)n_ctas * n_lines * PT_LINE_BYTES_SHARED);
    if (n_ctas > 1) {
        k->endings = pt_causality_make(g, n_ctas * sizeof *k->endings);
        k->remotes = pt_causality_make(g, (size_t)n_ctas * n_warps * sizeof *k->remotes);
    }
    bool has_endings = n_ctas == 1 || (k->endings && k->remotes);
    if (!k->gatherings || !k->shared || !k->shared_lines || !has_endings) {
        free_cluster(g, k);
        return NULL;
    }
    k->n_warps = n_warps;
    k->window_cells = cells;
    k->next = g->clusters;
    g->clusters = k;
    return k;
}

/* Warps are numbered cluster by cluster. */
static uint64_t first_warp(const struct pt_cta *cta, uint32_t n_warps)
{
    const struct pt_launch *l = cta->launch;
    uint64_t number = 0;
    for (int d = 2; d >= 0; d--)
        number = number * (l->grid[d] / l->cluster[d]) + cta->id[d] / l->cluster[d];
    return number * n_warps;
}

struct pt_known_cluster *pt_causality_find(const struct pt_frame *f)
{
    struct pt_causality *g = pt_causality_of(f);
    struct pt_async *async = f->cta->async;
    if (!g)
        say_blind(f, "there is no memory for it");
    if (!g || g->is_blind)
        return NULL;
    struct pt_known_cluster *k = async->known_by == g->number ? async->known : NULL;
    if (k && k->start == async->starts)
        return k;
    if (!k) {
        k = async->known = make_cluster(g, f->cta);
        async->known_by = g->number;
    }
    if (!k) {
        pt_causality_blind(f, "there is no memory for what is known of a CTA");
        return NULL;
    }
    uint64_t first = first_warp(f->cta, k->n_warps);
    if (first + k->n_warps > PT_CLOCK_WARPS) {
        pt_causality_blind(f, "the launch has more warps than are told apart, 1048576");
        return NULL;
    }
    forget_cluster(g, k);
    k->start = async->starts;
    k->first = (uint32_t)first;
    k->born = ++g->time;
    for (uint32_t i = 0; i < k->n_warps; i++)
        k->warps[i].number = k->first + i;
    return k;
}

/* ---- learning -------------------------------------------------------------------------------- */

/* Lanes learn what a clock knows: most often all have the same clock. */
void pt_causality_learn(struct pt_causality *g, struct pt_known *w, uint32_t lanes,
                        struct pt_clock *clock)
{
    struct pt_clock *before = NULL, *after = NULL;
    uint32_t cta_time = 0;
    for (uint32_t left = lanes; left && clock; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        if (!after || w->clock[i] != before) {
            pt_clock_drop(&g->clocks, before);
            pt_clock_drop(&g->clocks, after);
            before = pt_clock_share(w->clock[i]);
            after = pt_clock_share(before);
            pt_clock_join(&g->clocks, &after, clock);
            cta_time = pt_clock_find_cta(&g->clocks, after, w->number);
        }
        pt_clock_drop(&g->clocks, w->clock[i]);
        w->clock[i] = pt_clock_share(after);
        w->cta_time[i] = cta_time;
    }
    pt_clock_drop(&g->clocks, before);
    pt_clock_drop(&g->clocks, after);
    w->cta_least = pt_causality_least(w, UINT32_MAX);
}

static uint32_t least_proxy(const struct pt_known *w, uint32_t lanes)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t left = lanes; left; left &= left - 1)
        least = w->proxy[__builtin_ctz(left)] < least ? w->proxy[__builtin_ctz(left)] : least;
    return least;
}

/* What the lanes did up to now, all of the warp or some of them. Returns how many entries. */
uint32_t pt_causality_say(const struct pt_causality *g, const struct pt_known *w, uint32_t lanes,
                          bool is_whole, struct pt_clock_entry own[1 + PT_WARP_SIZE])
{
    uint32_t n = 0, proxy = is_whole ? least_proxy(w, lanes) : 0;
    if (is_whole)
        own[n++] = (struct pt_clock_entry){pt_clock_key_warp(w->number), g->time, proxy};
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        if (!is_whole || w->proxy[i] > proxy)
            own[n++] =
                (struct pt_clock_entry){pt_clock_key_lane(w->number, i), g->time, w->proxy[i]};
    }
    return n;
}

/* Adds what the lanes know, each of them. */
void pt_causality_gather(struct pt_causality *g, const struct pt_known *w, uint32_t lanes,
                         struct pt_clock **to)
{
    const struct pt_clock *last = NULL;
    for (uint32_t left = lanes; left; left &= left - 1) {
        struct pt_clock *clock = w->clock[__builtin_ctz(left)];
        if (clock && clock != last)
            pt_clock_join(&g->clocks, to, clock);
        last = clock;
    }
    if (w->warp_time) {
        struct pt_clock_entry warp = {pt_clock_key_warp(w->number), w->warp_time, 0};
        pt_clock_add(&g->clocks, to, &warp, 1, NULL);
    }
}

/* ---- the warp, and barriers ------------------------------------------------------------------ */

static void join_lanes(const struct pt_event *e, struct pt_known *w, uint32_t live)
{
    struct pt_causality *g = pt_causality_of(e->frame);
    bool is_whole = !(live & ~e->lanes), is_common = is_whole && !least_proxy(w, e->lanes);
    for (uint32_t left = e->lanes; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        is_common &= w->clock[i] == w->clock[__builtin_ctz(e->lanes)] && !w->proxy[i];
    }
    if (!is_common) {
        struct pt_clock_entry own[1 + PT_WARP_SIZE];
        struct pt_clock *all = NULL;
        pt_causality_gather(g, w, e->lanes, &all);
        pt_clock_add(&g->clocks, &all, own, pt_causality_say(g, w, e->lanes, is_whole, own), NULL);
        pt_causality_learn(g, w, e->lanes, all);
        pt_clock_drop(&g->clocks, all);
    }
    if (is_whole)
        w->warp_time = g->time;
    pt_causality_go_on(e->frame);
}

static struct pt_gathering *gathering_of(struct pt_known_cluster *k, const struct pt_cta *cta,
                                         uint32_t bar, uint32_t phase)
{
    uint32_t rank = bar == PT_CLUSTER_BARRIER ? 0 : cta->cluster_rank;
    return &k->gatherings[rank][bar][phase & 1];
}

/* A relaxed arrival passes on what a fence before it said. */
static void gather_fences(struct pt_causality *g, const struct pt_known *w, uint32_t lanes,
                          struct pt_clock **to)
{
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        if (w->fence[i].scope == PT_SCOPE_NONE)
            continue;
        struct pt_clock_entry own[] = {
            {pt_clock_key_warp(w->number), w->fence[i].warp_time, 0},
            {pt_clock_key_lane(w->number, i), w->fence[i].time, w->proxy[i]}};
        pt_clock_join(&g->clocks, to, w->fence[i].clock);
        pt_clock_add(&g->clocks, to, own, 2, NULL);
    }
}

static void arrive(const struct pt_event *e, struct pt_known_cluster *k, struct pt_known *w,
                   const struct pt_sync *sync)
{
    struct pt_causality *g = pt_causality_of(e->frame);
    struct pt_gathering *at = gathering_of(k, e->frame->cta, sync->bar, sync->phase);
    struct pt_clock_entry own[1 + PT_WARP_SIZE];
    bool is_whole = !(e->warp->live & ~e->lanes);
    if (!at->is_used || at->phase != sync->phase) {
        pt_clock_drop(&g->clocks, at->clock);
        *at = (struct pt_gathering){.is_used = true, .phase = sync->phase};
    }
    if (sync->is_relaxed) {
        gather_fences(g, w, e->lanes, &at->clock);
        return;
    }
    pt_causality_gather(g, w, e->lanes, &at->clock);
    if (is_whole && sync->waits)
        at->waiting |= 1u << e->warp->index;
    else
        pt_clock_add(&g->clocks, &at->clock, own, pt_causality_say(g, w, e->lanes, is_whole, own),
                     NULL);
    pt_causality_go_on(e->frame);
}

/* The phase is over: whole warps that wait have done nothing since they came. */
static void end_phase(const struct pt_event *e, struct pt_known_cluster *k, struct pt_gathering *at)
{
    struct pt_causality *g = pt_causality_of(e->frame);
    const struct pt_cta *cta = e->frame->cta;
    uint32_t n = cta->launch->n_warps, missing = 0;
    struct pt_known *warps = &k->warps[cta->cluster_rank * n];
    for (uint32_t i = 0; i < n; i++)
        missing |= !(at->waiting >> i & 1); /* or has exited, and orders nothing any more */
    if (!missing) {
        struct pt_clock_entry all = {pt_clock_key_cta(&g->clocks, warps->number), g->time, 0};
        pt_clock_add(&g->clocks, &at->clock, &all, 1, NULL);
    }
    for (uint32_t i = 0; i < n; i++) {
        struct pt_clock_entry own[1 + PT_WARP_SIZE];
        if (at->waiting >> i & 1)
            pt_clock_add(&g->clocks, &at->clock, own,
                         pt_causality_say(g, &warps[i], cta->warps[i].live, true, own), NULL);
    }
    at->is_over = true;
    pt_causality_go_on(e->frame);
}

static void pass(const struct pt_event *e, struct pt_known_cluster *k, struct pt_known *w,
                 const struct pt_sync *sync)
{
    struct pt_gathering *at = gathering_of(k, e->frame->cta, sync->bar, sync->phase);
    if (!at->is_used || at->phase != sync->phase)
        return;
    if (!at->is_over && sync->bar != PT_CLUSTER_BARRIER)
        end_phase(e, k, at);
    pt_causality_learn(pt_causality_of(e->frame), w, e->lanes, at->clock);
}

void pt_causality_sync(const struct pt_event *e, const struct pt_sync *sync)
{
    struct pt_known_cluster *k = pt_causality_cluster(e->frame);
    if (!k)
        return;
    struct pt_known *w = pt_causality_warp(k, e->frame);
    k->has_learned = true;
    if (sync->where == PT_SYNC_OF_WARP)
        join_lanes(e, w, e->warp->live);
    else if (sync->what == PT_SYNC_RELEASE)
        arrive(e, k, w, sync);
    else
        pass(e, k, w, sync);
}

/* ---- launches -------------------------------------------------------------------------------- */

static void end(struct pt_launch *launch)
{
    struct pt_causality *g = launch->causality;
    if (!g)
        return;
    while (g->clusters) {
        struct pt_known_cluster *k = g->clusters;
        g->clusters = k->next;
        forget_cluster(g, k);
        free_cluster(g, k);
    }
    for (uint32_t i = 0; i < g->room_locations; i++)
        pt_causality_clear(g, &g->locations[i]);
    if (g->locations)
        pt_causality_resize(g, g->locations, 0);
    pt_cells_end(&g->cells);
    launch->causality = NULL;
    pt_causality_resize(g, g, 0);
}

/* A launch may be watched several times, each apart. */
static atomic_uint_fast64_t n_begun;

static void begin(struct pt_launch *launch)
{
    const struct pt_interp_program *p = (const struct pt_interp_program *)launch->program;
    const struct pt_allocator *allocator = p->arena.allocator;
    struct pt_causality *g = allocator->resize(allocator->ud, NULL, sizeof *g);
    if (!g)
        return;
    *g = (struct pt_causality){.number = atomic_fetch_add(&n_begun, 1) + 1, .time = 1};
    g->clocks.allocator = allocator;
    g->clocks.n_warps = launch->n_warps;
    launch->causality = g;
    if (!pt_cells_begin(&g->cells, allocator))
        end(launch);
}

void pt_causality_launched(struct pt_launch *launch, bool is_over)
{
    if (is_over)
        end(launch);
    else
        begin(launch);
}
