/* The inside of the interpreter: decoded functions, and a warp's state.
 *
 * A decoded function numbers its own blocks: those of the IR in their order, split behind every
 * barrier, so that lanes that wait for a phase have a block to wait at. A block's lanes are in
 * one of these places:
 *   frame->mask               they run now (one block of one activation of the warp)
 *   frame->wait[b], eligible  they may run from the start of b
 *   frame->wait[b], parked    b begins with an instruction that waits for other lanes of the warp
 *   state->groups             they arrived at a CTA barrier and go on at b when its phase is over
 *   a deeper frame            they are in a function that this activation called
 */
#ifndef PTERA_BACKEND_INTERP_STATE_H
#define PTERA_BACKEND_INTERP_STATE_H

#include "backend/interp/interp.h"
#include "backend/schedule.h"
#include "ir/bits.h"

enum {
    PT_CODES_UNTIL_POLL =
        1 << 17,   /* about; with isolated launches' tests the slowest take a microsecond each */
    PT_RECENT = 24 /* extents a warp remembers, by access */
};
#define PT_GROUP_KINDS 3u /* kinds of asynchronous operations that have groups: async.h */

struct pt_observer;

/* A constant slot of the frame. */
struct pt_constant {
    uint32_t offset;
    uint32_t width; /* bytes of one element: 4, 8, 16; 0: a predicate */
    uint64_t lo, hi;
};

/* A parameter or result: of a function as it declares it, or of a call as it passes it. */
struct pt_pass {
    bool is_reg;
    uint32_t at;    /* the slot in the frame, or the offset in the local variables */
    uint32_t bytes; /* of a slot's element (0: predicate), or in memory */
    uint32_t align;
    bool
        /* parameter: as many bytes as the call passes, behind the function's local variables */
        is_variadic;
};

/* The codes of an instruction, without those that end its block. */
struct pt_span {
    uint32_t first, n;
};

/* A decoded function. */
struct pt_body {
    const struct pt_func *func;
    uint32_t index; /* function index */
    uint32_t n_blocks;
    uint32_t n_words;             /* of the block sets */
    const struct pt_code **start; /* of each block */
    PT_VEC(struct pt_code) codes;
    PT_VEC(struct pt_constant) constants;
    uint32_t wait_offset, set_offset; /* in the frame: wait[]; eligible[], parked[] and aside[] */
    uint32_t frame_bytes;             /* a multiple of 64 */
    uint32_t budget;                  /* back edges between two polls of launch->stop */
    uint32_t local_bytes;
    struct pt_pass *params, *results; /* func->params.n and func->results.n of them */
    uint32_t *slots;                  /* of registers, in the frame */
    struct pt_span *spans;            /* by instruction */
};

struct pt_interp_program {
    struct pt_program base;
    struct pt_arena arena;
    struct pt_body **bodies;                    /* by function index; NULL: not reachable */
    uint32_t callee_bytes;                      /* room of one callee's activation */
    uint32_t n_callees;                         /* how many a warp may have at once */
    uint32_t entry_bytes;                       /* room of the kernel's own */
    bool is_unbounded;                          /* alloca is used: local memory is not known */
    const struct pt_observer *const *observers; /* those that watch it, then NULL; NULL: nobody */
};

/* Lanes that wait for the end of a barrier's phase. */
struct pt_group {
    struct pt_frame *frame;
    const struct pt_code
        *code; /* the barrier; NULL: lanes that passed by it and wait with the others of the warp */
    uint32_t mask, block, bar, phase;
};

/* What happens when the inner loop is left. */
enum pt_next {
    PT_NEXT_FRAME, /* go on at state->frame, state->code */
    PT_NEXT_PICK,  /* choose among the waiting lanes */
    PT_NEXT_STOP   /* return state->run */
};

/* PT_TEST_sync: the last operation of a kind that a lane has issued. */
struct pt_issued {
    uint32_t func, insn, group;
};

struct pt_state {
    struct pt_warp *warp;
    const struct pt_interp_program *program;
    const struct pt_observer *const *observers; /* the program's */
    struct pt_frame *frame;                     /* the activation that runs */
    const struct pt_code *code; /* where it goes on; inside memory handlers, the code that runs */
    enum pt_next next;
    enum pt_run run;
    struct pt_frame *deepest; /* activations, deepest first */
    struct pt_frame *free;    /* unused callee frames */
    uint32_t used;            /* callee frames handed out at least once */
    struct pt_frame *entry;
    uint8_t *callees;
    uint32_t
        /* inside handlers that access memory lane by lane: the lane that does, as a mask; else 0 */
        acting;
    uint32_t committed[PT_GROUP_KINDS][PT_WARP_SIZE]; /* groups that each lane has committed */
    bool is_fast;                                     /* the step that runs need not be exact */
    bool is_serial;                                   /* PT_TEST_ORDER */
    uint8_t ranks[PT_WARP_SIZE]; /* likewise, of a launch that has a schedule: of the lanes */
    uint32_t
        /* likewise: lanes that took the back edge of a loop that waits for others, and let all of
         * them run first */
        turned;
    uint32_t
        /* codes of functions called, and activations searched, since the launch's stop was last
         * looked at */
        unbudgeted;
    uint32_t n_groups;
    /* Cleared from here on for observers only, who alone look at what follows the groups. */
    struct pt_group groups[PT_WARP_SIZE];
    struct pt_issued issued[PT_GROUP_KINDS][PT_WARP_SIZE];
    uint32_t open[PT_GROUP_KINDS];      /* lanes that have not waited for them */
    struct pt_fragments *fragments;     /* PT_TEST_sync: fragments.h; NULL: none yet */
    struct pt_extent recent[PT_RECENT]; /* isolated launches: what accesses were found in */
};

/* A warp's state begins at the first 64-byte boundary of warp->state. */
static inline struct pt_state *pt_state_of(const struct pt_warp *warp)
{
    return (struct pt_state *)pt_round_up((uintptr_t)warp->state, 64);
}

/* True if whoever comes last to a barrier lets those that it waited for go on first, or not as the
 * launch's schedule says. */
static inline bool pt_gives_way_at_barriers(const struct pt_state *s)
{
    const struct pt_schedule *schedule = s->warp->cta->launch->schedule;
    return s->program->base.tests & PT_TEST_TURNS && !(schedule && !schedule->seed);
}

/* Leaves the inner loop and the warp. */
static inline const struct pt_code *pt_stop(struct pt_state *s, enum pt_run run)
{
    s->next = PT_NEXT_STOP;
    s->run = run;
    return NULL;
}

#define pt_fail_at PT_LEVEL_NAME(pt_state_fail_at)
/* The same where `lanes` may not do an access, the first of them that at `address`. Returns
 * NULL. */
const struct pt_code *pt_fail_at(const struct pt_code *c, struct pt_frame *f,
                                 enum pt_fault_kind kind, uint32_t lanes, uint64_t address,
                                 const char *detail);

#endif
