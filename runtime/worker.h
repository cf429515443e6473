/* A worker of a launch. */
#ifndef PTERA_RUNTIME_WORKER_H
#define PTERA_RUNTIME_WORKER_H

#include "runtime/fault.h"
#include "runtime/slot.h"

/* Accesses of a worker's kernels outside their allocations that went on (PTERA_OOB=warn), until
 * they are told: those behind the last that there is room for are not. */
enum { PT_STRAYS = 32 };
struct pt_stray {
    uintptr_t pc; /* of native code; 0: the place is known */
    struct pt_fault fault;
    uint32_t cta[3], warp;
    bool has_warp;
};
struct pt_strays {
    unsigned n;
    struct pt_stray v[PT_STRAYS];
};

struct pt_worker {
    struct pt_fault_scope scope;
    struct pt_job *job;
    unsigned index;
    uint64_t next, end;    /* clusters that it has taken but not started */
    struct pt_slot *slots; /* resident, in the order they run */
    struct pt_slot *spare; /* prepared for this launch but empty */
    struct pt_warp *running;
    struct pt_cta *native;         /* run by native code */
    const struct pt_native *apart; /* native code that resumes warps; NULL: the interpreter does */
    uint64_t interpreted;          /* the time up to which interpreting has been counted, ns */
    uint32_t n_slots;
    struct pt_strays *strays; /* NULL: no access outside goes on */
};

/* A slot for native code, or for the interpreter (NULL). NULL: there is no memory. That is a
 * failure only where nobody else has a slot to run all CTAs in. */
struct pt_slot *pt_worker_slot(struct pt_worker *worker, const struct pt_native *native);
/* Of a CTA that native code ran: how many instructions the interpreter did. */
void pt_worker_count_steps(struct pt_job *job, struct pt_cta *cta);

#endif
