/* Keeps of each instruction the warp that asked for the most at once. */
#include "backend/interp/count.h"
#include "backend/interp/sectors.h"

static void put_worst(struct pt_counted_worst *worst, const struct pt_event *e, unsigned space,
                      uint32_t lanes, const struct pt_access *access)
{
    const struct pt_cta *cta = e->warp->cta;
    worst->space = (uint8_t)space;
    worst->bytes = (uint8_t)access->bytes;
    worst->lanes = lanes;
    worst->cta = pt_cta_number(cta);
    worst->warp = e->warp->index;
    for (uint32_t i = 0; i < PT_WARP_SIZE; i++) {
        uint64_t local = (e->warp->index * PT_WARP_SIZE + i) * cta->launch->local_stride;
        worst->address[i] =
            access->address[i] - (space == PT_COUNTED_SHARED  ? (uintptr_t)cta->shared
                                  : space == PT_COUNTED_LOCAL ? (uintptr_t)cta->local + local
                                                              : 0);
    }
}

/* The rank has the parts above the CTA, lower ones of which come first. */
void pt_count_worst_keep(const struct pt_event *e, unsigned space, uint32_t lanes,
                         const struct pt_access *access, uint64_t parts)
{
    enum { CTA_BITS = 44 };
    const struct pt_cta *cta = e->warp->cta;
    const struct pt_counts *counts = cta->launch->counts;
    struct pt_counted_worst *worst = &counts->worst[counts->first[e->func] + e->insn];
    uint64_t most = (UINT64_C(1) << CTA_BITS) - 1, number = pt_cta_number(cta);
    uint64_t rank = parts << CTA_BITS | (most - (number < most ? number : most));
    if (!parts || access->bytes > PT_SECTORS_WIDEST || rank <= atomic_load(&worst->rank))
        return;
    while (atomic_flag_test_and_set(&worst->is_written))
        continue;
    if (rank > atomic_load(&worst->rank)) {
        put_worst(worst, e, space, lanes, access);
        worst->parts = (uint32_t)parts;
        atomic_store(&worst->rank, rank);
    }
    atomic_flag_clear(&worst->is_written);
}
