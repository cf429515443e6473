/* Vector clocks: what is known of which threads, compressed by hierarchy.
 *
 * Time is counted by launch (struct pt_causality). A clock says for threads up to when everything
 * that they did is known: of a CTA, of a warp, of one lane, whatever is the latest. Its entries are
 * in the order of the threads; one that says no more than that of its CTA or warp is left out. A
 * clock never changes, and is shared; NULL is the one that knows nothing.
 */
#ifndef PTERA_BACKEND_INTERP_CLOCK_H
#define PTERA_BACKEND_INTERP_CLOCK_H

#include "backend/interp/interp.h"

struct pt_clock_entry {
    uint32_t key; /* pt_clock_key_*: ascending */
    uint32_t time;
    uint32_t proxy; /* up to when accesses are known to the async proxy, too */
};

struct pt_clock {
    uint32_t refs, n;
    struct pt_clock_entry entries[];
};

/* What makes clocks. */
struct pt_clocks {
    const struct pt_allocator *allocator;
    uint32_t n_warps; /* of a CTA: warps are numbered through the grid */
    uint64_t bytes;   /* of all clocks */
    bool is_out_of_memory;
};

enum { PT_CLOCK_WARPS = 1 << 20 /* that have numbers */, PT_CLOCK_BYTES_MAX = 1 << 30 };

/* Entries of a CTA come before those of its first warp, which come before those of its lanes. */
static inline uint32_t pt_clock_key_cta(const struct pt_clocks *clocks, uint32_t warp)
{
    return (warp - warp % clocks->n_warps) << 8;
}
static inline uint32_t pt_clock_key_warp(uint32_t warp)
{
    return warp << 8 | 1;
}
static inline uint32_t pt_clock_key_lane(uint32_t warp, uint32_t lane)
{
    return warp << 8 | (2 + lane);
}

static inline struct pt_clock *pt_clock_share(struct pt_clock *clock)
{
    if (clock)
        clock->refs++;
    return clock;
}

#define pt_clock_drop PT_LEVEL_NAME(pt_clock_drop)
void pt_clock_drop(struct pt_clocks *clocks, struct pt_clock *clock);
#define pt_clock_add PT_LEVEL_NAME(pt_clock_add)
/* *clock knows what `n` entries say as well, which are in ascending order of their keys. It becomes
 * `like`, which may be NULL, where that says the same. */
void pt_clock_add(struct pt_clocks *clocks, struct pt_clock **clock,
                  const struct pt_clock_entry *entries, uint32_t n, struct pt_clock *like);
/* *clock knows what the other knows as well. */
static inline void pt_clock_join(struct pt_clocks *clocks, struct pt_clock **clock,
                                 struct pt_clock *other)
{
    if (!other || other == *clock)
        return;
    if (!*clock)
        *clock = pt_clock_share(other);
    else
        pt_clock_add(clocks, clock, other->entries, other->n, other);
}
#define pt_clock_pass_proxy PT_LEVEL_NAME(pt_clock_pass_proxy)
/* All that *clock knows is known to the async proxy as well. */
void pt_clock_pass_proxy(struct pt_clocks *clocks, struct pt_clock **clock);

/* Up to when a thread is known. */
struct pt_clock_known {
    uint32_t time, proxy;
};
#define pt_clock_find PT_LEVEL_NAME(pt_clock_find)
struct pt_clock_known pt_clock_find(const struct pt_clocks *clocks, const struct pt_clock *clock,
                                    uint32_t warp, uint32_t lane);
#define pt_clock_find_cta PT_LEVEL_NAME(pt_clock_find_cta)
/* Up to when all threads of the warp's CTA are known. */
uint32_t pt_clock_find_cta(const struct pt_clocks *clocks, const struct pt_clock *clock,
                           uint32_t warp);

#endif
