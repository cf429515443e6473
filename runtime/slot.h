/* Room for resident clusters: shared ranges, local windows, states of warps. */
#ifndef PTERA_RUNTIME_SLOT_H
#define PTERA_RUNTIME_SLOT_H

#include "backend/native.h"
#include "runtime/job.h"

enum { PT_TOGETHER_MAX = 256 }; /* CTAs of a worker that take turns */

/* A CTA and what the scheduler keeps about it. */
struct pt_resident {
    struct pt_cta cta;
    struct pt_slot *slot;
    uint32_t live_mask; /* warps with a lane that has not exited */
    uint32_t used_bars; /* barriers that must be reset for the next CTA */
    /* its number + 1, if the CTA has let dependents begin; how many have of a row that native code
     * runs */
    uint64_t triggered;
    uint32_t n_triggered;
};

/* What a CTA has of its own that takes turns with others. */
struct pt_turn {
    uint32_t id[3];
    uint32_t turn; /* as pt_cta has it */
    bool is_live;
    uint64_t triggered; /* as pt_resident has it */
    uint8_t *shared, *local, *scratch;
};

/* Room for one resident cluster: shared ranges, local windows, warp states. Kept by the engine
 * between launches. */
struct pt_slot {
    struct pt_slot *next;
    /* what it is made for */
    const ptera_kernel *kernel;
    bool is_native, has_warps;
    uint32_t tests;
    uint32_t scratch_bytes; /* native code's, of a CTA */
    const struct pt_native
        *apart; /* for this launch: native code that resumes its warps; NULL: there is none */
    uint32_t block[3], n_ctas;
    uint64_t local_stride;
    /* what it has */
    uint8_t *range; /* the cluster's shared range: 4 GiB of address space that nobody else has */
    size_t range_bytes;                       /* of which so much is reserved */
    size_t committed[PT_DEVICE_CLUSTER_MOST]; /* bytes of each window */
    uint8_t *local;
    size_t local_bytes, local_charge; /* local_charge: what counts against the limit of memory */
    uint8_t *frames;                  /* residents, warps, their states */
    size_t frames_bytes;
    struct pt_resident *ctas;
    struct pt_warp *warps; /* if it has_warps */
    struct pt_turn *turns; /* of CTAs that take turns, each with scratch memory, or NULL */
    size_t turns_bytes;
    void *kept;            /* as pt_cta has it */
    struct pt_async async; /* operations that are put off or watched */
    /* the cluster it runs */
    uint32_t live_ctas;
    bool are_waiting; /* PT_TEST_sync: its threads were, at the end of its last turn (stuck.h) */
    uint64_t
        events; /* arrivals at barriers and exits: signs of progress, as are mbarriers' phases */
};

/* The resident of a CTA. */
static inline struct pt_resident *pt_resident_of(const struct pt_cta *cta)
{
    _Static_assert(offsetof(struct pt_resident, cta) == 0, "a CTA is found in its resident");
    return (struct pt_resident *)(uintptr_t)cta;
}

/* It has lanes that need not wait. */
static inline bool pt_slot_is_runnable(const struct pt_warp *warp)
{
    return warp->live && (warp->wait_bar == PT_NO_BARRIER ||
                          warp->cta->bar[warp->wait_bar].phase != warp->wait_phase);
}

/* A slot made ready for the job, for native code unless that is NULL; or NULL if there is no
 * memory. */
struct pt_slot *pt_slot_get(struct pt_job *job, unsigned worker, const struct pt_native *native);
/* Puts CTA `index` of the grid into the slot of a native version. */
void pt_slot_start_native(struct pt_slot *slot, struct pt_job *job, uint64_t index);
/* Makes slot->turns, for `n` CTAs with so much scratch memory each. False: there is no memory. */
bool pt_slot_make_turns(struct pt_slot *slot, uint32_t n, uint32_t scratch_bytes);
/* Puts every warp of the slot at the kernel's entry. */
void pt_slot_start_warps(struct pt_slot *slot, const struct pt_job *job);
/* Puts cluster `index` of the grid into the slot, every warp at the kernel's entry. */
void pt_slot_start(struct pt_slot *slot, struct pt_job *job, uint64_t index);
/* A slot that the worker needs no more. */
void pt_slot_put(struct pt_job *job, unsigned worker, struct pt_slot *slot);
/* Forgets that slots were made for kernels of a module that goes. */
void pt_slot_forget(ptera_engine *engine, const ptera_module *module);
/* Frees the engine's slots that no launch uses; false: there were none. */
bool pt_slot_reclaim(void *engine);

#endif
