/* Checked launches: races of asynchronous operations with what threads of their cluster do.
 *
 * A *watch* is what one operation in flight reads or writes, and which threads have observed that it is done: an access of
 * another thread, or of the operation's own before it has waited, is a race (PTX ISA 8, "Memory Consistency Model"; 9.7.9.25,
 * completion mechanisms). A thread observes it by its own wait (groups), by a test of the mbarrier that counts the
 * operation, or from a thread that has observed it, by what orders the two: barriers of the warp, the CTA and the cluster,
 * mbarriers, and atomic, volatile and other strong accesses of one address (fences are taken to be where they belong).
 *
 * What carries such knowledge is a *key*: a barrier or an mbarrier in one of its phases, or an address. A thread that
 * releases gives a key what it knows, one that acquires has it then. Keys are few: where two fall together, races may go
 * unseen, but none is made up.
 */
#ifndef PTERA_BACKEND_INTERP_RACE_H
#define PTERA_BACKEND_INTERP_RACE_H

#include "backend/interp/async.h"

enum pt_use { PT_USE_READ = 1, PT_USE_WRITE = 2, PT_USE_ATOMIC = 4 /* with PT_USE_WRITE */ };

#define pt_race_test PT_LEVEL_NAME(pt_race_test)
/* Makes the test of an access from a copy of its code. Returns false if none is needed. */
bool pt_race_test(struct pt_code *test, const struct pt_form *form, bool is_write);
/* A register that an instruction uses and an operation in flight may use. */
struct pt_race_reg {
    uint32_t reg, slot;
    bool is_def;
};
#define pt_race_test_registers PT_LEVEL_NAME(pt_race_test_registers)
/* The test of `n` registers that the array holds, which lives as long as the program. */
struct pt_code pt_race_test_registers(uint32_t insn, const struct pt_race_reg *regs, uint32_t n);

/* True if accesses of the frame's cluster are to be told to the functions below. */
static inline bool pt_race_is_on(const struct pt_frame *f)
{
    return f->cta->async && f->cta->async->is_checked;
}

/* An access that is about to happen, by `lanes` together. */
#define pt_race_access PT_LEVEL_NAME(pt_race_access)
void pt_race_access(const struct pt_code *c, const struct pt_frame *f, uint32_t lanes,
                    uint64_t address, uint64_t bytes, uint32_t use);
/* Registers of an instruction that is about to run. */
#define pt_race_registers PT_LEVEL_NAME(pt_race_registers)
void pt_race_registers(const struct pt_code *c, const struct pt_frame *f,
                       const struct pt_race_reg *regs, uint32_t n);
/* An operation is issued: its accesses, which are watched from now on. False after pt_fail: no memory. */
#define pt_race_issue PT_LEVEL_NAME(pt_race_issue)
bool pt_race_issue(struct pt_async_op *op);
/* It is done, and its mbarrier is about to say so. */
#define pt_race_done PT_LEVEL_NAME(pt_race_done)
void pt_race_done(const struct pt_async_op *op);
/* The activation ends, and its registers with it. */
#define pt_race_forget PT_LEVEL_NAME(pt_race_forget)
void pt_race_forget(const struct pt_frame *f);
/* Running lanes have waited for groups of a kind but the youngest `pending`; with `is_read`, only for what they read. */
#define pt_race_waited PT_LEVEL_NAME(pt_race_waited)
void pt_race_waited(const struct pt_frame *f, enum pt_async_kind kind, uint32_t pending,
                    bool is_read);

#define pt_race_release PT_LEVEL_NAME(pt_race_release)
void pt_race_release(const struct pt_frame *f, uint32_t lanes, uint64_t key);
#define pt_race_acquire PT_LEVEL_NAME(pt_race_acquire)
void pt_race_acquire(const struct pt_frame *f, uint32_t lanes, uint64_t key);
/* Lanes of a warp know what each of them knows. */
#define pt_race_join PT_LEVEL_NAME(pt_race_join)
void pt_race_join(const struct pt_frame *f, uint32_t lanes);
/* The phase of an mbarrier is over: the next one has what it has. */
#define pt_race_next_phase PT_LEVEL_NAME(pt_race_next_phase)
void pt_race_next_phase(const struct pt_frame *f, uint64_t address, uint32_t phase);

/* The key of an mbarrier at an address in a phase, of which only the parity counts. */
static inline uint64_t pt_race_mbarrier(uint64_t address, uint32_t phase)
{
    return address | (phase & 1);
}

/* The key of a barrier of the CTA, or of the cluster. */
static inline uint64_t pt_race_barrier(const struct pt_cta *cta, uint32_t bar, uint32_t phase)
{
    uint64_t rank = bar == PT_CLUSTER_BARRIER ? 0 : cta->cluster_rank;
    return UINT64_C(1) << 63 | rank << 16 | bar << 1 | (phase & 1);
}

#endif
