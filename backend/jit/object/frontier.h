/* Where the lanes of a warp stand, in native code of a kernel whose warps are resumable
 * (resumable_warp.c): its regions run one warp at a time, those of its lanes that have come to the
 * region's start. When they have run they stand at the starts of other regions; jit_help_next says
 * which region is next, or that the runtime is to resume other warps first.
 */
#ifndef PTERA_BACKEND_JIT_OBJECT_FRONTIER_H
#define PTERA_BACKEND_JIT_OBJECT_FRONTIER_H

#include "backend/exec.h"
#include "backend/native.h"
#include "ir/bits.h"

enum jit_sync {
    JIT_SYNC_NONE,
    JIT_SYNC_WARP, /* other lanes of the warp are waited for, no other warp */
    JIT_SYNC_BARRIER,
    JIT_SYNC_ARRIVE, /* nobody is waited for, but for the warp's other lanes */
    JIT_SYNC_CLUSTER_ARRIVE,
    JIT_SYNC_CLUSTER_WAIT,
    JIT_SYNC_KINDS = 0xff,
    /* Flags: a barrier that takes lanes as they come; lanes that do not wait for all of the warp,
     * but for those that they name, or nobody; bar.warp.sync, where the others may be at another
     * one. */
    JIT_SYNC_UNALIGNED = 0x100,
    JIT_SYNC_EACH = 0x200,
    JIT_SYNC_ANYWHERE = 0x400,
    JIT_SYNC_TOGETHER = 0x800 /* lanes that name others go on with them: shfl, bar.warp.sync */
};

/* The start of a region. Lanes: */
struct jit_stand {
    uint32_t ready;          /* that may go on */
    uint32_t turned;         /* that took the back edge of a loop that waits: others go first */
    uint32_t held;           /* that came to a sync point and wait for others of the warp */
    uint32_t waiting;        /* that have arrived and wait for the phase of a barrier to end */
    uint32_t preds;          /* whose predicate is true (bar.red) */
    uint32_t sync;           /* enum jit_sync and flags */
    uint32_t number, given;  /* a barrier's operands, the thread count is the second */
    uint32_t bar, phase;     /* that is waited for */
    uint32_t votes[2];       /* bar.red, of the phase that ended: true predicates, threads */
    uint32_t func, insn;     /* the place */
    const uint32_t *members; /* what each lane names that takes part with others of the warp */
};

/* Zero when its CTA begins. */
struct jit_front {
    uint32_t is_started, n; /* stands */
    uint32_t lanes;         /* that run next */
    uint32_t votes[2];      /* what jit_stand.votes says of these */
    struct jit_stand stands[];
};

enum { JIT_LEAVES = 1 << 30, JIT_DIFFERS = 1 << 30 };

/* For pt_native.places. */
void jit_frontier_report(const struct jit_front *front,
                         void (*report)(void *ud, uint32_t func, uint32_t insn, uint32_t lanes,
                                        uint32_t bar),
                         void *ud);

/* The warp begins: a front of n stands. */
void jit_help_start(struct jit_front *front, uint32_t n);

/* Lanes have come to the start of a region; `is_turn`: by the back edge of a loop that waits. */
void jit_help_stand(struct jit_front *front, uint32_t stand, uint64_t place, uint32_t lanes,
                    uint32_t is_turn);

/* Likewise, to a sync point: enum jit_sync and its flags. JIT_SYNC_WARP with JIT_SYNC_EACH:
 * `members` is what the lanes name. */
void jit_help_hold(struct jit_front *front, uint32_t stand, uint64_t place, uint32_t lanes,
                   uint32_t sync, uint32_t number, uint32_t given, uint32_t preds,
                   const uint32_t *members);

/* What the lanes' elements are; JIT_DIFFERS if they are not the same in the bits of `bits`. */
uint32_t jit_help_agreed(const uint32_t *elements, uint32_t lanes, uint32_t bits);

/* Lanes have ended. */
void jit_help_exit(struct pt_warp *warp, uint32_t lanes);

/* The region that runs next, in the lanes of front->lanes; or JIT_LEAVES + enum pt_run: the warp's
 * turn is over. */
uint32_t jit_help_next(struct pt_warp *warp, struct jit_front *front);

/* Bytes of a front, a multiple of 64. */
static inline uint32_t jit_frontier_bytes(uint32_t n_stands)
{
    size_t bytes = sizeof(struct jit_front) + n_stands * sizeof(struct jit_stand);
    return (uint32_t)pt_round_up(bytes, 64);
}

/* Fronts lie at the start of the CTA's scratch memory. */
static inline struct jit_front *jit_frontier_of_warp(const struct pt_warp *warp, uint32_t bytes)
{
    return (struct jit_front *)(void *)(warp->cta->scratch + (size_t)warp->index * bytes);
}

#endif
