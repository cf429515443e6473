/* Counting what warps do that is more than one access. */
#ifndef PTERA_BACKEND_INTERP_COUNT_H
#define PTERA_BACKEND_INTERP_COUNT_H

#include "backend/counts.h"
#include "backend/interp/address.h"
#include "backend/observer.h"

/* Of the event's instruction, its access is kept if it asks for more parts than any before. */
#define pt_count_worst_keep PT_LEVEL_NAME(pt_count_worst_keep)
void pt_count_worst_keep(const struct pt_event *e, unsigned space, uint32_t lanes,
                         const struct pt_access *access, uint64_t parts);
/* struct pt_observer has these: */
#define pt_count_texels_add PT_LEVEL_NAME(pt_count_texels_add)
#define pt_count_copies_add PT_LEVEL_NAME(pt_count_copies_add)
void pt_count_texels_add(const struct pt_event *e, const struct pt_texels *texels);
void pt_count_copies_add(const struct pt_event *e, const struct pt_copies *copies);

static inline struct pt_counted_access *pt_count_space(const struct pt_event *e, unsigned space)
{
    const struct pt_cta *cta = e->warp->cta;
    const struct pt_counts *counts = cta->launch->counts;
    return &counts->v[(uint64_t)cta->worker * counts->n + counts->first[e->func] + e->insn]
                .spaces[space];
}

#endif
