/* Observers: what watches an execution without taking part in it, such as the checks of races and
 * of isolation. An observer gives functions for what it wants to know, and NULL for the rest; a
 * line of backend/observers.def names it.
 *
 * It watches the programs that are compiled for it (enum pt_test), and costs nothing in others:
 * where a program is decoded, codes that tell of accesses, instructions and blocks are put before
 * theirs; all else is told behind one test of a pointer. Observed programs are interpreted, but for
 * those of `mem` and `coverage`: native code tests and counts, too.
 */
#ifndef PTERA_BACKEND_OBSERVER_H
#define PTERA_BACKEND_OBSERVER_H

#include "backend/exec.h"
#include "backend/mbarriers.h"
#include "backend/order.h"

/* Observers by number. */
enum {
#define OBSERVER(name) PT_OBSERVER_##name,
#include "backend/observers.def"
#undef OBSERVER
    PT_OBSERVERS
};

_Static_assert((int)PT_OBSERVERS <= (int)PT_OBSERVERS_MOST, "each has a bit of enum pt_test");

/* The bits of enum pt_test that are theirs. */
enum {
#define OBSERVER(name) PT_TEST_##name = PT_TEST_OBSERVER << PT_OBSERVER_##name,
#include "backend/observers.def"
#undef OBSERVER
};

/* The kinds of findings. */
enum pt_finding_kind {
#define FINDING(tool, id, name, summary) PT_FINDING_##id,
#include "backend/findings.def"
#undef FINDING
    PT_FINDING_KINDS
};

struct pt_arena;
struct pt_code;
struct pt_frame;
struct pt_async_op;
struct pt_texture;

/* Who does something, and where. */
struct pt_event {
    struct pt_warp *warp;
    uint32_t func, insn;
    uint32_t lanes;
    const struct pt_code *code; /* the interpreter's own: */
    struct pt_frame *frame;
};

enum pt_use { PT_USE_READ = 1, PT_USE_WRITE = 2, PT_USE_ATOMIC = 4 /* with PT_USE_WRITE */ };

/* An access that is about to happen. A multimem instruction accesses each replica; what a warp
 * reads as one (wgmma) is told of its first lane; prefetches are none. */
struct pt_access {
    const uint64_t *address; /* by lane: generic */
    const void *data;        /* what is written, by lane; NULL: it is not known */
    uint64_t bytes;          /* of each lane */
    uint32_t use;            /* enum pt_use */
    enum pt_space space;     /* as the instruction says; PT_SPACE_GENERIC: it says none */
    enum pt_order order;
    bool is_async; /* of the asynchronous operation that the lanes issue, which may come later */
};

/* Texels that a warp is about to read of one texture: by lane, as many of each as its filter takes;
 * 0: there is none. */
struct pt_texels {
    const struct pt_texture *texture;
    const uint64_t (*address)[PT_WARP_SIZE];
    uint32_t n;
};

/* What a warp is about to copy to shared memory (cp.async): by lane, bytes that are read, of those
 * that are written. */
struct pt_copies {
    const uint64_t *to, *from;
    const uint32_t *read;
    uint32_t bytes;
};

/* The event's lanes pass on what they know, or learn what others passed on. */
struct pt_sync {
    enum {
        PT_SYNC_RELEASE,
        PT_SYNC_ACQUIRE,
        PT_SYNC_JOIN, /* both, among the lanes */
        PT_SYNC_PHASE /* it is over */
    } what;
    enum { PT_SYNC_OF_WARP, PT_SYNC_OF_BARRIER, PT_SYNC_OF_MBARRIER } where;
    uint32_t bar;           /* of a barrier: its number, or PT_CLUSTER_BARRIER */
    bool waits, is_relaxed; /* RELEASE at a barrier: until it is over; only what a fence released */
    uint64_t mbarrier;      /* of an mbarrier: its address */
    uint32_t phase;
};

/* A register that an instruction uses and an operation in flight may use. */
struct pt_register_use {
    uint32_t reg, slot;
    bool is_def;
};

/* A thread as one of those that a finding is about. */
static inline struct pt_party pt_party_of(const struct pt_warp *warp, uint32_t lane, uint32_t func,
                                          uint32_t insn)
{
    struct pt_party party = {.who = PT_PARTY_THREAD, .func = func, .insn = insn};
    for (int i = 0; i < 3; i++) {
        party.cta[i] = warp->cta->id[i];
        party.thread[i] = warp->tid[i][lane];
    }
    return party;
}

/* Index of a thread, by the number of its warp in the grid: clusters one behind the other, and in
 * them CTAs. */
