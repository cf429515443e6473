/* What an operation accessed, as runs of words that one instruction, a copy or a memset, accessed
 * alike. */
#ifndef PTERA_RUNTIME_FOOTPRINT_H
#define PTERA_RUNTIME_FOOTPRINT_H

#include "backend/observer.h"

struct pt_job;

/* Words one behind the other; a kernel's are of threads that follow each other as well. */
struct pt_footprint_run {
    uint64_t first, bytes;
    uint64_t thread;     /* who accessed the first word, counted by warps of 32 */
    uint64_t per;        /* bytes of each thread; 0: all are of one */
    uint32_t func, insn; /* insn UINT32_MAX: not known */
    uint32_t use;
    enum pt_scope scope; /* NONE: weak */
};

struct pt_footprint {
    const struct pt_allocator *allocator;
    struct pt_footprint_run *runs; /* by address, once it is sorted */
    size_t n, room;
    uint64_t *releases; /* addresses, ascending likewise */
    size_t n_releases, room_releases;
    uint64_t bytes;    /* that it takes */
    bool is_of_system; /* it has strong accesses that the host's may meet */
    bool is_partial;   /* there was no room for the rest, or the checker has forgotten it */
};

/* Bytes that the runs of one operation take at most. */
enum { PT_FOOTPRINT_MOST = 64 << 20 };

void pt_footprint_add(struct pt_footprint *footprint, const struct pt_footprint_run *run);
void pt_footprint_add_release(struct pt_footprint *footprint, uint64_t address);
/* What a job touched, which is about to be over. */
void pt_footprint_take(struct pt_footprint *footprint, const struct pt_job *job);
void pt_footprint_sort(struct pt_footprint *footprint);
/* Forgets what lies there. */
void pt_footprint_cut(struct pt_footprint *footprint, uint64_t address, uint64_t bytes);
void pt_footprint_free(struct pt_footprint *footprint);
/* Calls `meet` for pairs of runs of the two that share bytes, until it returns true. Returns
 * whether it did. */
bool pt_footprint_meet(const struct pt_footprint *a, const struct pt_footprint *b,
                       bool (*meet)(void *ud, const struct pt_footprint_run *a,
                                    const struct pt_footprint_run *b),
                       void *ud);
/* True if `to` accesses by strong accesses what `from` released. */
bool pt_footprint_passes(const struct pt_footprint *from, const struct pt_footprint *to);

#endif
