/* Asynchronous operations: what one is, and when it takes place.
 *
 * By default an operation takes place, and is counted by its mbarrier, when it is issued. In launches that
 * are late (cta->async) it is put off to the latest point the PTX ISA allows, so that programs which do not wait for it
 * are seen to: to the wait for its group, to the first test of its mbarrier (which does not see it yet), or to
 * the thread's exit. What it touches is tested when it is issued in any case: faults have their place there.
 */
#ifndef PTERA_BACKEND_INTERP_ASYNC_H
#define PTERA_BACKEND_INTERP_ASYNC_H

#include "backend/interp/access.h"
#include "backend/semantics/tensormap.h"

/* What tells a thread that an operation is done. The first PT_GROUP_KINDS have groups. */
enum pt_async_kind {
    PT_ASYNC_COPY,    /* cp.async: its group */
    PT_ASYNC_BULK,    /* cp.async.bulk and its kind: its bulk group */
    PT_ASYNC_WGMMA,   /* wgmma.mma_async: its group */
    PT_ASYNC_COUNTED, /* bulk copies, st.async, red.async: `bytes` transactions of the mbarrier */
    PT_ASYNC_ARRIVAL /* cp.async.mbarrier.arrive: an arrival, when the thread's copies before it are done */
};
_Static_assert(PT_GROUP_KINDS == PT_ASYNC_COUNTED, "kinds with groups come first");

/* Joins `bytes` of elements at generic address `from` with those at `to`: access code. */
typedef void (*pt_join)(uint64_t to, uint64_t from, uint32_t bytes);

/* A tile of a tensor: what an instruction says of it, and the map as it was then. */
struct pt_tile {
    struct pt_tensor tensor;
    int32_t at[5];
    uint32_t offset[3]; /* im2col */
};

struct pt_async_op {
    enum pt_async_kind kind;
    uint32_t lane;
    struct pt_warp *warp; /* whose thread `lane` issued it */
    uint32_t group;       /* groups of its kind that the thread had committed before */
    const struct pt_code *code; /* the instruction, in `frame` */
    struct pt_frame *frame;
    uint64_t number;      /* checked launches: of the cluster's operations */
    bool is_due;          /* it is about to take place */
    /* In access code; NULL: nothing is moved. */
    void (*run)(const struct pt_async_op *op);
    uint64_t to, from;          /* generic addresses; of a tile's side in global memory 0 */
    uint32_t bytes;             /* at `to`; what the mbarrier counts */
    uint32_t read;              /* at `from`; a copy makes the rest zeros */
    uint32_t span;              /* of a tile: from the first to the last of its bytes in shared memory */
    uint64_t mbarrier;          /* generic address; 0: none waits for it */
    pt_join join;               /* NULL: a copy */
    const struct pt_tile *tile; /* NULL: none */
    const void *staged; /* what was read before it is written, op->read bytes; NULL: nothing */
};

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
/* Reads memory that an operation will access: a fault has its place at the instruction that issues it. */
#define pt_async_touch PT_LEVEL_NAME(pt_async_touch)
void pt_async_touch(uint64_t address, uint32_t bytes);
/* An operation of op->lane that may be done: it takes place, or is put off. False after pt_fail. */
#define pt_async_issue PT_LEVEL_NAME(pt_async_issue)
bool pt_async_issue(const struct pt_code *c, struct pt_frame *f, const struct pt_async_op *op);
/* bulk.c: the same for each CTA of a multicast, op->to and op->mbarrier being those of one of them. */
#define pt_async_multicast PT_LEVEL_NAME(pt_async_multicast)
bool pt_async_multicast(const struct pt_code *c, struct pt_frame *f, const struct pt_async_op *op,
                        uint32_t ctas);
/* The selectors of commit_group and wait_group. */
#define pt_async_commit PT_LEVEL_NAME(pt_async_commit)
pt_handler pt_async_commit(struct pt_select *s, enum pt_async_kind kind);
#define pt_async_wait PT_LEVEL_NAME(pt_async_wait)
pt_handler pt_async_wait(struct pt_select *s, enum pt_async_kind kind);

/* async_store.c: the selector of red.async that an mbarrier counts. */
#define pt_async_reduce PT_LEVEL_NAME(pt_async_reduce)
pt_handler pt_async_reduce(struct pt_select *s);

