/* Regions: the parts of a kernel between which all threads of a CTA wait for each other; where they
 * begin. */
#ifndef PTERA_BACKEND_JIT_ANALYSIS_REGIONS_H
#define PTERA_BACKEND_JIT_ANALYSIS_REGIONS_H

#include "backend/jit/analysis/plan.h"
#include "backend/jit/jit.h"

/* Regions where warps are resumed one by one; the blocks of `also` begin one, too. */
void jit_regions_cut_resumable(struct jit_facts *a, struct jit_plan *plan, const uint64_t *also);

/* There are such blocks. */
bool jit_regions_is_parted(const struct jit_facts *a, uint32_t block);

/* Warps have 32 lanes, none of which ends while others of the group go on. */
bool jit_regions_have_whole_warps(const struct jit_facts *a);

/* Blocks from which a barrier can be reached, barriers included. */
uint64_t *jit_regions_find_reaching(struct jit_facts *a);

/* Barriers, headers of loops that hold one or wait, and where such loops lead to begin regions:
 * plan->entries. */
void jit_regions_find_entries(struct jit_facts *a, struct jit_plan *plan, const uint64_t *reaching);

/* All live threads that will meet a barrier again run the entries together. */
bool jit_regions_are_convergent(struct jit_facts *a, const uint64_t *entries,
                                const uint64_t *reaching);

/* The regions that begin at plan->entries. */
void jit_regions_make(struct jit_facts *a, struct jit_plan *plan, const uint64_t *reaching);

/* Lanes leave the kernel at the end of the block. */
bool jit_regions_ends_kernel(const struct jit_facts *a, uint32_t block);

#endif