static inline void pt_party_number(struct pt_party *party, const struct pt_launch *l, uint32_t warp,
                                   uint32_t lane)
{
    uint32_t cta = warp / l->n_warps, n = l->cluster[0] * l->cluster[1] * l->cluster[2];
    uint32_t cluster = cta / n, rank = cta % n;
    uint32_t thread = warp % l->n_warps * PT_WARP_SIZE + lane;
    for (int d = 0; d < 3; d++) {
        uint32_t clusters = l->grid[d] / l->cluster[d];
        party->cta[d] = cluster % clusters * l->cluster[d] + rank % l->cluster[d];
        cluster /= clusters;
        rank /= l->cluster[d];
        party->thread[d] = thread % l->block[d];
        thread /= l->block[d];
    }
}

/* What a launch did to a word of memory: the last write, a read that nobody wrote behind. */
struct pt_touched {
    uint64_t address;
    uint32_t bytes; /* which of its 4: a set */
    uint32_t warp, lane;
    uint32_t func, insn; /* insn UINT32_MAX: not known */
    uint32_t use;        /* enum pt_use; 0: a release, of what the warp's number does not say, or,
                          * with the scope of the system, that accesses may meet the host's */
    enum pt_scope scope; /* NONE: a weak access */
};

/* What happens to memory outside of kernels. */
enum pt_memory_event { PT_MEMORY_ALLOCATED, PT_MEMORY_FREED, PT_MEMORY_WRITTEN, PT_MEMORY_READ };

/* What is wrong with lanes that synchronise, and goes on. */
enum pt_misuse {
    PT_MISUSE_PASSED, /* others of the warp do not come to an aligned barrier, and pass with it */
    PT_MISUSE_MASKS,  /* others that the member mask names give another one here */
    PT_MISUSE_CALLER  /* the member mask leaves out the lane */
};

struct pt_observer {
    const char *name; /* "": nobody switches it on by its name */
    /* What threads do. `access` returns false if the access may not happen: then warp->fault is
     * set, and the warp stops. */
    bool (*access)(const struct pt_event *e, const struct pt_access *access);
    /* These two instead of `access`, for observers that ask what a warp does at once. */
    void (*texels)(const struct pt_event *e, const struct pt_texels *texels);
    void (*copies)(const struct pt_event *e, const struct pt_copies *copies);
    void (*sync)(const struct pt_event *e, const struct pt_sync *sync);
    void (*misused)(const struct pt_event *e, enum pt_misuse what, uint32_t others);
    void (*mbarrier)(const struct pt_event *e, uint64_t address, enum pt_mbarrier_use use);
    void (*fence)(const struct pt_event *e); /* any instruction of PT_FX_FENCE, no access */
    void (*instruction)(const struct pt_event *e);
    /* Programs whose warps take turns (PT_TEST_TURNS): an instruction that accesses memory is
     * done. */
    void (*accessed)(const struct pt_event *e);
    void (*block)(const struct pt_event *e); /* its first instruction */
    void (*registers)(const struct pt_event *e, const struct pt_register_use *uses, uint32_t n);
    /* Asynchronous operations: issued (false: no memory), and done, its mbarrier being about to say
     * so. */
    bool (*issued)(const struct pt_event *e, struct pt_async_op *op);
    void (*done)(const struct pt_async_op *op);
    /* The lanes have waited for groups of a kind but the youngest `pending`; with `is_read`, only
     * for what they read. */
    void (*waited)(const struct pt_event *e, uint32_t kind, uint32_t pending, bool is_read);
    /* A lane has memory of the device heap, which was another one's before. */
    void (*allocated)(const struct pt_event *e, uint64_t address, uint64_t bytes);
    void (*exited)(const struct pt_event *e); /* the lanes are about to */
    /* An activation of a function ends, and its registers with it. */
    void (*returned)(const struct pt_frame *f);
    /* A CTA is about to run: its memory is as it found it. */
    void (*begun)(const struct pt_cta *cta);
    /* A cluster has run to its end: its first CTA. */
    void (*ended)(const struct pt_cta *cta);
    /* What hosts do: of any thread. */
    void (*launched)(struct pt_launch *launch, bool is_over);
    void (*memory)(enum pt_memory_event event, uint64_t address, uint64_t bytes);
    /* What the launch, which is about to be over, touched outside of shared memory, word by word,
     * as far as that is remembered. False: there is more that is not. */
    bool (*touched)(const struct pt_launch *launch,
                    void (*tell)(void *ud, const struct pt_touched *word), void *ud);
    /* Of observers in backend/interp: makes a code of its own to stand before an access, from a
     * copy of the access's code, instead of the one that calls `access`. `facts`: what `analyse`
     * found of the function, in memory of the arena. `number` tells the function's accesses apart.
     * False: none is needed. */
    bool (*place)(struct pt_code *test, const struct pt_func *func, const void *facts,
                  const struct pt_form *form, bool is_write, uint32_t number);
    /* Likewise a code to stand before instruction test->insn, or before its guard. */
    bool (*place_instruction)(struct pt_code *test, const struct pt_func *func, const void *facts,
                              bool is_guard);
    const void *(*analyse)(const struct pt_module *m, const struct pt_func *func,
                           struct pt_arena *arena);
};

#endif
