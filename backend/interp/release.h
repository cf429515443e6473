/* What threads release and acquire by memory. */
#ifndef PTERA_BACKEND_INTERP_RELEASE_H
#define PTERA_BACKEND_INTERP_RELEASE_H

#include "backend/interp/causality.h"

#define pt_release_fence PT_LEVEL_NAME(pt_release_fence)
void pt_release_fence(const struct pt_event *e);
/* A strong access of a lane, behind which the conflicts of it were looked for. */
struct pt_strong {
    uint64_t address;
    uint32_t lane, site;
    bool is_read, is_write;
    enum pt_order order;
    enum pt_scope scope;
};
#define pt_release_strong PT_LEVEL_NAME(pt_release_strong)
void pt_release_strong(const struct pt_frame *f, struct pt_known_cluster *k, struct pt_known *w,
                       const struct pt_strong *access);
#define pt_release_mbarrier PT_LEVEL_NAME(pt_release_mbarrier)
void pt_release_mbarrier(const struct pt_event *e, const struct pt_sync *sync);

/* A lane makes a tensor map in memory, or changes it. */
#define pt_release_map_written PT_LEVEL_NAME(pt_release_map_written)
void pt_release_map_written(const struct pt_event *e, uint64_t address);
#define pt_release_map_used PT_LEVEL_NAME(pt_release_map_used)
/* A lane issues an operation that has the map at `address`. NULL: no thread wrote that in this
 * launch, or one that the lane knows of has executed fence.proxy.tensormap::generic.acquire for it
 * since; else who wrote it. */
const struct pt_doer *pt_release_map_used(const struct pt_event *e, uint64_t address);

#endif
