/* What asynchronous operations do to mbarriers. */
#ifndef PTERA_BACKEND_INTERP_MBARRIER_H
#define PTERA_BACKEND_INTERP_MBARRIER_H

#include "backend/interp/async.h"

/* Changes of the mbarrier at a generic address that `lane` names. False after pt_fail. */
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
/* As complete of struct pt_async_op: its bytes are transactions of its mbarrier, or it is one
 * arrival there. */
#define pt_mbarrier_count_bytes PT_LEVEL_NAME(pt_mbarrier_count_bytes)
bool pt_mbarrier_count_bytes(const struct pt_code *c, struct pt_frame *f,
                             const struct pt_async_op *op);
#define pt_mbarrier_count_arrival PT_LEVEL_NAME(pt_mbarrier_count_arrival)
bool pt_mbarrier_count_arrival(const struct pt_code *c, struct pt_frame *f,
                               const struct pt_async_op *op);

#endif
