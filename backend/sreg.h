/* What special registers hold that all threads of a CTA read alike, clocks and timers included:
 * stated once, for both engines. */
#ifndef PTERA_BACKEND_SREG_H
#define PTERA_BACKEND_SREG_H

#include "backend/environment.h"
#include "ir/bits.h"

static inline uint32_t pt_sreg_cluster_dim(const struct pt_launch *l, int k)
{
    return l->cluster[k] ? l->cluster[k] : 1;
}

/* 0 for those that the threads of a CTA do not share. */
static inline uint64_t pt_sreg_of_cta(const struct pt_cta *cta, enum pt_sreg sreg)
{
    const struct pt_launch *l = cta->launch;
    switch (sreg) {
    case PT_SREG_ntid_x:
    case PT_SREG_ntid_y:
    case PT_SREG_ntid_z:
        return l->block[sreg - PT_SREG_ntid_x];
    case PT_SREG_ctaid_x:
    case PT_SREG_ctaid_y:
    case PT_SREG_ctaid_z:
        return cta->id[sreg - PT_SREG_ctaid_x];
    case PT_SREG_nctaid_x:
    case PT_SREG_nctaid_y:
    case PT_SREG_nctaid_z:
        return l->grid[sreg - PT_SREG_nctaid_x];
    case PT_SREG_clusterid_x:
    case PT_SREG_clusterid_y:
    case PT_SREG_clusterid_z:
        return cta->id[sreg - PT_SREG_clusterid_x] /
               pt_sreg_cluster_dim(l, (int)(sreg - PT_SREG_clusterid_x));
    case PT_SREG_nclusterid_x:
    case PT_SREG_nclusterid_y:
    case PT_SREG_nclusterid_z:
        return l->grid[sreg - PT_SREG_nclusterid_x] /
               pt_sreg_cluster_dim(l, (int)(sreg - PT_SREG_nclusterid_x));
    case PT_SREG_cluster_ctaid_x:
    case PT_SREG_cluster_ctaid_y:
    case PT_SREG_cluster_ctaid_z:
        return cta->id[sreg - PT_SREG_cluster_ctaid_x] %
               pt_sreg_cluster_dim(l, (int)(sreg - PT_SREG_cluster_ctaid_x));
    case PT_SREG_cluster_nctaid_x:
    case PT_SREG_cluster_nctaid_y:
    case PT_SREG_cluster_nctaid_z:
        return pt_sreg_cluster_dim(l, (int)(sreg - PT_SREG_cluster_nctaid_x));
    case PT_SREG_cluster_ctarank:
        return cta->cluster_rank;
    case PT_SREG_cluster_nctarank:
        return (uint64_t)pt_sreg_cluster_dim(l, 0) * pt_sreg_cluster_dim(l, 1) *
               pt_sreg_cluster_dim(l, 2);
    case PT_SREG_is_explicit_cluster:
        return l->is_explicit_cluster;
    case PT_SREG_nwarpid:
        return l->sm_warps;
    case PT_SREG_smid:
        return cta->worker;
    case PT_SREG_nsmid:
        return l->sm_count;
    case PT_SREG_clock:
    case PT_SREG_clock64:
        return l->services->clock();
    case PT_SREG_clock_hi:
        return l->services->clock() >> 32;
    case PT_SREG_globaltimer:
    case PT_SREG_globaltimer_lo:
        return l->services->globaltimer();
    case PT_SREG_globaltimer_hi:
        return l->services->globaltimer() >> 32;
    case PT_SREG_total_smem_size:
        /* Without the system's part, in units of 128 bytes. */
        return (uint32_t)pt_round_up(l->shared_bytes - PT_SHARED_BASE, 128);
    case PT_SREG_dynamic_smem_size:
        return l->shared_dynamic;
    case PT_SREG_aggr_smem_size:
        return l->shared_bytes;
    case PT_SREG_reserved_smem_offset_cap:
        return PT_SHARED_BASE;
    case PT_SREG_reserved_smem_offset_end:
        return 0x120; /* as an H200 answers with driver 580 */
    case PT_SREG_gridid:
        return l->grid_id;
    case PT_SREG_envreg1:
        return l->grid_barrier >> 32;
    case PT_SREG_envreg2:
        return (uint32_t)l->grid_barrier;
    case PT_SREG_current_graph_exec:
        return pt_environment_of(l)->graph;
    default:
        /* Fourth components, %pm counters that no profiler has armed, %reserved_smem_offset_begin,
         * _0 and _1: an H200 answers 0. Other %envreg are the driver's own. No CTA is given memory
         * of its own: %perctamemorysize is 0. */
        return 0;
    }
}

#endif