/* Calls visit(ud, address, bytes) for what an operation touches: a tile's runs in global memory, what a wgmma reads of shared
 * memory. Stops, and returns false, where that does. */
typedef bool pt_visit(void *ud, uint64_t address, uint32_t bytes);
#define pt_tile_extents PT_LEVEL_NAME(pt_tile_extents)
bool pt_tile_extents(const struct pt_async_op *op, pt_visit *visit, void *ud);
#define pt_wgmma_extents PT_LEVEL_NAME(pt_wgmma_extents)
bool pt_wgmma_extents(const struct pt_async_op *op, pt_visit *visit, void *ud);
/* wgmma.c: true if the instruction, asynchronously, reads the register of the slot, or writes it. */
#define pt_wgmma_uses PT_LEVEL_NAME(pt_wgmma_uses)
bool pt_wgmma_uses(const struct pt_code *c, uint32_t slot, bool *is_written);
static inline bool pt_is_wgmma(const struct pt_form *form)
{
    return form->op >= PT_OP_wgmma_f16 && form->op <= PT_OP_wgmma_sp_s8;
}
/* wgmma.c: the products of an operation that was put off, from what is staged. False after pt_fail. */
#define pt_wgmma_complete PT_LEVEL_NAME(pt_wgmma_complete)
bool pt_wgmma_complete(const struct pt_async_op *op);

/* Ends the warp: `lanes` may not do an access, the first of them that at `address`. Returns NULL. */
#define pt_async_fail PT_LEVEL_NAME(pt_async_fail)
const struct pt_code *pt_async_fail(const struct pt_code *c, struct pt_frame *f,
                                    enum pt_fault_kind kind, uint32_t lanes, uint64_t address,
                                    const char *detail);
/* A thread tested the mbarrier: operations it counts take place. False after pt_fail. */
#define pt_async_tested PT_LEVEL_NAME(pt_async_tested)
bool pt_async_tested(const struct pt_code *c, struct pt_frame *f, uint64_t mbarrier);
/* Lanes of the warp exit: so do all of theirs. False after pt_fail. */
#define pt_async_exit PT_LEVEL_NAME(pt_async_exit)
bool pt_async_exit(const struct pt_code *c, struct pt_frame *f, uint32_t lanes);

/* The activation ends: what was to be written to its registers is not. */
#define pt_async_forget PT_LEVEL_NAME(pt_async_forget)
void pt_async_forget(const struct pt_frame *f);

/* reduce.c */
enum pt_reduce {
    PT_REDUCE_ADD,
    PT_REDUCE_MIN,
    PT_REDUCE_MAX,
    PT_REDUCE_INC,
    PT_REDUCE_DEC,
    PT_REDUCE_AND,
    PT_REDUCE_OR,
    PT_REDUCE_XOR,
    PT_REDUCE_COUNT
};
#define pt_reduce_of PT_LEVEL_NAME(pt_reduce_of)
enum pt_reduce pt_reduce_of(const struct pt_form *form);
/* Of elements of an enum pt_element; NULL if the hardware does not reduce those. */
#define pt_reduce_join PT_LEVEL_NAME(pt_reduce_join)
pt_join pt_reduce_join(enum pt_reduce op, uint32_t element);
/* The element that a PTX type is, as far as reductions tell. */
#define pt_reduce_element PT_LEVEL_NAME(pt_reduce_element)
uint32_t pt_reduce_element(enum pt_type type);

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
/* There may be an mbarrier: an aligned address in shared memory. */
static inline bool pt_mbarrier_may_be(const struct pt_frame *f, uint64_t address)
{
    return !(address & 7) && address - (uint64_t)(uintptr_t)f->shared <= UINT32_MAX;
}
/* The parity of the phase that it is in. */
#define pt_mbarrier_phase PT_LEVEL_NAME(pt_mbarrier_phase)
uint32_t pt_mbarrier_phase(uint64_t address);

/* A copy that goes to the CTAs of a mask. */
static inline bool pt_is_multicast(const struct pt_select *s)
{
    return PT_HAS(s, multicast_cluster) || PT_HAS(s, multicast_cluster_16b);
}

#endif
