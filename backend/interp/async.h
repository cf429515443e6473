/* Asynchronous operations: what one is, and when it takes place.
 *
 * By default an operation takes place, and is counted by its mbarrier, when it is issued. In
 * launches that are late (cta->async) it is put off to the latest point the PTX ISA allows, so that
 * programs which do not wait for it are seen to: to the wait for its group, to the first test of
 * its mbarrier (which does not see it yet), or to the thread's exit. What it touches is tested when
 * it is issued in any case: faults have their place there.
 */
#ifndef PTERA_BACKEND_INTERP_ASYNC_H
#define PTERA_BACKEND_INTERP_ASYNC_H

#include "backend/interp/access.h"
#include "backend/interp/reduce.h"
#include "backend/semantics/tensormap.h"

/* What tells a thread that an operation is done. The first PT_GROUP_KINDS have groups. */
enum pt_async_kind {
    PT_ASYNC_COPY,    /* cp.async: its group */
    PT_ASYNC_BULK,    /* cp.async.bulk and its kind: its bulk group */
    PT_ASYNC_WGMMA,   /* wgmma.mma_async: its group */
    PT_ASYNC_COUNTED, /* bulk copies, st.async, red.async: `bytes` transactions of the mbarrier */
    /* cp.async.mbarrier.arrive: an arrival, when the thread's copies before it are done */
    PT_ASYNC_ARRIVAL
};
_Static_assert(PT_GROUP_KINDS == PT_ASYNC_COUNTED, "kinds with groups come first");

/* A tile of a tensor: what an instruction says of it, and the map as it was then. */
struct pt_tile {
    struct pt_tensor tensor;
    int32_t at[5];
    uint32_t offset[3]; /* im2col */
};

struct pt_async_op;

/* Visits what an operation touches. Stops, and returns false, where a visit does. */
typedef bool pt_visit(void *ud, uint64_t address, uint32_t bytes);

struct pt_async_op {
    enum pt_async_kind kind;
    uint32_t lane;
    struct pt_warp *warp;       /* whose thread `lane` issued it */
    uint32_t group;             /* groups of its kind that the thread had committed before */
    const struct pt_code *code; /* the instruction, in `frame` */
    struct pt_frame *frame;
    uint64_t number; /* checked launches: of the cluster's operations */
    bool is_due;     /* it is about to take place */
    /* In access code; NULL: nothing is moved. */
    void (*run)(const struct pt_async_op *op);
    /* Behind it: what is to be done then. False after pt_fail; NULL: nothing. */
    bool (*complete)(const struct pt_code *c, struct pt_frame *f, const struct pt_async_op *op);
    /* What it touches where `to`, `from` and their bytes do not say: a tile's runs in global
     * memory, what a wgmma reads of shared memory. NULL: nothing else. */
    bool (*extents)(const struct pt_async_op *op, pt_visit *visit, void *ud);
    /* True if the instruction reads the register of the slot until it is done, or writes it. NULL:
     * no register. */
    bool (*uses)(const struct pt_code *c, uint32_t slot, bool *is_written);
    uint64_t to, from; /* generic addresses; of a tile's side in global memory 0 */
    uint32_t bytes;    /* at `to`; what the mbarrier counts */
    uint32_t read;     /* at `from`; a copy makes the rest zeros */
    uint32_t span;     /* of a tile: from the first to the last of its bytes in shared memory */
    uint64_t mbarrier; /* generic address; 0: none waits for it */
    pt_join join;      /* NULL: a copy */
    const struct pt_tile *tile; /* NULL: none */
    const void *staged; /* what was read before it is written, op->read bytes; NULL: nothing */
};

/* Visits all that an operation reads, or writes. */
#define pt_async_visit PT_LEVEL_NAME(pt_async_visit)
void pt_async_visit(const struct pt_async_op *op, bool is_write, pt_visit *visit, void *ud);
/* The address at which an operation reads what is at `address` of its source. */
static inline uint64_t pt_async_source(const struct pt_async_op *op, uint64_t address)
{
    return op->staged ? (uint64_t)(uintptr_t)op->staged + (address - op->from) : address;
}

/* Moves op->read bytes and writes zeros behind them. */
#define pt_async_copy PT_LEVEL_NAME(pt_async_copy)
void pt_async_copy(const struct pt_async_op *op);
/* Joins op->bytes bytes. */
#define pt_async_join PT_LEVEL_NAME(pt_async_join)
void pt_async_join(const struct pt_async_op *op);
/* Reads memory that an operation will access: a fault has its place at the instruction that issues
 * it. */
#define pt_async_touch PT_LEVEL_NAME(pt_async_touch)
void pt_async_touch(uint64_t address, uint32_t bytes);
/* An operation of op->lane that may be done: it takes place, or is put off. False after pt_fail. */
#define pt_async_issue PT_LEVEL_NAME(pt_async_issue)
bool pt_async_issue(const struct pt_code *c, struct pt_frame *f, const struct pt_async_op *op);
/* The selectors of commit_group and wait_group. */
#define pt_async_commit PT_LEVEL_NAME(pt_async_commit)
pt_handler pt_async_commit(struct pt_select *s, enum pt_async_kind kind);
#define pt_async_wait PT_LEVEL_NAME(pt_async_wait)
pt_handler pt_async_wait(struct pt_select *s, enum pt_async_kind kind);

/* Asynchronous, on registers and matrices. */
static inline bool pt_is_wgmma(const struct pt_form *form)
{
    _Static_assert(PT_OP_wgmma_sp_s8 - PT_OP_wgmma_f16 == 14,
                   "the rows of wgmma follow each other");
    return form->op >= PT_OP_wgmma_f16 && form->op <= PT_OP_wgmma_sp_s8;
}
/* A thread tested the mbarrier: operations it counts take place. False after pt_fail. */
#define pt_async_tested PT_LEVEL_NAME(pt_async_tested)
bool pt_async_tested(const struct pt_code *c, struct pt_frame *f, uint64_t mbarrier);
/* Lanes of the warp exit: so do all of theirs. False after pt_fail. */
#define pt_async_exit PT_LEVEL_NAME(pt_async_exit)
bool pt_async_exit(const struct pt_code *c, struct pt_frame *f, uint32_t lanes);

/* The activation ends: what was to be written to its registers is not. */
#define pt_async_forget PT_LEVEL_NAME(pt_async_forget)
void pt_async_forget(const struct pt_frame *f);

#endif
