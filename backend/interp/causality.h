/* What threads know of each other: causality order, as the PTX ISA has it ("Memory Consistency
 * Model", 8.9), on the schedule that is executed.
 *
 * Launches that are watched so run on one worker, so that one time is all: it goes on whenever a
 * thread passes on what it did. What a thread did up to then is in the clock that it passes on: at
 * a barrier, by a release, or by a strong write behind a fence. Who waits there, or acquires,
 * joins that clock with its own.
 */
#ifndef PTERA_BACKEND_INTERP_CAUSALITY_H
#define PTERA_BACKEND_INTERP_CAUSALITY_H

#include "backend/interp/async.h"
#include "backend/interp/cells.h"
#include "backend/observer.h"

/* A thread at a place, by numbers. */
struct pt_doer {
    uint32_t warp, lane, site;
};

/* What one thread released, and for whom. */
struct pt_release {
    struct pt_clock *clock; /* NULL: nothing */
    struct pt_doer by;      /* the last */
    bool is_mixed;          /* others of other CTAs have, too */
};

/* By scope: of the CTA, of the cluster, of more. */
enum { PT_RELEASES = 3 };

/* A read of what another thread wrote that ordered nothing, and why. */
struct pt_missed {
    enum {
        PT_MISSED_NOTHING,
        PT_MISSED_RELEASE,       /* the write is relaxed, and no fence before it */
        PT_MISSED_RELEASE_SCOPE, /* the release's scope leaves the reader out */
        PT_MISSED_ACQUIRE_SCOPE, /* the acquire's scope leaves the releaser out */
        PT_MISSED_ACQUIRE        /* the read is relaxed, and no fence behind it so far */
    } why;
    enum pt_scope scope; /* the one that is too narrow */
    bool is_mixed;       /* the writer is the last of several */
    struct pt_doer writer, reader;
};

/* A warp. Its lanes are synchronised with each other up to warp_time. */
struct pt_known {
    uint32_t number; /* of the launch's warps, by clusters */
    uint32_t warp_time;
    struct pt_clock *clock[PT_WARP_SIZE]; /* of others */
    uint32_t cta_time[PT_WARP_SIZE];      /* up to when the clock knows all of the CTA */
    uint32_t cta_least;                   /* the least of those */
    bool has_fenced;                      /* some lane, so that its strong writes may release */
    bool has_pending;                     /* some lane */
    uint32_t proxy[PT_WARP_SIZE];         /* up to when a lane's own accesses are known to the
                                             async proxy */
    struct {
        struct pt_clock *clock;
        uint32_t time, warp_time;
        enum pt_scope scope; /* NONE: there was none */
    } fence[PT_WARP_SIZE];   /* the last: what strong writes behind it release */
    struct {
        struct pt_release release;
        enum pt_scope scope;
    } pending[PT_WARP_SIZE]; /* what relaxed reads saw, which a fence acquires */
    struct pt_missed missed; /* the last */
};

/* Knowledge that a barrier gathers in one phase. */
struct pt_gathering {
    uint32_t phase;
    uint32_t waiting; /* whole warps that wait; of the CTA's barriers */
    bool is_used, is_over;
    struct pt_clock *clock;
};

/* The last access of a warp to another CTA's shared memory. */
struct pt_remote {
    uint32_t time, lane, site; /* site 0: there was none */
    uint64_t address;
};

/* How a CTA of a cluster ends. */
struct pt_ending {
    struct pt_clock *clock; /* what its threads knew when they exited */
    struct pt_doer last;    /* who has exited last */
    bool is_over;           /* all have */
};

/* A cluster that runs. */
struct pt_known_cluster {
    struct pt_known_cluster *next; /* of the launch */
    uint64_t start;                /* the one of its starts that this is of */
    uint32_t born;                 /* what was before, shared memory has forgotten */
    bool has_learned;              /* there is something of it to be forgotten */
    uint32_t first, n_warps;       /* of all its CTAs */
    struct pt_cells_line *shared;  /* cells of all windows */
    char *shared_lines;            /* and lines (lines.h) */
    uint32_t window_cells;         /* of each CTA */
    struct pt_ending *endings;     /* of each CTA; NULL: there is one alone */
    struct pt_remote *remotes;     /* by CTA and the cluster's warps */
    struct pt_gathering (*gatherings)[PT_CLUSTER_BARRIER + 1][2]; /* by CTA and barrier */
    struct pt_known warps[];
};

/* Memory that orders: what was released there, by its scope, and who wrote it last. */
struct pt_location {
    uint64_t key; /* 0: free */
    uint32_t born;
    struct pt_doer writer;
    bool is_released; /* by that writer */
    /* of an mbarrier: [0] of the phases that are over, [1] of the one that runs */
    struct pt_release release[PT_RELEASES];
};

