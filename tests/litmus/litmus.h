/* Litmus tests of the PTX memory model: shapes (shapes.def) in variants of order, at every scope,
 * as programs that are written as PTX (ptx.c) or run by a host thread (host.c). */
#ifndef PTERA_TESTS_LITMUS_H
#define PTERA_TESTS_LITMUS_H

#include <stdbool.h>
#include <stdint.h>

enum { MAX_THREADS = 4, MAX_STEPS = 4, MAX_REGS = 4, PLACES = 3 };

/* ---- programs -------------------------------------------------------------------------------- */

enum kind { STEP_READ, STEP_WRITE, STEP_ADD, STEP_FENCE };

enum order {
    ORDER_WEAK,
    ORDER_VOLATILE,
    ORDER_RELAXED,
    ORDER_ACQUIRE,
    ORDER_RELEASE,
    ORDER_ACQ_REL,
    ORDER_SC,
    ORDER_NONE
};

struct step {
    enum kind kind;
    unsigned place, value, reg;
    bool is_starred;
    enum order fence; /* what a one-sided fence needs */
};

struct program {
    unsigned n;
    struct step step[MAX_STEPS];
};

struct shape {
    const char *name;
    unsigned n_threads, n_regs;
    struct program thread[MAX_THREADS];
    const char *outcome;
    unsigned forbidden; /* variants, as bits */
};

/* ---- variants -------------------------------------------------------------------------------- */

/* X(name, order of accesses, of starred ones, fence, accesses are atomics). A starred order is
 * ORDER_ACQ_REL for: reads acquire, writes release. A fence is ORDER_NONE for none, ORDER_ACQUIRE
 * for as little as is needed. */
#define VARIANTS(X)                                                      \
    X(weak, ORDER_WEAK, ORDER_WEAK, ORDER_NONE, false)                   \
    X(volatile, ORDER_VOLATILE, ORDER_VOLATILE, ORDER_NONE, false)       \
    X(relaxed, ORDER_RELAXED, ORDER_RELAXED, ORDER_NONE, false)          \
    X(atomic, ORDER_RELAXED, ORDER_RELAXED, ORDER_NONE, true)            \
    X(release, ORDER_RELAXED, ORDER_ACQ_REL, ORDER_NONE, false)          \
    X(handover, ORDER_WEAK, ORDER_ACQ_REL, ORDER_NONE, false)            \
    X(atomic_release, ORDER_RELAXED, ORDER_ACQ_REL, ORDER_NONE, true)    \
    X(fence_least, ORDER_RELAXED, ORDER_RELAXED, ORDER_ACQUIRE, false)   \
    X(fence_acq_rel, ORDER_RELAXED, ORDER_RELAXED, ORDER_ACQ_REL, false) \
    X(fence_sc, ORDER_RELAXED, ORDER_RELAXED, ORDER_SC, false)           \
    X(membar, ORDER_VOLATILE, ORDER_VOLATILE, ORDER_SC, false)

enum variant_index {
#define X(name, ...) VARIANT_##name,
    VARIANTS(X)
#undef X
        VARIANT_COUNT
};

struct variant {
    const char *name;
    enum order order, starred, fence;
    bool is_atomic;
};
extern const struct variant variants[VARIANT_COUNT];

/* Sets of them, as bits. */
enum {
    EVERY = (1 << VARIANT_COUNT) - 1,
    STRONG = EVERY & ~(1 << VARIANT_weak | 1 << VARIANT_handover), /* no weak access */
    HANDOVER = 1 << VARIANT_handover,
    SC = 1 << VARIANT_fence_sc | 1 << VARIANT_membar,
    SYNC = SC | HANDOVER | 1 << VARIANT_release | 1 << VARIANT_atomic_release |
           1 << VARIANT_fence_least | 1 << VARIANT_fence_acq_rel
};

/* Order of an access; of a fence, ORDER_NONE if the variant has none. */
enum order order_of(const struct variant *v, const struct step *step);

/* ---- where the threads are ------------------------------------------------------------------- */

enum layout { LAYOUT_LANES, LAYOUT_WARPS, LAYOUT_CTAS };

struct placement {
    const char *name, *scope, *space;
    enum layout layout;
    bool is_cluster; /* of the CTAs */
    bool has_host;   /* the last thread is one of the host */
};

/* ---- memory ---------------------------------------------------------------------------------- */

/* Each round has its own x, y and z, each in a cache line. */
enum { LINE = 64, ROUND_BYTES = PLACES * LINE };

/* Threads meet before every PACE rounds, so that what they do in between happens at about the same
 * time; `pace` counts those who came. They wait for the others no longer than PATIENCE looks, the
 * first time, when others may not have started, FIRST_PATIENCE times that. */
enum { PACE = 64, PATIENCE = 20000, FIRST_PATIENCE = 8 };

/* The kernel of a shape: litmus(mem, out, pace, rounds). Result of register r in round i: out[r *
 * rounds + i]. Static text. */
const char *litmus_ptx(const struct shape *shape, const struct variant *v,
                       const struct placement *p);

/* What a host thread does for `thread` of the shape. */
struct host {
    const struct shape *shape;
    const struct variant *variant;
    unsigned thread;
    uint32_t rounds;
    char *mem;
    uint32_t *out, *pace;
    const int *is_over; /* the launch has ended: nobody comes to the meetings */
};
void litmus_host(const struct host *h);

#endif
