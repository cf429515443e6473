/* Multicast of asynchronous copies. */
#ifndef PTERA_BACKEND_INTERP_BULK_H
#define PTERA_BACKEND_INTERP_BULK_H

#include "backend/interp/async.h"

/* Tells observers what a copy does in shared memory: it writes there, and is counted. */
#define pt_bulk_observe_load PT_LEVEL_NAME(pt_bulk_observe_load)
bool pt_bulk_observe_load(const struct pt_code *c, struct pt_frame *f,
                          const struct pt_async_op *op);
/* The same, and pt_async_issue, for each CTA of a multicast, op->to and op->mbarrier
 * being those of one of them. */
#define pt_bulk_multicast PT_LEVEL_NAME(pt_bulk_multicast)
bool pt_bulk_multicast(const struct pt_code *c, struct pt_frame *f, const struct pt_async_op *op,
                       uint32_t ctas);
/* A copy that goes to the CTAs of a mask. */
static inline bool pt_bulk_is_multicast(const struct pt_select *s)
{
    return PT_HAS(s, multicast_cluster) || PT_HAS(s, multicast_cluster_16b);
}

#endif
