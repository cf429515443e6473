/* An access that is compared with those before it, and how its words are. */
#ifndef PTERA_BACKEND_INTERP_CONFLICT_H
#define PTERA_BACKEND_INTERP_CONFLICT_H

#include "backend/interp/causality.h"

enum { PT_CONFLICT_SAME = 1 /* width of what threads write alike at one place */ };

struct pt_conflict {
    struct pt_causality *launch;
    struct pt_known_cluster *cluster;
    struct pt_known *warp;
    const struct pt_code *code;
    struct pt_frame *frame;
    const uint64_t *address; /* by lane */
    const char *data;        /* as pt_access has it */
    uint32_t lanes, bytes, use, site, width;
    enum pt_scope scope;
    bool is_of_async_proxy;
    bool is_constant; /* a read that takes memory to be read-only while the kernel runs */
    uint32_t first;   /* warp of the CTA */
    uint64_t stamp;   /* without lanes */
};

/* One word of it, of one lane or, where all access the same, of the lowest and the highest. */
struct pt_word {
    struct pt_cell cell;
    uint64_t address;
    uint32_t lane, high, bytes; /* a set of the word's */
    uint32_t born;              /* what the cell has from before is of other memory */
};

/* True if it surely is before all that the lane does: the common cases. */
static inline bool pt_conflict_is_old(const struct pt_conflict *a, uint32_t lane, uint64_t stamp,
                                      uint32_t born)
{
    uint32_t time = pt_stamp_time(stamp), warp = pt_stamp_warp(stamp);
    if (time < born)
        return true;
    if (warp - a->first < a->launch->clocks.n_warps && time <= a->warp->cta_time[lane])
        return true;
    return warp == a->warp->number &&
           (time <= a->warp->warp_time ||
            (pt_stamp_low(stamp) == lane && pt_stamp_high(stamp) == lane));
}

static inline bool pt_conflict_is_strong(const struct pt_conflict *a, uint64_t stamp)
{
    enum pt_scope theirs =
        (enum pt_scope)pt_stamp_field(stamp, PT_STAMP_SCOPE, PT_STAMP_SCOPE_BITS);
    uint32_t other = pt_stamp_warp(stamp), mine = a->warp->number;
    return pt_causality_includes(a->launch, a->cluster, a->scope, mine, other) &&
           pt_causality_includes(a->launch, a->cluster, theirs, other, mine);
}

#define pt_conflict_other PT_LEVEL_NAME(pt_conflict_other)
/* The lane of a stamp that is not ordered before `lane`, or PT_WARP_SIZE if there is none, or it
 * may be none: where bytes are of several lanes all of those have to be. */
uint32_t pt_conflict_other(const struct pt_conflict *a, uint32_t lane, uint64_t stamp);
#define pt_conflict_tell PT_LEVEL_NAME(pt_conflict_tell)
/* A race of a word with a stamp of its cell, of lane `other`. */
void pt_conflict_tell(const struct pt_conflict *a, const struct pt_word *w,
                      enum pt_cell_stamp which, uint32_t other);
#define pt_conflict_tell_proxy PT_LEVEL_NAME(pt_conflict_tell_proxy)
/* An asynchronous operation behind a write that its proxy may not see. */
void pt_conflict_tell_proxy(const struct pt_conflict *a, const struct pt_word *w, uint32_t other);
#define pt_conflict_tell_map PT_LEVEL_NAME(pt_conflict_tell_map)
/* An operation with a tensor map that a thread wrote, which the map's proxy may not see. */
void pt_conflict_tell_map(const struct pt_conflict *a, uint32_t lane, uint64_t address,
                          const struct pt_doer *writer);
#define pt_conflict_tell_end PT_LEVEL_NAME(pt_conflict_tell_end)
/* An access of another CTA's shared memory, whose last thread may have exited before. */
void pt_conflict_tell_end(const struct pt_conflict *a, const struct pt_doer *by, uint64_t address,
                          const struct pt_doer *last);
#define pt_conflict_tell_constant PT_LEVEL_NAME(pt_conflict_tell_constant)
/* A read of what the kernel wrote as if nobody did. */
void pt_conflict_tell_constant(const struct pt_conflict *a, const struct pt_word *w);
#define pt_conflict_see PT_LEVEL_NAME(pt_conflict_see)
/* Compares all of it, and remembers it. */
void pt_conflict_see(const struct pt_conflict *a);
#define pt_conflict_see_async PT_LEVEL_NAME(pt_conflict_see_async)
/* What an asynchronous operation accesses, of a lane that issues it. */
void pt_conflict_see_async(const struct pt_conflict *a, uint32_t lane, uint64_t address,
                           uint32_t bytes);
enum { PT_CONFLICT_NO_SHAPE = 8 };
#define pt_conflict_shape PT_LEVEL_NAME(pt_conflict_shape)
/* The log of a power of two by which lanes are apart, PT_LINE_ALL if they are not, but read one
 * place, or that there is no such. */
uint32_t pt_conflict_shape(const struct pt_conflict *a, uint32_t lanes);
#define pt_conflict_run PT_LEVEL_NAME(pt_conflict_run)
/* Compares and remembers a weak access of words one behind the other, from `w` on, where nothing
 * races: else false, and nothing has changed. stamps: of each word, complete. */
bool pt_conflict_run(const struct pt_conflict *a, const struct pt_word *w, const uint64_t *stamps,
                     uint32_t n, uint32_t cta_time);

#endif
