/* What words that strong accesses write held before: for launches whose reads may see old values
 * (order_weak.c). */
#ifndef PTERA_BACKEND_INTERP_OLD_VALUES_H
#define PTERA_BACKEND_INTERP_OLD_VALUES_H

#include "backend/interp/causality.h"

enum {
    PT_OLD_KEPT = 4,       /* writes of a word */
    PT_OLD_PLACES = 4096,  /* words; more have no old values */
    PT_OLD_SEEN = 1 << 14, /* words by thread; where there are more they see the newest */
    PT_OLD_PROBES = 16,
    PT_OLD_OBSERVERS = 4, /* of a write; one with more all are taken to know of */
    PT_OLD_FENCED = 64
};

/* A write, which is number n + 1 of its place if it is writes[n % PT_OLD_KEPT]. */
struct pt_old_write {
    uint32_t time, warp, lane;
    uint32_t n_observers; /* threads that read it, and when */
    struct {
        uint32_t time, warp, lane;
    } observers[PT_OLD_OBSERVERS];
    uint64_t before; /* what was there before it */
    bool releases;   /* who reads it may synchronize with somebody */
};

struct pt_old_place {
    uint64_t address; /* 0: free */
    uint32_t bytes, born;
    uint32_t first, n;   /* writes so far; those up to `first` are forgotten */
    bool first_releases; /* number `first` does */
    struct pt_old_write writes[PT_OLD_KEPT];
};

/* The newest write that a thread has read, or done itself. */
struct pt_old_seen {
    uint64_t address; /* 0: free */
    uint32_t thread, n;
};

struct pt_old_values {
    struct pt_old_place places[PT_OLD_PLACES];
    struct pt_old_seen seen[PT_OLD_SEEN];
    /* What fence.sc passes on, of which each is before or behind each other whose scope includes
     * it: through the GPU, clusters and CTAs. Some of these share one. */
    struct pt_clock *fenced, *fenced_cluster[PT_OLD_FENCED], *fenced_cta[PT_OLD_FENCED];
    uint64_t draws;
    /* the access that a warp is about to do, by lane */
    uint32_t func, insn, lanes, bytes;
    uint64_t address[PT_WARP_SIZE];
};

#endif