/* A launch. */
struct pt_causality {
    struct pt_clocks clocks;
    struct pt_cells cells;
    uint64_t number; /* of those so far */
    uint32_t time;
    bool is_blind;     /* no memory, or no numbers, are left: nothing more is looked at */
    bool is_of_system; /* has strong accesses, of no shared memory, that the host's may meet */
    struct pt_known_cluster *clusters;
    struct pt_location *locations; /* a hash table */
    uint32_t n_locations, room_locations;
    struct pt_old_values *old; /* of launches whose reads may see such; NULL: there are none */
};

static inline struct pt_causality *pt_causality_of(const struct pt_frame *f)
{
    return f->cta->launch->causality;
}
/* As struct pt_allocator has it, and zeros. */
static inline void *pt_causality_resize(const struct pt_causality *g, void *p, size_t bytes)
{
    return g->clocks.allocator->resize(g->clocks.allocator->ud, p, bytes);
}
#define pt_causality_make PT_LEVEL_NAME(pt_causality_make)
void *pt_causality_make(const struct pt_causality *g, size_t bytes);

#define pt_causality_find PT_LEVEL_NAME(pt_causality_find)
struct pt_known_cluster *pt_causality_find(const struct pt_frame *f);
/* The cluster of a frame. NULL: the launch is blind. */
static inline struct pt_known_cluster *pt_causality_cluster(const struct pt_frame *f)
{
    const struct pt_causality *g = pt_causality_of(f);
    const struct pt_async *async = f->cta->async;
    struct pt_known_cluster *k = async->known;
    bool is_it =
        g && !g->is_blind && async->known_by == g->number && k && k->start == async->starts;
    return is_it ? k : pt_causality_find(f);
}
static inline struct pt_known *pt_causality_warp(struct pt_known_cluster *k,
                                                 const struct pt_frame *f)
{
    return &k->warps[f->cta->cluster_rank * f->cta->launch->n_warps + f->state->warp->index];
}
#define pt_causality_blind PT_LEVEL_NAME(pt_causality_blind)
/* Nothing more is looked at; the launch's warp says why. */
void pt_causality_blind(const struct pt_frame *f, const char *why);

/* Forgets what was released there. */
static inline void pt_causality_clear(struct pt_causality *g, struct pt_location *l)
{
    for (uint32_t i = 0; i < PT_RELEASES; i++) {
        pt_clock_drop(&g->clocks, l->release[i].clock);
        l->release[i] = (struct pt_release){0};
    }
}

#define pt_causality_go_on PT_LEVEL_NAME(pt_causality_go_on)
/* What was done up to now is before what is done from now on. */
void pt_causality_go_on(const struct pt_frame *f);
#define pt_causality_learn PT_LEVEL_NAME(pt_causality_learn)
/* Lanes learn what a clock knows. */
void pt_causality_learn(struct pt_causality *g, struct pt_known *w, uint32_t lanes,
                        struct pt_clock *clock);
/* Up to when all of the lanes know all of the CTA. */
static inline uint32_t pt_causality_least(const struct pt_known *w, uint32_t lanes)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < PT_WARP_SIZE; i++) {
        uint32_t time = w->cta_time[i] | ((lanes >> i & 1) - 1);
        least = time < least ? time : least;
    }
    return least;
}
#define pt_causality_gather PT_LEVEL_NAME(pt_causality_gather)
/* True if what a thread did at a time is before what the lane does. */
static inline bool pt_causality_knows(const struct pt_causality *g, const struct pt_known *w,
                                      uint32_t lane, uint32_t warp, uint32_t other, uint32_t time)
{
    if (warp == w->number && (other == lane || time <= w->warp_time))
        return true;
    return time <= pt_clock_find(&g->clocks, w->clock[lane], warp, other).time;
}
/* Adds what the lanes know, each of them. */
void pt_causality_gather(struct pt_causality *g, const struct pt_known *w, uint32_t lanes,
                         struct pt_clock **to);
#define pt_causality_say PT_LEVEL_NAME(pt_causality_say)
/* What the lanes did up to now, all of the warp or some of them. Returns how many entries. */
uint32_t pt_causality_say(const struct pt_causality *g, const struct pt_known *w, uint32_t lanes,
                          bool is_whole, struct pt_clock_entry own[1 + PT_WARP_SIZE]);

#define pt_causality_sync PT_LEVEL_NAME(pt_causality_sync)
/* At barriers. */
void pt_causality_sync(const struct pt_event *e, const struct pt_sync *sync);
/* True if a scope of a thread of warp `mine` includes warp `other`. */
static inline bool pt_causality_includes(const struct pt_causality *g,
                                         const struct pt_known_cluster *k, enum pt_scope scope,
                                         uint32_t mine, uint32_t other)
{
    if (scope == PT_SCOPE_CTA)
        return mine / g->clocks.n_warps == other / g->clocks.n_warps;
    if (scope == PT_SCOPE_CLUSTER)
        return mine / k->n_warps == other / k->n_warps;
    return scope != PT_SCOPE_NONE;
}
#define pt_causality_launched PT_LEVEL_NAME(pt_causality_launched)
void pt_causality_launched(struct pt_launch *launch, bool is_over);

#endif
