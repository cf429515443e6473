/* Asynchronous operations: what one is, and when it takes place.
 *
 * By default an operation takes place, and is counted by its mbarrier, when it is issued. In launches with
 * cta->async it is put off to the latest point the PTX ISA allows, so that programs which do not wait for it
 * are seen to: to the wait for its group, to the first test of its mbarrier (which does not see it yet), or to
 * the thread's exit. What it touches is tested when it is issued in any case: faults have their place there.
 */
#ifndef PTERA_BACKEND_INTERP_ASYNC_H
#define PTERA_BACKEND_INTERP_ASYNC_H

#include "backend/interp/access.h"

/* What tells a thread that an operation is done. The first two have groups. */
enum pt_async_kind {
    PT_ASYNC_COPY,    /* cp.async: its group */
    PT_ASYNC_BULK,    /* cp.async.bulk and its kind: its bulk group */
    PT_ASYNC_COUNTED, /* the same: `bytes` transactions of the mbarrier */
    PT_ASYNC_ARRIVAL /* cp.async.mbarrier.arrive: an arrival, when the thread's copies before it are done */
};

struct pt_async_op {
    enum pt_async_kind kind;
    uint32_t lane;
    struct pt_warp *warp; /* whose thread `lane` issued it */
    uint32_t group;       /* groups of its kind that the thread had committed before */
    void (*run)(const struct pt_async_op *op); /* in access code; NULL: nothing is moved */
    uint64_t to, from;                         /* generic addresses */
    uint32_t bytes;                            /* written */
    uint32_t read;     /* from the first of them on; the others become zeros */
    uint64_t mbarrier; /* generic address; 0: none waits for it */
    bool is_due;       /* it is about to take place */
};

/* Moves op->read bytes and writes zeros behind them. */
#define pt_async_copy PT_LEVEL_NAME(pt_async_copy)
void pt_async_copy(const struct pt_async_op *op);
/* The selectors of commit_group and wait_group. */
#define pt_async_commit PT_LEVEL_NAME(pt_async_commit)
pt_handler pt_async_commit(struct pt_select *s, enum pt_async_kind kind);
#define pt_async_wait PT_LEVEL_NAME(pt_async_wait)
pt_handler pt_async_wait(struct pt_select *s, enum pt_async_kind kind);

/* Ends the warp: `lanes` may not do an access, the first of them that at `address`. Returns NULL. */
#define pt_async_fail PT_LEVEL_NAME(pt_async_fail)
const struct pt_code *pt_async_fail(const struct pt_code *c, struct pt_frame *f,
                                    enum pt_fault_kind kind, uint32_t lanes, uint64_t address,
                                    const char *detail);
/* Puts off an operation of `lane` whose other fields but `warp` and `group` are set. False after pt_fail. */
#define pt_async_put_off PT_LEVEL_NAME(pt_async_put_off)
bool pt_async_put_off(const struct pt_code *c, struct pt_frame *f, struct pt_async_op op);
/* A thread tested the mbarrier: operations it counts take place. False after pt_fail. */
#define pt_async_tested PT_LEVEL_NAME(pt_async_tested)
bool pt_async_tested(const struct pt_code *c, struct pt_frame *f, uint64_t mbarrier);
/* Lanes of the warp exit: so do all of theirs. False after pt_fail. */
#define pt_async_exit PT_LEVEL_NAME(pt_async_exit)
bool pt_async_exit(const struct pt_code *c, struct pt_frame *f, uint32_t lanes);

/* isolate.c: false, after pt_fail, if the launch is isolated and the lane may not access the memory. */
#define pt_isolate_allows PT_LEVEL_NAME(pt_isolate_allows)
bool pt_isolate_allows(const struct pt_code *c, struct pt_frame *f, uint32_t lane, uint64_t address,
                       uint64_t bytes, bool is_write);

/* mbarrier.c: changes of the mbarrier at a generic address that `lane` names. False after pt_fail. */
enum pt_mbarrier_how {
    PT_MBARRIER_COMPLETE_TX, /* `count` bytes of transactions */
    PT_MBARRIER_ARRIVE,      /* `count` arrivals */
    PT_MBARRIER_EXPECT       /* `count` more arrivals, in this phase */
};
#define pt_mbarrier_change PT_LEVEL_NAME(pt_mbarrier_change)
bool pt_mbarrier_change(const struct pt_code *c, struct pt_frame *f, uint32_t lane,
                        uint64_t address, enum pt_mbarrier_how how, uint32_t count);

#endif
