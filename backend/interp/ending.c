/* Shared memory is there as long as its CTA: an access from another CTA of the cluster must be over
 * before the last thread of that CTA exits, as far as one of its threads knows (PTX ISA 5.1.7). */
#include "backend/interp/ending.h"

void pt_ending_access(const struct pt_conflict *a)
{
    struct pt_known_cluster *k = a->cluster;
    uint32_t n_ctas = k->n_warps / a->launch->clocks.n_warps;
    k->has_learned = true;
    for (uint32_t left = a->lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        uint64_t offset = a->address[lane] - (uint64_t)(uintptr_t)a->frame->shared;
        uint32_t rank = (uint32_t)(offset >> PT_SHARED_RANK_SHIFT);
        if (offset > UINT32_MAX || rank >= n_ctas || rank == a->frame->cta->cluster_rank)
            continue;
        const struct pt_ending *end = &k->endings[rank];
        struct pt_remote *r = &k->remotes[rank * k->n_warps + (a->warp->number - k->first)];
        if (r->time != a->launch->time || r->site != a->site) /* the first lane */
            *r = (struct pt_remote){a->launch->time, lane, a->site, a->address[lane]};
        if (end->is_over)
            pt_conflict_tell_end(a, &(struct pt_doer){a->warp->number, lane, a->site}, r->address,
                                 &end->last);
    }
}

static bool are_left(const struct pt_conflict *a)
{
    const struct pt_cta *cta = a->frame->cta;
    uint32_t left = 0;
    for (uint32_t i = 0; i < cta->launch->n_warps; i++) {
        uint32_t exiting = &cta->warps[i] == a->frame->state->warp ? a->lanes : 0;
        left |= cta->warps[i].live & ~exiting;
    }
    return left != 0;
}

void pt_ending_exit(const struct pt_conflict *a)
{
    struct pt_known_cluster *k = a->cluster;
    struct pt_causality *g = a->launch;
    uint32_t rank = a->frame->cta->cluster_rank;
    struct pt_ending *end = &k->endings[rank];
    k->has_learned = true;
    pt_causality_gather(g, a->warp, a->lanes, &end->clock);
    end->last = (struct pt_doer){a->warp->number, (uint32_t)__builtin_ctz(a->lanes), a->site};
    end->is_over = !are_left(a);
    for (uint32_t i = 0; end->is_over && i < k->n_warps; i++) {
        const struct pt_remote *r = &k->remotes[rank * k->n_warps + i];
        struct pt_doer by = {k->first + i, r->lane, r->site};
        if (r->site && pt_clock_find(&g->clocks, end->clock, by.warp, by.lane).time < r->time)
            pt_conflict_tell_end(a, &by, r->address, &end->last);
    }
}
